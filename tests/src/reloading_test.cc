// SPDX-License-Identifier: MIT
#include "src/daemon/reloading.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/daemon/logging.h"

namespace cellfs {
namespace {

class Controls : public StoreControls {
 public:
  void SetMaintenancePaused(bool /*paused*/) override {}
  Status CompactSelected(const Caller& /*caller*/, const TableName& /*table*/) override {
    return {};
  }
  void SetCacheBytes(int64_t bytes) override { cache_sizes.push_back(bytes); }
  void SetRewriteObserver(RewriteObserver* /*observer*/) override {}

  std::vector<int64_t> cache_sizes;
};

TEST(Reloading, PutsInForceWhatIsNewAndNothingElse) {
  ASSERT_TRUE(SetUpLogging("stderr", "off").ok());
  Configuration now;
  now.log_level = "off";
  StatusOr<Configuration> next = now;
  Controls controls;
  Reloading reloading(now, [&] { return next; }, &controls, /*foreground=*/true);

  ASSERT_TRUE(SetLogLevel("error").ok());
  reloading.Reload();
  EXPECT_EQ(LogLevel(), "error");  // as somebody has set it
  EXPECT_TRUE(controls.cache_sizes.empty());

  next->store.cache_bytes = 1 << 20;
  next->mount.read_only = true;
  reloading.Reload();
  reloading.Reload();
  EXPECT_EQ(controls.cache_sizes, std::vector<int64_t>{1 << 20});

  next = Status(StatusCode::kIllegalArgument, "no such key");
  reloading.Reload();
  EXPECT_EQ(controls.cache_sizes.size(), 1u);

  next = now;
  next->log_level = "off";
  next->store.cache_bytes = 2 << 20;
  reloading.Reload();
  EXPECT_EQ(controls.cache_sizes.back(), 2 << 20);
}

TEST(Reloading, ShowsWhatIsInForceAndNotWhatTheNextMountHeeds) {
  ASSERT_TRUE(SetUpLogging("stderr", "off").ok());
  Configuration now;
  now.log_level = "off";
  StatusOr<Configuration> next = now;
  Reloading reloading(now, [&] { return next; }, nullptr, /*foreground=*/true);
  ASSERT_TRUE(SetLogLevel("error").ok());
  EXPECT_EQ(reloading.InForce().log_level, "error");
  next->log_target = testing::TempDir() + "/in_force.log";
  next->mount.read_only = true;
  next->threads = now.threads + 1;
  reloading.Reload();
  EXPECT_EQ(reloading.InForce().log_target, next->log_target);
  EXPECT_FALSE(reloading.InForce().mount.read_only);
  EXPECT_EQ(reloading.InForce().threads, now.threads);
  next->log_target = testing::TempDir();  // a directory
  reloading.Reload();
  EXPECT_NE(reloading.InForce().log_target, next->log_target);
}

TEST(Reloading, WhereTheLogCannotGoNothingIsPutInForce) {
  ASSERT_TRUE(SetUpLogging("stderr", "off").ok());
  Configuration now;
  now.log_level = "off";
  Configuration next = now;
  next.log_level = "error";
  next.log_target = testing::TempDir();  // a directory
  next.store.cache_bytes = 1 << 20;
  Controls controls;
  Reloading reloading(now, [&] { return next; }, &controls, /*foreground=*/true);
  reloading.Reload();
  EXPECT_EQ(LogLevel(), "off");
  EXPECT_TRUE(controls.cache_sizes.empty());

  next.log_target = now.log_target;
  reloading.Reload();
  EXPECT_EQ(LogLevel(), "error") << "what was refused is no less new the next time";
  EXPECT_EQ(controls.cache_sizes, std::vector<int64_t>{1 << 20});
}

TEST(DifferingKeys, AreNamedWithTheirSections) {
  Configuration one;
  Configuration other;
  EXPECT_TRUE(DifferingKeys(one, other).empty());
  other.mount.xattr = true;
  other.mount.temporary_names.emplace_back("*.part");
  other.mount.family_defaults.clear();
  other.log_level = "debug";
  const std::vector<std::string> keys = DifferingKeys(one, other);
  const auto has = [&](const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  EXPECT_TRUE(has("[mount] xattr") && has("[mount] temporary_names") && has("[log] level"));
  EXPECT_TRUE(has("[family_defaults] VERSIONS"));
  EXPECT_FALSE(has("[mount] names"));
}

}  // namespace
}  // namespace cellfs
