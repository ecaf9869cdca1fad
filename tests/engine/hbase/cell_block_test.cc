// SPDX-License-Identifier: MIT
#include "engine/big_endian.h"
#include "engine/hbase/cell_block.h"

#include <gtest/gtest.h>

#include <random>


namespace cellfs::hbase {
namespace {

Cell CellOf(std::string row, std::string family, std::string qualifier, Timestamp timestamp,
            CellType type, std::string value) {
  Cell cell{.row = std::move(row),
            .family = std::move(family),
            .qualifier = std::move(qualifier),
            .timestamp = timestamp,
            .type = type,
            .value = std::move(value)};
  cell.value_length = cell.value.size();
  return cell;
}

std::string BlockOf(const Cell& cell) {
  std::string block;
  AppendToBlock(ViewOf(cell), block);
  return block;
}

// As KeyValueCodecWithTags writes a cell that has tags.
std::string WithTags(std::string block, const std::string& tags) {
  AppendBigEndian(static_cast<uint16_t>(tags.size()), block);
  block += tags;
  std::string length;
  AppendBigEndian(static_cast<uint32_t>(block.size() - 4), length);
  return block.replace(0, 4, length);
}

std::string Tag(uint8_t type, const std::string& value) {
  std::string tag;
  AppendBigEndian(static_cast<uint16_t>(1 + value.size()), tag);
  AppendBigEndian(type, tag);
  return tag + value;
}

std::string TimeToLiveTag(uint64_t milliseconds) {
  std::string value;
  AppendBigEndian(milliseconds, value);
  return Tag(8, value);
}

TEST(CellBlock, IsByteForByteHBases) {
  const std::string block =
      BlockOf(CellOf("row", "f", "q", 0x0102030405060708, CellType::kPut, "value"));
  const std::string expected(
      "\0\0\0\x1e"                  // 30 bytes follow
      "\0\0\0\x11\0\0\0\x05"        // key 17, value 5
      "\0\x03row\x01" "fq"          // row, family, qualifier
      "\x01\x02\x03\x04\x05\x06\x07\x08\x04"
      "value",
      34);
  EXPECT_EQ(block, expected);
}

TEST(CellBlock, GivesBackEveryCell) {
  std::mt19937 random(1);
  const auto bytes = [&](size_t longest) {
    std::string made(random() % (longest + 1), '\0');
    for (char& byte : made) byte = static_cast<char>(random());
    return made;
  };
  constexpr CellType kTypes[] = {CellType::kPut, CellType::kDelete, CellType::kDeleteColumn,
                                 CellType::kDeleteFamily, CellType::kDeleteFamilyVersion};
  std::vector<Cell> cells;
  std::string block;
  for (int i = 0; i < 1000; ++i) {
    cells.push_back(CellOf(bytes(300), bytes(200), bytes(300),
                           static_cast<Timestamp>(random() >> 1), kTypes[random() % 5],
                           bytes(2000)));
    AppendToBlock(ViewOf(cells.back()), block);
  }
  CellBlockReader reader(block);
  for (const Cell& cell : cells) {
    ASSERT_FALSE(reader.at_end());
    const auto read = reader.Next();
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ(*read, cell);
  }
  EXPECT_TRUE(reader.at_end());
}

TEST(CellBlock, ReadsTheTimeToLiveAmongOtherTags) {
  const Cell cell = CellOf("r", "f", "q", 5, CellType::kPut, "v");
  const std::string block =
      WithTags(BlockOf(cell), Tag(1, "acl") + TimeToLiveTag(60'000) + Tag(2, "label"));
  const auto read = CellBlockReader(block).Next();
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->time_to_live, 60'000);
  EXPECT_EQ(read->value, "v");
}

TEST(CellBlock, RefusesABlockThatIsCutOff) {
  const std::string block =
      WithTags(BlockOf(CellOf("row", "f", "q", 5, CellType::kPut, "v")), TimeToLiveTag(1));
  for (size_t length = 1; length < block.size(); ++length) {
    const auto read = CellBlockReader(std::string_view(block).substr(0, length)).Next();
    ASSERT_FALSE(read.ok()) << length;
    EXPECT_EQ(read.status().code(), StatusCode::kIoError);
  }
}

// Whatever the bytes are: a cell or an error, and no byte behind the block is read.
TEST(CellBlock, SurvivesWrongBytes) {
  std::mt19937 random(2);
  const std::string good =
      WithTags(BlockOf(CellOf("row", "f", "q", 5, CellType::kPut, "v")), TimeToLiveTag(1));
  for (int i = 0; i < 50'000; ++i) {
    std::string bad = good;
    for (size_t n = 1 + random() % 3; n-- > 0;) {
      bad[random() % bad.size()] = static_cast<char>(random());
    }
    CellBlockReader reader(bad);
    while (!reader.at_end()) {
      if (!reader.Next().ok()) break;
    }
  }
}

TEST(CellBlock, RefusesAnUnknownType) {
  std::string block = BlockOf(CellOf("r", "f", "q", 5, CellType::kPut, ""));
  block.back() = 5;
  const auto read = CellBlockReader(block).Next();
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().message(), "the server sent what is no cell: its type is 5");
}

}  // namespace
}  // namespace cellfs::hbase
