// SPDX-License-Identifier: MIT
#include "fs/after_change.h"

namespace cellfs::fs {
namespace {

// The column has a node for each name it is known by; its cell's is the one with pages.
template <typename Tell>
void ForNodes(MountContext& mount, const Place& column, Tell&& tell) {
  const NodePtr cell = mount.inodes.Find(column.As(PlaceKind::kCell));
  if (cell != nullptr) tell(*cell);
  if (column.kind == PlaceKind::kCell) return;
  if (const NodePtr node = mount.inodes.Find(column)) tell(*node);
}

}  // namespace

void NoteAfterwards(MountContext& mount, std::string_view operation, const Place& place,
                    const Outcome& remembered) {
  if (!remembered.ok()) mount.errors.Record(mount.clock->Now(), operation, place, remembered);
}

void ForgetColumn(MountContext& mount, const Place& column) {
  mount.recent.Forget(column.As(PlaceKind::kCell));
  ForNodes(mount, column, [](Node& node) {
    node.ContentChanged();
    node.PagesAreStale();
  });
  mount.inodes.OutrunLookUps();  // also what directories know, and what was seen to be absent
}

Outcome ChangeColumn(MountContext& mount, const Place& column,
                     const std::function<Outcome()>& change,
                     const std::function<void()>& tell_kernel) {
  Outcome changed;
  {
    const ColumnLocks::Lock lock = mount.column_locks.Take(column);
    changed = change();
    if (!changed.ok() && !changed.is_unknown()) return changed;
    if (changed.ok()) ForNodes(mount, column, [](Node& node) { node.ContentChanged(); });
    if (changed.is_unknown()) ForgetColumn(mount, column);
  }
  tell_kernel();
  return changed;
}

}  // namespace cellfs::fs
