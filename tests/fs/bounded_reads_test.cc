// SPDX-License-Identifier: MIT
//
// How much a request brings from the store at once: who fills a row, or keeps a long history, does
// not choose the daemon's memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/forwarding_store.h"
#include "fs/listing/directory_stream.h"
#include "fs/reading/raw_pieces.h"
#include "tests/fs/tree.h"
#include "tests/support/temporary_directory.h"

namespace cellfs::fs {
namespace {

constexpr size_t kMost = size_t{2} << 20;  // bytes of one answer

size_t HeldBytes(const RowCells& cells) {
  size_t bytes = 0;
  for (const Cell& cell : cells) bytes += cellfs::HeldBytes(cell);
  return bytes;
}

// Notes how much the largest answer held.
class MeasuringStore : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  StatusOr<RowCells> Read(const Caller& caller, const TableName& table, const Get& get) override {
    auto cells = ForwardingStore::Read(caller, table, get);
    if (cells.ok()) Note(HeldBytes(*cells));
    return cells;
  }
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Caller& caller, const TableName& table,
                                                 const Scan& scan) override {
    CELLFS_ASSIGN_OR_RETURN(auto scanner, ForwardingStore::OpenScanner(caller, table, scan));
    return std::unique_ptr<Scanner>(new Measured(*this, std::move(scanner)));
  }

  size_t largest = 0;

 private:
  class Measured : public Scanner {
   public:
    Measured(MeasuringStore& store, std::unique_ptr<Scanner> scanner)
        : store_(store), scanner_(std::move(scanner)) {}
    StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
      auto rows = scanner_->Next(batch);
      size_t bytes = 0;
      if (rows.ok()) {
        for (const RowCells& row : *rows) bytes += HeldBytes(row);
      }
      store_.Note(bytes);
      return rows;
    }
    bool at_end() const override { return scanner_->at_end(); }

   private:
    MeasuringStore& store_;
    const std::unique_ptr<Scanner> scanner_;
  };
  void Note(size_t bytes) { largest = std::max(largest, bytes); }
};

std::string Number(int number) {
  const std::string digits = std::to_string(number);
  return std::string(6 - digits.size(), '0') + digits;
}

class BoundedReadsTest : public testing::Test {
 protected:
  BoundedReadsTest() {
    tree_.filesystem.reset();
    StoreOptions options;
    options.clock = tree_.clock;
    auto local = *OpenLocalStore(directory_.path() + "/store", options);
    tree_.controls = local.get();
    auto measuring = std::make_unique<MeasuringStore>(std::move(local));
    store_ = measuring.get();
    tree_.store = std::move(measuring);
    tree_.filesystem =
        std::make_unique<FileSystem>(*tree_.store, MountOptions(), tree_.clock, tree_.controls);
  }

  void MakeTable(const std::string& versions) {
    TableSchema schema(tree_.table);
    for (const char* name : {"e", "f"}) {
      FamilySchema family(name);
      EXPECT_TRUE(family.Set("VERSIONS", versions).ok());
      schema.families[name] = family;
    }
    EXPECT_TRUE(tree_.store->CreateTable(Caller::Superuser(), schema).ok());
  }
  void Fill(int cells, const std::string& value) {
    cellfs::Put put{"r", {}};
    for (int i = 0; i < cells; ++i)
      put.cells.push_back({"f", Number(i), kLatestTimestamp, value, {}});
    EXPECT_TRUE(
        tree_.store->Mutate(Caller::Superuser(), tree_.table, RowMutations::Of(put)).ok());
  }

  OpenFileMemory& open_file_memory() { return tree_.filesystem->parts().tree.open_file_memory; }

