// SPDX-License-Identifier: MIT
//
// A moment goes on seeing what it saw, whatever is written, flushed, compacted, withdrawn, altered
// or truncated later; it holds nothing up, and what it holds goes with it.
#include <cstdlib>
#include <map>
#include <random>

#include "tests/engine/local/engine_fixture.h"

namespace cellfs {
namespace {

class MomentsTest : public EngineTest {
 protected:
  // Moments may keep nothing, and a compaction has two files to replace.
  void OpenBounded() {
    options_.moment_limit = 1;
    Open();
    for (const char* const value : {"v", "w"}) {
      ASSERT_OK(PutOne("a", 1, value));
      ASSERT_OK(table_->Flush());
    }
  }
  // All that can be read at the moment.
  std::string Everything(const std::shared_ptr<const Moment>& moment) {
    Scan raw;
    raw.raw = true;
    raw.max_versions = kAllVersions;
    raw.moment = moment;
    std::string text = Visible(moment) + "| " + ScanText(raw) + "|";
    for (int row = 0; row < 4; ++row) {
      Get get;
      get.row = "r" + std::to_string(row);
      get.columns["f"] = {"p", "q"};
      get.moment = moment;
      const auto cells = table_->Read(get, clock_->Now());
      if (!cells.ok()) return cells.status().ToString();
      for (const Cell& cell : *cells) text += " " + TextOf(cell);
    }
    return text;
  }
  void Pin() {
    Pinned pinned{.moment = *engine_->PinMoment(""), .saw = {}};
    pinned.saw = Everything(pinned.moment);
    pinned_.push_back(std::move(pinned));
  }
  void Check(const std::string& after) {
    for (const Pinned& pinned : pinned_) {
      ASSERT_EQ(Everything(pinned.moment), pinned.saw)
          << "at " << pinned.moment->sequence_id << " after " << after;
    }
  }
  int Below(int limit) { return std::uniform_int_distribution(0, limit - 1)(random_); }

