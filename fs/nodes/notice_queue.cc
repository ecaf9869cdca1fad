// SPDX-License-Identifier: MIT
#include "fs/nodes/notice_queue.h"

#include <exception>
#include <utility>

#include "fs/base/memory_retry.h"

namespace cellfs::fs {
namespace {

// So many directories that are kept locked hold up the others.
constexpr size_t kMostNoticeThreads = 8;
constexpr size_t kManyNotices = 65536;

}  // namespace

bool TreePart::Has(const Place& place) const {
  const auto is_of = [](const std::string& part, const std::string& name) {
    return part.empty() || part == name;
  };
  return is_of(namespace_name, place.table.namespace_name) && is_of(table, place.table.name) &&
         is_of(family, place.family);
}

NoticeQueue::NoticeQueue(std::function<void(const KernelNotice&)> tell,
                         std::function<void()> tell_all)
    : tell_(std::move(tell)), tell_all_(std::move(tell_all)) {
  threads_.emplace_back([this](const std::stop_token& stop) { Run(stop); });
}

NoticeQueue::~NoticeQueue() {
  std::vector<std::jthread> threads;
  {
    const std::lock_guard lock(mutex_);
    threads.swap(threads_);
  }
  for (std::jthread& thread : threads) thread.request_stop();
}

void NoticeQueue::Add(const KernelNotice& notice) {
  const std::lock_guard lock(mutex_);
  if (is_waiting_.contains(notice)) return;
  OfNode& of_node = nodes_[notice.node.get()];
  const bool is_ready = !of_node.is_being_told && of_node.waiting.empty();
  const uint64_t number = last_number_ + 1;
  of_node.waiting.push_back({notice, number});
  try {
    untold_.insert(number);
    is_waiting_.insert(notice);
    if (is_ready) ready_.push_back(notice.node.get());
  } catch (const std::exception&) {
    untold_.erase(number);
    is_waiting_.erase(notice);
    of_node.waiting.pop_back();
    throw;
  }
  last_number_ = number;
  if (!is_ready) return;
  wake_.notify_one();
  StartThreadWhereAllAreBusy();
}

bool NoticeQueue::IsLong() const {
  const std::lock_guard lock(mutex_);
  return is_waiting_.size() >= kManyNotices;
}

void NoticeQueue::AddAll() noexcept {
  const std::lock_guard lock(mutex_);
  all_ = true;
  wake_.notify_one();
}

void NoticeQueue::Await(std::chrono::seconds longest) {
  std::unique_lock lock(mutex_);
  told_.wait_for(lock, longest, [this, before = last_number_] {
    return untold_.empty() || *untold_.begin() > before;
  });
}

void NoticeQueue::StartThreadWhereAllAreBusy() {
  if (busy_ < threads_.size() || threads_.empty() || threads_.size() >= kMostNoticeThreads) return;
  try {
    threads_.emplace_back([this](const std::stop_token& stop) { Run(stop); });
  } catch (const std::exception&) {
    // It is told when a thread is done.
  }
}

void NoticeQueue::Run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, stop, [this] { return all_ || !ready_.empty(); })) {
    if (stop.stop_requested()) return;
    ++busy_;
    if (std::exchange(all_, false)) {
      lock.unlock();
      RetryWithMemory(stop, tell_all_);
      lock.lock();
    } else {
      TellNext(lock, stop);
    }
    --busy_;
  }
}

// Ends with no exception: there may be no memory.
void NoticeQueue::TellNext(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  std::list<const Node*> telling;
  telling.splice(telling.begin(), ready_, ready_.begin());
  const Node* const node = telling.front();
  OfNode& of_node = nodes_.at(node);
  Numbered next = std::move(of_node.waiting.front());
  of_node.waiting.pop_front();
  of_node.is_being_told = true;
  is_waiting_.erase(next.notice);
  if (!ready_.empty()) StartThreadWhereAllAreBusy();
  lock.unlock();
  RetryWithMemory(stop, [&] { tell_(next.notice); });
  lock.lock();
  of_node.is_being_told = false;
  untold_.erase(next.number);
  told_.notify_all();
  if (of_node.waiting.empty()) {
    nodes_.erase(node);
  } else {
    ready_.splice(ready_.end(), telling);
  }
}

}  // namespace cellfs::fs
