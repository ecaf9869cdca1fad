// SPDX-License-Identifier: MIT
#include "fs/content/file_writer.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <thread>
#include <utility>

#include "engine/forwarding_store.h"
#include "fs/content/column_change.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

struct FileWriterTest : WritingTest {};

TEST_F(FileWriterTest, OneOpenWriteCloseIsOneVersion) {
  OpenFile file = tree.Create(kQ);
  ASSERT_EQ(file.error, 0);
  EXPECT_EQ(tree.Write(file, "hello ", 0), 0);
  EXPECT_EQ(tree.Write(file, "world", 6), 0);
  EXPECT_EQ(tree.Stored("q"), "");
  EXPECT_EQ(tree.Stat(kQ).st_size, 11) << "the size so far";
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "hello world");
  EXPECT_EQ(tree.Stored("q"), "Put@0");
  EXPECT_EQ(tree.Stat(kQ).st_mtim.tv_sec, kStart / 1000);
}

TEST_F(FileWriterTest, FlushesOfOneHandleStayOneVersion) {
  OpenFile file = tree.Create(kQ);
  EXPECT_EQ(tree.Flush(file), 0);
  EXPECT_EQ(tree.Stored("q"), "") << "nothing was written yet";
  tree.Write(file, "a\n", 0);
  EXPECT_EQ(tree.Flush(file), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "a\n");
  tree.clock->Advance(5000);
  tree.Write(file, "b\n", 2);
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "a\nb\n");
  EXPECT_EQ(tree.Stored("q"), "Put@0");
  EXPECT_EQ(tree.Stat(kQ).st_ctim.tv_sec, kStart / 1000 + 5) << "the value changed then";
}

TEST_F(FileWriterTest, WhatIsBeingReplacedWhenTheMountEndsStays) {
  tree.Save(kQ, "before");
  OpenFile replaced = tree.Open(kQ, Truncating());
  tree.Write(replaced, "half of the n");
  OpenFile emptied = tree.Create("default/t/r/f/emptied");
  OpenFile followed = tree.Create("default/t/r/f/log");
  tree.Write(followed, "line\n");
  tree.Remount();
  EXPECT_EQ(tree.ReadFile(kQ), "before");
  EXPECT_EQ(tree.Error("default/t/r/f/emptied"), ENOENT);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/log"), "line\n");
}

// The callers belong to the session, which ends before the handles do.
TEST_F(FileWriterTest, AHandleKeepsItsCallerAfterTheRequestHasGone) {
  StoreOptions options;
  options.clock = tree.clock;
  options.site.authorization = true;
  tree.filesystem.reset();
  tree.controls = nullptr;
  tree.store = OpenMemoryStore(options);
  tree.MakeTable();
  tree.Put("r", "other", "x");
  tree.Remount();
  const std::string schema = "default/t/.schema.toml";
  const std::string text = tree.ReadFile(schema);
  Caller caller;
  tree.request.caller = &caller;
  const OpenFile file = tree.Create(kQ);
  const OpenFile counter = tree.Create("default/t/r/f/.counters/n");
  const OpenFile changed = tree.Open(schema, Truncating());
  tree.request.caller = &Caller::Superuser();
  caller.user = "who has no rights";  // as memory that now holds something else
  for (const auto& [opened, bytes] :
       {std::pair(file, std::string("x")), std::pair(counter, std::string("+1")),
        std::pair(changed, text)}) {
    ASSERT_EQ(opened.error, 0);
    EXPECT_EQ(tree.Write(opened, bytes), 0);
    EXPECT_EQ(tree.Close(opened), 0) << bytes;
  }
}

TEST_F(FileWriterTest, OfASchemaThatCouldNotBeWrittenAsAWholeNothingIsApplied) {
  const std::string schema = "default/t/.schema.toml";
  const std::string before = tree.ReadFile(schema);
  const OpenFile file = tree.Open(schema, Truncating());
  const std::string begins = "[families.f]\nVERSIONS = 7\n";
  EXPECT_EQ(tree.Write(file, begins), 0);
  EXPECT_EQ(tree.Write(file, std::string(1 << 20, '#'), begins.size()), EFBIG);
  EXPECT_EQ(tree.Close(file), EFBIG);
  EXPECT_EQ(tree.ReadFile(schema), before);
}

TEST_F(FileWriterTest, WhatWasClosedWhenTheMountWentIsPut) {
  tree.Save(kQ, "before");
  OpenFile emptied = tree.Open(kQ, Truncating());
  OpenFile made = tree.Create("default/t/r/f/made");
  tree.Flush(emptied);
  tree.Flush(made);
  tree.filesystem->ReleaseClosed();
  tree.Remount();
  EXPECT_EQ(tree.ReadFile(kQ), "");
  EXPECT_EQ(tree.ReadFile("default/t/r/f/made"), "");
}

TEST_F(FileWriterTest, WhatNobodyHadClosedWhenTheMountWentIsNotPut) {
  tree.Save(kQ, "before");
  tree.Save("default/t/r/f/p", "before");
  OpenFile replaced = tree.Open(kQ, Truncating());
  tree.Flush(replaced);  // of a copy of the descriptor
  tree.Write(replaced, "half of the n");
  tree.Open("default/t/r/f/p", Truncating());
  tree.Create("default/t/r/f/made");
  tree.filesystem->ReleaseClosed();
  tree.Remount();
  EXPECT_EQ(tree.ReadFile(kQ), "before");
  EXPECT_EQ(tree.ReadFile("default/t/r/f/p"), "before");
  EXPECT_EQ(tree.Error("default/t/r/f/made"), ENOENT);
}

TEST_F(FileWriterTest, PagesOfAMappingGoWhereTheyAreThoughTheHandleAppends) {
  tree.Save(kQ, "0123456789");
  OpenFile file = tree.Open(kQ, ForAppending());
  tree.Write(file, "abc", 10);
  EXPECT_EQ(tree.filesystem->Write(*file.node, *file.handle, "XY", 4, WriteFrom::kMapping).error(),
            0);
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "0123XY6789abc");
}

TEST_F(FileWriterTest, PutsAgainAboveWhatHasComeMeanwhile) {
  OpenFile file = tree.Create(kQ);
  tree.Write(file, "abc");
  tree.Flush(file);
  tree.clock->Advance(10);
  tree.Put("r", "q", "XYZW");
  tree.Write(file, "-", 1);
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "X-ZW");
  EXPECT_EQ(tree.Stored("q"), "Put@11 Put@10 Put@0");
}

TEST_F(FileWriterTest, TruncationAndCreationAloneArePutByTheLastClose) {
  OpenFile file = tree.Create(kQ);
  EXPECT_EQ(tree.Flush(file), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "");
  EXPECT_EQ(tree.Stored("q"), "");
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.Stored("q"), "Put@0");
  tree.Save(kQ, "full");
  tree.clock->Advance(10);
  OpenFile truncated = tree.Open(kQ, Truncating());
  EXPECT_EQ(tree.Flush(truncated), 0);
  EXPECT_EQ(tree.Close(truncated), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "");
  EXPECT_EQ(tree.Stored("q"), "Put@10 Put@1 Put@0");
}