  struct Pinned {
    std::shared_ptr<const Moment> moment;
    std::string saw;
  };
  std::vector<Pinned> pinned_;
  std::mt19937 random_;
};

TEST_F(MomentsTest, AMomentMayOutliveItsStore) {
  Open();
  ASSERT_OK(PutOne("a", 5, "seen"));
  ASSERT_OK(table_->Flush());
  Pin();
  ASSERT_OK(PutOne("b", 5, "seen"));
  Pin();
  ASSERT_OK(table_->Truncate());  // what they saw is kept for them alone
  Close();
  pinned_.clear();
  Open();
  EXPECT_EQ(Visible(), "");
}

TEST_F(MomentsTest, WithdrawnCellsAreSeenByEarlierMomentsOnly) {
  Open();
  ASSERT_OK(PutOne("a", 5, "seen"));
  for (const bool flush : {false, true}) {
    if (flush) ASSERT_OK(table_->Flush());
    const auto before = *engine_->PinMoment("");
    ASSERT_OK(Write("a", {}, {{"f", "q", 5, CellType::kPut}}));
    const auto after = *engine_->PinMoment("");
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(Raw(), "");
      EXPECT_EQ(Visible(before), "a/f:q/5=seen ");
      EXPECT_EQ(Visible(after), "");
      if (round == 0) ASSERT_OK(table_->Flush());
      if (round == 1) ASSERT_OK(table_->Compact(CompactionKind::kMajor));
    }
    ASSERT_OK(PutOne("a", 5, "seen"));
  }
}

TEST_F(MomentsTest, FilesThatAMomentHoldsGoWithIt) {
  Open();
  ASSERT_OK(PutOne("a", 1, "v"));
  ASSERT_OK(table_->Flush());
  ASSERT_OK(PutOne("a", 2, "w"));
  ASSERT_OK(table_->Flush());
  auto first = *engine_->PinMoment("");
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_EQ(StoreFileNames(), (std::vector<std::string>{"1.db", "2.db", "3.db"}));
  auto second = *engine_->PinMoment("");
  ASSERT_OK(table_->Truncate());
  // Both are the same sequence id, and so one state: that of the first two files.
  EXPECT_EQ(StoreFileNames(), (std::vector<std::string>{"1.db", "2.db"}));
  EXPECT_EQ(Visible(), "");
  EXPECT_EQ(Visible(second), "a/f:q/2=w a/f:q/1=v ");
  first.reset();
  EXPECT_EQ(Visible(second), "a/f:q/2=w a/f:q/1=v ");
  second.reset();
  EXPECT_TRUE(StoreFileNames().empty());
}

TEST_F(MomentsTest, FromABoundOnNoFurtherMomentIsPinned) {
  OpenBounded();
  ASSERT_FALSE(HasFatalFailure());
  auto first = *engine_->PinMoment("");
  ASSERT_OK(engine_->PinMoment(""));  // the first keeps nothing alone yet
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_GT(engine_->GetStatistics().moment_bytes, 0u);
  ASSERT_OK(engine_->PinMoment(""));  // he has few
  std::vector<std::shared_ptr<const Moment>> others;
  while (others.size() + 1 < kMomentsOfEach) others.push_back(*engine_->PinMoment(""));
  EXPECT_EQ(engine_->PinMoment("").status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(Visible(first), "a/f:q/1=w ");
  first.reset();
  ASSERT_OK(engine_->PinMoment(""));
}

TEST_F(MomentsTest, TheBoundIsForWhoKeepsHisShareOfIt) {
  OpenBounded();
  ASSERT_FALSE(HasFatalFailure());
  std::vector<std::shared_ptr<const Moment>> hers;
  while (hers.size() <= kMomentsOfEach) hers.push_back(*engine_->PinMoment("anna"));
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  const Statistics statistics = engine_->GetStatistics();
  EXPECT_EQ(statistics.moment_bytes_by_holder.at("anna"), statistics.moment_bytes);
  EXPECT_EQ(engine_->PinMoment("anna").status().code(), StatusCode::kUnavailable);
  ASSERT_OK(PutOne("a", 2, "x"));
  auto of_another = *engine_->PinMoment("bert");
  EXPECT_FALSE(engine_->GetStatistics().moment_bytes_by_holder.contains("bert"));
  EXPECT_EQ(Visible(of_another), "a/f:q/2=x a/f:q/1=w ");
  hers.pop_back();
  EXPECT_EQ(engine_->PinMoment("anna").status().code(), StatusCode::kUnavailable);
  hers.clear();
  ASSERT_OK(engine_->PinMoment("anna"));
}

TEST_F(MomentsTest, AMomentPinnedInTheMidstOfAFlushSeesTheMemstore) {
  Open();
  for (int t = 1; t <= 5; ++t) ASSERT_OK(PutOne("r0", t, std::to_string(t), "p"));
  files_.SetSyncHook([this] {  // the new file is written
    files_.SetSyncHook(nullptr);
    Pin();
    ASSERT_OK(PutOne("r0", 6, "later", "p"));
  });
  ASSERT_OK(table_->Flush());
  ASSERT_EQ(pinned_.size(), 1u);
  Check("the flush");
  ASSERT_OK(table_->Flush());
  Check("the next flush");
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  Check("the compaction");
}

TEST_F(MomentsTest, WhateverHappensAMomentSeesWhatItSaw) {
  const char* const given = std::getenv("CELLFS_SEED");
  const unsigned first = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 1u;
  const auto both = TableOf({FamilyOf("f", {{"VERSIONS", "2"}, {"BLOOMFILTER", "ROWCOL"}}),
                             FamilyOf("g", {{"TTL", "1"}, {"MIN_VERSIONS", "0"}})});
  const auto without = TableOf({FamilyOf("f", {{"VERSIONS", "2"}, {"BLOOMFILTER", "ROWCOL"}})});
  schema_ = both;
  Open();
  for (unsigned seed = first; seed < first + (given != nullptr ? 1u : 6u); ++seed) {
    SCOPED_TRACE("CELLFS_SEED=" + std::to_string(seed));
    random_.seed(seed);
    bool has_both = true;
    for (int step = 0; step < 400; ++step) {
      const int act = Below(100);
      const std::string row = "r" + std::to_string(Below(4));
      const std::string qualifier(1, "pqs"[Below(3)]);
      const std::string family = has_both && Below(3) == 0 ? "g" : "f";
      const Timestamp timestamp = clock_->Now() - 1000 + Below(10) * 100;
      constexpr CellType kTypes[] = {CellType::kPut, CellType::kDelete, CellType::kDeleteColumn,
                                     CellType::kDeleteFamily};
      const CellType type = kTypes[Below(4)];
      const std::string of_type = IsFamilyTombstone(type) ? "" : qualifier;
      std::string what;
      if (act < 45) {
        what = "put";
        ASSERT_OK(Write(
            row, {CellOf(qualifier, timestamp, std::to_string(step), CellType::kPut, family)}));
      } else if (act < 55) {
        what = "delete";
        const CellType tombstone = type == CellType::kPut ? CellType::kDeleteColumn : type;
        ASSERT_OK(Write(row, {CellOf(of_type, timestamp, "", tombstone, family)}));
      } else if (act < 63) {
        what = "withdrawal";
        ASSERT_OK(Write(row, {}, {{family, of_type, timestamp, type}}));
      } else if (act < 73) {
        what = "flush";
        if (Below(3) == 0)
          files_.SetSyncHook([this] {
            files_.SetSyncHook(nullptr);
            Pin();
          });
        ASSERT_OK(table_->Flush());
        files_.SetSyncHook(nullptr);
      } else if (act < 79) {
        const bool major = Below(2) == 0;
        what = major ? "major compaction" : "minor compaction";
        ASSERT_OK(table_->Compact(major ? CompactionKind::kMajor : CompactionKind::kMinor));
      } else if (act < 80) {
        what = "truncation";
        ASSERT_OK(table_->Truncate());
      } else if (act < 83) {
        what = "change of families";
        has_both = !has_both;
        ASSERT_OK(table_->ReplaceSchema(has_both ? both : without));
      } else if (act < 87) {
        what = "time";
        clock_->Advance(Below(800));
      } else if (act < 94) {
        what = "pin";
        if (pinned_.size() < 6) Pin();
      } else if (!pinned_.empty()) {
        what = "letting go";
        pinned_.erase(pinned_.begin() + Below(static_cast<int>(pinned_.size())));
      }
      Check(what);
      if (HasFailure()) return;
    }
    pinned_.clear();
    if (!has_both) ASSERT_OK(table_->ReplaceSchema(both));
    ASSERT_OK(table_->Flush());
    ASSERT_OK(table_->Compact(CompactionKind::kMajor));
    EXPECT_LE(StoreFileNames().size(), 2u) << "nothing holds the others";
  }
}

// ---- Withdrawals in files -----------------------------------------------------------------------

class StoredWithdrawalsTest : public EngineTest {
 protected:
  int64_t Markers() {
    int64_t count = 0;
    const Manifest manifest = *ReadManifestOfTable();
    for (const FileFacts& facts : manifest.files) count += facts.withdrawals;
    return count;
  }
  Status WithdrawPut(const std::string& row, Timestamp timestamp) {
    return Write(row, {}, {{"f", "q", timestamp, CellType::kPut}});
  }
};

TEST_F(StoredWithdrawalsTest, AreDroppedOnlyWithTheCellsOrWhereThereAreNone) {
  Open();
  ASSERT_OK(PutOne("a", 5, "v"));
  ASSERT_OK(PutOne("a", 4, "stays"));
  ASSERT_OK(table_->Flush());
  ASSERT_OK(PutOne("b", 5, "v"));
  ASSERT_OK(table_->Flush());
  ASSERT_OK(WithdrawPut("a", 5));
  ASSERT_OK(WithdrawPut("c", 5));    // of a row that no file may have
  ASSERT_OK(WithdrawPut("b", 900));  // nor of that time
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(Markers(), 1);
  EXPECT_EQ(Raw(), "a/f:q/4=stays b/f:q/5=v ");
  Reopen();
  EXPECT_EQ(Raw(), "a/f:q/4=stays b/f:q/5=v ");
  ASSERT_OK(table_->Compact(CompactionKind::kMinor));  // of all files
  EXPECT_EQ(Markers(), 0);
  EXPECT_EQ(Raw(), "a/f:q/4=stays b/f:q/5=v ");
  EXPECT_EQ(ReadManifestOfTable()->files.at(0).cells, 2);
}

TEST_F(StoredWithdrawalsTest, HideWhereverMarkerAndCellLie) {
  Open();
  for (const bool cell_in_file : {false, true}) {
    for (const bool marker_in_file : {false, true}) {
      SCOPED_TRACE(std::to_string(cell_in_file) + std::to_string(marker_in_file));
      ASSERT_OK(PutOne("a", 4, "old"));
      ASSERT_OK(PutOne("a", 5, std::string(1000, 'x')));
      if (cell_in_file) ASSERT_OK(table_->Flush());
      ASSERT_OK(WithdrawPut("a", 5));
      if (marker_in_file) ASSERT_OK(table_->Flush());
      EXPECT_EQ(Raw(), "a/f:q/4=old ");
      EXPECT_EQ(ValueOf("a"), "old");
      ASSERT_OK(PutOne("a", 5, "again"));  // what comes later stays
      EXPECT_EQ(ValueOf("a"), "again");
      ASSERT_OK(table_->Flush());
      EXPECT_EQ(ValueOf("a"), "again");
      ASSERT_OK(table_->Compact(CompactionKind::kMajor));
      EXPECT_EQ(Raw(), "a/f:q/5=again a/f:q/4=old ");
      ASSERT_OK(table_->Truncate());
    }
  }
}

// The flush fails, so that the cell lies in the frozen memstore and the marker in the active one.
TEST_F(StoredWithdrawalsTest, HideWhatTheFrozenMemstoreHas) {
  Open();
  ASSERT_OK(PutOne("a", 5, "v"));
  int changes = 0;
  files_.SetChangeHook([&] { return ++changes > 8; });  // the log has a new segment
  EXPECT_FALSE(table_->Flush().ok());
  files_.SetChangeHook(nullptr);
  ASSERT_OK(WithdrawPut("a", 5));
  EXPECT_EQ(Raw(), "");
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(Raw(), "");
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_EQ(Raw(), "");
}

TEST_F(StoredWithdrawalsTest, OfATombstoneBringBackWhatItHid) {
  Open();
  for (const char* bloom : {"NONE", "ROW", "ROWCOL"}) {
    ASSERT_OK(table_->ReplaceSchema(TableOf({FamilyOf("f", {{"BLOOMFILTER", bloom}})})));
    ASSERT_OK(PutOne("a", 5, "v"));
    ASSERT_OK(table_->Flush());
    ASSERT_OK(Write("a", {CellOf("", 9, "", CellType::kDeleteFamily)}));
    ASSERT_OK(table_->Flush());
    EXPECT_EQ(ValueOf("a"), "(none)");
    ASSERT_OK(Write("a", {}, {{"f", "", 9, CellType::kDeleteFamily}}));
    EXPECT_EQ(ValueOf("a"), "v");
    ASSERT_OK(table_->Flush());
    EXPECT_EQ(ValueOf("a"), "v") << bloom;
    ASSERT_OK(table_->Truncate());
  }
}

// ---- Expired files ------------------------------------------------------------------------------

TEST_F(StoredWithdrawalsTest, AFileThatHasExpiredIsDroppedUnread) {
  schema_ = TableOf({FamilyOf("f", {{"TTL", "10"}})});
  Open();
  ASSERT_OK(PutOne("a", clock_->Now(), "old"));
  ASSERT_OK(table_->Flush());
  const std::string expired = table_path() + "/" + StoreFileNames().at(0);
  clock_->Advance(60000);
  ASSERT_OK(PutOne("b", clock_->Now(), "new"));
  ASSERT_OK(table_->Flush());
  Reopen();
  std::filesystem::resize_file(expired, 10);  // who reads it finds that out
  EXPECT_EQ(ValueOf("b"), "new");
  EXPECT_EQ(Visible(), "b/f:q/1060000=new ");
  ASSERT_OK(table_->Compact(CompactionKind::kMinor));
  EXPECT_FALSE(std::filesystem::exists(expired));
  EXPECT_EQ(Raw(), "b/f:q/1060000=new ");
}

}  // namespace
}  // namespace cellfs
