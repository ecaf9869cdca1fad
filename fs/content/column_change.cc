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
      lock_(ColumnLock::Of(*file)) {
  sides_[0].column = &lock_.column();
}

ColumnChange::ColumnChange(LiveTree& tree, const Contents& contents, const Place& place,
                           const Node* by)
    : tree_(tree), contents_(contents), by_(by), lock_(ColumnLock::Of(tree.columns, place)) {
  sides_[0] = {&lock_.column(), &place};
}

ColumnChange::ColumnChange(LiveTree& tree, const Contents& contents, const Place& from,
                           const Place& to)
    : tree_(tree), contents_(contents) {
  std::tie(lock_, second_lock_) = ColumnLock::Of(tree.columns, from, to);
  sides_[0] = {&lock_.column(), &from};
  sides_[1] = {&(second_lock_.owns_lock() ? second_lock_ : lock_).column(), &to};
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
const Place& ColumnChange::place() {
  Side& side = sides_[0];
  if (side.place == nullptr) {
    file_place_ = file_->place();
    side.place = file_place_.get();
  }
  return *side.place;
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
      if (IsColumn(side)) KeepTimesAbove(*side.place);
    }
  } catch (const std::exception&) {
    // For want of memory: it shows another time.
  }
}

void ColumnChange::Ended(const Outcome& mutation) {
  has_ended_ = true;
  if (!mutation.ok() && !mutation.is_unknown()) return;
  place();
  KeepDirectoryTimes();
  for (Side& side : sides_) {
    if (!IsColumn(side)) continue;
    side.notice = mutation.ok() ? Notice::kChanged : Notice::kRevalidate;
    has_notices_ = true;
    side.column->Changed();
    if (mutation.ok()) continue;
    tree_.recent.Forget(side.column->cell());
    for (const NodePtr& node : side.column->nodes()) node->PagesAreStale();
  }
  // Also what directories cache, and what was seen to be absent.
  if (mutation.is_unknown()) tree_.inodes.InvalidateLookUps();
}

void ColumnChange::Revalidate() {
  place();
  has_notices_ = true;
  for (Side& side : sides_) {
    if (IsColumn(side)) side.notice = Notice::kRevalidate;
  }
}

// ---- Names --------------------------------------------------------------------------------------

void ColumnChange::PrepareOrphan(const Place& place) {
  orphan_ = Orphaning::Prepare(tree_, contents_, place);
  if (place.kind == PlaceKind::kCounter)
    cell_orphan_ = Orphaning::Prepare(tree_, contents_, place.As(PlaceKind::kCell));
}

void ColumnChange::NameRemoved() {
  const Place& removed = place();
  KeepDirectoryTimes();
  const NodePtr node = tree_.inodes.Unlink(removed);
  by_ = node.get();
  if (orphan_) orphan_->Finish(tree_);
  if (removed.kind == PlaceKind::kCounter) CellRemoved(removed.As(PlaceKind::kCell));
  NamesChanged();
}

void ColumnChange::CellRemoved(const Place& cell) {
  const NodePtr node = tree_.inodes.Unlink(cell);
  if (node == nullptr) return;
  tree_.kernel.NameWent(cell);
  if (cell_orphan_) cell_orphan_->Finish(tree_);
}

NodePtr ColumnChange::NameMoved() {
  KeepDirectoryTimes();
  tree_.inodes.Move(*sides_[0].place, *sides_[1].place);
  if (orphan_) orphan_->Finish(tree_);
  renamed_ = tree_.inodes.Find(*sides_[1].place);
  by_ = renamed_.get();
  NamesChanged();
  return renamed_;
}

void ColumnChange::NamesChanged() {
  has_notices_ = true;
  for (Side& side : sides_) {
    if (!IsColumn(side)) continue;
    side.column->Changed();
    // The kernel knows that of the plain name itself.
    if (side.place->kind != PlaceKind::kCell) side.notice = Notice::kChanged;
  }
}

// ---- The kernel ---------------------------------------------------------------------------------

void ColumnChange::Notify() {
  if (std::exchange(has_ended_, false) && file_ != nullptr)
    tree_.kernel.DropStalePagesLater(file_);
  if (std::exchange(has_directory_times_, false))
    tree_.kernel.DirectoryTimesChanged(*sides_[0].place);
  if (!std::exchange(has_notices_, false)) return;
  for (Side& side : sides_) {
    const Notice notice = std::exchange(side.notice, Notice::kNone);
    if (notice == Notice::kChanged) tree_.kernel.ColumnChanged(*side.place, by_);
    if (notice == Notice::kRevalidate) tree_.kernel.Revalidate(*side.place);
  }
  if (renamed_ != nullptr) tree_.kernel.Renamed(*renamed_);
  renamed_.reset();
}

}  // namespace cellfs::fs
