// SPDX-License-Identifier: MIT
#include "fs/listed_keys.h"

namespace cellfs::fs {

std::string_view ListedKeys::KeyAt(size_t index) const {
  const uint32_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(keys_).substr(begin, ends_[index] - begin);
}

void ListedKeys::Truncate(size_t count) {
  if (count >= ends_.size()) return;
  const size_t kept = count == 0 ? 0 : ends_[count - 1];
  bytes_left_ +=
      static_cast<int64_t>(keys_.size() - kept + (ends_.size() - count) * sizeof(uint32_t));
  keys_.resize(kept);
  ends_.resize(count);
}

bool ListedKeys::Note(uint64_t first, uint64_t offset, std::string_view key) {
  std::lock_guard lock(mutex_);
  if (first != first_) Truncate(0);
  first_ = first;
  const size_t index = offset - first;
  if (index > ends_.size()) return true;  // of a listing that did not begin at the beginning
  if (index < ends_.size()) {
    if (KeyAt(index) == key) return true;
    Truncate(index);
  }
  const int64_t size = static_cast<int64_t>(key.size() + sizeof(uint32_t));
  if (bytes_left_.fetch_sub(size) < size) {
    bytes_left_ += size;
    Truncate(0);
    keys_.shrink_to_fit();
    ends_.shrink_to_fit();
    return false;
  }
  keys_ += key;
  ends_.push_back(static_cast<uint32_t>(keys_.size()));
  return true;
}

std::optional<ListedKeys::Position> ListedKeys::Find(uint64_t offset) const {
  std::lock_guard lock(mutex_);
  if (offset < first_ || offset - first_ >= ends_.size()) return std::nullopt;
  return Position{first_, std::string(KeyAt(offset - first_))};
}

}  // namespace cellfs::fs
