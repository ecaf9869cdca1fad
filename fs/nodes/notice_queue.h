// SPDX-License-Identifier: MIT
//
// NoticeQueue: what the kernel is told by threads of their own, since it may first wait for a
// request that is under way: that a name has gone, or all names of a part of the tree, or that a
// file's pages are old. One directory's or file's are told one after the other. Several are told at
// a time: a directory that somebody keeps locked holds up no other.
#ifndef CELLFS_FS_NODES_NOTICE_QUEUE_H_
#define CELLFS_FS_NODES_NOTICE_QUEUE_H_

#include <chrono>
#include <compare>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "fs/nodes/node.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// An empty name means all that there are.
struct TreePart {
  std::string namespace_name;
  std::string table;
  std::string family;

  bool Has(const Place& place) const;
  friend auto operator<=>(const TreePart&, const TreePart&) = default;
};

struct KernelNotice {
  NodePtr node;      // the directory that the name is in, or the file; of a part its topmost one
  std::string name;  // empty: of the file's pages, or
  std::optional<TreePart> part = {};  // of all names in it
  bool throws_out = false;            // the name, and what the kernel has of it

  friend auto operator<=>(const KernelNotice&, const KernelNotice&) = default;
};

// Thread-safe. The destructor waits for the notices under way and drops the others.
class NoticeQueue {
 public:
  // Both may block, and are called again if they throw, for want of memory.
  NoticeQueue(std::function<void(const KernelNotice&)> tell, std::function<void()> tell_all);
  ~NoticeQueue();
  NoticeQueue(const NoticeQueue&) = delete;
  NoticeQueue& operator=(const NoticeQueue&) = delete;

  // What waits already is told soon enough. To tell of a name waits for all who change its
  // directory, so a directory that somebody keeps changing would make the queue grow without end.
  void Add(const KernelNotice& notice);
  // So much waits that it is better to tell of a part than of one name more: a million of them
  // would be memory that nobody has counted.
  bool IsLong() const;
  // `tell_all` is called as soon as there is memory.
  void AddAll() noexcept;
  // Until all that was added before has been told, or so long.
  void Await(std::chrono::seconds longest);

 private:
  struct Numbered {
    KernelNotice notice;
    uint64_t number;
  };
  struct OfNode {
    std::deque<Numbered> waiting;
    bool is_being_told = false;
  };

  void Run(const std::stop_token& stop);
  void TellNext(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  void StartThreadWhereAllAreBusy();

  const std::function<void(const KernelNotice&)> tell_;
  const std::function<void()> tell_all_;
  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable_any wake_;
  std::condition_variable told_;
  std::map<const Node*, OfNode> nodes_;  // of which something waits or is being told
  std::list<const Node*> ready_;         // of which something waits and nothing is being told
  std::set<KernelNotice> is_waiting_;
  std::set<uint64_t> untold_;  // the numbers of those that wait or are being told
  uint64_t last_number_ = 0;
  bool all_ = false;
  size_t busy_ = 0;                    // threads that tell
  std::vector<std::jthread> threads_;  // last: they stop before the rest goes
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_NOTICE_QUEUE_H_
