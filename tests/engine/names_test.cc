// SPDX-License-Identifier: MIT
#include "engine/names.h"

#include <gtest/gtest.h>

namespace cellfs {
namespace {

StatusCode TableCode(const std::string& name) { return CheckTableName({"default", name}).code(); }

TEST(NamesTest, TheDefaultNamespaceIsNotSpelled) {
  EXPECT_EQ(ParseTableName("default:t"), ParseTableName("t"));
  EXPECT_EQ(ParseTableName("default:t").ToString(), "t");
  EXPECT_EQ(ParseTableName("ns:t").ToString(), "ns:t");
}

TEST(NamesTest, TableNamesTakeLettersOfAnyScriptAndThreePunctuationMarks) {
  for (const char* name : {"t", "_", "9", "a-b.c", "Ärger", "表", "таблица", "٣"}) {
    EXPECT_EQ(TableCode(name), StatusCode::kOk) << name;
  }
  for (const char* name : {"", "-a", ".a", "a b", "a/b", "a:b", "a\n", "zookeeper", "→", "\xc3",
                           "\xff", "\xed\xa0\x80", "\xc0\x80", "\xf0\xa0\x80\x80"}) {
    EXPECT_EQ(TableCode(name), StatusCode::kIllegalArgument) << name;
  }
}

TEST(NamesTest, NamespaceNamesTakeNoDotAndNoDash) {
  EXPECT_TRUE(CheckNamespaceName("my_ns9ß").ok());
  for (const char* name : {"", "a.b", "a-b", "zookeeper"}) {
    EXPECT_EQ(CheckNamespaceName(name).code(), StatusCode::kIllegalArgument) << name;
  }
}

TEST(NamesTest, FamilyNamesAreBytesButForControlsAndSeparators) {
  for (const std::string& name : {std::string(127, 'x'), std::string("a b"), std::string("\xff"),
                                  std::string("a.b"), std::string("-")}) {
    EXPECT_TRUE(CheckFamilyName(name).ok()) << name;
  }
  for (const std::string& name :
       {std::string(128, 'x'), std::string(), std::string(".a"), std::string("a:b"),
        std::string("a/b"), std::string("a\\b"), std::string("\n"), std::string("\x7f"),
        std::string(1, '\0'), std::string("recovered.edits")}) {
    EXPECT_EQ(CheckFamilyName(name).code(), StatusCode::kIllegalArgument) << name;
  }
}

TEST(NamesTest, RowsAreNotEmptyAndNotOverlong) {
  EXPECT_FALSE(CheckRow("").ok());
  EXPECT_TRUE(CheckRow(std::string(32767, 'r')).ok());
  EXPECT_FALSE(CheckRow(std::string(32768, 'r')).ok());
}

}  // namespace
}  // namespace cellfs
