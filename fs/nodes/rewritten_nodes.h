// SPDX-License-Identifier: MIT
//
// RewrittenNodes: the nodes that may have changed otherwise than by a request of the kernel: by a
// flush or a compaction, by hand or in the background, or by a command. A thread of its own looks
// at them anew, since who changed them must not wait for the kernel, which may wait for a write that
// waits for him: for a rewrite, or for the lock of a column.
#ifndef CELLFS_FS_NODES_REWRITTEN_NODES_H_
#define CELLFS_FS_NODES_REWRITTEN_NODES_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_set>
#include <vector>

#include "engine/rewrite_observer.h"
#include "fs/nodes/inode_table.h"

namespace cellfs::fs {

// Thread-safe.
class RewrittenNodes : public RewriteObserver {
 public:
  using Revalidate = std::function<void(const NodePtr& node)>;
  using ForgetTable = std::function<void(const TableName& table)>;
  using ForgetAll = std::function<void()>;  // throws nothing

  RewrittenNodes(InodeTable& inodes, Revalidate revalidate, ForgetTable forget_table,
                 ForgetAll forget_all);

  void Rewritten(const TableName& table, const std::vector<RewrittenColumn>& columns) override;
  // To forget all that the kernel knows of the table costs less than to look at each node anew.
  void TableRewritten(const TableName& table) override;
  void LostTrack() noexcept override;
  // Until all that was told before this call has been looked at.
  void Await();

 private:
  // Of all that was told and not looked at yet: it costs one walk through the nodes, however many
  // families it has.
  struct Work {
    std::set<NodePtr> nodes;
    std::unordered_set<uint64_t> families;  // by inode number: any column may have changed
    std::set<TableName> tables;             // all of them
  };

  void Add(Work&& work);
  void Run(const std::stop_token& stop);
  void LookAt(const Work& work, const std::stop_token& stop);

  InodeTable& inodes_;
  const Revalidate revalidate_;
  const ForgetTable forget_table_;
  const ForgetAll forget_all_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::condition_variable done_wakes_;
  Work work_;           // guarded by mutex_
  uint64_t added_ = 0;  // how often; guarded by mutex_
  uint64_t done_ = 0;   // of those; guarded by mutex_
  std::jthread thread_;    // last: starts when the rest stands
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_REWRITTEN_NODES_H_