TEST_F(FileWriterTest, WhoOpensAFileFindsATruncationThatWasClosed) {
  tree.Save(kQ, "full");
  tree.clock->Advance(10);
  OpenFile truncated = tree.Open(kQ, Truncating());
  EXPECT_EQ(tree.ReadFile(kQ), "full");  // somebody is writing it
  EXPECT_EQ(tree.Flush(truncated), 0);   // close(2) has returned, and nothing else has come
  EXPECT_EQ(tree.ReadFile(kQ), "");
  EXPECT_EQ(tree.Stored("q"), "Put@10 Put@0");
  EXPECT_EQ(tree.Close(truncated), 0);
  EXPECT_EQ(tree.Stored("q"), "Put@10 Put@0");
}

TEST_F(FileWriterTest, WhoLooksAtTheHistoryFindsWhatWasClosed) {
  const std::string history = "default/t/r/f/.versions/q";
  OpenFile made = tree.Create(kQ);
  EXPECT_EQ(tree.Flush(made), 0);  // close(2) has returned, and nothing else has come
  EXPECT_EQ(tree.List(history).size(), 1u);
  EXPECT_EQ(tree.Close(made), 0);
  tree.clock->Advance(10);
  OpenFile truncated = tree.Open(kQ, Truncating());
  EXPECT_EQ(tree.Flush(truncated), 0);
  EXPECT_EQ(tree.List(history).size(), 2u);
  EXPECT_EQ(tree.Close(truncated), 0);
  EXPECT_EQ(tree.Stored("q"), "Put@10 Put@0");
}

TEST_F(FileWriterTest, ADirectoryHasTheTimeOfThePutThatCameToIt) {
  const NodePtr directory = tree.Directory("default/t/r/f");
  const auto time = [&] { return ToMilliseconds(tree.Stat("default/t/r/f").st_mtim) - kStart; };
  tree.clock->Advance(10);
  OpenFile file = tree.Create(kQ);
  EXPECT_EQ(time(), 10);
  tree.clock->Advance(10);
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(time(), 20);
  // A time that was set stays, though the last file's put comes after it.
  OpenFile late = tree.Create("default/t/r/f/late");
  AttributeChange change;
  change.mtime = ToTimespec(5000);
  EXPECT_EQ(tree.Change("default/t/r/f", change), 0);
  EXPECT_EQ(tree.Close(late), 0);
  EXPECT_EQ(time(), 5000 - kStart);
}

TEST_F(FileWriterTest, AHandleThatDidNothingPutsNothing) {
  tree.Save(kQ, "x");
  tree.clock->Advance(10);
  EXPECT_EQ(tree.Close(tree.Open(kQ, ForWriting())), 0);
  EXPECT_EQ(tree.Stored("q"), "Put@0");
}

TEST_F(FileWriterTest, RangesGoOverTheLatestValue) {
  tree.Save(kQ, "0123456789");
  OpenFile first = tree.Open(kQ, ForWriting());
  OpenFile second = tree.Open(kQ, ForWriting());
  tree.Write(first, "AA", 0);
  tree.Write(second, "BB", 8);
  tree.Write(second, "C", 12);
  const std::string both("AA234567BB\0\0C", 13);
  EXPECT_EQ(tree.Read(first), both);
  EXPECT_EQ(tree.Read(second), both);
  EXPECT_EQ(tree.Close(first), 0);
  EXPECT_EQ(tree.Close(second), 0);
  EXPECT_EQ(tree.ReadFile(kQ), both);
}

TEST_F(FileWriterTest, AppendedBytesOfSeveralHandlesAreAllThere) {
  tree.Save(kQ, "start ");
  OpenFile first = tree.Open(kQ, ForAppending());
  OpenFile second = tree.Open(kQ, ForAppending());
  tree.Write(first, "one ", 6);
  tree.Write(second, "two ", 6);
  tree.Flush(first);
  tree.Flush(second);
  tree.Write(first, "three ", 0);
  EXPECT_EQ(tree.Close(second), 0);
  EXPECT_EQ(tree.Close(first), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "start one two three ");
}

TEST_F(FileWriterTest, AppendedBytesAreThereInTheOrderOfTheirWrites) {
  tree.Save(kQ, "start ");
  OpenFile reader = tree.Open(kQ, {});
  OpenFile first = tree.Open(kQ, ForAppending());
  OpenFile second = tree.Open(kQ, ForAppending());
  tree.Write(first, "one ", 6);
  tree.Write(second, "two ", 10);
  tree.Write(first, "three ", 14);
  EXPECT_EQ(tree.Stored("q"), "Put@0");
  EXPECT_EQ(tree.Stat(kQ).st_size, 20) << "what the kernel believes";
  EXPECT_EQ(tree.Read(reader), "start one two three ");
  EXPECT_EQ(tree.ReadFile(kQ), "start one two three ") << "opened now: no less than that";
  EXPECT_EQ(tree.Close(second), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "start one two three ") << "the first has still something to put";
  EXPECT_EQ(tree.Stored("q"), "Put@2 Put@1 Put@0") << "each is a version";
  EXPECT_EQ(tree.Read(reader), "start one two three ");
  EXPECT_EQ(tree.Close(first), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "start one two three ");
}

TEST_F(FileWriterTest, ManyTurnsOfAppendersAreFewPuts) {
  tree.Save(kQ, "");
  OpenFile first = tree.Open(kQ, ForAppending());
  OpenFile second = tree.Open(kQ, ForAppending());
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    tree.Write(i % 2 == 0 ? first : second, "x", expected.size());
    expected += "x";
  }
  EXPECT_EQ(tree.Close(second), 0);
  EXPECT_EQ(tree.Close(first), 0);
  EXPECT_EQ(tree.ReadFile(kQ), expected);
  const std::string stored = tree.Stored("q");
  EXPECT_LE(std::count(stored.begin(), stored.end(), '@'), 20);
}

TEST_F(FileWriterTest, AnEditGoesOverWhatOthersHaveAppendedBefore) {
  tree.Save(kQ, "start ");
  OpenFile appender = tree.Open(kQ, ForAppending());
  OpenFile editor = tree.Open(kQ, ForWriting());
  tree.Write(appender, "appended", 6);
  tree.Write(editor, "APP", 6);
  EXPECT_EQ(tree.Close(editor), 0);
  EXPECT_EQ(tree.Close(appender), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "start APPended");
}

