// SPDX-License-Identifier: MIT
#include "engine/disk/file_layer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>

#include "tests/support/faulty_files.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

TEST(FileLayerTest, AppendsTruncatesAndReadsBack) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  {
    const auto file = PosixFiles().OpenForAppend(path);
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE((*file)->Append("hello world").ok());
    EXPECT_TRUE((*file)->Truncate(5).ok());
    EXPECT_TRUE((*file)->Append("!").ok()) << "goes to the new end";
    EXPECT_TRUE((*file)->Sync().ok());
  }
  ASSERT_TRUE((*PosixFiles().OpenForAppend(path))->Append("?").ok());
  EXPECT_EQ(*PosixFiles().Read(path), "hello!?");
  struct stat status;
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(FileLayerTest, ListsNamesInOrder) {
  const TemporaryDirectory directory;
  FileLayer& files = PosixFiles();
  for (const char* name : {"/b", "/a", "/c"})
    ASSERT_TRUE(files.OpenForAppend(directory.path() + name).ok());
  ASSERT_TRUE(files.Rename(directory.path() + "/c", directory.path() + "/b").ok());
  ASSERT_TRUE(files.MakeDirectory(directory.path() + "/d").ok());
  ASSERT_TRUE(files.MakeDirectory(directory.path() + "/d").ok());
  EXPECT_EQ(*files.List(directory.path()), (std::vector<std::string>{"a", "b", "d"}));
  ASSERT_TRUE(files.Remove(directory.path() + "/a").ok());
  EXPECT_EQ(*files.List(directory.path()), (std::vector<std::string>{"b", "d"}));
  EXPECT_TRUE(files.SyncDirectory(directory.path()).ok());
}

TEST(FileLayerTest, ErrorsNameFileAndErrno) {
  const Status status = PosixFiles().Read("/no/such/file").status();
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_EQ(status.message(), "cannot open '/no/such/file': No such file or directory (errno 2)");
}

TEST(FileLayerTest, NoRoomIsStoreFull) {
  const auto full = PosixFiles().OpenForAppend("/dev/full");
  ASSERT_TRUE(full.ok());
  EXPECT_EQ((*full)->Append("x").code(), StatusCode::kStoreFull);
  EXPECT_EQ(ErrnoStatus("write to", "f", EDQUOT).code(), StatusCode::kStoreFull);
  EXPECT_EQ(ErrnoStatus("write to", "f", EIO).code(), StatusCode::kIoError);
}

TEST(FileLayerTest, AReplacedFileIsOldOrNewWhateverFails) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  bool failed = true;
  for (int n = 1; failed; ++n) {
    FaultyFiles files;
    ASSERT_TRUE(ReplaceFile(files, directory.path(), "file", "old").ok());
    files.FailNth(n, StatusCode::kStoreFull);
    const Status status = ReplaceFile(files, directory.path(), "file", "newer");
    failed = files.failed();
    EXPECT_EQ(status.ok(), !failed) << n;
    files.LosePower();
    const std::string bytes = *files.Read(path);
    if (status.ok())
      EXPECT_EQ(bytes, "newer");
    else
      EXPECT_TRUE(bytes == "old" || bytes == "newer") << n << ": " << bytes;
  }
}

}  // namespace
}  // namespace cellfs
