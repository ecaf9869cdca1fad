// SPDX-License-Identifier: MIT
#include "engine/memstore/memstore.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <thread>

namespace cellfs {
namespace {

Cell Put(std::string row, std::string qualifier, Timestamp timestamp, SequenceId sequence,
         std::string value = "v", std::string family = "f") {
  const uint64_t length = value.size();
  return {row, family, qualifier, timestamp, CellType::kPut, sequence, kNoCellTtl, value, length};
}

void Add(Memstore& memstore, const Cell& cell) {
  const CellView view = ViewOf(cell);
  memstore.Add({&view, 1});
}

std::vector<Cell> Rest(CellCursor& cursor) {
  std::vector<Cell> cells;
  for (; cursor.valid(); (void)cursor.Next()) cells.push_back(CopyOf(cursor.cell()));
  return cells;
}

struct Less {
  bool operator()(const Cell& a, const Cell& b) const {
    return CompareCells(ViewOf(a), ViewOf(b)) < 0;
  }
};
using Model = std::set<Cell, Less>;

Cell RandomCell(std::mt19937_64& random, SequenceId sequence) {
  static constexpr CellType kTypes[] = {CellType::kPut, CellType::kPut, CellType::kDelete,
                                        CellType::kDeleteColumn, kWithdrawMarker};
  Cell cell = Put(std::string(1 + random() % 3, static_cast<char>(random() % 4 * 85)),
                  std::string(random() % 3, static_cast<char>(random() % 3 * 127)),
                  static_cast<Timestamp>(random() % 5), sequence,
                  std::string(random() % 50, static_cast<char>(sequence)));
  cell.type = kTypes[random() % std::size(kTypes)];
  return cell;
}

std::vector<Cell> Expected(const Model& model, SequenceId read_point, const CellPlace& place) {
  std::vector<Cell> cells;
  for (const Cell& cell : model) {
    const bool before = cell.row != place.row               ? cell.row < place.row
                        : cell.qualifier != place.qualifier ? cell.qualifier < place.qualifier
                                                            : cell.timestamp > place.timestamp;
    if (!before && cell.sequence_id <= read_point) cells.push_back(cell);
  }
  return cells;
}

TEST(MemstoreTest, WhatIsNotFinishedWasNeverThere) {
  const auto memstore = std::make_shared<Memstore>(std::vector<std::string>{"f"});
  for (SequenceId sequence = 1; sequence <= 30; ++sequence) {
    const Cell kept = Put("r", "q", static_cast<Timestamp>(sequence), sequence);
    Add(*memstore, kept);
    const uint64_t bytes = memstore->bytes();
    Memstore::Addition addition(*memstore);
    for (const size_t size : {10, 3000, 100000}) {
      const Cell dropped = Put("r", "q", 1000, sequence + 1, std::string(size, 'x'));
      const CellView view = ViewOf(dropped);
      addition.Prepare({&view, 1});
    }
    EXPECT_EQ(memstore->cells(), sequence);
    EXPECT_EQ(memstore->bytes(), bytes);
  }
  const auto cursor = OpenMemstoreCursor(memstore, "f", kMaxSequenceId);
  ASSERT_TRUE(cursor->Seek({}).ok());
  EXPECT_EQ(Rest(*cursor).size(), 30u);
}

TEST(MemstoreTest, LongValuesAreTakenWithoutACopy) {
  const auto memstore = std::make_shared<Memstore>(std::vector<std::string>{"f"});
  std::vector<const char*> bytes;
  for (SequenceId sequence = 1; sequence <= 20; ++sequence) {
    Cell cell = Put("r", "q", static_cast<Timestamp>(100 - sequence), sequence);
    std::string value(Memstore::Addition::kLong, static_cast<char>('a' + sequence));
    const char* const at = value.data();
    Memstore::Addition addition(*memstore);
    cell.value.clear();
    CellView view = ViewOf(cell);
    view.value = addition.TakeValue(std::move(value));
    addition.Prepare({&view, 1});
    if (sequence % 2 == 0) continue;  // as if it had failed
    addition.Finish();
    bytes.push_back(at);
  }
  EXPECT_GT(memstore->bytes(), 10 * Memstore::Addition::kLong);
  const auto cursor = OpenMemstoreCursor(memstore, "f", kMaxSequenceId);
  ASSERT_TRUE(cursor->Seek({}).ok());
  for (const char* at : bytes) {
    ASSERT_TRUE(cursor->valid());
    EXPECT_EQ(cursor->cell().value.data(), at);
    EXPECT_EQ(cursor->cell().value_length, Memstore::Addition::kLong);
    EXPECT_EQ(cursor->cell().value.back(), static_cast<char>('a' + cursor->cell().sequence_id));
    ASSERT_TRUE(cursor->Next().ok());
  }
  EXPECT_FALSE(cursor->valid());
}

// A put goes where its thread has looked last, if it belongs there: not where others have put since,
// nor where it has looked in another memstore.
TEST(MemstoreTest, WhereAThreadHasLookedBeforeAPutChangesNoOrder) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    std::array<std::shared_ptr<Memstore>, 2> memstores;
    std::array<Model, 2> models;
    for (auto& memstore : memstores)
      memstore = std::make_shared<Memstore>(std::vector<std::string>{"f"});
    for (SequenceId sequence = 1; sequence <= 300; ++sequence) {
      const Cell cell = RandomCell(random, sequence);
      const Cell other = RandomCell(random, sequence + 1000);
      const size_t to = random() % 2;
      const bool looks_there = random() % 4 != 0;
      const Cell& aim = random() % 4 != 0 ? cell : other;
      const auto cursor =
          OpenMemstoreCursor(memstores[looks_there ? to : 1 - to], "f", kMaxSequenceId);
      ASSERT_TRUE(cursor->Seek({aim.row, aim.qualifier}).ok());
      if (random() % 4 == 0) {
        std::thread([&] { Add(*memstores[to], other); }).join();
        models[to].insert(other);
      }
      Add(*memstores[to], cell);
      models[to].insert(cell);
    }
    for (size_t i = 0; i < memstores.size(); ++i) {
      const auto cursor = OpenMemstoreCursor(memstores[i], "f", kMaxSequenceId);
      ASSERT_TRUE(cursor->Seek({}).ok());
      ASSERT_EQ(Rest(*cursor), Expected(models[i], kMaxSequenceId, {}));
      for (const Cell& cell : models[i]) {
        ASSERT_TRUE(cursor->Seek({cell.row, cell.qualifier, cell.timestamp}).ok());
        ASSERT_TRUE(cursor->valid());
        ASSERT_EQ(cursor->cell().qualifier, cell.qualifier);
      }
    }
  }
}