// It shows nothing as pending then, but its writes are still to come.
TEST_F(FileWriterTest, AReaderBesideAMakerThatOthersOutranReadsPastThePages) {
  OpenFile maker = tree.Create(kQ, /*exclusive=*/false, Truncating());
  OpenFile other = tree.Open(kQ, Truncating());
  tree.Write(other, "other");
  EXPECT_EQ(tree.Close(other), 0);
  const auto reader = tree.filesystem->Open(tree.request, *maker.node, {});
  EXPECT_TRUE(reader->direct_io);
  tree.Write(maker, "MA");
  EXPECT_EQ(tree.Read({0, maker.node, reader->handle}), "other");
  EXPECT_EQ(tree.Close({0, maker.node, reader->handle}), 0);
  EXPECT_EQ(tree.Close(maker), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "MA");
}

// The kernel's pages have what both wrote where they wrote it, the file has one behind the other.
TEST_F(FileWriterTest, PagesAreDroppedAfterAnAppendBesideAReplacement) {
  for (const bool append_first : {false, true}) {
    OpenFile writer = tree.Create(kQ, /*exclusive=*/false, Truncating());
    OpenFile appender = tree.Open(kQ, {.read = false, .write = true, .append = true});
    tree.Write(appender, "appended", 0);
    tree.Write(writer, "whole", 0);
    tree.Close(append_first ? appender : writer);
    tree.Close(append_first ? writer : appender);
    const NodePtr node = tree.LookUp(kQ)->node;
    const auto opened = tree.filesystem->Open(tree.request, *node, {});
    EXPECT_FALSE(opened->keep_cache);
    EXPECT_EQ(tree.Close({0, node, opened->handle}), 0);
    EXPECT_EQ(tree.ReadFile(kQ), append_first ? "whole" : "wholeappended");
    EXPECT_EQ(tree.Unlink(kQ), 0);
  }
}

// Who opened the file meanwhile has read it with what was appended: it must not come again.
TEST_F(FileWriterTest, WhatWasAppendedBeforeAFileIsReplacedIsPutBefore) {
  tree.Save(kQ, "old ");
  OpenFile appender = tree.Open(kQ, ForAppending());
  tree.Write(appender, "end", 4);
  EXPECT_EQ(tree.ReadFile(kQ), "old end");
  OpenFile writer = tree.Open(kQ, Truncating());
  EXPECT_EQ(tree.ReadFile(kQ), "old end") << "whoever opens it meanwhile";
  tree.Write(appender, "later", 0);
  EXPECT_EQ(tree.ReadFile(kQ), "old end");
  tree.Write(writer, "new ");
  EXPECT_EQ(tree.Close(writer), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "new later");
  EXPECT_EQ(tree.Close(appender), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "new later");
  const std::vector<std::string> versions = tree.List("default/t/r/f/.versions/q");
  ASSERT_EQ(versions.size(), 4u);
  EXPECT_EQ(tree.ReadFile(kQ + ("@" + versions[2])), "old end");
}

// The kernel sends one write(2) in several pieces, and lets another truncate the file between them.
TEST_F(FileWriterTest, TheRestOfWhatIsAppendedStaysWithItsBeginning) {
  for (const bool other_first : {false, true}) {
    tree.Save(kQ, "old ");
    OpenFile other = tree.Open(kQ, Truncating());
    tree.Write(other, "other ");
    OpenFile appender = tree.Open(kQ, {.read = false, .write = true, .append = true});
    tree.Write(appender, "begin", 4);
    OpenFile writer = tree.Open(kQ, Truncating());
    if (other_first) tree.Close(other);
    tree.Write(appender, "end", 9);
    EXPECT_EQ(tree.Flush(appender), 0);
    EXPECT_EQ(tree.ReadFile(kQ), other_first ? "other beginend" : "old beginend");
    tree.Write(writer, "new");
    EXPECT_EQ(tree.Close(writer), 0);
    if (!other_first) tree.Close(other);
    EXPECT_EQ(tree.Close(appender), 0);
    EXPECT_EQ(tree.ReadFile(kQ), other_first ? "new" : "other ");
  }
}

TEST_F(FileWriterTest, WhoMadeAFileExclusivelyIsNotRefusedWhereAnotherPutsToItFirst) {
  OpenFile maker = tree.Create(kQ, /*exclusive=*/true, ForWritingOnly());
  OpenFile other = tree.Open(kQ, Truncating());
  tree.Write(other, "other");
  EXPECT_EQ(tree.Close(other), 0);
  OpenFile appender = tree.Open(kQ, ForAppending());
  tree.Write(appender, "!", 5);
  EXPECT_EQ(tree.Close(maker), 0);
  EXPECT_EQ(tree.Close(appender), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "other!");
}

TEST_F(FileWriterTest, AppendedBytesStayWithAFileThatLosesItsName) {
  for (const bool renamed : {false, true}) {
    tree.Save(kQ, "start ");
    tree.Save("default/t/r/f/p", "another");
    OpenFile reader = tree.Open(kQ, {});
    OpenFile appender = tree.Open(kQ, ForAppending());
    tree.Write(appender, "end", 6);
    ASSERT_EQ(renamed ? tree.Rename("default/t/r/f/p", kQ) : tree.Unlink(kQ), 0);
    tree.Write(appender, "!", 9);
    EXPECT_EQ(tree.Read(reader), "start end!");
    EXPECT_EQ(tree.Close(appender), 0);
    EXPECT_EQ(tree.Close(reader), 0);
    EXPECT_EQ(tree.ReadFile(kQ), renamed ? "another" : "<ENOENT>");
  }
}

TEST_F(FileWriterTest, TheMakerOfAFileIsNotAlwaysTheFirstToPut) {
  OpenFile maker = tree.Create(kQ, /*exclusive=*/false, ForAppending());
  OpenFile second = tree.Open(kQ, ForAppending());
  OpenFile toucher = tree.Open(kQ, ForWriting());
  tree.Write(second, "second ");
  tree.Write(maker, "maker ", 7);
  EXPECT_EQ(tree.Close(second), 0);
  tree.clock->Advance(10);
  EXPECT_EQ(tree.Close(maker), 0);
  EXPECT_EQ(tree.Close(toucher), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "second maker ");
  EXPECT_EQ(tree.Stored("q"), "Put@10 Put@0");
}

TEST_F(FileWriterTest, AMakerThatWroteNothingPutsNothingOverAnother) {
  OpenFile maker = tree.Create(kQ);
  OpenFile second = tree.Open(kQ, ForWriting());
  tree.Write(second, "second");
  EXPECT_EQ(tree.Close(second), 0);
  tree.clock->Advance(10);
  EXPECT_EQ(tree.Close(maker), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "second");
  EXPECT_EQ(tree.Stored("q"), "Put@0");
}