  // As the kernel lists a directory, in replies of 100 names.
  std::vector<std::string> ListAll(const std::string& path, size_t* most_used = nullptr) {
    const auto entry = tree_.LookUp(path);
    EXPECT_TRUE(entry.ok()) << path;
    auto opened = tree_.filesystem->OpenListing(tree_.request, *entry->node);
    std::vector<std::string> names;
    uint64_t offset = 0;
    for (size_t before = 1; before != 0;) {
      size_t in_reply = 0;
      const auto listed = tree_.filesystem->List(
          tree_.request, *opened->directory, offset, [&](const DirectoryEntry& listed_entry) {
            if (in_reply == 100) return false;
            ++in_reply;
            offset = listed_entry.next_offset;
            if (!listed_entry.name.starts_with('.')) names.push_back(listed_entry.name);
            return true;
          });
      EXPECT_TRUE(listed.ok()) << listed.status().reason();
      if (!listed.ok()) break;
      if (most_used != nullptr)
        *most_used = std::max<size_t>(*most_used, open_file_memory().used());
      before = in_reply;
    }
    return names;
  }

  const TemporaryDirectory directory_;  // the store in memory gives whole rows
  Tree tree_;
  MeasuringStore* store_;
};

constexpr const char* kFiltered = "default/t/.scan/filter=QualifierFilter(>=%2C 'binary:0')/r";

TEST_F(BoundedReadsTest, OneFileOfAQueryIsReadWithoutTheValuesBesideIt) {
  MakeTable("1");
  Fill(64, std::string(size_t{256} << 10, 'v'));
  store_->largest = 0;
  EXPECT_EQ(tree_.ReadFile(std::string(kFiltered) + "/f/000050").size(), size_t{256} << 10);
  EXPECT_LE(store_->largest, kMost);
}

TEST_F(BoundedReadsTest, OfAWideRowOfAQueryComesABeginning) {
  MakeTable("1");
  Fill(30000, "v");
  tree_.Put("s", "q", "v");
  for (const char* query :
       {"filter=QualifierFilter(>=%2C 'binary:0')", "columns=f", "versions=3"}) {
    store_->largest = 0;
    EXPECT_EQ(tree_.List(std::string("default/t/.scan/") + query),
              (std::vector<std::string>{"r", "s"}))
        << query;
    EXPECT_LE(store_->largest, kMost) << query;
  }
}

TEST_F(BoundedReadsTest, AWideRowOfAQueryIsListedInPieces) {
  constexpr int kCells = 30000;
  MakeTable("1");
  Fill(kCells, "v");
  for (const std::string& query :
       {std::string(kFiltered), std::string("default/t/.scan/versions=3/r"),
        std::string("default/t/.scan/columns=f/r")}) {
    store_->largest = 0;
    EXPECT_EQ(tree_.List(query).size(), 1u) << query;
    const auto names = ListAll(query + "/f");
    ASSERT_EQ(names.size(), static_cast<size_t>(kCells)) << query;
    for (int i = 0; i < kCells; ++i) ASSERT_TRUE(names[i].starts_with(Number(i))) << query;
    EXPECT_LE(store_->largest, kMost) << query;
  }
}

// What a filter that judges whole rows lets through comes at once, and counts until it is listed.
TEST_F(BoundedReadsTest, WhatAListingHoldsCountsAsHeldByOpenFiles) {
  constexpr int kCells = 5000;
  constexpr const char* kJudged = "default/t/.scan/filter=SKIP QualifierFilter(>=%2C 'binary:0')/r";
  MakeTable("1");
  Fill(kCells, "v");
  size_t most_used = 0;
  EXPECT_EQ(ListAll(std::string(kJudged) + "/f", &most_used).size(), static_cast<size_t>(kCells));
  EXPECT_GE(most_used, kCells * sizeof(SourceEntry));
  EXPECT_EQ(open_file_memory().used(), 0u);
}

TEST_F(BoundedReadsTest, WithoutRoomAListingReadsAgainWhatItCannotHold) {
  constexpr int kCells = 6000;
  constexpr const char* kJudged = "default/t/.scan/filter=SKIP QualifierFilter(>=%2C 'binary:0')/r";
  MakeTable("1");
  Fill(kCells, "v");
  OpenFileMemory::Share others(open_file_memory(), 0);
  const uint64_t limit = open_file_memory().limit();
  ASSERT_TRUE(others.Resize(limit / 2 - (uint64_t{256} << 10)));
  size_t most_used = 0;
  EXPECT_EQ(ListAll(std::string(kJudged) + "/f", &most_used).size(), static_cast<size_t>(kCells));
  EXPECT_LE(most_used, limit / 2);
}

