// SPDX-License-Identifier: MIT
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/engine/local/engine_fixture.h"

namespace cellfs {
namespace {

class FlushTest : public EngineTest {
 protected:
  FlushTest() { Open(); }
};

TEST_F(FlushTest, WhatWasFlushedReadsAsBefore) {
  ASSERT_OK(PutOne("a", 1, "one"));
  ASSERT_OK(PutOne("a", 2, std::string(5000, 'x')));
  ASSERT_OK(PutOne("b", 1, ""));
  const std::string before = Visible();
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(table_->GetStatistics().memstore_cells, 0u);
  EXPECT_EQ(table_->GetStatistics().flushes, 1u);
  EXPECT_EQ(Visible(), before);
  ASSERT_OK(PutOne("a", 3, "three"));
  EXPECT_EQ(Visible(nullptr, 1), "a/f:q/3=three b/f:q/1= ");
}

TEST_F(FlushTest, AFlushOfNothingIsNone) {
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(table_->GetStatistics().flushes, 0u);
}

TEST_F(FlushTest, VersionsBeyondTheFamilysAndHiddenPutsGoButTombstonesStay) {
  for (int t = 1; t <= 5; ++t) ASSERT_OK(PutOne("a", t, std::to_string(t)));
  ASSERT_OK(PutOne("b", 3, "hidden"));
  ASSERT_OK(Write("b", {CellOf("q", 4, "", CellType::kDeleteColumn)}));
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(Raw(), "a/f:q/5=5 a/f:q/4=4 a/f:q/3=3 b/f:q/4/DeleteColumn= ");
}

TEST_F(FlushTest, AFlushSeesNothingOfTheFile) {
  ASSERT_OK(PutOne("a", 3, "hidden"));
  ASSERT_OK(table_->Flush());
  ASSERT_OK(Write("a", {CellOf("q", 4, "", CellType::kDeleteColumn)}));
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(Raw(), "a/f:q/4/DeleteColumn= a/f:q/3=hidden ");
  EXPECT_EQ(Visible(), "");
}

TEST_F(FlushTest, APinnedMomentKeepsWhatAFlushWouldDrop) {
  for (int t = 1; t <= 4; ++t) ASSERT_OK(PutOne("a", t, std::to_string(t)));
  auto moment = *engine_->PinMoment("");
  const std::string then = Visible(moment);
  for (int t = 5; t <= 8; ++t) ASSERT_OK(PutOne("a", t, std::to_string(t)));
  ASSERT_OK(Write("a", {CellOf("q", 4, "", CellType::kDeleteColumn)}));
  EXPECT_EQ(Visible(moment), then);
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(Visible(moment), then);
  EXPECT_EQ(Visible(), "a/f:q/8=8 a/f:q/7=7 a/f:q/6=6 ");
  moment.reset();
  ASSERT_OK(PutOne("a", 9, "9"));
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_EQ(Raw(), "a/f:q/9=9 a/f:q/8=8 a/f:q/7=7 a/f:q/6=6 ");  // 9 is still in the memstore
}

TEST_F(FlushTest, AMomentKeepsItsClock) {
  schema_ = TableOf({FamilyOf("f", {{"TTL", "10"}})});
  ASSERT_OK(table_->ReplaceSchema(schema_));
  ASSERT_OK(PutOne("a", clock_->Now(), "v"));
  const auto moment = *engine_->PinMoment("");
  clock_->Advance(60000);
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(Visible(), "");
  EXPECT_EQ(Visible(moment), "a/f:q/1000000=v ");
}

TEST_F(FlushTest, WithdrawnCellsAreGoneBeforeAndAfterFlushes) {
  const std::vector<WithdrawCell> newer = {{"f", "q", 5, CellType::kPut}};
  for (const bool flush_between : {false, true}) {
    ASSERT_OK(PutOne("a", 4, "old"));
    ASSERT_OK(PutOne("a", 5, std::string(1000, 'x')));
    if (flush_between) ASSERT_OK(table_->Flush());
    ASSERT_OK(Write("a", {}, newer));
    EXPECT_EQ(Raw(), "a/f:q/4=old ");
    ASSERT_OK(table_->Flush());
    EXPECT_EQ(Raw(), "a/f:q/4=old ");
    ASSERT_OK(PutOne("a", 5, "again"));  // a withdrawal takes back what was, not what will be
    EXPECT_EQ(ValueOf("a"), "again");
    ASSERT_OK(table_->Flush());
    EXPECT_EQ(ValueOf("a"), "again");
    ASSERT_OK(table_->Truncate());
  }
}

TEST_F(FlushTest, AFileForEachFamilyThatHasSomething) {
  schema_ = TableOf({FamilyOf("f"), FamilyOf("g"), FamilyOf("h")});
  ASSERT_OK(table_->ReplaceSchema(schema_));
  ASSERT_OK(Write("a", {CellOf("q", 1, "f"), CellOf("q", 1, "h", CellType::kPut, "h")}));
  ASSERT_OK(table_->Flush());
  auto manifest = ReadManifestOfTable();
  ASSERT_OK(manifest);
  ASSERT_EQ(manifest->files.size(), 2u);
  EXPECT_EQ(manifest->files[0].family + manifest->files[1].family, "fh");
  EXPECT_EQ(manifest->flushed, 1u);
  EXPECT_EQ(StoreFileNames().size(), 2u);
  ASSERT_OK(Write("a", {CellOf("q", 2, "g", CellType::kPut, "g")}));
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(StoreFileNames().size(), 3u);
  EXPECT_EQ(Visible(), "a/f:q/1=f a/g:q/2=g a/h:q/1=h ");
}

// The manifest and the log both go on, or the next opening would look for what nobody has.
TEST_F(FlushTest, AFlushThatDropsEverythingMakesNoFileAndIsAFlushAllTheSame) {
  schema_ = TableOf({FamilyOf("f", {{"TTL", "10"}})});
  ASSERT_OK(table_->ReplaceSchema(schema_));
  ASSERT_OK(PutOne("a", clock_->Now() - 60000, "expired"));
  ASSERT_OK(table_->Flush());
  EXPECT_TRUE(StoreFileNames().empty());
  EXPECT_EQ(ReadManifestOfTable()->flushed, 1u);
  Reopen();
  EXPECT_EQ(Raw(), "");
  EXPECT_EQ(engine_->GetStatistics().last_sequence_id, 1u);
}

// Each operation on files of a flush fails once: of the new file, of the manifest, of the
// directory.
TEST_F(FlushTest, AFlushThatFailsAnywhereIsDoneAgain) {
  schema_ = TableOf({FamilyOf("f", {{"VERSIONS", "3"}}), FamilyOf("g")});
  ASSERT_OK(table_->ReplaceSchema(schema_));
  int unknown = 0, refused = 0;
  bool failed = true;
  std::string all;
  for (int n = 1; failed; ++n) {
    SCOPED_TRACE(n);
    const std::string row = "r" + std::to_string(100 + n);
    ASSERT_OK(Write(row, {CellOf("q", 1, "f"), CellOf("q", 1, "g", CellType::kPut, "g")}));
    all += row + "/f:q/1=f " + row + "/g:q/1=g ";
    const std::vector<std::string> files = StoreFileNames();
    files_.FailNth(n);  // nobody has read: there are no connections to give up and try again
    const Status status = table_->Flush();
    failed = files_.failed();
    files_.FailNth(0);
    if (status.code() == StatusCode::kOutcomeUnknown) {  // in force
      ++unknown;
      EXPECT_EQ(StoreFileNames().size(), files.size() + 2);
      EXPECT_EQ(table_->GetStatistics().memstore_cells, 0u);
      EXPECT_GT(engine_->GetStatistics().log_bytes, 100u) << "it keeps what power loss may take";
    } else if (!status.ok()) {
      ++refused;
      std::vector<std::string> left = StoreFileNames();
      std::erase(left, "MANIFEST.new");  // the next one takes its place
      EXPECT_EQ(left, files) << "what was made is gone";
      ASSERT_OK(table_->Flush());
    }
    EXPECT_EQ(table_->GetStatistics().memstore_cells, 0u);
    EXPECT_EQ(Visible(), all);
    Reopen();
    EXPECT_EQ(StoreFileNames().size(), ReadManifestOfTable()->files.size());
  }
  EXPECT_EQ(Visible(), all);
  EXPECT_EQ(unknown, 1);
  EXPECT_GE(refused, 7);
}

class UndoneManifestTest : public FlushTest {
 protected:
  // A flush after which a power failure may bring back `manifest_before_`.
  void FlushUndoably() {
    Status status;
    for (int n = 1; n < 50 && status.code() != StatusCode::kOutcomeUnknown; ++n) {
      ASSERT_OK(PutOne("a", 1 + n, std::to_string(n)));
      manifest_before_ = *PosixFiles().Read(table_path() + "/MANIFEST");
      files_.FailNth(n);
      status = table_->Flush();
      files_.FailNth(0);
      // A sync of the log that failed ends its use.
      if (status.code() != StatusCode::kOutcomeUnknown) Reopen();
    }
    ASSERT_EQ(status.code(), StatusCode::kOutcomeUnknown);
  }
  // As if the machine had lost power now.
  void OpenACopy() {
    const std::string copy = directory_.path() + "/copy";
    std::filesystem::copy(path(), copy, std::filesystem::copy_options::recursive);
    Close();
    std::filesystem::remove_all(path());
    std::filesystem::rename(copy, path());
  }

