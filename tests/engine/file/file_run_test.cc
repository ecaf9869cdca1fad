// SPDX-License-Identifier: MIT
#include "engine/file/file_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/file/store_file_builder.h"
#include "engine/visibility/vector_cursor.h"
#include "tests/support/assert_ok.h"
#include "tests/support/family_of.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

class FileRunTest : public testing::Test {
 protected:
  std::shared_ptr<StoreFile> FileFrom(const std::string& first, const std::string& last) {
    FileFacts facts{.number = next_number_++, .family = "f", .first_row = first, .last_row = last};
    return std::make_shared<StoreFile>(folder_, facts, cache_);
  }
  // A file that is really there, of cells in order.
  std::shared_ptr<StoreFile> FileOf(const std::vector<Cell>& cells) {
    auto builder = StoreFileBuilder::Begin(PosixFiles(), folder_, FamilyOf("f", {}),
                                           {.number = next_number_++, .cells_at_most = 100});
    for (const Cell& cell : cells) EXPECT_TRUE((*builder)->Put(ViewOf(cell)).ok());
    const auto facts = (*builder)->Finish(1, 1000);
    return std::make_shared<StoreFile>(folder_, **facts, cache_);
  }
  static std::string Shown(const std::vector<FileRun>& runs) {
    std::string text;
    for (const FileRun& run : runs) {
      for (const auto& file : run.files)
        text += file->facts().first_row + "-" + file->facts().last_row + " ";
      text += "| ";
    }
    return text;
  }
  static std::string Shown(CellCursor& cursor) {
    if (!cursor.valid()) return "end";
    EXPECT_TRUE(cursor.LoadValue().ok());
    const CellView& cell = cursor.cell();
    return std::string(cell.row) + ":" + std::string(cell.qualifier) + "/" +
           std::to_string(cell.timestamp) + "=" + std::string(cell.value);
  }

  TemporaryDirectory directory_;
  const std::shared_ptr<TableFolder> folder_ =
      std::make_shared<TableFolder>(TableFolder{directory_.path(), 7, 1});
  FileCache cache_{1 << 20, 2};
  uint64_t next_number_ = 1;
};

TEST_F(FileRunTest, FilesThatFollowEachOtherWithoutACommonRowAreOne) {
  EXPECT_EQ(Shown(RunsOf({})), "");
  EXPECT_EQ(Shown(RunsOf({FileFrom("a", "c"), FileFrom("d", "f"), FileFrom("g", "g")})),
            "a-c d-f g-g | ");
  EXPECT_EQ(Shown(RunsOf({FileFrom("g", "g"), FileFrom("a", "c"), FileFrom("d", "f")})),
            "a-c d-f g-g | ");
  EXPECT_EQ(Shown(RunsOf({FileFrom("a", "c"), FileFrom("c", "f"), FileFrom("g", "h")})),
            "a-c | c-f g-h | ");
  EXPECT_EQ(Shown(RunsOf({FileFrom("a", "z"), FileFrom("m", "m"), FileFrom("n", "o")})),
            "a-z | m-m n-o | ");
  // What fits into an earlier run only, stays behind what came between.
  EXPECT_EQ(Shown(RunsOf({FileFrom("a", "c"), FileFrom("b", "d"), FileFrom("x", "y")})),
            "a-c | b-d x-y | ");
}

TEST_F(FileRunTest, OneFileMayHaveARow) {
  const FileRun run = RunsOf({FileFrom("b", "d"), FileFrom("f", "f")}).front();
  const auto found = [&](const std::string& row) {
    const auto* const file = run.FindFileOf(row);
    return file == nullptr ? "-" : (*file)->facts().first_row;
  };
  EXPECT_EQ(found("a") + found("b") + found("c") + found("d") + found("e") + found("f") +
                found("ff") + found(""),
            "-bbb-f--");
}

// Its law: a run shows what the merge of its files does, however it is moved.
TEST_F(FileRunTest, ARunReadsAsAMergeOfItsFiles) {
  std::mt19937 random(7);
  const auto below = [&](int limit) { return std::uniform_int_distribution(0, limit - 1)(random); };
  const auto row_of = [](int number) { return "r" + std::to_string(100 + number); };
  for (int round = 0; round < 10; ++round) {
    StoreFiles files;
    std::vector<Cell> all;
    for (int row = 0; row < 40;) {
      std::vector<Cell> cells;
      for (const int end = row + 1 + below(6); row < end; ++row) {
        if (below(4) == 0) continue;
        for (int column = 0; column <= below(3); ++column) {
          const std::string value = below(5) == 0 ? std::string(3000, 'v') : "v";
          cells.push_back({.row = row_of(row),
                           .qualifier = std::string(1, static_cast<char>('a' + column)),
                           .timestamp = 50,
                           .sequence_id = below(10) == 0 ? 900u : 10u,
                           .value = value,
                           .value_length = value.size()});
        }
      }
      if (cells.empty()) continue;
      files.push_back(FileOf(cells));
      for (Cell& cell : cells)
        if (cell.sequence_id < 500) all.push_back(std::move(cell));
    }
    std::shuffle(files.begin(), files.end(), random);
    const auto runs = RunsOf(files);
    ASSERT_EQ(runs.size(), 1u);
    const auto run =
        OpenRun(runs.front(), CellSet::kShown, /*read_point=*/500, /*lengths_only=*/false);
    const auto expected = MakeVectorCursor(std::make_shared<const std::vector<Cell>>(all));
    for (int step = 0; step < 300; ++step) {
      const std::string row = row_of(below(42) - 1) + (below(4) == 0 ? "x" : "");
      const int act = step == 0 ? 0 : below(4);
      if (act == 0) {
        const std::string qualifier = below(2) == 0 ? "" : "b";
        ASSERT_OK(run->Seek({row, qualifier}));
        ASSERT_OK(expected->Seek({row, qualifier}));
      } else if (act == 1) {
        const std::string before = below(8) == 0 ? "" : row;
        ASSERT_OK(run->SeekToRowBefore(before));
        ASSERT_OK(expected->SeekToRowBefore(before));
      } else if (expected->valid()) {
        // Also from where its own cell is, which goes with its file.
        if (act == 2) {
          ASSERT_OK(run->Next());
          ASSERT_OK(expected->Next());
        } else {
          const std::string beyond = std::string(expected->cell().row) + "0";
          ASSERT_OK(run->Seek({beyond}));
          ASSERT_OK(expected->Seek({beyond}));
        }
      }
      ASSERT_EQ(Shown(*run), Shown(*expected)) << step;
    }
  }
}

}  // namespace
}  // namespace cellfs
