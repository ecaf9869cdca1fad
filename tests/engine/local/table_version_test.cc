// SPDX-License-Identifier: MIT
#include "engine/local/table_version.h"

#include <gtest/gtest.h>

namespace cellfs {
namespace {

TEST(TableFilesTest, FilesAreOrderedByAgeInEachFamily) {
  std::vector<std::shared_ptr<StoreFile>> files;
  FileCache cache(1 << 20, 3);
  const auto folder = std::make_shared<const TableFolder>();
  const auto add = [&](const std::string& family, uint64_t number, SequenceId highest) {
    FileFacts facts{.number = number, .family = family, .lowest = highest, .highest = highest};
    facts.bytes = 10;
    files.push_back(std::make_shared<StoreFile>(folder, facts, cache));
  };
  add("g", 4, 9);
  add("f", 1, 20);  // numbers tell nothing: a compaction's file is old and has a late number
  add("f", 9, 3);
  add("f", 5, 11);
  const TableFiles table{files};
  std::string text;
  for (const auto& file : table.Of("f")) text += std::to_string(file->facts().number) + " ";
  EXPECT_EQ(text, "9 5 1 ");
  EXPECT_EQ(table.Of("g").size(), 1u);
  EXPECT_TRUE(table.Of("h").empty());
  EXPECT_EQ(table.All().size(), 4u);
  EXPECT_EQ(table.bytes(), 40u);
}

}  // namespace
}  // namespace cellfs
