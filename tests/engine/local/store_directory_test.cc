// SPDX-License-Identifier: MIT
#include "engine/local/store_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "engine/disk/store_lock.h"
#include "tests/support/busy_files.h"
#include "tests/support/faulty_files.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

class StoreDirectoryTest : public testing::Test {
 protected:
  StatusOr<std::unique_ptr<StoreDirectory>> Open() { return StoreDirectory::Open(files_, path_); }
  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(path_ + "/" + name, std::ios::binary | std::ios::trunc) << bytes;
  }
  void MakeTable() {
    ASSERT_TRUE(std::filesystem::create_directory(path_ + "/tables/1"));
    for (const char* name : {"tables/1/MANIFEST", "tables/1/1.db"}) Write(name, "x");
  }
  void ExpectRefusal(const std::string& words) {
    const Status status = Open().status();
    EXPECT_EQ(status.code(), StatusCode::kAccessDenied) << status.ToString();
    EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
  }
  void ExpectCorruption(const std::string& words) { Expect(StatusCode::kCorruption, words); }
  void Expect(StatusCode code, const std::string& words) {
    const Status status = Open().status();
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
  }

  TemporaryDirectory temporary_;
  const std::string path_ = temporary_.path() + "/store";
  FaultyFiles files_;
};

TEST_F(StoreDirectoryTest, IsMadeForItsOwnerAlone) {
  const auto directory = Open();
  ASSERT_TRUE(directory.ok()) << directory.status().ToString();
  for (const std::string& path : {path_, (*directory)->log_path(), (*directory)->tables_path()}) {
    struct stat status;
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u) << path;
  }
  char id[20];
  std::snprintf(id, sizeof(id), "%016" PRIx64, (*directory)->id());
  EXPECT_EQ(*files_.Read(path_ + "/FORMAT"),
            std::string("cellfs store, format 6\nid ") + id + "\n");
  EXPECT_EQ((*directory)->LoadCatalog()->document, "");
}

TEST_F(StoreDirectoryTest, AFreshFileSystemMayBecomeAStore) {
  std::filesystem::create_directories(path_ + "/lost+found");
  EXPECT_TRUE(Open().ok());
}