TEST_F(FileWriterTest, AMakersSyncPutsWhatOthersWroteAndNothingOverIt) {
  for (const bool exclusive : {false, true}) {
    for (const bool appends : {false, true}) {
      OpenFile maker = tree.Create(kQ, exclusive, appends ? ForAppending() : ForWritingOnly());
      OpenFile second = tree.Open(kQ, appends ? ForAppending() : ForWriting());
      tree.Write(second, "second");
      EXPECT_TRUE(maker.handle->Sync().ok());
      EXPECT_EQ(tree.ReadFile(kQ), "second");
      EXPECT_EQ(tree.Close(maker), 0);
      EXPECT_EQ(tree.Close(second), 0);
      EXPECT_EQ(tree.ReadFile(kQ), "second");
      EXPECT_EQ(tree.Unlink(kQ), 0);
    }
  }
}

TEST_F(FileWriterTest, AMakersTruncationGoesOverWhatAnotherPut) {
  OpenFile maker = tree.Create(kQ);
  OpenFile second = tree.Open(kQ, ForWriting());
  tree.Write(second, "second");
  EXPECT_EQ(tree.Close(second), 0);
  AttributeChange cut;
  cut.size = 0;
  EXPECT_TRUE(tree.filesystem->SetAttributes(tree.request, *maker.node, cut, maker.handle).ok());
  tree.Write(maker, "m");
  EXPECT_EQ(tree.Close(maker), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "m");
}

TEST_F(FileWriterTest, AnExclusiveMakersBytesAndThoseOfOthersStandAsTheyCame) {
  OpenFile maker = tree.Create(kQ, /*exclusive=*/true);
  OpenFile second = tree.Open(kQ, ForWritingOnly());
  tree.Write(maker, "AAAAAA");
  tree.Write(second, "bbbb");
  tree.Write(maker, "A", 1);
  EXPECT_EQ(tree.Close(second), 0);
  EXPECT_EQ(tree.Close(maker), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "bAbbAA");
}

TEST_F(FileWriterTest, ACreationThatComesLateOpensWhatIsThere) {
  tree.Save(kQ, "first");  // after look-up found nothing
  OpenFile late = tree.Create(kQ, /*exclusive=*/false, ForAppending());
  tree.Write(late, " late");
  EXPECT_EQ(tree.Close(late), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "first late");
}

TEST_F(FileWriterTest, ThreadsThatWriteOneFileLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 50;
  tree.Save(kQ, std::string(kThreads, '.'));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < kTurns; ++i) {
        OpenFile range = tree.Open(kQ, ForWriting());
        OpenFile log = tree.Create("default/t/r/f/log", false, ForAppending());
        tree.Write(range, std::string(1, static_cast<char>('a' + i % 26)),
                   static_cast<uint64_t>(t));
        tree.Write(log, "line\n");
        tree.Flush(log);
        tree.Write(log, "more\n");
        EXPECT_EQ(tree.Close(range), 0);
        EXPECT_EQ(tree.Close(log), 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tree.ReadFile(kQ), std::string(kThreads, static_cast<char>('a' + (kTurns - 1) % 26)));
  EXPECT_EQ(tree.ReadFile("default/t/r/f/log").size(), size_t{kThreads * kTurns * 10});
}

TEST_F(FileWriterTest, WritersAndRemoversOfOneNameEndInOneState) {
  tree.Save(kQ, "x");
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 50; ++i) {
        if (t == 0) tree.Unlink(kQ);
        if (t == 1) tree.Save(kQ, "whole");
        if (t == 2) tree.Rename(kQ, "default/t/r/f/p");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::string path : {std::string(kQ), std::string("default/t/r/f/p")}) {
    const std::string text = tree.ReadFile(path);
    EXPECT_TRUE(text == "whole" || text == "x" || text == "" || text == "<ENOENT>") << text;
  }
}

TEST_F(FileWriterTest, AFileHeldOpenIsPutWithinASecond) {
  tree.Save(kQ, "log: ");
  OpenFile file = tree.Open(kQ, ForAppending());
  tree.Write(file, "line");
  for (int i = 0; i < 100 && tree.ReadFile(kQ) == "log: "; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(tree.ReadFile(kQ), "log: line");
  tree.Close(file);
}

TEST_F(FileWriterTest, AFailedWriteIsTheEndOfTheHandle) {
  MountOptions options;
  options.max_value_size = 10;
  tree.Remount(options);
  tree.Save(kQ, "before");
  OpenFile file = tree.Open(kQ, Truncating());
  EXPECT_EQ(tree.Write(file, "0123456789"), 0);
  EXPECT_EQ(tree.Write(file, "0", 10), EFBIG);
  EXPECT_EQ(tree.Write(file, "0", 0), EFBIG);
  EXPECT_EQ(tree.Close(file), EFBIG);
  EXPECT_EQ(tree.ReadFile(kQ), "before");
  OpenFile made = tree.Create("default/t/r/f/new");
  EXPECT_EQ(tree.Write(made, "0123456789A"), EFBIG);
  EXPECT_EQ(tree.Close(made), EFBIG);
  EXPECT_EQ(tree.Error("default/t/r/f/new"), ENOENT);
}

TEST_F(FileWriterTest, AnExclusiveCreationIsClaimedAtOnce) {
  OpenFile first = tree.Create(kQ, /*exclusive=*/true);
  ASSERT_EQ(first.error, 0);
  EXPECT_EQ(tree.ReadFile(kQ), "") << "the name exists, empty";
  EXPECT_EQ(tree.Create(kQ, /*exclusive=*/true).error, EEXIST);
  tree.Write(first, "mine");
  EXPECT_EQ(tree.Close(first), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "mine");
  EXPECT_EQ(tree.Create(kQ, /*exclusive=*/true).error, EEXIST);
}

TEST_F(FileWriterTest, AnExclusiveCreationGivesWayToSomebodyElsesPut) {
  OpenFile file = tree.Create(kQ, /*exclusive=*/true);
  tree.Put("r", "q", "theirs");
  tree.Write(file, "mine");
  EXPECT_EQ(tree.Close(file), EEXIST);
  EXPECT_EQ(tree.ReadFile(kQ), "theirs");
}

TEST_F(FileWriterTest, AVersionIsPutAtItsOwnTimestamp) {
  EXPECT_EQ(tree.Save("default/t/r/f/q@5", "old"), 0);
  EXPECT_EQ(tree.Save("default/t/r/f/q@5", "older"), 0);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/q@5"), "older");
  OpenFile file = tree.Open("default/t/r/f/q@5", ForAppending());
  tree.Write(file, "!");
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "older!");
  EXPECT_EQ(tree.Stored("q"), "Put@" + std::to_string(5 - kStart));
}