TEST(MemstoreTest, IsAsASortedSetFromAnyPlaceAndReadPoint) {
  constexpr uint64_t kSeed = 20240607;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  const auto memstore = std::make_shared<Memstore>(std::vector<std::string>{"f"});
  Model model;
  for (SequenceId sequence = 1; sequence <= 1500; ++sequence) {
    const Cell cell = RandomCell(random, sequence);
    model.insert(cell);
    Add(*memstore, cell);
  }
  EXPECT_EQ(memstore->cells(), 1500u);
  EXPECT_EQ(memstore->highest_sequence_id(), 1500u);
  for (int i = 0; i < 150; ++i) {
    const Cell aim = RandomCell(random, 0);
    const CellPlace place{aim.row, aim.qualifier, i % 3 ? aim.timestamp : kLatestTimestamp};
    const SequenceId read_point = random() % 1600;
    const auto cursor = OpenMemstoreCursor(memstore, "f", read_point);
    ASSERT_TRUE(cursor->Seek(place).ok());
    ASSERT_EQ(Rest(*cursor), Expected(model, read_point, place));

    const SequenceId early = random() % 30;  // so that whole rows are invisible
    const auto backward = OpenMemstoreCursor(memstore, "f", early);
    ASSERT_TRUE(backward->SeekToRowBefore(i == 0 ? "" : aim.row).ok());
    std::string before;
    for (const Cell& cell : model)
      if ((i == 0 || cell.row < aim.row) && cell.sequence_id <= early) before = cell.row;
    ASSERT_EQ(Rest(*backward),
              before.empty() ? std::vector<Cell>() : Expected(model, early, {before}));
  }
}

// The reader sees, at every moment, exactly the cells up to the read point that was published.
TEST(MemstoreTest, IsReadWhileItIsWritten) {
  constexpr uint64_t kSeed = 77;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  std::vector<Cell> cells;
  for (SequenceId sequence = 1; sequence <= 3000; ++sequence)
    cells.push_back(RandomCell(random, sequence));
  const auto memstore = std::make_shared<Memstore>(std::vector<std::string>{"f"});
  std::atomic<SequenceId> published{0};
  std::thread writer([&] {
    for (const Cell& cell : cells) {
      Add(*memstore, cell);
      published.store(cell.sequence_id, std::memory_order_release);
    }
  });
  bool last = false;
  while (!last) {
    const SequenceId read_point = published.load(std::memory_order_acquire);
    last = read_point == cells.size();
    const auto cursor = OpenMemstoreCursor(memstore, "f", read_point);
    ASSERT_TRUE(cursor->Seek({}).ok());
    const std::vector<Cell> seen = Rest(*cursor);
    ASSERT_EQ(seen.size(), read_point);
    ASSERT_TRUE(std::is_sorted(seen.begin(), seen.end(), Less()));
    for (const Cell& cell : seen) ASSERT_EQ(cell, cells[cell.sequence_id - 1]);
    ASSERT_TRUE(cursor->SeekToRowBefore("").ok());
    ASSERT_EQ(cursor->valid(), read_point > 0);
  }
  writer.join();
}

