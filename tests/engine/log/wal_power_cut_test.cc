// SPDX-License-Identifier: MIT
//
// Power is lost at any moment, of segments that begin, end and are synced while others write.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <random>

#include "tests/engine/log/wal_fixture.h"

namespace cellfs {
namespace {

// Which states of each segment the disk may have: the one that was synced last, and those since.
class WalPowerCutTest : public WalTest {
 protected:
  struct Cut {
    std::map<uint64_t, std::vector<std::string>> states;
    SequenceId synced = 0;
    SequenceId appended = 0;
  };

  void Record() {
    for (uint64_t number = 1; std::filesystem::exists(PathOf(number)); ++number) {
      std::vector<std::string>& states = states_.try_emplace(number, 1, "").first->second;
      if (std::string bytes = Read(number); bytes != states.back()) states.push_back(bytes);
    }
    if (moments_-- != 0) return;
    cut_ = {states_, 0, appended_};
    for (const auto& [sequence, position] : positions_)
      if (position <= wal_->synced()) cut_->synced = std::max(cut_->synced, sequence);
  }
  void AppendNext() {
    const size_t size = random_() % (random_() % 4 == 0 ? 3000 : 60);
    const SequenceId next = appended_ + 1;
    const auto position = Append(1, next, std::string(size, static_cast<char>('a' + next % 26)));
    ASSERT_TRUE(position.ok());
    positions_[++appended_] = *position;
    Record();
  }
  void WatchSyncs() {
    files_.SetSyncHook([this] {
      Record();
      begun_.clear();
      for (const auto& [number, states] : states_) begun_[PathOf(number)] = states.size() - 1;
      for (auto writes = random_() % 8; writes > 0; --writes) AppendNext();
    });
    files_.SetSyncedHook([this](const std::string& path) {
      const auto begun = begun_.find(path);
      if (begun == begun_.end()) return;
      const auto number = ParseSegmentName(std::filesystem::path(path).filename().string());
      std::vector<std::string>& states = states_[*number];
      states.erase(states.begin(), states.begin() + static_cast<ptrdiff_t>(begun->second));
      begun_.erase(begun);
    });
  }

  // Any state of each piece.
  std::string Mixture(std::vector<std::string> states) {
    const size_t piece = std::vector<size_t>{64, 512, 4096}[random_() % 3];
    const size_t size = states[random_() % states.size()].size();
    size_t longest = 0;
    for (const std::string& state : states) longest = std::max(longest, state.size());
    for (std::string& state : states) state.resize(longest, '\0');
    std::string mixture = states.back();
    for (size_t at = 0; at < longest; at += piece)
      mixture.replace(at, piece, states[random_() % states.size()], at, piece);
    mixture.resize(size);
    return mixture;
  }

  std::mt19937 random_{7};
  std::map<uint64_t, std::vector<std::string>> states_;
  std::map<std::string, size_t> begun_;  // which state each had when the last sync began
  std::map<SequenceId, LogPosition> positions_;
  SequenceId appended_ = 0;
  uint64_t moments_ = 0;
  std::optional<Cut> cut_;
};

TEST_F(WalPowerCutTest, WhatIsLeftAfterAnyMomentIsABeginningWithAllThatWasSynced) {
  WalOptions options;
  options.asynchronous_delay = std::chrono::hours(1);
  int torn_before_newest = 0;
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE(round);
    states_.clear();
    positions_.clear();
    appended_ = 0;
    cut_.reset();
    moments_ = random_() % 40;
    ASSERT_TRUE(Open(options).ok());
    states_[1] = {Read(1)};
    WatchSyncs();
    while (!cut_) {
      const auto act = random_() % 8;
      if (act < 4) {
        AppendNext();
      } else if (act < 7) {
        ASSERT_TRUE(wal_->Roll().ok());
        Record();
      } else {
        ASSERT_TRUE(wal_->MakeDurable(wal_->end(), Durability::kFsyncWal).ok());
        Record();
      }
    }
    files_.SetSyncHook({});
    files_.SetSyncedHook({});
    wal_.reset();
    std::filesystem::remove_all(directory());
    std::filesystem::create_directory(directory());
    for (const auto& [number, states] : cut_->states) Overwrite(number, Mixture(states));
    ExpectNoDamage();
    ASSERT_GE(seen_.size(), cut_->synced);
    ASSERT_LE(seen_.size(), cut_->appended);
    for (size_t i = 0; i < seen_.size(); ++i) ASSERT_EQ(seen_[i].sequence_id, i + 1) << "no hole";
    for (const std::string& told : wal_->CutOff())
      torn_before_newest += told.find(".cut-0'") != std::string::npos ? 1 : 0;
    const size_t kept = seen_.size();
    ASSERT_TRUE(Append(1, 100).ok());
    ASSERT_TRUE(wal_->Roll().ok());
    ASSERT_TRUE(Append(1, 101).ok());
    ASSERT_TRUE(Open(options).ok());
    EXPECT_EQ(seen_.size(), kept + 2);
    wal_.reset();
    std::filesystem::remove_all(directory());
  }
  EXPECT_GT(torn_before_newest, 10) << "the case that is looked for";
}

}  // namespace
}  // namespace cellfs