  std::string manifest_before_;
};

// The log has the cells, and the old files are there.
TEST_F(UndoneManifestTest, WhatItReplacesStays) {
  ASSERT_OK(PutOne("a", 1, "one"));
  ASSERT_OK(table_->Flush());
  FlushUndoably();
  const std::string then = Visible();
  OpenACopy();
  std::ofstream(table_path() + "/MANIFEST", std::ios::binary) << manifest_before_;
  Open();
  EXPECT_EQ(Visible(), then);
}

TEST_F(UndoneManifestTest, TheNextThatIsSavedSettlesIt) {
  ASSERT_OK(PutOne("a", 1, "one"));
  ASSERT_OK(table_->Flush());
  FlushUndoably();
  const uint64_t log_bytes = engine_->GetStatistics().log_bytes;
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  const std::string then = Visible();
  EXPECT_EQ(StoreFileNames().size(), 1u);
  ASSERT_OK(PutOne("b", 1, "two"));
  ASSERT_OK(table_->Flush());
  EXPECT_LT(engine_->GetStatistics().log_bytes, log_bytes) << "it grows no more";
  OpenACopy();
  Open();
  EXPECT_EQ(Visible(), then + "b/f:q/1=two ");
}

// A process that may not write beyond a length of file.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit small = before_;
    small.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

// The store file is to pass that length.
TEST_F(FlushTest, AFlushThatFailsLosesNothingAndIsDoneLater) {
  for (int i = 0; i < 100; ++i)
    ASSERT_OK(PutOne("r" + std::to_string(i), 1, std::string(5000, 'x')));
  const std::string before = Visible();
  {
    const FileSizeLimit limit(100000);
    EXPECT_FALSE(table_->Flush().ok());
  }
  EXPECT_EQ(Visible(), before);
  ASSERT_OK(PutOne("z", 1, "more"));
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(table_->GetStatistics().memstore_cells, 0u);
  Reopen();
  EXPECT_EQ(Visible(), before + "z/f:q/1=more ");
}

TEST_F(FlushTest, AfterAFailedFlushMemoryStaysBoundedAndReadsAndDeletesGoOn) {
  constexpr int64_t kFlushSize = 100000;
  options_.site.memstore_flush_size = kFlushSize;
  options_.memstore_limit = 4 * kFlushSize;
  Reopen();
  ASSERT_OK(PutOne("a", 1, std::string(50000, 'x')));
  {
    const FileSizeLimit limit(40000);
    EXPECT_FALSE(table_->Flush().ok());
  }
  const auto in_memory = [&] { return table_->GetStatistics().memstore_bytes; };
  Status refused;
  for (int i = 0; i < 1000 && refused.ok(); ++i)
    refused = PutOne("b" + std::to_string(i), 1, std::string(10000, 'x'));
  EXPECT_EQ(refused.code(), StatusCode::kIoError);
  EXPECT_NE(refused.message().find(
                "no memory is left for writes until table 't' can be flushed: "),
            std::string::npos)
      << refused.message();
  EXPECT_GE(in_memory(), 2u * kFlushSize) << "more would be taken from other tables";
  EXPECT_LT(in_memory(), 3u * kFlushSize);
  EXPECT_EQ(ValueOf("b0"), std::string(10000, 'x'));
  ASSERT_OK(Write("b0", {CellOf("q", 2, "", CellType::kDeleteColumn)}));
  EXPECT_EQ(ValueOf("b0"), "(none)");
  refused = Status();
  for (int i = 0; i < 100000 && refused.ok(); ++i)
    refused = Write("c" + std::to_string(i), {CellOf("q", 2, "", CellType::kDeleteColumn)});
  EXPECT_FALSE(refused.ok()) << "they are bounded too";
  EXPECT_LT(in_memory(), 6u * kFlushSize);

  ASSERT_OK(table_->Flush());
  ASSERT_OK(PutOne("d", 1, "again"));
  EXPECT_EQ(ValueOf("d"), "again");
}

// The disk is to have room for every flush of what was acknowledged, however its cells lie there.
TEST_F(FlushTest, AFileTakesNoMoreThanIsReckonedForItsCells) {
  const auto row_of = [](int number, size_t length) {
    std::string row = std::to_string(100000 + number);
    return row + std::string(length - row.size(), 'r');
  };
  for (const size_t row : {6, 100, 300, 690, 900, 1000, 3000, 30000}) {
    for (const size_t value : {0, 10, 200, 257, 680, 820, 1021, 1400, 2045, 4060, 5000, 8200}) {
      for (const CellType type : {CellType::kPut, CellType::kDeleteColumn}) {
        if (type != CellType::kPut && value != 0) continue;
        SCOPED_TRACE(std::to_string(row) + " " + std::to_string(value));
        Reopen();
        uint64_t reckoned = kBytesOfEmptyFile;
        for (int i = 0; i < 200; ++i) {
          const Cell cell = CellOf("q", 1, std::string(value, 'v'), type);
          reckoned += MostBytesInFile(type, row + 1, value,
                                      static_cast<uint64_t>(options_.inline_value_limit));
          ASSERT_OK(Write(row_of(i, row), {cell}));
        }
        ASSERT_OK(table_->Flush());
        const uint64_t taken =
            std::filesystem::file_size(table_path() + "/" + StoreFileNames().at(0));
        EXPECT_LE(taken, reckoned);
        EXPECT_GT(3 * taken, reckoned - kBytesOfEmptyFile) << "nor much less";
        ASSERT_OK(table_->Truncate());
      }
    }
  }
}

TEST_F(FlushTest, TheHeadOfAColumnTellsPutsAndTombstonesWhereverTheyLie) {
  const auto head = [&](const std::string& qualifier) {
    const auto found = table_->ReadColumnHead("a", "f", qualifier);
    if (!found.ok()) return found.status().ToString();
    std::string text =
        std::to_string(found->newest_put) + " " + std::to_string(found->newest_wide_tombstone);
    for (const Timestamp timestamp : found->version_tombstones)
      text += " " + std::to_string(timestamp);
    return text;
  };
  EXPECT_EQ(head("q"), "-1 -1");
  for (int t = 10; t <= 12; ++t) ASSERT_OK(PutOne("a", t, "v"));
  EXPECT_EQ(head("q"), "12 -1");
  for (const bool flush : {false, true}) {
    ASSERT_OK(Write(
        "a", {CellOf("q", 11, "", CellType::kDelete), CellOf("q", 9, "", CellType::kDeleteColumn),
              CellOf("", 8, "", CellType::kDeleteFamily),
              CellOf("", 14, "", CellType::kDeleteFamilyVersion), CellOf("", 13, "v")}));
    if (flush) ASSERT_OK(table_->Flush());
    EXPECT_EQ(head("q"), "12 9 14 11");
    EXPECT_EQ(head("other"), "-1 8 14");
    EXPECT_EQ(head(""), "13 8 14");
    ASSERT_OK(table_->Truncate());
    for (int t = 10; t <= 12; ++t) ASSERT_OK(PutOne("a", t, "v"));
  }
}

}  // namespace
}  // namespace cellfs