TEST_F(StoreDirectoryTest, AnEmptyDirectoryIsMadePrivate) {
  std::filesystem::create_directory(path_);
  ASSERT_EQ(::chmod(path_.c_str(), 0777), 0);
  ASSERT_TRUE(Open().ok());
  struct stat status;
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(StoreDirectoryTest, WhatOthersCanChangeIsRefusedAndNamed) {
  ASSERT_TRUE(Open().ok());
  MakeTable();
  ASSERT_TRUE(std::filesystem::create_directory(path_ + "/lost"));
  for (const char* name : {"", "/tables", "/wal", "/lost", "/FORMAT", "/CATALOG", "/EDITS", "/LOCK",
                           "/tables/1", "/tables/1/MANIFEST", "/tables/1/1.db"}) {
    const std::string path = path_ + name;
    struct stat before;
    ASSERT_EQ(::stat(path.c_str(), &before), 0);
    for (const mode_t others : {S_IWGRP, S_IWOTH}) {
      ASSERT_EQ(::chmod(path.c_str(), before.st_mode | others), 0);
      ExpectRefusal("'" + path + "'");
    }
    ASSERT_EQ(::chmod(path.c_str(), before.st_mode), 0);
    EXPECT_TRUE(Open().ok()) << name;
  }
}

TEST_F(StoreDirectoryTest, ALinkOrASpecialFileIsRefusedAndNamed) {
  ASSERT_TRUE(Open().ok());
  MakeTable();
  for (const char* name : {"/tables", "/wal", "/FORMAT", "/CATALOG", "/EDITS", "/LOCK", "/tables/1",
                           "/tables/1/MANIFEST", "/tables/1/1.db"}) {
    const std::string path = path_ + name;
    const std::string outside = temporary_.path() + "/outside";
    std::filesystem::rename(path, outside);
    std::filesystem::create_symlink(outside, path);
    ExpectRefusal("'" + path + "'");
    std::filesystem::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    ExpectRefusal("'" + path + "'");
    std::filesystem::remove(path);
    std::filesystem::rename(outside, path);
    EXPECT_TRUE(Open().ok()) << name;
  }
}

TEST_F(StoreDirectoryTest, IsNotWhereEverybodyCouldReplaceIt) {
  ASSERT_TRUE(Open().ok());
  ASSERT_EQ(::chmod(temporary_.path().c_str(), 0777), 0);
  ExpectRefusal("'" + std::filesystem::canonical(temporary_.path()).string() + "'");
  ASSERT_EQ(::chmod(temporary_.path().c_str(), 01777), 0);
  EXPECT_TRUE(Open().ok());
}

TEST_F(StoreDirectoryTest, HolderIsWhoHasItOpen) {
  EXPECT_EQ(HolderOfLock(path_), std::nullopt);
  {
    const auto holder = Open();
    EXPECT_EQ(HolderOfLock(path_), std::to_string(::getpid()));
    EXPECT_EQ(CheckIsUnlocked(path_).code(), StatusCode::kUnavailable);
  }
  EXPECT_EQ(HolderOfLock(path_), std::nullopt);
  EXPECT_TRUE(CheckIsUnlocked(path_).ok());
}

TEST_F(StoreDirectoryTest, ThoseWhoReadShareItsLockAndLeaveItAsItIs) {
  ASSERT_TRUE(Open().ok());
  for (const bool has_file : {true, false}) {
    SCOPED_TRACE(has_file);
    if (!has_file) std::filesystem::remove(path_ + "/LOCK");
    {
      const auto first = StoreDirectory::Open(UnchangedFiles(), path_);
      const auto second = StoreDirectory::Open(UnchangedFiles(), path_);
      ASSERT_TRUE(first.ok() && second.ok()) << second.status().ToString();
      // Not every file system is called by the kernel's list of locks as stat(2) calls it.
      const std::string holder = HolderOfLock(path_).value();
      EXPECT_TRUE(holder == std::to_string(::getpid()) || holder == "(unknown)") << holder;
      EXPECT_EQ(CheckIsUnlocked(path_).message().find("(unknown)"), std::string::npos);
      const std::string by = holder == "(unknown)" ? "another process" : "process " + holder;
      if (has_file) Expect(StatusCode::kUnavailable, "by " + by + ", which only reads it");
    }
    EXPECT_EQ(HolderOfLock(path_), std::nullopt);
    EXPECT_EQ(std::filesystem::exists(path_ + "/LOCK"), has_file);
  }
  const auto writer = Open();
  ASSERT_TRUE(writer.ok());
  const Status reader = StoreDirectory::Open(UnchangedFiles(), path_).status();
  EXPECT_NE(reader.message().find(std::to_string(::getpid())), std::string::npos)
      << reader.message();
}

// A cleaner, or somebody who thinks it is left over.
TEST_F(StoreDirectoryTest, StaysLockedWhereItsLockFileIsRemovedOrMadeAnew) {
  const auto writer = Open();
  ASSERT_TRUE(writer.ok());
  for (const bool made_anew : {false, true}) {
    SCOPED_TRACE(made_anew);
    std::filesystem::remove(path_ + "/LOCK");
    if (made_anew) {
      Write("LOCK", "");
      ASSERT_EQ(::chmod((path_ + "/LOCK").c_str(), 0600), 0);
    }
    const std::string holder = HolderOfLock(path_).value_or("nobody");
    EXPECT_TRUE(holder == std::to_string(::getpid()) || holder == "(unknown)") << holder;
    EXPECT_EQ(WriterUnderLock(path_), holder);
    EXPECT_EQ(CheckIsUnlocked(path_).code(), StatusCode::kUnavailable);
    Expect(StatusCode::kUnavailable,
           holder == "(unknown)" ? "by another process" : "by process " + holder);
    const Status reader = StoreDirectory::Open(UnchangedFiles(), path_).status();
    EXPECT_EQ(reader.code(), StatusCode::kUnavailable) << reader.ToString();
    EXPECT_EQ(std::filesystem::exists(path_ + "/LOCK"), made_anew);
  }
}

TEST_F(StoreDirectoryTest, IsKeptByWhoReadsItWhereItsLockFileIsRemoved) {
  ASSERT_TRUE(Open().ok());
  const auto reader = StoreDirectory::Open(UnchangedFiles(), path_);
  ASSERT_TRUE(reader.ok());
  std::filesystem::remove(path_ + "/LOCK");
  Expect(StatusCode::kUnavailable, "which only reads it");
  EXPECT_EQ(WriterUnderLock(path_), std::nullopt);
  EXPECT_TRUE(StoreDirectory::Open(UnchangedFiles(), path_).ok());
}

// A version that locks the file alone.
TEST_F(StoreDirectoryTest, IsNotOpenedBesideAHolderOfItsLockFile) {
  ASSERT_TRUE(Open().ok());
  const Descriptor older(::open((path_ + "/LOCK").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(older.get(), LOCK_EX), 0);
  Expect(StatusCode::kUnavailable, "process " + std::to_string(::getpid()));
  EXPECT_EQ(StoreDirectory::Open(UnchangedFiles(), path_).status().code(),
            StatusCode::kUnavailable);
}

TEST_F(StoreDirectoryTest, IsLockedAndNamesTheHolder) {
  {
    const auto holder = Open();
    ASSERT_TRUE(holder.ok());
    const Status status = Open().status();
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_NE(status.message().find("process " + std::to_string(::getpid())), std::string::npos)
        << status.message();
  }
  EXPECT_TRUE(Open().ok());
}

TEST_F(StoreDirectoryTest, AForeignDirectoryIsRefusedAndLeftAlone) {
  std::filesystem::create_directory(path_);
  Write("thesis.tex", "words");
  ExpectCorruption("is not a cellfs store");
  EXPECT_EQ(files_.List(path_)->size(), 1u);
}

TEST_F(StoreDirectoryTest, AnotherFormatIsRefusedInClearWords) {
  ASSERT_TRUE(Open().ok());
  Write("FORMAT", "cellfs store, format 7\n");
  Expect(StatusCode::kDoNotRetry, "has format 7, of a newer version");
  for (const char* older : {"1", "2"}) {
    Write("FORMAT", std::string("cellfs store, format ") + older + "\n");
    Expect(StatusCode::kDoNotRetry,
           std::string("has format ") + older + ", of an older version");
  }
  for (const char* text :
       {"", "cellfs store, format 4", "cellfs store, format 4\n", "cellfs store, format 4\nid 1\n",
        "cellfs store, format x\n", "cellfs store, format 0\n", "something else\n"}) {
    Write("FORMAT", text);
    ExpectCorruption("FORMAT' is damaged");
  }
}

TEST_F(StoreDirectoryTest, MissingFilesAreNamed) {
  ASSERT_TRUE((*Open())->SaveCatalog("tables").ok());
  for (const char* name : {"CATALOG", "EDITS", "wal", "tables", "FORMAT"}) {
    std::filesystem::rename(path_ + "/" + name, temporary_.path() + "/aside");
    ExpectCorruption(std::string(name) + "' is missing");
    std::filesystem::rename(temporary_.path() + "/aside", path_ + "/" + name);
  }
  EXPECT_TRUE(Open().ok());
}

TEST_F(StoreDirectoryTest, OneWhoseMakingWasCutShortIsNotDamaged) {
  ASSERT_TRUE(Open().ok());
  for (const char* name : {"FORMAT", "EDITS", "CATALOG", "tables", "wal"}) {
    std::filesystem::remove_all(path_ + "/" + name);
    for (const Status& status :
         {CheckIsStore(files_, path_).status(),
          StoreDirectory::Open(files_, path_, StoreDirectory::Making::kNever).status()}) {
      EXPECT_EQ(status.code(), StatusCode::kIllegalArgument) << name;
      EXPECT_NE(status.message().find("cut short"), std::string::npos) << status.message();
    }
  }
  EXPECT_TRUE(Open().ok());
}

TEST_F(StoreDirectoryTest, OneThatHasTablesIsNotMadeAnew) {
  ASSERT_TRUE(Open().ok());
  std::filesystem::create_directory(path_ + "/tables/1");
  for (const char* name : {"FORMAT", "EDITS", "CATALOG"}) {
    std::filesystem::remove(path_ + "/" + name);
    ExpectCorruption("FORMAT' is missing");
  }
}

TEST_F(StoreDirectoryTest, TheCatalogIsAsLastSaved) {
  const std::string catalog("tables\0\n\xff", 9);
  ASSERT_TRUE((*Open())->SaveCatalog("first").ok());
  ASSERT_TRUE((*Open())->SaveCatalog(catalog).ok());
  EXPECT_EQ((*Open())->LoadCatalog()->document, catalog);
}

TEST_F(StoreDirectoryTest, EditsAreThoseOfTheDocument) {
  using Edits = std::vector<std::string>;
  ASSERT_TRUE((*Open())->SaveCatalogEdit("of nothing").ok());
  EXPECT_EQ((*Open())->LoadCatalog()->edits, Edits{"of nothing"});
  ASSERT_TRUE((*Open())->SaveCatalog("first").ok());
  EXPECT_EQ((*Open())->LoadCatalog()->edits, Edits{});
  {
    const auto directory = Open();
    ASSERT_TRUE((*directory)->LoadCatalog().ok());
    ASSERT_TRUE((*directory)->SaveCatalogEdit("one").ok());
  }
  {
    const auto directory = Open();
    ASSERT_TRUE((*directory)->LoadCatalog().ok());
    ASSERT_TRUE((*directory)->SaveCatalogEdit("two").ok());
    EXPECT_EQ((*directory)->LoadCatalog()->document, "first");
    EXPECT_EQ((*directory)->LoadCatalog()->edits, (Edits{"one", "two"}));
    ASSERT_TRUE((*directory)->SaveCatalog("second").ok());
    ASSERT_TRUE((*directory)->SaveCatalogEdit("three").ok());
  }
  EXPECT_EQ((*Open())->LoadCatalog()->document, "second");
  EXPECT_EQ((*Open())->LoadCatalog()->edits, Edits{"three"});
}

// A document is replaced, and then the edits, between a reader's two looks.
TEST_F(StoreDirectoryTest, WhoReadsWhileItIsSavedFindsADocumentAndItsEdits) {
  const auto directory = Open();
  ASSERT_TRUE((*directory)->SaveCatalog("first").ok());
  ASSERT_TRUE((*directory)->SaveCatalogEdit("one").ok());
  BusyFiles files;
  files.BeforeRead("EDITS", [&] {
    ASSERT_TRUE((*directory)->SaveCatalog("second").ok());
    ASSERT_TRUE((*directory)->SaveCatalogEdit("two").ok());
  });
  const auto read = ReadCatalog(files, path_);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->document, "second");
  EXPECT_EQ(read->edits, std::vector<std::string>{"two"});
}

TEST_F(StoreDirectoryTest, DamagedEditsAreCorruption) {
  const auto directory = Open();
  ASSERT_TRUE((*directory)->SaveCatalog("document").ok());
  ASSERT_TRUE((*directory)->SaveCatalogEdit("edit").ok());
  const std::string whole = *files_.Read(path_ + "/EDITS");
  EXPECT_EQ(whole.substr(0, 8), "CELLEDT\n");
  EXPECT_EQ(whole.size(), 8u + 17 + 5 + 8);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    Write("EDITS", flipped);
    EXPECT_EQ((*directory)->LoadCatalog().status().code(), StatusCode::kCorruption) << at;
  }
}

