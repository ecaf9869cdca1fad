// SPDX-License-Identifier: MIT
#include "fs/nodes/rewritten_nodes.h"

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
    work.nodes.insert(std::move(node));
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
      const ColumnPtr known = inodes_.columns().Find(family);
      if (known != nullptr) known->Changed();  // by whatever name
    } else if (inodes_.Find(family) != nullptr) {
      work.families.insert(family.InodeNumber());
    }
  }
  add(TablePlace(table));
  Add(std::move(work));
}

void RewrittenNodes::TableRewritten(const TableName& table) {
  inodes_.InvalidateLookUps();
  Add({.nodes = {}, .families = {}, .tables = {table}});
}

void RewrittenNodes::LostTrack() noexcept {
  inodes_.InvalidateLookUps();
  forget_all_();
}

void RewrittenNodes::Add(Work&& work) {
  const std::lock_guard lock(mutex_);
  work_.nodes.merge(work.nodes);
  work_.families.merge(work.families);
  work_.tables.merge(work.tables);
  ++added_;
  wake_.notify_one();
}

void RewrittenNodes::Await() {
  std::unique_lock lock(mutex_);
  done_wakes_.wait(lock, [this, before = added_] { return done_ >= before; });
}

void RewrittenNodes::Run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, stop, [this] { return done_ < added_; })) {
    const Work work = std::exchange(work_, {});
    const uint64_t taken = added_;
    lock.unlock();
    RetryWithMemory(stop, [&] { LookAt(work, stop); });
    lock.lock();
    done_ = taken;
    done_wakes_.notify_all();
  }
}

void RewrittenNodes::LookAt(const Work& work, const std::stop_token& stop) {
  const auto look_at = [&](const auto& nodes) {
    for (const NodePtr& node : nodes) {
      if (!stop.stop_requested()) revalidate_(node);
    }
  };
  look_at(work.nodes);
  for (const TableName& table : work.tables) forget_table_(table);
  if (work.families.empty()) return;
  const auto is_below = [&](const Place& place) {
    return place.IsColumn() && place.view == nullptr &&
           work.families.contains(place.NumberAbove(PlaceKind::kFamily));
  };
  const std::vector<NodePtr> below = inodes_.FindAll(is_below);
  for (const NodePtr& node : below) node->ContentChanged();
  look_at(below);
}

}  // namespace cellfs::fs
