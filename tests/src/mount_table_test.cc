// SPDX-License-Identifier: MIT
#include "src/mount/mount_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "src/mount/mountpoint.h"
#include "src/mount/unmount.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

namespace filesystem = std::filesystem;

TEST(CanonicalPathTest, IsAbsoluteAndWithoutSymbolicLinks) {
  TemporaryDirectory temporary;
  const std::string base = filesystem::canonical(temporary.path()).string();
  filesystem::create_directories(base + "/real/inner");
  filesystem::create_symlink("real", base + "/link");
  EXPECT_EQ(CanonicalPath(base + "/link"), base + "/real");
  EXPECT_EQ(CanonicalPath(base + "/link/"), base + "/real");
  EXPECT_EQ(CanonicalPath(base + "/link/inner"), base + "/real/inner");
  EXPECT_EQ(CanonicalPath(base + "/real/../real//inner/."), base + "/real/inner");
  EXPECT_EQ(CanonicalPath(base + "/link/missing"), base + "/real/missing");
  EXPECT_EQ(CanonicalPath("missing"), filesystem::current_path().string() + "/missing");
  EXPECT_EQ(CanonicalPath("/"), "/");
}

TEST(MountTableTest, FindsNothingWhereNothingIsMounted) {
  TemporaryDirectory temporary;
  EXPECT_FALSE(FindMount(temporary.path()).has_value());
  const Status status = Unmount(temporary.path(), /*lazy=*/false, nullptr);
  EXPECT_EQ(status.code(), StatusCode::kIllegalArgument);
  EXPECT_NE(status.message().find(temporary.path()), std::string::npos);
}

// A mount whose daemon never answers, seen by this process only.
class SilentMount {
 public:
  SilentMount(const std::string& store, const std::string& mountpoint) : mountpoint_(mountpoint) {
    if (unshare(CLONE_NEWNS) != 0) return;
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
    device_ = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    const std::string options =
        "fd=" + std::to_string(device_) + ",rootmode=40000,user_id=0,group_id=0";
    mounted_ = device_ >= 0 &&
               mount(store.c_str(), mountpoint.c_str(), "fuse.cellfs", 0, options.c_str()) == 0;
  }
  ~SilentMount() {
    if (mounted_) umount2(mountpoint_.c_str(), MNT_DETACH);
    if (device_ >= 0) close(device_);
  }
  bool mounted() const { return mounted_; }

 private:
  const std::string mountpoint_;
  int device_ = -1;
  bool mounted_ = false;
};

TEST(MountTableTest, FindsAMountWithoutAskingItsDaemon) {
  TemporaryDirectory temporary;
  const std::string base = filesystem::canonical(temporary.path()).string();
  const std::string store = base + "/a store\\1,\n\r#\xff";
  const std::string mountpoint = base + "/a\tmount\vpoint\f\r, \\054";
  filesystem::create_directory(store);
  filesystem::create_directory(mountpoint);
  filesystem::create_symlink(mountpoint, base + "/link");
  SilentMount silent(store, mountpoint);
  if (!silent.mounted()) GTEST_SKIP() << "nothing can be mounted here";

  for (const std::string& path : {store, mountpoint, mountpoint + "/", base + "/link"}) {
    const auto found = FindMount(path);
    ASSERT_TRUE(found.has_value()) << path;
    EXPECT_EQ(found->store, store);
    EXPECT_EQ(found->mountpoint, mountpoint);
  }
  EXPECT_EQ(CanonicalPath(base + "/link/t/../u/row/"), mountpoint + "/u/row");
  EXPECT_FALSE(FindMount(base).has_value());
  EXPECT_TRUE(FindMountOf(store).has_value());
  EXPECT_TRUE(FindMountOn(mountpoint).has_value());
  EXPECT_FALSE(FindMountOf(mountpoint).has_value());
  EXPECT_FALSE(FindMountOn(store).has_value());
}

TEST(UnmountTest, SaysWhoStillHasTheStoreAfterItsTimeLimit) {
  TemporaryDirectory temporary;
  const std::string base = filesystem::canonical(temporary.path()).string();
  const std::string store = base + "/store";
  const std::string mountpoint = base + "/mnt";
  filesystem::create_directory(store);
  filesystem::create_directory(mountpoint);
  std::ofstream(store + "/LOCK") << "4711\n";
  const int lock = open((store + "/LOCK").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  SilentMount silent(store, mountpoint);
  if (!silent.mounted()) GTEST_SKIP() << "nothing can be mounted here";

  const Status status = Unmount(mountpoint, /*lazy=*/false, nullptr, std::chrono::milliseconds(30));
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("process 4711"), std::string::npos) << status.message();
  EXPECT_FALSE(FindMountOn(mountpoint).has_value());
  close(lock);
}

TEST(MountpointTest, LiesNeitherInTheStoreNorAboveIt) {
  TemporaryDirectory temporary;
  const std::string base = filesystem::canonical(temporary.path()).string();
  filesystem::create_directories(base + "/store/tables");
  filesystem::create_directories(base + "/mnt/deep");
  filesystem::create_symlink("store", base + "/link");
  const auto code_of = [&](const std::string& store, const std::string& mountpoint) {
    return CheckNesting(base + store, base + mountpoint).code();
  };
  for (const auto& [store, mountpoint] :
       std::vector<std::pair<std::string, std::string>>{{"/store", "/store"},
                                                        {"/store", "/link"},
                                                        {"/link", "/store"},
                                                        {"/store", "/store/tables"},
                                                        {"/store", "/link/tables"},
                                                        {"/store", ""},
                                                        {"/missing", ""},
                                                        {"/mnt/missing", "/mnt"},
                                                        {"/mnt/deep/missing", "/mnt"}}) {
    EXPECT_EQ(code_of(store, mountpoint), StatusCode::kIllegalArgument) << store << mountpoint;
  }
  for (const auto& [store, mountpoint] : std::vector<std::pair<std::string, std::string>>{
           {"/store", "/mnt"}, {"/store", "/mnt/deep"}, {"/missing", "/mnt"}}) {
    EXPECT_NE(code_of(store, mountpoint), StatusCode::kIllegalArgument) << store << mountpoint;
  }
}

}  // namespace
}  // namespace cellfs