TEST_F(StoreDirectoryTest, AStoreOfFormat4GetsEdits) {
  ASSERT_TRUE((*Open())->SaveCatalog("document").ok());
  std::string format = *files_.Read(path_ + "/FORMAT");
  format.replace(format.find("format 6"), 8, "format 4");
  Write("FORMAT", format);
  std::filesystem::remove(path_ + "/EDITS");
  EXPECT_EQ(ReadCatalog(files_, path_)->document, "document");
  EXPECT_TRUE((*Open())->was_of_older_format());
  EXPECT_TRUE(std::filesystem::exists(path_ + "/EDITS"));
  EXPECT_FALSE((*Open())->was_of_older_format());
  EXPECT_EQ((*Open())->LoadCatalog()->document, "document");
}

TEST_F(StoreDirectoryTest, ADamagedCatalogIsCorruption) {
  const auto directory = Open();
  ASSERT_TRUE((*directory)->SaveCatalog("tables").ok());
  const std::string whole = *files_.Read(path_ + "/CATALOG");
  EXPECT_EQ(whole.substr(0, 14), "CELLCAT\ntables");
  EXPECT_EQ(whole.size(), 8u + 6 + 8);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    Write("CATALOG", flipped);
    EXPECT_EQ((*directory)->LoadCatalog().status().code(), StatusCode::kCorruption) << at;
    Write("CATALOG", whole.substr(0, at));
    EXPECT_EQ((*directory)->LoadCatalog().status().code(), StatusCode::kCorruption) << at;
  }
}

TEST_F(StoreDirectoryTest, IsMadeAgainAfterAMakingThatWasCutShort) {
  bool failed = true;
  for (int n = 1; failed; ++n) {
    SCOPED_TRACE(n);
    std::filesystem::remove_all(path_);
    files_.FailNth(n);
    const bool made = Open().ok();
    failed = files_.failed();
    files_.FailNth(0);
    EXPECT_EQ(made, !failed);
    files_.LosePower();
    const auto directory = Open();
    ASSERT_TRUE(directory.ok()) << directory.status().ToString();
    EXPECT_EQ((*directory)->LoadCatalog()->document, "");
  }
}

}  // namespace
}  // namespace cellfs
