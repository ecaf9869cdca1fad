// SPDX-License-Identifier: MIT
#include "fs/nodes/rewritten_nodes.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "fs/base/memory_retry.h"

namespace cellfs::fs {

RewrittenNodes::RewrittenNodes(InodeTable& inodes, Revalidate revalidate, ForgetTable forget_table,
                               ForgetAll forget_all)
    : inodes_(inodes),
      revalidate_(std::move(revalidate)),
      forget_table_(std::move(forget_table)),
      forget_all_(std::move(forget_all)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

// What the kernel does not know is told it by a look-up that begins after this, or that is made
// anew.
void RewrittenNodes::Rewritten(const TableName& table,
                               const std::vector<RewrittenColumn>& columns) {
  inodes_.InvalidateLookUps();
  Work work;
  const auto add = [&](const Place& place) {
    NodePtr node = inodes_.Find(place);
    if (node == nullptr) return;
    node->ContentChanged();  // what it knew, too
    work.nodes.push_back(std::move(node));
  };
  const RewrittenColumn* before = nullptr;
  for (const RewrittenColumn& column : columns) {
    Place family = FamilyPlace(table, column.row, column.family);
    if (before == nullptr || before->row != column.row || before->family != column.family) {
      add(family);
      add(family.Parent());
    }
    before = &column;
    if (column.qualifier) {
      family.qualifier = *column.qualifier;
      add(family.As(PlaceKind::kCell));
    } else if (inodes_.Find(family) != nullptr) {
      work.families.push_back(std::move(family));
    }
  }
  add(TablePlace(table));
  Add(std::move(work));
}

void RewrittenNodes::TableRewritten(const TableName& table) {
  inodes_.InvalidateLookUps();
  Add({.nodes = {}, .families = {}, .table = table});
}

void RewrittenNodes::LostTrack() noexcept {
  inodes_.InvalidateLookUps();
  forget_all_();
}

void RewrittenNodes::Add(Work work) {
  const std::lock_guard lock(mutex_);
  work_.push_back(std::move(work));
  ++added_;
  wake_.notify_one();
}

void RewrittenNodes::Await() {
  std::unique_lock lock(mutex_);
  done_wakes_.wait(lock, [this, before = added_] { return done_ >= before; });
}

void RewrittenNodes::Run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, stop, [this] { return !work_.empty(); })) {
    const Work work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    RetryWithMemory(stop, [&] { LookAt(work, stop); });
    lock.lock();
    ++done_;
    done_wakes_.notify_all();
  }
}

void RewrittenNodes::LookAt(const Work& work, const std::stop_token& stop) {
  const auto look_at = [&](const std::vector<NodePtr>& nodes) {
    for (const NodePtr& node : nodes) {
      if (!stop.stop_requested()) revalidate_(node);
    }
  };
  look_at(work.nodes);
  if (work.table) forget_table_(*work.table);
  if (work.families.empty()) return;
  std::unordered_set<uint64_t> families;
  for (const Place& family : work.families) families.insert(family.InodeNumber());
  const auto is_below = [&](const Place& place) {
    return place.kind == PlaceKind::kCell && place.view == nullptr &&
           families.contains(place.Parent().InodeNumber());
  };
  const std::vector<NodePtr> below = inodes_.FindAll(is_below);
  for (const NodePtr& node : below) node->ContentChanged();
  look_at(below);
}

}  // namespace cellfs::fs
