// SPDX-License-Identifier: MIT
#include "fs/content/column_change.h"

#include <cerrno>
#include <exception>
#include <tuple>
#include <utility>


namespace cellfs::fs {

ColumnChange::ColumnChange(LiveTree& tree, const Contents& contents, const NodePtr& file)
    : tree_(tree),
      contents_(contents),
      file_(file),
      by_(file.get()),
      lock_(tree.column_locks.Take(*file)) {}

ColumnChange::ColumnChange(LiveTree& tree, const Contents& contents, const Place& column,
                           const Node* by)
    : tree_(tree), contents_(contents), by_(by), lock_(tree.column_locks.Take(column)) {
  sides_[0].column = &column;
}

ColumnChange::ColumnChange(LiveTree& tree, const Contents& contents, const Place& from,
                           const Place& to)
    : tree_(tree), contents_(contents) {
  std::tie(lock_, second_lock_) = tree.column_locks.Take(from, to);
  sides_[0].column = &from;
  sides_[1].column = &to;
}

ColumnChange::~ColumnChange() {
  if (std::uncaught_exceptions() > exceptions_) LoseTrack();
  Finish();
}

// An exception, for want of memory: the mutation may have been made, and who was to be told may not
// have been.
void ColumnChange::LoseTrack() noexcept {
  try {
    Ended(Outcome::Unknown(ENOMEM, {}));
  } catch (const std::exception&) {
    tree_.kernel.ForgetAllLater();
  }
}

// Most changes through a file are only kept by its handle, and need no more than the lock.
const Place& ColumnChange::column() {
  Side& side = sides_[0];
  if (side.column == nullptr) {
    file_place_ = file_->place();
    side.column = file_place_.get();
  }
  return *side.column;
}

void ColumnChange::Finish() noexcept {
  second_lock_.unlock();
  lock_.unlock();
  try {
    Notify();
  } catch (const std::exception&) {
    tree_.kernel.ForgetAllLater();
  }
}

// The column has a node for each name that the kernel knows it by; its cell's is the one with
// pages.
void ColumnChange::TellNodes(const Place& column, void (Node::*tell)()) {
  const bool is_cell = column.kind == PlaceKind::kCell;
  const NodePtr named = file_ != nullptr ? file_ : tree_.inodes.Find(column);
  if (named != nullptr) ((*named).*tell)();
  if (is_cell) return;
  if (const NodePtr cell = tree_.inodes.Find(column.As(PlaceKind::kCell))) ((*cell).*tell)();
}

void ColumnChange::KeepTimesAbove(const Place& column) {
  if (tree_.last_changed_family.IsStill(column)) return;
  const uint64_t looked_at = Node::FirstTimesEver();
  for (const NodePtr& node : tree_.inodes.FindDirectories(column)) {
    if (node == nullptr || node->first_time() < 0) continue;
    const Snapshot<Place> directory = node->place();
    tree_.directory_times.Keep(*directory, node->first_time());
    node->ForgetFirstTime();
  }
  tree_.last_changed_family.Note(column, looked_at);
}

// A directory changes when names come and go: not when its first cell, which may tell its time, is
// put, and a row not by what happens in its families.
void ColumnChange::KeepDirectoryTimes() noexcept {
  try {
    for (const Side& side : sides_) {
      if (side.column != nullptr && side.column->IsColumn()) KeepTimesAbove(*side.column);
    }
  } catch (const std::exception&) {
    // For want of memory: it shows another time.
  }
}

void ColumnChange::Ended(const Outcome& mutation) {
  has_ended_ = true;
  if (!mutation.ok() && !mutation.is_unknown()) return;
  column();
  KeepDirectoryTimes();
  for (Side& side : sides_) {
    if (side.column == nullptr || !side.column->IsColumn()) continue;
    side.notice = mutation.ok() ? Notice::kChanged : Notice::kRevalidate;
    has_notices_ = true;
    TellNodes(*side.column, &Node::ContentChanged);
    if (mutation.ok()) continue;
    tree_.recent.Forget(side.column->As(PlaceKind::kCell));
    TellNodes(*side.column, &Node::PagesAreStale);
  }
  // Also what directories cache, and what was seen to be absent.
  if (mutation.is_unknown()) tree_.inodes.InvalidateLookUps();
}

void ColumnChange::Revalidate() {
  column();
  has_notices_ = true;
  for (Side& side : sides_) {
    if (side.column != nullptr && side.column->IsColumn()) side.notice = Notice::kRevalidate;
  }
}

// ---- Names --------------------------------------------------------------------------------------

void ColumnChange::PrepareOrphan(const Place& place) {
  orphan_ = Orphaning::Prepare(tree_, contents_, place);
  if (place.kind == PlaceKind::kCounter)
    cell_orphan_ = Orphaning::Prepare(tree_, contents_, place.As(PlaceKind::kCell));
}

void ColumnChange::NameRemoved() {
  const Place& place = column();
  KeepDirectoryTimes();
  const NodePtr node = tree_.inodes.Unlink(place);
  by_ = node.get();
  if (orphan_) orphan_->Finish(tree_);
  if (place.kind == PlaceKind::kCounter) CellRemoved(place.As(PlaceKind::kCell));
  NamesChanged();
}

void ColumnChange::CellRemoved(const Place& cell) {
  const NodePtr node = tree_.inodes.Unlink(cell);
  if (node == nullptr) return;
  node->ContentChanged();
  tree_.kernel.NameWent(cell);
  if (cell_orphan_) cell_orphan_->Finish(tree_);
}

NodePtr ColumnChange::NameMoved() {
  KeepDirectoryTimes();
  tree_.inodes.Move(*sides_[0].column, *sides_[1].column);
  if (orphan_) orphan_->Finish(tree_);
  renamed_ = tree_.inodes.Find(*sides_[1].column);
  by_ = renamed_.get();
  NamesChanged();
  return renamed_;
}

// The nodes of these names know it from the table of inodes; that of the plain name may not.
void ColumnChange::NamesChanged() {
  has_notices_ = true;
  for (Side& side : sides_) {
    if (side.column == nullptr || !side.column->IsColumn()) continue;
    if (side.column->kind == PlaceKind::kCell) continue;
    side.notice = Notice::kChanged;
    TellNodes(*side.column, &Node::ContentChanged);
  }
}

// ---- The kernel ---------------------------------------------------------------------------------

void ColumnChange::Notify() {
  if (std::exchange(has_ended_, false) && file_ != nullptr)
    tree_.kernel.DropStalePagesLater(file_);
  if (std::exchange(has_directory_times_, false))
    tree_.kernel.DirectoryTimesChanged(*sides_[0].column);
  if (!std::exchange(has_notices_, false)) return;
  for (Side& side : sides_) {
    const Notice notice = std::exchange(side.notice, Notice::kNone);
    if (notice == Notice::kChanged) tree_.kernel.ColumnChanged(*side.column, by_);
    if (notice == Notice::kRevalidate) tree_.kernel.Revalidate(*side.column);
  }
  if (renamed_ != nullptr) tree_.kernel.Renamed(*renamed_);
  renamed_.reset();
}

}  // namespace cellfs::fs
