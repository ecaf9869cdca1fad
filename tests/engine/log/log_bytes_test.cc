// SPDX-License-Identifier: MIT
//
// The bytes of the log, all of them: who changes one sees it here (docs/storage.md, "The log").
#include <gtest/gtest.h>

#include "engine/log/log_format.h"
#include "engine/visibility/cell_cursor.h"

namespace cellfs {
namespace {

constexpr RecordPlace kPlace{.begin = 76, .synced = 44};

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    text += digits;
  }
  return text;
}

std::string FromHex(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  return bytes;
}

TEST(LogBytesTest, OfASegmentsHeader) {
  const std::string hex =
      "43454c4c57414c0a"   // CELLWAL\n
      "02000000"           // format
      "0300000000000000"   // number
      "4d00000000000000"   // base
      "0807060504030201"   // id of the store
      "cb760957222b532d";  // checksum
  EXPECT_EQ(Hex(EncodeSegmentHeader(
                {.number = 3, .base = 77, .store_id = 0x0102030405060708})),
            hex);
  const auto header = DecodeSegmentHeader(FromHex(hex));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->number, 3u);
  EXPECT_EQ(header->base, 77u);
  EXPECT_EQ(header->store_id, 0x0102030405060708u);
}

TEST(LogBytesTest, OfARecord) {
  const std::vector<CellView> cells = {
      {"r", "f", "", 6, CellType::kDeleteFamily, 42, kNoCellTtl, "", 0},
      {"r", "f", "q", 5, CellType::kPut, 42, 60000, "value", 5},
      {"r", "f", "q", 9, kWithdrawMarker, 42, kNoCellTtl, "\x0c", 1}};
  std::string bytes;
  ASSERT_TRUE(EncodeRecord({7, 42, "r", cells}, kPlace, &bytes).ok());
  const std::string hex =
      "c5524543"            // "REC", high bit before it
      "70000000"            // length of the payload
      "2c00000000000000"    // synced
      "49254dbcc2778aba"    // checksum of these
      "062741d7222bf5f6"    // checksum of the payload
      "0700000000000000"    // table
      "2a00000000000000"    // sequence id
      "010072"              // row
      "03000000"            // number of cells
      "0166"                // family
      "00000000"            // no qualifier
      "0600000000000000"    // timestamp
      "0e"                  // DeleteFamily
      "ffffffffffffffff"    // no TTL
      "00000000"            // no value
      "0166"                // family
      "0100000071"          // qualifier
      "0500000000000000"    // timestamp
      "04"                  // Put
      "60ea000000000000"    // TTL
      "0500000076616c7565"  // value
      "0166"                // family
      "0100000071"          // qualifier
      "0900000000000000"    // timestamp
      "ff"                  // withdrawal
      "ffffffffffffffff"    // no TTL
      "010000000c";         // of a DeleteColumn
  EXPECT_EQ(Hex(bytes), hex);
  bytes = FromHex(hex);
  const auto found = FindRecord(bytes, kPlace.begin);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size, bytes.size());
  EXPECT_EQ(found->synced, kPlace.synced);
  std::vector<CellView> decoded;
  const auto record = DecodeRecord(bytes, &decoded);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->table_id, 7u);
  EXPECT_EQ(record->sequence_id, 42u);
  EXPECT_EQ(record->row, "r");
  ASSERT_EQ(decoded.size(), cells.size());
  for (size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(CopyOf(decoded[i]), CopyOf(cells[i])) << i;
}

// Wherever its long values stand.
TEST(LogBytesTest, OfARecordWhoseLongValuesStayApart) {
  const std::string value(ValueApart::kLong, 'a');
  const std::string longer(ValueApart::kLong + 7, 'b');
  const auto put = [](std::string_view qualifier, std::string_view bytes) {
    return CellView{"r", "f", qualifier, 5, CellType::kPut, 42, kNoCellTtl, bytes, bytes.size()};
  };
  const std::vector<std::vector<CellView>> records = {
      {put("q", value)},
      {put("p", "short"), put("q", value), put("r", longer)},
      {put("q", value), put("r", "short")}};
  std::string whole;
  std::string bytes;
  std::vector<ValueApart> apart;
  for (const std::vector<CellView>& cells : records) {
    const RecordPlace place{.begin = 76 + whole.size(), .synced = 44};
    ASSERT_TRUE(EncodeRecord({7, 42, "r", cells}, place, &whole).ok());
    ASSERT_TRUE(EncodeRecord({7, 42, "r", cells}, place, &bytes, &apart).ok());
  }
  EXPECT_EQ(apart.size(), 4u);
  EXPECT_LT(bytes.size(), 1000u);
  for (auto it = apart.rbegin(); it != apart.rend(); ++it) bytes.insert(it->before, it->bytes);
  EXPECT_TRUE(bytes == whole);
}

TEST(LogBytesTest, OfNotes) {
  const LogNote older{.kind = LogNote::Kind::kOlderCells,
                      .older = {{7, 40}, {8, 41}},
                      .tables = {},
                      .dropped = {}};
  const LogNote end{.kind = LogNote::Kind::kEndOfSegment, .older = {}, .tables = {}, .dropped = {}};
  const LogNote tables{.kind = LogNote::Kind::kTables,
                       .older = {},
                       .tables = {{7, {.flushed = 40, .next_file = 4, .files = {1, 3}}}},
                       .dropped = {9}};
  const std::pair<LogNote, std::string> notes[] = {
      {older,
       "c5524543290000002c00000000000000248802c814e24bf9efbbd79dd9173080"  // header
       "000000000000000001"                                                // no table, kind
       "0700000000000000"                                                  // table
       "2800000000000000"                                                  // sequence id
       "0800000000000000"                                                  // table
       "2900000000000000"},                                                // sequence id
      {end,
       "c5524543090000002c00000000000000507dfa7bb661eb39c0cf46365ee596f0"  // header
       "000000000000000002"},                                              // no table, kind
      {tables,
       "c5524543450000002c000000000000000d2c82f741a332a835991733a11670db"  // header
       "000000000000000003"                                                // no table, kind
       "0700000000000000"                                                  // table
       "0400000000000000"                                                  // next file
       "2800000000000000"                                                  // flushed
       "02000000"                                                          // number of files
       "0100000000000000"
       "0300000000000000"
       "0900000000000000"                                                  // table
       "0000000000000000"},                                                // dropped
  };
  for (const auto& [note, hex] : notes) {
    std::string bytes;
    EncodeNote(note, kPlace, &bytes);
    EXPECT_EQ(Hex(bytes), hex);
    bytes = FromHex(hex);
    ASSERT_TRUE(FindRecord(bytes, kPlace.begin));
    const auto decoded = DecodeNote(bytes);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->kind, note.kind);
    EXPECT_EQ(decoded->older, note.older);
    EXPECT_EQ(decoded->tables, note.tables);
    EXPECT_EQ(decoded->dropped, note.dropped);
  }
}

}  // namespace
}  // namespace cellfs