TEST_F(BoundedReadsTest, ALongHistoryIsListedInPieces) {
  constexpr int kVersions = 3000;
  MakeTable("5000");
  for (int version = 1; version <= kVersions; ++version)
    tree_.Put("r", "q", "v", kStart + version);
  size_t most_used = 0;
  const auto names = ListAll("default/t/r/f/.versions/q", &most_used);
  ASSERT_EQ(names.size(), static_cast<size_t>(kVersions));
  for (int i = 0; i < kVersions; ++i)
    ASSERT_EQ(names[i], std::to_string(kStart + kVersions - i)) << i;
  EXPECT_LE(most_used, size_t{512} << 10);
}

TEST_F(BoundedReadsTest, OfMoreVersionsThanTheFamilyKeepsTheNewestAreListed) {
  MakeTable("300");
  for (int version = 1; version <= 400; ++version) tree_.Put("r", "q", "v", kStart + version);
  const auto names = ListAll("default/t/r/f/.versions/q");
  ASSERT_EQ(names.size(), 300u);
  EXPECT_EQ(names.front(), std::to_string(kStart + 400));
  EXPECT_EQ(names.back(), std::to_string(kStart + 101));
}

// A counter that begins must lie above what was deleted there.
TEST_F(BoundedReadsTest, WhatLiesAheadOfTheClockIsFoundWithoutTheHistory) {
  MakeTable("5000");
  const auto newest = [&] {
    store_->largest = 0;
    const auto found =
        NewestTimestampFrom(tree_.filesystem->parts().reading, Caller::Superuser(),
                            CellPlace(tree_.table, "r", "f", "q"), kStart);
    EXPECT_LE(store_->largest, size_t{1} << 10);
    return *found;
  };
  const auto remove = [&](CellType type, const std::string& qualifier, Timestamp timestamp) {
    const Delete tombstone{"r", {{type, "f", qualifier, timestamp}}};
    EXPECT_TRUE(tree_.store->Mutate(Caller::Superuser(), tree_.table, RowMutations::Of(tombstone))
                    .ok());
  };
  for (int version = 1; version <= 3000; ++version)
    tree_.Put("r", "q", "v", kStart - version);
  remove(CellType::kDeleteColumn, "q", kStart - 1);
  EXPECT_EQ(newest(), std::nullopt);
  remove(CellType::kDeleteFamily, "", kStart + 2);
  EXPECT_EQ(newest(), kStart + 2);
  tree_.Put("r", "p", "v", kStart + 9);
  tree_.Put("r", "q", "v", kStart + 1);
  EXPECT_EQ(newest(), kStart + 2);
  remove(CellType::kDeleteColumn, "q", kStart + 5);
  EXPECT_EQ(newest(), kStart + 5);
  tree_.Put("r", "q", "v", kLatestTimestamp - 1);
  EXPECT_EQ(newest(), kStart + 5);
}

TEST_F(BoundedReadsTest, ALongNameIsLookedUpInPieces) {
  constexpr int kCells = 3000;
  const std::string beginning(1000, 'b');
  MakeTable("1");
  cellfs::Put put{"r", {}};
  for (int i = 0; i < kCells; ++i)
    put.cells.push_back({"f", beginning + Number(i), kLatestTimestamp, "v", {}});
  ASSERT_TRUE(tree_.store->Mutate(Caller::Superuser(), tree_.table, RowMutations::Of(put)).ok());
  const auto names = ListAll("default/t/r/f");
  ASSERT_EQ(names.size(), static_cast<size_t>(kCells));
  store_->largest = 0;
  EXPECT_EQ(tree_.ReadFile("default/t/r/f/" + names.back()), "v");
  EXPECT_LE(store_->largest, size_t{128} << 10);
}

}  // namespace
}  // namespace cellfs::fs