TEST_F(FileWriterTest, WhatIsKnownOfAFileHeedsWhatComesUnderItsOtherNames) {
  if (tree.store->traits().has_other_writers) GTEST_SKIP() << "about what is known exactly";
  tree.Save(kQ, "12345678");
  const auto node = tree.LookUp(kQ)->node;
  ASSERT_TRUE(node->cached_cell());
  const Timestamp first = node->cached_cell()->version;
  tree.clock->Advance(10);
  const std::string newer = std::string(kQ) + "@" + std::to_string(first + 5);
  ASSERT_EQ(tree.Save(newer, "newer"), 0);
  EXPECT_EQ(tree.Stat(kQ).st_size, 5);
  ASSERT_EQ(tree.Unlink(newer), 0);
  EXPECT_EQ(tree.Stat(kQ).st_size, 8);
  ASSERT_EQ(tree.Rename(kQ, "default/t/r/f/p"), 0);
  EXPECT_EQ(tree.Error(kQ), ENOENT);
  EXPECT_EQ(tree.Stat("default/t/r/f/p").st_size, 8);
  ASSERT_EQ(tree.Unlink("default/t/r/f/p"), 0);
  EXPECT_EQ(tree.Error("default/t/r/f/p"), ENOENT);
}

TEST_F(FileWriterTest, WhatIsKnownOfAFileEndsWithItsTimeToLive) {
  if (tree.store->traits().has_other_writers) GTEST_SKIP() << "about what is known exactly";
  WritingTree expiring;
  expiring.MakeTable("10");
  expiring.Put("r", "other", "x");
  const std::string path = "default/t/r/g/q";
  ASSERT_EQ(expiring.Save(path, "x"), 0);
  ASSERT_TRUE(expiring.LookUp(path)->node->cached_cell());
  expiring.clock->Advance(10001);
  EXPECT_EQ(expiring.Error(path), ENOENT);
}

TEST_F(FileWriterTest, AVersionThatCouldNotBeReadIsRefused) {
  TableSchema schema(TableName{"default", "plain"});
  schema.families["f"] = FamilySchema("f");
  ASSERT_TRUE(tree.store->CreateTable(Caller::Superuser(), schema).ok());
  ASSERT_EQ(tree.Mkdir("default/plain/r"), 0);
  ASSERT_EQ(tree.Mkdir("default/plain/r/f"), 0);
  EXPECT_EQ(tree.Save("default/plain/r/f/q", "x"), 0);
  EXPECT_EQ(tree.Unlink("default/plain/r/f/q"), 0);
  EXPECT_EQ(tree.Save("default/plain/r/f/q@5", "x"), ERANGE);
  EXPECT_EQ(tree.Error("default/plain/r/f/q@5"), ENOENT);
}

TEST_F(FileWriterTest, AnUnlinkedFileIsReadAndWrittenOnAndPutsNothing) {
  tree.Save(kQ, "0123");
  OpenFile file = tree.Open(kQ, ForWriting());
  tree.Write(file, "A", 0);
  EXPECT_EQ(tree.Unlink(kQ), 0);
  tree.Write(file, "B", 1);
  EXPECT_EQ(tree.Read(file), "AB23");
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.Error(kQ), ENOENT);
  EXPECT_EQ(tree.Stored("q"), "DeleteColumn@1 Put@0");
}

TEST_F(FileWriterTest, HandlesOfAnUnlinkedFileShareIt) {
  tree.Save(kQ, "0123");
  OpenFile writer = tree.Open(kQ, ForWriting());
  OpenFile other = tree.Open(kQ, ForWriting());
  OpenFile reader = tree.Open(kQ, {});
  tree.Write(writer, "A", 0);
  OpenFile held = tree.Open(kQ, {});
  EXPECT_EQ(tree.Read(held), "0123") << "the value before what is written";
  EXPECT_EQ(tree.Unlink(kQ), 0);
  EXPECT_EQ(tree.Read(reader), "A123") << "what was not put as well";
  tree.Write(other, "45", 4);
  EXPECT_EQ(tree.Read(reader), "A12345");
  EXPECT_EQ(tree.Read(writer), "A12345");
  EXPECT_EQ(tree.filesystem->GetAttributes(tree.request, *reader.node)->attributes.st_size, 6);
  EXPECT_EQ(other.handle->Truncate(2).error(), 0);
  EXPECT_EQ(tree.Read(reader), "A1");
  EXPECT_EQ(tree.Read(held), "0123");
  EXPECT_EQ(tree.Stored("q"), "DeleteColumn@1 Put@0");
}

TEST_F(FileWriterTest, WhoReadsAFileBeingMadeReadsOnInItWithoutItsName) {
  OpenFile writer = tree.Create(kQ);
  OpenFile reader = tree.Open(kQ, {});
  EXPECT_EQ(tree.Unlink(kQ), 0);
  tree.Write(writer, "hidden");
  EXPECT_EQ(tree.Read(reader), "hidden");
  OpenFile next = tree.Create(kQ);
  EXPECT_EQ(tree.Close(writer), 0);
  EXPECT_EQ(tree.Error(kQ), 0) << "made anew by another";
  EXPECT_EQ(tree.Read(reader), "hidden");
}

// The handle of who made kQ and wrote nothing; another has written "other" to it since.
OpenFile MadeAndWrittenByAnother(WritingTree& tree, bool truncates) {
  OpenMode mode = ForWriting();
  mode.truncate = truncates;
  OpenFile maker = tree.Create(kQ, false, mode);
  OpenFile other = tree.Open(kQ, ForWriting());
  tree.Write(other, "other", 0);
  tree.Close(other);
  return maker;
}

TEST_F(FileWriterTest, WhoMadeAFileAndWroteNothingLeavesItToTheOthers) {
  for (const bool truncates : {false, true}) {
    OpenFile maker = MadeAndWrittenByAnother(tree, truncates);
    EXPECT_EQ(tree.Stat(kQ).st_size, 5);
    EXPECT_EQ(tree.Read(maker), "other");
    OpenFile reader = tree.Open(kQ, {});
    EXPECT_EQ(tree.Unlink(kQ), 0);
    EXPECT_EQ(tree.Read(reader), "other");
    EXPECT_EQ(tree.Read(maker), "other");
    tree.Write(maker, "m", 0);
    EXPECT_EQ(tree.Read(reader), "mther");
    tree.Close(maker);
    tree.Close(reader);
  }
}

TEST_F(FileWriterTest, WhoMadeAFileAndWroteNothingLeavesItToTheOthersAtClose) {
  tree.Close(MadeAndWrittenByAnother(tree, true));
  EXPECT_EQ(tree.ReadFile(kQ), "other");
}

TEST_F(FileWriterTest, AReaderThatLostItsNameReadsWhatThereWasAtLast) {
  for (const bool renamed : {false, true}) {
    tree.Save(kQ, "before");
    tree.Save("default/t/r/f/p", "another");
    OpenFile has_read = tree.Open(kQ, {});
    OpenFile has_not = tree.Open(kQ, {});
    EXPECT_EQ(tree.Read(has_read), "before");
    tree.Save(kQ, "at last");
    ASSERT_EQ(renamed ? tree.Rename("default/t/r/f/p", kQ) : tree.Unlink(kQ), 0);
    EXPECT_EQ(tree.filesystem->GetAttributes(tree.request, *has_not.node)->attributes.st_size, 7);
    EXPECT_EQ(tree.Read(has_read), "at last");
    EXPECT_EQ(tree.Read(has_not), "at last");
    tree.Close(has_read);
    tree.Close(has_not);
  }
}

