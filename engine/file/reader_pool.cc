// SPDX-License-Identifier: MIT
#include "engine/file/reader_pool.h"

#include <utility>

namespace cellfs {

ReaderPool::Entries ReaderPool::Take(OfFile& file) {
  Entries taken;
  const std::lock_guard lock(mutex_);
  if (file.empty()) return taken;
  OfFile& place = file.back()->place;
  taken.splice(taken.begin(), order_, file.back());
  place.splice(place.begin(), file, std::prev(file.end()));
  return taken;
}

void ReaderPool::Give(Entries entry) {
  Entries closing;  // after the lock
  const std::lock_guard lock(mutex_);
  OfFile& file = *entry.front().file;
  entry.front().place.front() = entry.begin();
  file.splice(file.end(), entry.front().place);
  order_.splice(order_.begin(), entry);
  if (order_.size() <= most_idle_) return;
  const Entries::iterator last = std::prev(order_.end());
  last->file->remove(last);
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
