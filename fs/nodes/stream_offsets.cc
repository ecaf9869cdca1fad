// SPDX-License-Identifier: MIT
#include "fs/nodes/stream_offsets.h"

#include <iterator>

namespace cellfs::fs {

namespace {

constexpr size_t kWindow = 4096;  // offsets known exactly: more than one reply to the kernel holds
constexpr size_t kOlder = 1024;   // offsets known of those before
constexpr uint64_t kFirstStep = 256;

}  // namespace

void StreamOffsets::Rewind() {
  window_.clear();
  older_.clear();
  older_step_ = kFirstStep;
  window_begin_ = first_ - 1;
  Add(std::nullopt);
}

void StreamOffsets::Add(std::optional<std::string> key) {
  window_.push_back(std::move(key));
  if (window_.size() <= kWindow) return;
  const uint64_t count = window_begin_ - (first_ - 1);
  if (count % older_step_ == 0) older_[window_begin_] = std::move(window_.front());
  window_.pop_front();
  ++window_begin_;
  if (older_.size() <= kOlder) return;
  older_step_ *= 2;
  std::erase_if(older_,
                [&](const auto& known) { return (known.first - (first_ - 1)) % older_step_ != 0; });
}

std::pair<uint64_t, std::optional<std::string>> StreamOffsets::Return(uint64_t offset) {
  if (offset >= next()) offset = next() - 1;
  if (offset < window_begin_) {
    const auto [known, key] = *std::prev(older_.upper_bound(offset));
    window_begin_ = known;
    window_.assign(1, key);
    older_.erase(older_.lower_bound(known), older_.end());
  } else {
    window_.resize(offset - window_begin_ + 1);
  }
  return {next() - 1, window_.back()};
}

}  // namespace cellfs::fs