TEST_F(FileWriterTest, AReaderOfARenamedFileReadsWhatIsPutAtTheNewName) {
  tree.Save(kQ, "before");
  OpenFile reader = tree.Open(kQ, {});
  EXPECT_EQ(tree.Rename(kQ, "default/t/r/f/p"), 0);
  EXPECT_EQ(tree.Read(reader), "before");
  tree.Save("default/t/r/f/p", "after");
  EXPECT_EQ(tree.Read(reader), "after");
}

TEST_F(FileWriterTest, ANameThatDidNotGoAfterAllLeavesItsReadersAlone) {
  tree.Save(kQ, "before");
  OpenFile reader = tree.Open(kQ, {});
  {
    Parts& parts = tree.filesystem->parts();
    ColumnChange change(parts.columns, reader.node);
    change.PrepareOrphan(change.place());
    change.Failed(Outcome(EIO));
  }
  tree.Save(kQ, "after");
  EXPECT_EQ(tree.Read(reader), "after");
}

// Stops in Sync until somebody lets it go on.
struct SlowDisk : ForwardingStore {
  using ForwardingStore::ForwardingStore;
  Status Sync() override {
    if (!is_syncing.try_wait()) is_syncing.count_down();
    may_go_on.wait();
    return ForwardingStore::Sync();
  }
  std::latch is_syncing{1};
  std::latch may_go_on{1};
};

// Under the tree, from now on.
template <typename Between>
Between& PutOn(WritingTree& tree) {
  tree.filesystem.reset();
  auto between = std::make_unique<Between>(std::move(tree.store));
  Between& store = *between;
  tree.store = std::move(between);
  tree.Remount();
  return store;
}

void PromiseTheDisk(WritingTree& tree) {
  TableSchema schema = **tree.store->DescribeTable(tree.table);
  ASSERT_TRUE(schema.Set("DURABILITY", "FSYNC_WAL").ok());
  ASSERT_TRUE(tree.store->AlterTable(Caller::Superuser(), schema).ok());
}

bool IsReady(const std::future<int>& call) {
  return call.wait_for(std::chrono::milliseconds(100)) == std::future_status::ready;
}

TEST_F(FileWriterTest, ACloseWaitsForTheDiskAlsoWhereAnotherHasPut) {
  CELLFS_NEEDS(syncs_apart);
  SlowDisk& disk = PutOn<SlowDisk>(tree);
  PromiseTheDisk(tree);
  const OpenFile first = tree.Open("default/t/r/f/other", ForAppending());
  const OpenFile second = tree.Open("default/t/r/f/other", ForAppending());
  tree.Write(first, "1", 1);
  tree.Write(second, "2", 2);
  auto puts = std::async(std::launch::async, [&] { return tree.Flush(second); });
  disk.is_syncing.wait();
  EXPECT_EQ(tree.Stored("other").substr(0, 3), "Put") << "both were put together";
  auto has_put = std::async(std::launch::async, [&] { return tree.Flush(first); });
  EXPECT_FALSE(IsReady(has_put));
  EXPECT_FALSE(IsReady(puts));
  disk.may_go_on.count_down();
  EXPECT_EQ(puts.get(), 0);
  EXPECT_EQ(has_put.get(), 0);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/other"), "x12");
}

struct CountedSyncs : ForwardingStore {
  using ForwardingStore::ForwardingStore;
  Status Sync() override {
    ++syncs;
    return ForwardingStore::Sync();
  }
  int syncs = 0;
};

// `sync FILE` opens it to read.
TEST_F(FileWriterTest, FsyncReachesTheDiskByAnyDescriptor) {
  CountedSyncs& disk = PutOn<CountedSyncs>(tree);
  tree.Save(kQ, "value");
  const auto expect_syncs = [&](const OpenFile& file) {
    ASSERT_EQ(file.error, 0);
    const int before = disk.syncs;
    EXPECT_TRUE(tree.filesystem->Sync(*file.node, *file.handle).ok());
    EXPECT_GT(disk.syncs, before);
    tree.Close(file);
  };
  expect_syncs(tree.Open(kQ, {}));
  expect_syncs(tree.Open(kQ, ForWriting()));
  expect_syncs(tree.Open("default/t/.schema.toml", ForWriting()));
  const OpenFile counter = tree.Create("default/t/r/f/.counters/n", false, ForWritingOnly());
  tree.Write(counter, "+1\n");
  expect_syncs(counter);
}

TEST_F(FileWriterTest, ACloseWaitsForTheDiskAlsoWhereThePutWasDueBefore) {
  CELLFS_NEEDS(syncs_apart);
  SlowDisk& disk = PutOn<SlowDisk>(tree);
  PromiseTheDisk(tree);
  const OpenFile log = tree.Open("default/t/r/f/other", ForAppending());
  tree.Write(log, "1", 1);
  disk.is_syncing.wait();  // within the second
  EXPECT_EQ(tree.ReadFile("default/t/r/f/other"), "x1");
  auto closes = std::async(std::launch::async, [&] { return tree.Flush(log); });
  EXPECT_FALSE(IsReady(closes));
  disk.may_go_on.count_down();
  EXPECT_EQ(closes.get(), 0);
  tree.Close(log);
}

TEST_F(FileWriterTest, NobodyWaitsForTheSyncOfARemoval) {
  CELLFS_NEEDS(syncs_apart);
  SlowDisk& disk = PutOn<SlowDisk>(tree);
  tree.Save(kQ, "before");
  const NodePtr node = tree.LookUp(kQ)->node;
  PromiseTheDisk(tree);
  auto removes = std::async(std::launch::async, [&] { return tree.Unlink(kQ); });
  disk.is_syncing.wait();
  EXPECT_TRUE(node->unlinked());
  EXPECT_TRUE(tree.filesystem->GetAttributes(tree.request, *node).ok());
  EXPECT_EQ(tree.Error(kQ), ENOENT);
  EXPECT_FALSE(IsReady(removes));
  disk.may_go_on.count_down();
  EXPECT_EQ(removes.get(), 0);
}

TEST_F(FileWriterTest, ReadersDoNotWaitForAWritersSync) {
  CELLFS_NEEDS(stamps_above_column);  // a put is one Mutate
  SlowDisk& disk = PutOn<SlowDisk>(tree);
  tree.Save(kQ, "before");
  OpenFile reader = tree.Open(kQ, {});
  OpenFile writer = tree.Open(kQ, Truncating());
  tree.Write(writer, "after!!");
  std::jthread syncing(
      [&] { EXPECT_TRUE(tree.filesystem->Sync(*writer.node, *writer.handle).ok()); });
  disk.is_syncing.wait();
  EXPECT_EQ(tree.Read(reader), "after!!");
  EXPECT_EQ(tree.Stat(kQ).st_size, 7);
  disk.may_go_on.count_down();
}