TEST(MemstoreTest, KeepsFamiliesApartAndPassesOverUnknownOnes) {
  const auto memstore = std::make_shared<Memstore>(std::vector<std::string>{"f", "g"});
  const std::vector<Cell> cells = {Put("r", "q", 5, 1, "a", "f"), Put("r", "q", 3, 1, "b", "g"),
                                   Put("r", "q", 1, 1, "c", "gone")};
  std::vector<CellView> views;
  for (const Cell& cell : cells) views.push_back(ViewOf(cell));
  memstore->Add(views);
  EXPECT_EQ(memstore->cells(), 2u);
  EXPECT_EQ(memstore->FiguresOf("g").cells, 1u);
  EXPECT_EQ(memstore->FiguresOf("f").oldest_that_shows, 5);
  EXPECT_EQ(memstore->FiguresOf("g").oldest_that_shows, 3);
  EXPECT_EQ(memstore->FiguresOf("gone").oldest_that_shows, kLatestTimestamp);
  const auto cursor = OpenMemstoreCursor(memstore, "g", kMaxSequenceId);
  ASSERT_TRUE(cursor->Seek({}).ok());
  EXPECT_EQ(Rest(*cursor), (std::vector<Cell>{cells[1]}));
  const auto gone = OpenMemstoreCursor(memstore, "gone", kMaxSequenceId);
  EXPECT_TRUE(gone->Seek({}).ok() && !gone->valid());
  EXPECT_TRUE(gone->SeekToRowBefore("").ok() && !gone->valid());
}

TEST(MemstoreTest, OnlyPutsAndWithdrawalsCountForTheOldestThatShows) {
  Memstore memstore({"f"});
  Cell tombstone = Put("r", "q", 1, 1);
  tombstone.type = CellType::kDeleteColumn;
  Add(memstore, tombstone);
  EXPECT_EQ(memstore.FiguresOf("f").oldest_that_shows, kLatestTimestamp);
  Add(memstore, Put("r", "q", 9, 2));
  Add(memstore, Put("r", "q", 7, 3));
  Add(memstore, Put("r", "q", 8, 4));
  EXPECT_EQ(memstore.FiguresOf("f").oldest_that_shows, 7);
  Cell withdrawal = Put("r", "q", 3, 5, "\x0c");
  withdrawal.type = kWithdrawMarker;
  Add(memstore, withdrawal);
  EXPECT_EQ(memstore.FiguresOf("f").oldest_that_shows, 3);
}

TEST(MemstoreTest, LengthsOnlyLeavesOutValuesButNotWithdrawals) {
  const auto memstore = std::make_shared<Memstore>(std::vector<std::string>{"f"});
  Cell marker = Put("r", "q", 1, 2, "\x04");
  marker.type = kWithdrawMarker;
  Add(*memstore, Put("r", "q", 1, 1, "value"));
  Add(*memstore, marker);
  const auto cursor = OpenMemstoreCursor(memstore, "f", kMaxSequenceId, /*lengths_only=*/true);
  ASSERT_TRUE(cursor->Seek({}).ok());
  EXPECT_EQ(cursor->cell().value, "\x04");
  ASSERT_TRUE(cursor->Next().ok());
  EXPECT_EQ(cursor->cell().value, "");
  EXPECT_EQ(cursor->cell().value_length, 5u);
}

TEST(MemstoreTest, TwoWithdrawalsOfOneCellOfTwoTypesBothStay) {
  const auto memstore = std::make_shared<Memstore>(std::vector<std::string>{"f"});
  for (const char* type : {"\x04", "\x08"}) {
    Cell marker = Put("r", "q", 1, 2, type);
    marker.type = kWithdrawMarker;
    Add(*memstore, marker);
  }
  const auto cursor = OpenMemstoreCursor(memstore, "f", kMaxSequenceId);
  ASSERT_TRUE(cursor->Seek({}).ok());
  EXPECT_EQ(Rest(*cursor).size(), 2u);
}

TEST(MemstoreTest, ViewsOutliveTheCursorAndCursorsTheOwnersMemstore) {
  auto memstore = std::make_shared<Memstore>(std::vector<std::string>{"f"});
  const std::string large(3 << 20, 'x');
  Add(*memstore, Put("r", "q", 1, 1, large));
  EXPECT_GT(memstore->bytes(), large.size());
  EXPECT_LT(memstore->bytes(), large.size() + 300);
  auto cursor = OpenMemstoreCursor(memstore, "f", kMaxSequenceId);
  ASSERT_TRUE(cursor->Seek({"r"}).ok());
  const CellView view = cursor->cell();
  ASSERT_TRUE(cursor->Next().ok());
  EXPECT_FALSE(cursor->valid());
  EXPECT_EQ(view.value, large);
  memstore.reset();
  ASSERT_TRUE(cursor->Seek({}).ok());
  EXPECT_EQ(cursor->cell().value, large);
}

}  // namespace
}  // namespace cellfs
