// SPDX-License-Identifier: MIT
#include "src/mount_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "src/unmount.h"
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
  const Status status = Unmount(temporary.path(), /*lazy=*/false);
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
  const std::string store = base + "/a store\\1\n";
  const std::string mountpoint = base + "/a\tmount point";
  filesystem::create_directory(store);
  filesystem::create_directory(mountpoint);
  filesystem::create_symlink("a\tmount point", base + "/link");
  SilentMount silent(store, mountpoint);
  if (!silent.mounted()) GTEST_SKIP() << "nothing can be mounted here";

  for (const std::string& path : {store, mountpoint, mountpoint + "/", base + "/link"}) {
    const auto found = FindMount(path);
    ASSERT_TRUE(found.has_value()) << path;
    EXPECT_EQ(found->store, store);
    EXPECT_EQ(found->mountpoint, mountpoint);
  }
  EXPECT_FALSE(FindMount(base).has_value());
}

}  // namespace
}  // namespace cellfs