// Does something when it is first asked what it has pending.
struct ActsWhenAsked : FileHandle {
  explicit ActsWhenAsked(std::function<void()> act) : act_(std::move(act)) {}
  std::optional<PendingWrite> pending() const override {
    if (auto act = std::exchange(act_, nullptr)) act();
    return PendingWrite();
  }
  mutable std::function<void()> act_;
};

TEST_F(FileWriterTest, AFileWhoseNameGoesWhileItIsOpenedIsWhatHasTheNameNow) {
  tree.Save(kQ, "value");
  tree.Save("default/t/r/f/p", "another");
  const NodePtr node = tree.LookUp(kQ)->node;
  node->AddHandle(std::make_shared<ActsWhenAsked>([&] { tree.Rename("default/t/r/f/p", kQ); }));
  const auto file = node->ShareFile();
  file->AddWriter();  // only then a handle is asked
  auto reader = tree.filesystem->Open(tree.request, *node, {});
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(tree.Read({0, node, reader->handle}), "another");
  file->RemoveWriter();
}

TEST_F(FileWriterTest, AFileOpenedAfterItsNameWentIsWhatHasTheNameNow) {
  tree.Save(kQ, "value");
  const NodePtr node = tree.LookUp(kQ)->node;
  tree.Save("default/t/r/f/p", "another");
  tree.Rename("default/t/r/f/p", kQ);
  auto reader = tree.filesystem->Open(tree.request, *node, {});
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(tree.Read({0, node, reader->handle}), "another");
  tree.Unlink(kQ);
  EXPECT_EQ(tree.filesystem->Open(tree.request, *node, {}).error(), ENOENT);
  EXPECT_EQ(tree.filesystem->Open(tree.request, *node, ForWriting()).error(), ESTALE);
}

TEST_F(FileWriterTest, AFileUnlinkedBeforeItsFirstPutLeavesNothing) {
  OpenFile file = tree.Create(kQ);
  tree.Write(file, "secret");
  EXPECT_EQ(tree.Unlink(kQ), 0);
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.Stored("q"), "");
}

TEST_F(FileWriterTest, ARenamedHandlePutsUnderTheNewName) {
  tree.Save(kQ, "0123");
  OpenFile file = tree.Open(kQ, ForWriting());
  tree.Write(file, "A", 0);
  EXPECT_EQ(tree.Rename(kQ, "default/t/r/f/p"), 0);
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/p"), "A123");
  EXPECT_EQ(tree.Error(kQ), ENOENT);
}

TEST_F(FileWriterTest, ATimeSetBeforeThePutIsItsTimestamp) {
  OpenFile file = tree.Create(kQ);
  tree.Write(file, "x");
  EXPECT_EQ(tree.SetTime(file, {1000, 5000000}), 0);
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.Stored("q"), "Put@" + std::to_string(1000005 - kStart));
  EXPECT_EQ(tree.Stat(kQ).st_mtim.tv_sec, 1000);
  EXPECT_EQ(tree.Stat(kQ).st_ctim.tv_sec, kStart / 1000) << "never settable";
}

TEST_F(FileWriterTest, AnOlderTimeIsRememberedInFullAndTheValueIsRead) {
  tree.Save(kQ, "new");
  tree.clock->Advance(10);
  OpenFile file = tree.Open(kQ, Truncating());
  tree.Write(file, "old");
  EXPECT_EQ(tree.SetTime(file, {1000, 123456789}), 0);
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "old");
  EXPECT_EQ(tree.Stored("q"), "Put@10 Put@0");
  EXPECT_EQ(tree.Stat(kQ).st_mtim.tv_nsec, 123456789);
  tree.Remount();
  EXPECT_EQ(tree.Stat(kQ).st_mtim.tv_sec, 1000);
  tree.clock->Advance(10);
  tree.Save(kQ, "newest");
  EXPECT_EQ(tree.Stat(kQ).st_mtim.tv_sec, kStart / 1000) << "the time was the other version's";
}

TEST_F(FileWriterTest, TouchMakesNoVersion) {
  tree.Save(kQ, "x");
  tree.clock->Advance(5000);
  AttributeChange change;
  change.mtime = timespec{77, 5};
  EXPECT_EQ(tree.Change(kQ, change), 0);
  EXPECT_EQ(tree.Stored("q"), "Put@0");
  EXPECT_EQ(tree.Stat(kQ).st_mtim.tv_sec, 77);
  EXPECT_EQ(tree.Stat(kQ).st_ctim.tv_sec, kStart / 1000 + 5);
}

TEST_F(FileWriterTest, TruncateByNameIsOnePut) {
  tree.Save(kQ, "0123456789");
  tree.clock->Advance(10);
  AttributeChange change;
  change.size = 4;
  EXPECT_EQ(tree.Change(kQ, change), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "0123");
  EXPECT_EQ(tree.Stored("q"), "Put@10 Put@0");
}

TEST_F(FileWriterTest, CountersTakeIncrements) {
  EXPECT_EQ(tree.Save("default/t/r/f/.counters/n", "+5\n"), 0);
  EXPECT_EQ(tree.Save("default/t/r/f/.counters/n", "-2\n"), 0);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/.counters/n"), "3\n");
  EXPECT_EQ(tree.Save("default/t/r/f/.counters/n", "7\n"), EINVAL);
  EXPECT_EQ(tree.Save("default/t/r/f/.counters/other", "+1"), EINVAL) << "one byte is no counter";
  EXPECT_EQ(tree.Unlink("default/t/r/f/n"), 0);
  EXPECT_EQ(tree.Save("default/t/r/f/.counters/n", "+1"), 0);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/.counters/n"), "1\n") << "above the tombstone";
  EXPECT_EQ(tree.Save("default/t/r/f/.counters/bad", "x"), EINVAL);
  EXPECT_EQ(tree.Error("default/t/r/f/.counters/bad"), ENOENT);
}

