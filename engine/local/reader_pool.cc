// SPDX-License-Identifier: MIT
#include "engine/local/reader_pool.h"

#include <algorithm>
#include <utility>

namespace cellfs {

std::unique_ptr<StoreFileReader> ReaderPool::Take(const StoreFile* file) {
  const std::lock_guard lock(mutex_);
  const auto found = of_file_.find(file);
  if (found == of_file_.end()) return nullptr;
  const Order::iterator newest = found->second.back();
  found->second.pop_back();
  if (found->second.empty()) of_file_.erase(found);
  std::unique_ptr<StoreFileReader> reader = std::move(newest->reader);
  order_.erase(newest);
  return reader;
}

void ReaderPool::Give(const StoreFile* file, std::unique_ptr<StoreFileReader> reader) {
  Order closing;  // after the lock
  const std::lock_guard lock(mutex_);
  order_.push_front({file, std::move(reader)});
  of_file_[file].push_back(order_.begin());
  if (order_.size() <= most_idle_) return;
  const Order::iterator last = std::prev(order_.end());
  const auto found = of_file_.find(last->file);
  std::erase(found->second, last);
  if (found->second.empty()) of_file_.erase(found);
  closing.splice(closing.begin(), order_, last);
}

bool ReaderPool::CloseIdle() {
  Order closing;
  const std::lock_guard lock(mutex_);
  of_file_.clear();
  closing.swap(order_);
  return !closing.empty();
}

void ReaderPool::Forget(const StoreFile* file) {
  Order closing;
  const std::lock_guard lock(mutex_);
  const auto found = of_file_.find(file);
  if (found == of_file_.end()) return;
  for (const Order::iterator idle : found->second) closing.splice(closing.begin(), order_, idle);
  of_file_.erase(found);
}

}  // namespace cellfs
