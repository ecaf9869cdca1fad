// SPDX-License-Identifier: MIT
//
// What is read through a view may take long: a filter is its maker's. Who uses the file itself does
// not wait for it.
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "tests/fs/hooked_store.h"

namespace cellfs::fs {
namespace {

constexpr std::chrono::seconds kPatience{20};

class ViewReaderTest : public testing::Test {
 protected:
  ViewReaderTest() {
    tree_.MakeTable();
    tree_.Put("r", "q", "value");
  }

  // While `act` is in the midst of a read of the store, another thread uses the file itself.
  void ExpectNobodyWaits(const std::function<void()>& act) {
    std::future<std::string> other;
    bool came = false;
    tree_.hooked->before_read = [&] {
      came = true;
      other = std::async(std::launch::async, [this] {
        const std::string read = tree_.ReadFile("default/t/r/f/q");
        EXPECT_EQ(tree_.Save("default/t/r/f/q", read + "+"), 0);
        return tree_.ReadFile("default/t/r/f/q");
      });
      EXPECT_EQ(other.wait_for(kPatience), std::future_status::ready) << "it waits for the view";
    };
    act();
    ASSERT_TRUE(came);
    EXPECT_TRUE(other.get().ends_with("+"));
  }

  HookedTree tree_;
};

TEST_F(ViewReaderTest, AReadOrAStatThroughAQueryHoldsNobodyUp) {
  const std::string path = "default/t/.scan/filter=ValueFilter(=%2C 'regexstring:v')/r/f/q";
  const auto entry = tree_.LookUp(path);
  ASSERT_TRUE(entry.ok()) << entry.status().reason();
  Node& node = *entry->node;
  const auto opened = tree_.filesystem->Open(tree_.request, node, {});
  ASSERT_TRUE(opened.ok());
  ExpectNobodyWaits([&] {
    const auto read = tree_.filesystem->Read(tree_.request, node, opened->handle, 0, 100);
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(read->bytes.starts_with("value"));
  });
  ExpectNobodyWaits(
      [&] { EXPECT_TRUE(tree_.filesystem->GetAttributes(tree_.request, node).ok()); });
  ExpectNobodyWaits([&] { EXPECT_TRUE(tree_.LookUp(path).ok()); });
  tree_.filesystem->Release(node, opened->handle);
}

}  // namespace
}  // namespace cellfs::fs
