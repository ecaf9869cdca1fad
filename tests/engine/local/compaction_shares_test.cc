// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "engine/giving_up.h"
#include "engine/local/compaction_turns.h"

namespace cellfs {
namespace {

class CompactionSharesTest : public testing::Test {
 protected:
  using Turn = CompactionTurns::Turn;

  CompactionSharesTest() {
    for (uint64_t number = 1; number <= 6; ++number)
      files_.push_back(
          std::make_shared<StoreFile>(folder_, FileFacts{.number = number, .family = "f"}, cache_));
  }
  // The first so many files that nobody else has.
  static StoreFiles TakeFree(Turn& turn, const StoreFiles& of, size_t count) {
    return turn.Take([&](const TakenFiles& taken) {
      StoreFiles free = of;
      std::erase_if(free, [&](const auto& file) { return HasTaken({file}, taken); });
      if (free.size() > count) free.resize(count);
      return free;
    });
  }
  static std::string Numbers(const StoreFiles& files) {
    std::string text;
    for (const auto& file : files) text += std::to_string(file->facts().number) + " ";
    return text;
  }

  const std::shared_ptr<TableFolder> folder_ = std::make_shared<TableFolder>();
  FileCache cache_{1 << 20, 2};
  StoreFiles files_;
  CompactionTurns turns_;
};

TEST_F(CompactionSharesTest, EachHasFilesOfItsOwn) {
  auto one = turns_.TryToShare("f");
  const auto other = turns_.TryToShare("f");
  ASSERT_TRUE(one != nullptr && other != nullptr);
  EXPECT_EQ(Numbers(TakeFree(*one, files_, 2)), "1 2 ");
  EXPECT_EQ(Numbers(TakeFree(*other, files_, 2)), "3 4 ");
  one->LetGo();
  EXPECT_EQ(Numbers(TakeFree(*one, files_, 3)), "1 2 5 ");
  one.reset();
  EXPECT_EQ(Numbers(TakeFree(*other, files_, 9)), "1 2 5 6 ") << "what it has is not free";
}

TEST_F(CompactionSharesTest, OnlyWhoHasNobodyBesideHimCanHaveAll) {
  const auto one = turns_.TryToShare("f");
  auto other = turns_.TryToShare("f");
  EXPECT_FALSE(one->TakeAlone());
  other.reset();
  EXPECT_TRUE(one->TakeAlone());
  EXPECT_EQ(turns_.TryToShare("f"), nullptr);
  EXPECT_NE(turns_.TryToShare("g"), nullptr) << "another family";
}

// Else those who share it could keep him from it for ever.
TEST_F(CompactionSharesTest, WhoWaitsForAllOfItComesNext) {
  auto share = turns_.TryToShare("f");
  std::atomic<bool> has_it{false};
  std::thread waits([&] {
    const auto alone = turns_.TakeAlone("f");
    has_it = true;
    EXPECT_EQ(turns_.TryToShare("f"), nullptr);
  });
  while (turns_.TryToShare("f") != nullptr) usleep(1000);
  EXPECT_FALSE(has_it);
  share.reset();
  waits.join();
  EXPECT_TRUE(has_it);
  EXPECT_NE(turns_.TryToShare("f"), nullptr);
}

TEST_F(CompactionSharesTest, WhoGivesUpKeepsNobodyFromIt) {
  class GivesUp : public GivingUp {
   public:
    bool HasGivenUp() const noexcept override { return true; }
  } asker;
  const auto share = turns_.TryToShare("f");
  GivingUp::OfThisThread() = &asker;
  EXPECT_EQ(turns_.TakeAlone("f"), nullptr);
  GivingUp::OfThisThread() = nullptr;
  EXPECT_NE(turns_.TryToShare("f"), nullptr);
}

}  // namespace
}  // namespace cellfs
