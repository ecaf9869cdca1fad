// SPDX-License-Identifier: MIT
#include "src/mount/fstab.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

const FstabLine kLine{"/srv/store", "/mnt/notes", "cellfs", "nofail"};
constexpr char kText[] = "/srv/store /mnt/notes cellfs nofail 0 0\n";

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(FstabLine, EscapesWhatParsesAway) {
  const FstabLine line{"/a b\\c", "/tab\tline\nfeed#", "cellfs", "config=/x y"};
  const auto text = TextOf(line);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "/a\\040b\\134c /tab\\011line\\012feed# cellfs config=/x\\040y 0 0");
  EXPECT_EQ(*ParseFstabLine(*text), line);
}

TEST(FstabLine, RefusesWhatWouldNotParse) {
  EXPECT_FALSE(TextOf({"store", "/m", "cellfs", ""}).ok());
  EXPECT_FALSE(TextOf({"/s", "m", "cellfs", ""}).ok());
  EXPECT_FALSE(TextOf({"", "/m", "cellfs", ""}).ok());
  EXPECT_FALSE(TextOf({"/s", "", "cellfs", ""}).ok());
}

TEST(WithLine, LeavesTheRestAsItIs) {
  EXPECT_EQ(*WithLine("", kLine), kText);
  const std::string others = "# /x /mnt/notes ext4\n\nUUID=1  /  ext4\tdefaults 0 1\nhalf a\n";
  EXPECT_EQ(*WithLine(others, kLine), others + kText);
  EXPECT_EQ(*WithLine("no end", kLine), std::string("no end\n") + kText);
}

TEST(WithLine, ReplacesTheLineOfItsMountPoint) {
  EXPECT_EQ(*WithLine("/old /mnt/notes/ fuse.cellfs ro 0 0\n/ / ext4\n", kLine),
            std::string(kText) + "/ / ext4\n");
  EXPECT_EQ(*WithLine(std::string(kText) + kText, kLine), kText);
  const std::string spaced = "/srv/store\t\t/mnt/notes  cellfs nofail\n";
  EXPECT_EQ(*WithLine(spaced, kLine), spaced);
}

TEST(WithLine, RefusesTheMountPointOfSomethingElse) {
  const auto refused = WithLine("/dev/sdb1 /mnt/notes ext4 defaults 0 2\n", kLine);
  EXPECT_EQ(refused.status().code(), StatusCode::kIllegalArgument);
  EXPECT_NE(refused.status().message().find("/dev/sdb1"), std::string::npos);
}

TEST(UpdateFstab, ReplacesTheFileAndKeepsItsMode) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/fstab";
  std::ofstream(path) << "# mine\n";
  ASSERT_EQ(chmod(path.c_str(), 0664), 0);
  const std::string link = directory.path() + "/link";
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  ASSERT_TRUE(UpdateFstab(link, kLine).ok());
  EXPECT_EQ(ReadFile(path), std::string("# mine\n") + kText);
  struct stat first {};
  ASSERT_EQ(lstat(path.c_str(), &first), 0);
  EXPECT_EQ(first.st_mode & 07777, 0664u);
  ASSERT_TRUE(UpdateFstab(path, kLine).ok());
  struct stat second {};
  ASSERT_EQ(stat(path.c_str(), &second), 0);
  EXPECT_EQ(first.st_ino, second.st_ino);  // there was nothing to do
  ASSERT_EQ(lstat(link.c_str(), &second), 0);
  EXPECT_TRUE(S_ISLNK(second.st_mode));
}

TEST(UpdateFstab, MakesAFileThatIsMissing) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/fstab";
  ASSERT_TRUE(UpdateFstab(path, kLine).ok());
  EXPECT_EQ(ReadFile(path), kText);
  EXPECT_FALSE(UpdateFstab(directory.path() + "/missing/fstab", kLine).ok());
}

}  // namespace
}  // namespace cellfs
