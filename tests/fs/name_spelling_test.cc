// SPDX-License-Identifier: MIT
#include "fs/tree/name_spelling.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "fs/tree/place_traits.h"

namespace cellfs::fs {
namespace {

using Kind = ReadName::Kind;

const NameSpelling kRowNames(NameLevel::kRow, NameMode::kPosix);
const NameSpelling kQualifiers(NameLevel::kQualifier, NameMode::kPosix);
const NameSpelling kPrintable(NameLevel::kQualifier, NameMode::kPrintable);
const NameSpelling kPlainNames(NameLevel::kQualifier, NameMode::kPosix, /*controls=*/false);
const NameSpelling kValues(NameLevel::kValue, NameMode::kPosix);

std::vector<NameSpelling> AllSpellings() {
  std::vector<NameSpelling> all;
  for (auto level : {NameLevel::kRow, NameLevel::kQualifier, NameLevel::kValue}) {
    for (auto mode : {NameMode::kPosix, NameMode::kPrintable}) {
      for (bool controls : {true, false}) all.emplace_back(level, mode, controls);
    }
  }
  return all;
}

TEST(NameSpellingTest, WhatStandsInEveryTableOrFamilyIsNoKey) {
  for (const PlaceTraits& traits : place_table::kTraits) {
    if (traits.key != PlaceKey::kFixedName) continue;
    const std::string name(traits.fixed_name);
    if (FixedChildOf(PlaceKind::kTable, name)) {
      EXPECT_EQ(kRowNames.Read(name).kind, Kind::kReserved) << name;
    }
    if (FixedChildOf(PlaceKind::kFamily, name)) {
      EXPECT_EQ(kQualifiers.Read(name).kind, Kind::kReserved) << name;
    }
  }
}

TEST(NameSpellingTest, WithoutVersionsByNameAnAtIsAByte) {
  const NameSpelling names(NameLevel::kQualifier, NameMode::kPosix, true, /*versions=*/false);
  for (const std::string key : {"mail@17", "mail%4017", "@0"}) {
    EXPECT_EQ(names.FileName(key), key);
    const ReadName read = names.Read(key);
    EXPECT_EQ(read.kind, Kind::kKey);
    EXPECT_EQ(read.key, key);
    EXPECT_EQ(read.timestamp, std::nullopt);
  }
  EXPECT_EQ(names.FileName(".versions"), "%2Eversions");
}

TEST(NameSpellingTest, WritesOnlyWhatIsAmbiguous) {
  struct Case {
    std::string key, name;
  };
  for (const Case& c : std::vector<Case>{{"html", "html"},
                                         {"Report%20Final.pdf", "Report%20Final.pdf"},
                                         {"100%", "100%"},
                                         {"a/b", "a%2Fb"},
                                         {"a%2Fb", "a%252Fb"},
                                         {"a%252Fb", "a%25252Fb"},
                                         {"a%2fb", "a%2fb"},
                                         {std::string("\0", 1), "%00"},
                                         {".", "%2E"},
                                         {"..", "%2E."},
                                         {"...", "..."},
                                         {".profile", ".profile"},
                                         {".versions", "%2Eversions"},
                                         {"%2Eversions", "%252Eversions"},
                                         {"%2Eversion", "%2Eversion"},
                                         {"a%2Eversions", "a%2Eversions"},
                                         {"mail@17", "mail%4017"},
                                         {"mail%4017", "mail%254017"},
                                         {"mail@017", "mail@017"},
                                         {"mail@home", "mail@home"},
                                         {"@17", "%4017"},
                                         {"a@1@2", "a@1%402"},
                                         {"", "%empty"},
                                         {"%empty", "%25empty"},
                                         {"%25empty", "%2525empty"},
                                         {"\xff\n", "\xff\n"}}) {
    EXPECT_EQ(kQualifiers.Spell(c.key), c.name);
    ReadName read = kQualifiers.Read(c.name);
    EXPECT_EQ(read.kind, Kind::kKey) << c.name;
    EXPECT_EQ(read.key, c.key);
    EXPECT_FALSE(read.timestamp);
  }
}

TEST(NameSpellingTest, ReservesOnlyTheNamesOfTheLevel) {
  EXPECT_EQ(kRowNames.Spell(".scan"), "%2Escan");
  EXPECT_EQ(kRowNames.Spell(".versions"), ".versions");
  EXPECT_EQ(kQualifiers.Spell(".scan"), ".scan");
  EXPECT_EQ(kRowNames.Read(".schema.toml").kind, Kind::kReserved);
  EXPECT_EQ(kQualifiers.Read(".deleted").kind, Kind::kReserved);
  EXPECT_EQ(kQualifiers.Read(".schema.toml").key, ".schema.toml");
}

TEST(NameSpellingTest, RowsLeaveTheNamesOfWhatIsToCome) {
  for (const std::string rest : {"deleted", "snapshots", "changes", "changes@0", "changes@17",
                                 "changes@9223372036854775806"}) {
    EXPECT_EQ(kRowNames.Read("." + rest).kind, Kind::kReserved) << rest;
    EXPECT_EQ(kRowNames.Spell("." + rest), "%2E" + rest);
    EXPECT_EQ(kRowNames.Read("%2E" + rest).key, "." + rest);
    EXPECT_EQ(kRowNames.Spell("%2E" + rest), "%252E" + rest);
  }
  for (const std::string name : {".changes@", ".changes@007", ".changes@x", ".snapshots@1",
                                 "%2Echanges@x", ".changes2"}) {
    EXPECT_EQ(kRowNames.Spell(name), name);
  }
  EXPECT_EQ(kQualifiers.Spell(".snapshots"), ".snapshots");
}

TEST(NameSpellingTest, RowsHaveNoVersions) {
  EXPECT_EQ(kRowNames.Spell("user@17"), "user@17");
  EXPECT_EQ(kRowNames.Read("user@17").key, "user@17");
  EXPECT_EQ(kRowNames.Read("user%4017").key, "user%4017");
}

TEST(NameSpellingTest, ReadsVersions) {
  ReadName read = kQualifiers.Read("mail@17");
  EXPECT_EQ(read.kind, Kind::kKey);
  EXPECT_EQ(read.key, "mail");
  EXPECT_EQ(read.timestamp, 17);
  EXPECT_EQ(kQualifiers.Read("%empty@0").timestamp, 0);
  EXPECT_EQ(kQualifiers.Read("%empty@0").key, "");
  EXPECT_EQ(kQualifiers.Read("%2Eversions@5").key, ".versions");
  EXPECT_EQ(kQualifiers.Read("q@9223372036854775806").timestamp, 9223372036854775806);
  EXPECT_EQ(kQualifiers.Read("q@9223372036854775807").key, "q@9223372036854775807");
}

TEST(NameSpellingTest, SomeNamesSpellNoKey) {
  for (std::string name : {"@17", ".versions@5", "a@1@2"}) {
    EXPECT_EQ(kQualifiers.Read(name).kind, Kind::kNothing) << name;
  }
  for (std::string name : {"a\n", "\xff", "%C3%A9"}) {
    EXPECT_EQ(kPrintable.Read(name).kind, Kind::kNothing) << name;
  }
}

TEST(NameSpellingTest, PrintableWritesControlBytesAndWhatIsNotUtf8) {
  EXPECT_EQ(kPrintable.Spell("\x01\xc3\xa9\xff\x7f"), "%01\xc3\xa9%FF%7F");
  EXPECT_EQ(kPrintable.Spell("\xc3"), "%C3");
  EXPECT_EQ(kPrintable.Spell("%C3"), "%25C3");
  EXPECT_EQ(kPrintable.Spell("%41"), "%41");
  EXPECT_EQ(kPrintable.Spell("\xed\xa0\x80"), "%ED%A0%80") << "a surrogate";
}

TEST(NameSpellingTest, WithoutControlsAtIsAnOrdinaryByte) {
  EXPECT_EQ(kPlainNames.Spell("mail@17"), "mail@17");
  EXPECT_EQ(kPlainNames.Read("mail@17").key, "mail@17");
  EXPECT_EQ(kPlainNames.Spell(".versions"), ".versions");
  NameSpelling rows(NameLevel::kRow, NameMode::kPosix, false);
  EXPECT_EQ(rows.Spell(".asof"), ".asof");
  EXPECT_EQ(rows.Spell(".changes@5"), ".changes@5");
  EXPECT_EQ(rows.Spell(".schema.toml"), "%2Eschema.toml");
}

TEST(NameSpellingTest, ValuesOfQueriesWriteTheComma) {
  EXPECT_EQ(kValues.Spell("a,b/c"), "a%2Cb%2Fc");
  EXPECT_EQ(kValues.Spell(".scan"), ".scan");
  EXPECT_EQ(kValues.Read("").kind, Kind::kKey);
  EXPECT_EQ(kValues.Read("a,b").kind, Kind::kNothing);
}

TEST(NameSpellingTest, LongKeysAreShortened) {
  std::string key(1000, 'k');
  std::string name = kQualifiers.FileName(key);
  EXPECT_LE(name.size(), kMaxNameLength);
  ReadName read = kQualifiers.Read(name);
  EXPECT_EQ(read.kind, Kind::kLong);
  EXPECT_EQ(read.key, std::string(200, 'k'));
  EXPECT_TRUE(kQualifiers.IsShortenedTo(name, key));
  EXPECT_FALSE(kQualifiers.IsShortenedTo(name, key + "k"));
  // No key is spelled so by itself, and a short key has no long name.
  EXPECT_EQ(kQualifiers.Read(kQualifiers.Spell(name)).key, name);
  EXPECT_NE(kQualifiers.Spell(name), name);
  std::string version = kQualifiers.VersionFileName(key, 17);
  EXPECT_EQ(kQualifiers.Read(version).timestamp, 17);
  EXPECT_TRUE(kQualifiers.IsShortenedTo(version, key));
  EXPECT_EQ(kQualifiers.Read(std::string(256, 'k')).kind, Kind::kTooLong);
}

TEST(NameSpellingTest, AVersionThatNoLongerFitsIsShortenedToo) {
  std::string key(250, 'k');
  EXPECT_EQ(kQualifiers.FileName(key), key);
  std::string version = kQualifiers.VersionFileName(key, 1700000000000);
  EXPECT_LE(version.size(), kMaxNameLength);
  EXPECT_EQ(kQualifiers.Read(version).kind, Kind::kLong);
  EXPECT_TRUE(kQualifiers.IsShortenedTo(version, key));
  std::string without_version = version.substr(0, version.rfind('@'));
  EXPECT_FALSE(kQualifiers.IsShortenedTo(without_version, key)) << "a second spelling of one key";
}

// Pieces that escapes are made of, so that random strings hit them.
std::string RandomKey(std::mt19937& random, size_t max_pieces) {
  static const std::vector<std::string> pieces = {"%",
                                                  "25",
                                                  "2F",
                                                  "%2F",
                                                  "00",
                                                  "40",
                                                  "%40",
                                                  "@",
                                                  "1",
                                                  "17",
                                                  "0",
                                                  ".",
                                                  "2E",
                                                  "%2E",
                                                  "/",
                                                  "versions",
                                                  "~",
                                                  "%empty",
                                                  "empty",
                                                  ".versions",
                                                  "a",
                                                  ",",
                                                  "2C",
                                                  "\xc3",
                                                  "\xa9",
                                                  "C3",
                                                  "%C3",
                                                  "A9",
                                                  "\xff",
                                                  "\n",
                                                  "0A",
                                                  "scan",
                                                  ".scan",
                                                  ".schema.toml",
                                                  ".changes@",
                                                  "changes",
                                                  std::string("\0", 1),
                                                  "0123456789abcdef0123456789abcdef",
                                                  "%~"};
  std::string key;
  size_t count = random() % (max_pieces + 1);
  for (size_t i = 0; i < count; ++i) {
    key += random() % 8 == 0 ? std::string(1, static_cast<char>(random()))
                             : pieces[random() % pieces.size()];
  }
  return key;
}

TEST(NameSpellingTest, EveryKeyIsReadBackAndNoTwoAreSpelledAlike) {
  std::mt19937 random(20240917);
  auto spellings = AllSpellings();
  for (int i = 0; i < 15000; ++i) {
    std::string key = RandomKey(random, i % 100 == 0 ? 400 : 7);
    for (const NameSpelling& spelling : spellings) {
      std::string name = spelling.FileName(key);
      if (spelling.Spell("").empty() && name != spelling.Spell(key)) continue;  // values are short
      ASSERT_LE(name.size(), kMaxNameLength);
      ASSERT_EQ(name.find('/'), std::string::npos);
      ASSERT_EQ(name.find('\0'), std::string::npos);
      ReadName read = spelling.Read(name);
      if (read.kind == Kind::kLong) {
        ASSERT_TRUE(spelling.IsShortenedTo(name, key)) << name;
        ASSERT_TRUE(key.starts_with(read.key)) << name;
      } else {
        ASSERT_EQ(read.kind, Kind::kKey) << name;
        ASSERT_EQ(read.key, key) << name;
      }
      ASSERT_FALSE(read.timestamp) << name;
    }
    std::string version = kQualifiers.VersionFileName(key, i);
    ReadName read = kQualifiers.Read(version);
    ASSERT_EQ(read.timestamp, i) << version;
    ASSERT_LE(version.size(), kMaxNameLength);
    if (read.kind == Kind::kKey) {
      ASSERT_EQ(read.key, key) << version;
    }
  }
}

TEST(NameSpellingTest, EveryAcceptedNameIsTheSpellingOfItsKey) {
  std::mt19937 random(7);
  int accepted = 0;
  auto spellings = AllSpellings();
  for (int i = 0; i < 15000; ++i) {
    std::string name = RandomKey(random, 7);
    std::erase_if(name, [](char c) { return c == '/' || c == '\0'; });
    for (const NameSpelling& spelling : spellings) {
      ReadName read = spelling.Read(name);
      if (read.kind != Kind::kKey) continue;
      ++accepted;
      ASSERT_EQ(read.timestamp ? spelling.VersionFileName(read.key, *read.timestamp)
                               : spelling.FileName(read.key),
                name);
    }
  }
  EXPECT_GT(accepted, 50000);
}

TEST(NameSpellingTest, PosixRowsRefuseNoNameButReservedOnes) {
  std::mt19937 random(3);
  for (int i = 0; i < 15000; ++i) {
    std::string name = RandomKey(random, 5);
    std::erase_if(name, [](char c) { return c == '/' || c == '\0'; });
    if (name.empty() || name == "." || name == ".." || kRowNames.IsReserved(name)) continue;
    Kind kind = kRowNames.Read(name).kind;
    ASSERT_TRUE(kind == Kind::kKey || kind == Kind::kLong) << name;
  }
}

}  // namespace
}  // namespace cellfs::fs
