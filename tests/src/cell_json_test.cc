// SPDX-License-Identifier: MIT
#include "src/commands/cell_json.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

// What a line says, whoever reads it; nullopt: nothing of a cell.
std::optional<std::string> Shown(CellLine& line) {
  const std::string table = line.Text(CellLine::kTable);
  const uint64_t sequence = line.Sequence();
  const auto mutation = line.TakeMutation();
  if (!mutation.ok()) return mutation.status().message();
  std::string shown = table + " " + std::to_string(sequence) + " " + RowOf(*mutation);
  if (const auto* put = std::get_if<Put>(&*mutation)) {
    const PutCell& cell = put->cells.front();
    return shown + " " + cell.family + ":" + cell.qualifier + "=" + cell.value + "@" +
           std::to_string(cell.timestamp) + " " + std::to_string(put->time_to_live);
  }
  if (const auto* remove = std::get_if<Delete>(&*mutation)) {
    const DeleteMarker& marker = remove->markers.front();
    return shown + " " + marker.family + ":" + marker.qualifier + " " +
           std::string(TypeName(marker.type)) + "@" + std::to_string(marker.timestamp);
  }
  return shown;
}

std::optional<std::string> Read(const std::string& text) {
  CellJsonReader reader;
  CellLine line;
  return reader.Read(text, line) ? Shown(line) : std::nullopt;
}

std::optional<std::string> ReadAsObject(const std::string& text) {
  const auto object = FromJsonText(text);
  if (!object || !object->is_object() || !object->contains("row")) return std::nullopt;
  CellLine line = CellLine::Of(*object);
  return Shown(line);
}

std::string RandomBytes(std::mt19937_64& random) {
  static const std::vector<std::string> pieces = {
      "a", "row", "\"", "\\", "\n", "\t", "\r", "ä", "€", "😀", "\x7f", std::string("\0", 1), "\xff",
      "{", "}", ":", " ", "/"};
  std::string bytes;
  for (size_t left = random() % 6; left > 0; --left) bytes += pieces[random() % pieces.size()];
  return bytes;
}

TEST(CellJson, WhatIsWrittenIsRead) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 3000; ++i) {
    Cell cell;
    cell.row = "r" + RandomBytes(random);
    cell.family = "f";
    cell.type = random() % 4 == 0 ? CellType::kDeleteColumn : CellType::kPut;
    cell.qualifier = RandomBytes(random);
    cell.timestamp = static_cast<Timestamp>(random() % 1000000);
    cell.sequence_id = random() % 3;
    if (cell.type == CellType::kPut) {
      cell.value = RandomBytes(random);
      if (random() % 3 == 0) cell.time_to_live = static_cast<int64_t>(1 + random() % 1000);
    }
    std::string text;
    AddCellJson(cell, "n:t", text);
    ASSERT_TRUE(text.ends_with("\n"));
    text.pop_back();
    ASSERT_EQ(text.find('\n'), text.npos);
    const auto read = Read(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read, ReadAsObject(text)) << text;
    EXPECT_NE(read->find(cell.row), read->npos) << text;
    EXPECT_NE(read->find(cell.qualifier), read->npos) << text;
    EXPECT_NE(read->find(cell.value), read->npos) << text;
    // By other programs' rules for the same text.
    EXPECT_EQ(Read(json::parse(text).dump(-1, ' ', true)), read) << text;
  }
}

// What is not taken at once is looked at by the other reader: neither takes what it does not say.
TEST(CellJson, BothReadersTakeTheSame) {
  const std::vector<std::string> lines = {
      R"({"row":"r","column":"f:q","value":"v"})",
      R"( { "row" : "r" , "family":"f","qualifier":"q","value":"v","timestamp":-5 } )",
      R"({"row":{"hex":"00ff"},"column":"f:q","value":{"hex":""}})",
      R"({"row":"r","column":"f:q","value":"\u00e4\ud83d\ude00\/"})",
      R"({"row":"r","column":"f:q","amount":9223372036854775807,"type":"Increment"})",
      R"({"row":"r","column":"f:q","value":"v","shown":"x"})"};
  for (const std::string& line : lines) {
    ASSERT_TRUE(Read(line)) << line;
    EXPECT_EQ(Read(line), ReadAsObject(line)) << line;
  }
  for (const std::string& line : std::vector<std::string>{
           "", "{", "[]", "7", R"({"row":"r")", R"({"row":"r"} x)", R"({"row":"r"}{})",
           R"({"row":"r",})", R"({"row":"a","row":"b"})", R"({"column":"f:q","value":"v"})",
           R"({"row":"r","other":"x"})", R"({"row":{"hex":"0"}})", R"({"row":{"hex":"00","hex":"00"}})",
           R"({"row":{"text":"00"}})", R"({"row":["r"]})", R"({"row":"r","value":null})",
           R"({"row":"r","timestamp":1.5})", R"({"row":"r","timestamp":99999999999999999999})",
           R"({"row":"r","value":true})", "{\"row\":\"\xff\"}", "{\"row\":\"a\nb\"}",
           R"({"row":"r","families":{}})"})
    EXPECT_FALSE(Read(line)) << line;
}

}  // namespace
}  // namespace cellfs
