// SPDX-License-Identifier: MIT
//
// What is read through a view may take long: a filter is its maker's, and history has no bound. Who
// uses the file itself does not wait for it.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <string>

#include "tests/fs/hooked_store.h"

namespace cellfs::fs {
namespace {

constexpr std::chrono::seconds kPatience{20};

class ViewReaderTest : public testing::Test {
 protected:
  ViewReaderTest() {
    tree_.MakeTable();
    tree_.Put("r", "q", "value", kStart);
    tree_.Put("r", "p", "gone", kStart);
    tree_.Delete("r", "p");
  }

  // While `act` is in the midst of a read of the store, another thread uses the file itself.
  void ExpectNobodyWaits(const std::string& file, const std::function<void()>& act) {
    std::future<std::string> other;
    bool came = false;
    tree_.hooked->before_read = [&] {
      came = true;
      other = std::async(std::launch::async, [this, file] {
        const std::string read = tree_.ReadFile(file);
        EXPECT_EQ(tree_.Save(file, read + "+"), 0);
        return tree_.ReadFile(file);
      });
      EXPECT_EQ(other.wait_for(kPatience), std::future_status::ready) << "it waits for the view";
    };
    act();
    ASSERT_TRUE(came);
    EXPECT_TRUE(other.get().ends_with("+"));
  }

  // A look-up, a read and a stat of `path`, which shows the file in another way.
  void ExpectHoldsNobodyUp(const std::string& path, const std::string& file,
                           const std::string& value) {
    SCOPED_TRACE(path);
    const auto entry = tree_.LookUp(path);
    ASSERT_TRUE(entry.ok()) << entry.status().reason();
    Node& node = *entry->node;
    OutcomeOr<OpenReply> opened = OpenReply();
    ExpectNobodyWaits(file, [&] {
      opened = tree_.filesystem->Open(tree_.request, node, {});
      ASSERT_TRUE(opened.ok());
      const auto read = tree_.filesystem->Read(tree_.request, node, opened->handle, 0, 100);
      ASSERT_TRUE(read.ok());
      EXPECT_TRUE(read->bytes.starts_with(value));
    });
    ExpectNobodyWaits(file, [&] { (void)tree_.filesystem->GetAttributes(tree_.request, node); });
    ExpectNobodyWaits(file, [&] { (void)tree_.LookUp(path); });
    tree_.filesystem->Release(node, opened->handle);
  }

  HookedTree tree_;
};

TEST_F(ViewReaderTest, AQueryHoldsNobodyUp) {
  ExpectHoldsNobodyUp("default/t/.scan/filter=ValueFilter(=%2C 'regexstring:v')/r/f/q", kQ,
                      "value");
}

TEST_F(ViewReaderTest, APastTimeHoldsNobodyUp) {
  ExpectHoldsNobodyUp(".asof/" + std::to_string(kStart) + "/default/t/r/f/q", kQ, "value");
}

TEST_F(ViewReaderTest, AVersionHoldsNobodyUp) {
  const std::string version = std::to_string(kStart);
  ExpectHoldsNobodyUp("default/t/r/f/.versions/q/" + version, kQ, "value");
  ExpectHoldsNobodyUp("default/t/r/f/q@" + version, kQ, "value");
}

// Until its column is there again, which another may see to in the midst of the read.
TEST_F(ViewReaderTest, ADeletedValueHoldsNobodyUp) {
  const std::string path = "default/t/r/f/.deleted/p";
  const auto entry = tree_.LookUp(path);
  ASSERT_TRUE(entry.ok()) << entry.status().reason();
  Node& node = *entry->node;
  OutcomeOr<OpenReply> opened = OpenReply();
  const std::string p = "default/t/r/f/p";
  ExpectNobodyWaits(p, [&] {
    opened = tree_.filesystem->Open(tree_.request, node, {});
    EXPECT_EQ(opened.error(), ENOENT);  // it is deleted no more
  });
  ASSERT_EQ(tree_.Unlink(p), 0);
  ExpectNobodyWaits(p, [&] { (void)tree_.filesystem->GetAttributes(tree_.request, node); });
}

}  // namespace
}  // namespace cellfs::fs
