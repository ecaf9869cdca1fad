// SPDX-License-Identifier: MIT
#include "engine/local/reader_pool.h"

#include <utility>

namespace cellfs {

ReaderPool::Entries ReaderPool::Take(OfFile& file) {
  Entries taken;
  const std::lock_guard lock(mutex_);
  if (file.empty()) return taken;
  taken.splice(taken.begin(), order_, file.back());
  file.pop_back();
  return taken;
}

void ReaderPool::Give(Entries entry) {
  Entries closing;  // after the lock
  const std::lock_guard lock(mutex_);
  entry.front().file->push_back(entry.begin());
  order_.splice(order_.begin(), entry);
  if (order_.size() <= most_idle_) return;
  const Entries::iterator last = std::prev(order_.end());
  std::erase(*last->file, last);
  closing.splice(closing.begin(), order_, last);
}

void ReaderPool::Forget(OfFile& file) {
  Entries closing;
  const std::lock_guard lock(mutex_);
  for (const Entries::iterator idle : file) closing.splice(closing.begin(), order_, idle);
  file.clear();
}

bool ReaderPool::CloseIdle() {
  Entries closing;
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : order_) entry.file->clear();
  closing.swap(order_);
  return !closing.empty();
}

}  // namespace cellfs
