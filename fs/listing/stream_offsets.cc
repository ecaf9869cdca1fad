// SPDX-License-Identifier: MIT
#include "fs/listing/stream_offsets.h"

#include <iterator>

namespace cellfs::fs {

namespace {

constexpr size_t kWindow = 4096;  // offsets known exactly: more than one reply to the kernel holds
constexpr size_t kOlder = 1024;   // offsets known of those before
constexpr uint64_t kFirstStep = 256;
// Keys may have tens of kilobytes, and who opens many streams shall not choose what they hold.
constexpr size_t kWindowBytes = size_t{96} << 10;
constexpr size_t kOlderBytes = size_t{32} << 10;

size_t BytesOf(const std::optional<std::string>& key) { return key ? key->size() : 0; }

}  // namespace

void StreamOffsets::Rewind() {
  window_.clear();
  window_bytes_ = 0;
  older_.clear();
  older_bytes_ = 0;
  older_step_ = kFirstStep;
  window_begin_ = first_ - 1;
  Add(std::nullopt);
}

size_t StreamOffsets::held_bytes() const {
  constexpr size_t kMapNode = 4 * sizeof(void*);  // beside the value
  return window_bytes_ + window_.size() * sizeof(window_.front()) + older_bytes_ +
         older_.size() * (sizeof(*older_.begin()) + kMapNode);
}

void StreamOffsets::Add(std::optional<std::string> key) {
  window_bytes_ += BytesOf(key);
  window_.push_back(std::move(key));
  while (window_.size() > kWindow || (window_bytes_ > kWindowBytes && window_.size() > 1))
    LeaveWindow();
}

// The oldest of the window becomes one of those before it, or is forgotten.
void StreamOffsets::LeaveWindow() {
  window_bytes_ -= BytesOf(window_.front());
  if (IsKept(window_begin_)) {
    older_bytes_ += BytesOf(window_.front());
    older_[window_begin_] = std::move(window_.front());
  }
  window_.pop_front();
  ++window_begin_;
  while (older_.size() > kOlder || (older_bytes_ > kOlderBytes && older_.size() > 1)) {
    older_step_ *= 2;
    ForgetOlder([this](uint64_t offset) { return !IsKept(offset); });
  }
}

bool StreamOffsets::IsKept(uint64_t offset) const {
  return (offset - (first_ - 1)) % older_step_ == 0;
}

template <typename Which>
void StreamOffsets::ForgetOlder(Which which) {
  std::erase_if(older_, [&](const auto& known) {
    if (!which(known.first)) return false;
    older_bytes_ -= BytesOf(known.second);
    return true;
  });
}

std::pair<uint64_t, std::optional<std::string>> StreamOffsets::Return(uint64_t offset) {
  if (offset >= next()) offset = next() - 1;
  if (offset < window_begin_) {
    const auto [known, key] = *std::prev(older_.upper_bound(offset));
    window_begin_ = known;
    window_.assign(1, key);
    window_bytes_ = BytesOf(key);
    ForgetOlder([begin = known](uint64_t older) { return older >= begin; });
  } else {
    while (next() - 1 > offset) {
      window_bytes_ -= BytesOf(window_.back());
      window_.pop_back();
    }
  }
  return {next() - 1, window_.back()};
}

}  // namespace cellfs::fs