// Shells do not hear of a close that fails.
TEST_F(FileWriterTest, TheWriteThatEndsACountersLineAddsItOrFails) {
  const std::string path = "default/t/r/f/.counters/n";
  OpenFile file = tree.Create(path);
  EXPECT_EQ(tree.Write(file, "+1"), 0);
  EXPECT_EQ(tree.Write(file, "0 +1\n+2\n+", 2), 0);
  EXPECT_EQ(tree.ReadFile(path), "13\n");
  EXPECT_EQ(tree.Flush(file), EINVAL) << "a sign is no number";
  EXPECT_EQ(tree.Write(file, "5", 0), 0) << "offsets say nothing";
  EXPECT_EQ(tree.ReadFile(path), "13\n");
  EXPECT_EQ(tree.Flush(file), 0);
  EXPECT_EQ(tree.Write(file, "\n\n", 11), 0);
  EXPECT_EQ(tree.Close(file), 0) << "nothing is added twice";
  EXPECT_EQ(tree.ReadFile(path), "18\n");

  file = tree.Open(path, Truncating());
  EXPECT_EQ(tree.Write(file, "+1\nmany\n"), EINVAL);
  EXPECT_EQ(tree.Write(file, "+1\n"), EINVAL) << "nor anything after it";
  EXPECT_EQ(tree.Close(file), EINVAL);
  for (const char* text : {"\n", "1\n", "+9223372036854775808\n",
                           "+9223372036854775807 +1\n"}) {
    file = tree.Open(path, Truncating());
    EXPECT_EQ(tree.Write(file, text), EINVAL) << text;
    EXPECT_EQ(tree.Close(file), EINVAL) << text;
  }
  EXPECT_EQ(tree.ReadFile(path), "18\n");
  file = tree.Open("default/t/r/f/.counters/other", Truncating());
  EXPECT_EQ(tree.Write(file, "+1\n"), EINVAL) << "one byte is no counter";
  EXPECT_EQ(tree.Close(file), EINVAL);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/other"), "x");
}

TEST_F(FileWriterTest, AnOpenCounterAddsNothingOnceItsFileHasGone) {
  const std::string path = "default/t/r/f/.counters/n";
  for (const bool is_renamed : {false, true}) {
    ASSERT_EQ(tree.Save(path, "+5\n"), 0);
    const OpenFile file = tree.Open(path, ForWriting());
    ASSERT_EQ(is_renamed ? tree.Rename("default/t/r/f/n", "default/t/r/f/moved")
                         : tree.Unlink("default/t/r/f/n"), 0);
    EXPECT_EQ(tree.Write(file, "+1\n"), 0);
    EXPECT_EQ(tree.Close(file), 0);
    EXPECT_EQ(tree.Error("default/t/r/f/n"), ENOENT);
    ASSERT_EQ(tree.Save(path, "+1\n"), 0) << "it is another one now";
    EXPECT_EQ(tree.ReadFile(path), "1\n");
    ASSERT_EQ(tree.Unlink("default/t/r/f/n"), 0);
  }
}

TEST_F(FileWriterTest, ACounterHoldsNoLongLine) {
  const OpenFile file = tree.Create("default/t/r/f/.counters/n");
  std::string lines;
  for (int i = 0; i < 20000; ++i) lines += "+1\n";
  EXPECT_EQ(tree.Write(file, lines), 0);
  EXPECT_EQ(tree.Write(file, std::string(4000, ' ') + "+1"), 0);
  EXPECT_EQ(tree.Write(file, std::string(200, ' ')), EINVAL);
  EXPECT_EQ(tree.Close(file), EINVAL);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/.counters/n"), "20000\n");
}

TEST_F(FileWriterTest, WithACounterGoWhoHasItOpenByItsOtherName) {
  ASSERT_EQ(tree.Save("default/t/r/f/.counters/n", "+5\n"), 0);
  const OpenFile log = tree.Open("default/t/r/f/n", ForAppending());
  const OpenFile whole = tree.Open("default/t/r/f/n", Truncating());
  ASSERT_EQ(tree.Write(log, "more"), 0);
  ASSERT_EQ(tree.Write(whole, "another"), 0);
  EXPECT_EQ(tree.Unlink("default/t/r/f/.counters/n"), 0);
  EXPECT_EQ(tree.Write(log, "and more", 4), 0);
  EXPECT_EQ(tree.Close(log), 0);
  EXPECT_EQ(tree.Close(whole), 0);
  EXPECT_EQ(tree.Error("default/t/r/f/n"), ENOENT) << "nobody puts it again";
  EXPECT_EQ(tree.Error("default/t/r/f/.counters/n"), ENOENT);
}

TEST_F(FileWriterTest, ACounterThatWasRemovedIsNotMadeAnew) {
  const std::string path = "default/t/r/f/.counters/n";
  ASSERT_EQ(tree.Save(path, "+1\n"), 0);
  const OpenFile file = tree.Open(path, ForWriting());
  ASSERT_EQ(tree.Unlink(path), 0);
  EXPECT_EQ(tree.Write(file, "+1\n"), 0);
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.Error(path), ENOENT);
}

TEST_F(FileWriterTest, NothingIsWrittenWhereNothingCanBe) {
  EXPECT_EQ(tree.Create("default/t/r/f/.deleted/x").error, EPERM);
  TableSchema schema = **tree.store->DescribeTable(tree.table);
  ASSERT_TRUE(schema.Set("READONLY", "true").ok());
  ASSERT_TRUE(tree.store->AlterTable(Caller::Superuser(), schema).ok());
  EXPECT_EQ(tree.Create(kQ).error, EROFS);
  EXPECT_EQ(tree.Open("default/t/r/f/other", ForWriting()).error, EROFS);
}

// The kernel's pages are shared by all that read the file, whatever handle they came by.
TEST_F(FileWriterTest, PagesGetWhatIsPutAlsoByAHandleThatReadsTheValueBefore) {
  tree.Save(kQ, "old");
  OpenFile writer = tree.Open(kQ, Truncating());
  tree.Write(writer, "newer");
  OpenFile held = tree.Open(kQ, {});
  const auto pages = [&] {
    const auto read =
        tree.filesystem->Read(tree.request, *held.node, held.handle, 0, 100, ReadFor::kPages);
    return read.ok() ? std::string(read->bytes) : "<read failed>";
  };
  EXPECT_EQ(pages(), "old");
  EXPECT_TRUE(held.node->has_stale_pages());
  EXPECT_EQ(tree.Close(writer), 0);
  EXPECT_EQ(tree.Read(held), "old");
  EXPECT_EQ(pages(), "newer");
}

TEST_F(FileWriterTest, AnAllocationThatIsRefusedLosesNothing) {
  OpenFile file = tree.Create(kQ);
  tree.Write(file, "abc");
  const auto allocate = [&](uint64_t size) {
    return tree.filesystem->Allocate(*file.node, *file.handle, size).error();
  };
  EXPECT_EQ(allocate(uint64_t{1} << 40), EFBIG);
  EXPECT_EQ(allocate(2), 0);
  EXPECT_EQ(allocate(5), 0);
  EXPECT_EQ(file.handle->Truncate(uint64_t{1} << 40).error(), EFBIG);
  EXPECT_EQ(tree.Close(file), 0);
  EXPECT_EQ(tree.ReadFile(kQ), std::string("abc\0\0", 5));
}

}  // namespace
}  // namespace cellfs::fs
