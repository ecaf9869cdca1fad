// SPDX-License-Identifier: MIT
#include "fs/nodes/kernel_cache.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "fs/nodes/column_lock.h"

namespace cellfs::fs {

KernelCache::KernelCache(InodeTable& inodes, const FileNames& names)
    : inodes_(inodes),
      file_names_(names),
      later_([this](const KernelNotice& notice) { Tell(notice); },
             [this] { InvalidateAll({}); }) {}

KernelCache::~KernelCache() = default;

void KernelCache::SetNotifier(KernelNotifier* notifier) {
  std::unique_lock lock(mutex_);
  notifier_ = notifier;
  // The old one must not be in use any more when this returns.
  idle_.wait(lock, [&] { return notifying_ == 0 || notifier != nullptr; });
}

bool KernelCache::Notify(const std::function<void(KernelNotifier&)>& tell) {
  assert(!ColumnLock::IsAnyHeldHere());
  KernelNotifier* notifier;
  {
    std::lock_guard lock(mutex_);
    if (notifier_ == nullptr) return false;
    notifier = notifier_;
    ++notifying_;
  }
  const auto told = [this](const KernelNotifier*) {
    std::lock_guard lock(mutex_);
    if (--notifying_ == 0) idle_.notify_all();
  };
  const std::unique_ptr<KernelNotifier, decltype(told)> in_use(notifier, told);
  tell(*notifier);
  return true;
}

void KernelCache::ForgetAllLater() noexcept { later_.AddAll(); }

void KernelCache::InvalidateNode(const Place& place, const Node* by) {
  const NodePtr node = inodes_.Find(place);
  if (node == nullptr || node.get() == by) return;
  // Of a column that changed all its nodes know.
  if (place.IsDirectory()) node->ContentChanged();
  DropPages(*node);
}

void KernelCache::ColumnChanged(const Place& column, const Node* by) {
  const Place cell = column.As(PlaceKind::kCell);
  InvalidateNode(cell, by);
  QueueNameIfKnown(cell);
  InvalidateParents(cell, by);
}

// Row and family stay, if only as emptied directories; what they list has changed.
void KernelCache::InvalidateParents(const Place& cell, const Node* by) {
  for (Place directory = cell.Parent(); directory.kind != PlaceKind::kNamespace;
       directory = directory.Parent()) {
    InvalidateNode(directory, by);
  }
}

void KernelCache::TableChanged(const TableName& table) {
  InvalidateAll({table.namespace_name, table.name, {}});
  InvalidateNode(NamespacePlace(table.namespace_name), nullptr);
}

void KernelCache::FamilyChanged(const TableName& table, const std::string& family) {
  InvalidateAll({table.namespace_name, table.name, family});
}

void KernelCache::NamespaceChanged(const std::string& namespace_name) {
  InvalidateAll({namespace_name, {}, {}});
  InvalidateNode(RootPlace(), nullptr);
}

void KernelCache::AttributesChanged(const Place& place, const Node* by) {
  if (const ColumnPtr column = inodes_.columns().Find(place)) column->Changed();
  InvalidateNode(place, by);
}

void KernelCache::Revalidate(const Place& column) {
  const Place cell = column.As(PlaceKind::kCell);
  AskAgain(cell);
  if (column.kind != PlaceKind::kCell) AskAgain(column);
  InvalidateParents(cell, nullptr);
}

void KernelCache::AskAgain(const Place& place) {
  const NodePtr node = inodes_.Find(place);
  if (node == nullptr) return;
  Notify([&](KernelNotifier& notifier) { notifier.InvalidateAttributes(*node); });
  QueueNameIfKnown(place);
}

void KernelCache::DirectoryTimeChanged(const Place& column, PlaceKind directory) {
  const NodePtr node = inodes_.FindDirectory(column, directory);
  if (node == nullptr) return;
  Notify([&](KernelNotifier& notifier) { notifier.InvalidateAttributes(*node); });
}

void KernelCache::DropListing(const Node& directory) {
  Notify([&](KernelNotifier& notifier) { notifier.InvalidateInode(directory); });
}

void KernelCache::Renamed(const Node& node) {
  Notify([&](KernelNotifier& notifier) { notifier.InvalidateAttributes(node); });
}

void KernelCache::Changed(const NodePtr& node, bool is_gone) {
  node->ContentChanged();
  DropPages(*node);
  if (!is_gone) return;
  const Snapshot<Place> place = node->place();
  QueueNameIfKnown(*place);
}

// A look-up under way may have found what was so before, and make its node behind this walk. Of the
// names, of which there may be a million, another walk tells.
void KernelCache::InvalidateAll(const TreePart& part) {
  inodes_.InvalidateLookUps();
  for (const NodePtr& node : inodes_.FindAll([&](const Place& place) { return part.Has(place); })) {
    Changed(node, /*is_gone=*/false);
    const Snapshot<Place> place = node->place();
    if (const NodePtr directory = inodes_.Find(place->Parent())) directory->EntriesChanged();
  }
  TellLater(NoticeOf(part));
}

KernelNotice KernelCache::NoticeOf(const TreePart& part) const {
  NodePtr top;
  if (!part.table.empty()) top = inodes_.Find(TablePlace({part.namespace_name, part.table}));
  if (top == nullptr) top = inodes_.root();
  return {std::move(top), {}, part};
}

void KernelCache::DropNames(const TreePart& part) {
  for (const NodePtr& node : inodes_.FindAll([&](const Place& place) { return part.Has(place); })) {
    const Snapshot<Place> place = node->place();
    const NodePtr directory = node->unlinked() ? nullptr : inodes_.Find(place->Parent());
    if (directory == nullptr) continue;
    const std::string name = file_names_.Of(*place);
    Notify([&](KernelNotifier& notifier) { notifier.InvalidateEntry(*directory, name); });
  }
}

void KernelCache::QueueNameIfKnown(const Place& place) {
  if (inodes_.Find(place) != nullptr) NameWent(place);
}

void KernelCache::NameWent(const Place& place) {
  NodePtr directory = inodes_.Find(place.Parent());
  if (directory == nullptr) return;
  directory->EntriesChanged();
  if (later_.IsLong())
    return TellLater(NoticeOf({place.table.namespace_name, place.table.name, {}}));
  TellLater({std::move(directory), file_names_.Of(place)});
}

void KernelCache::ForgetName(const Place& directory, const std::string& name) {
  if (NodePtr node = inodes_.Find(directory)) TellLater({std::move(node), name, {}, true});
}

void KernelCache::TellLater(const KernelNotice& notice) {
  {
    const std::lock_guard lock(mutex_);
    if (notifier_ == nullptr) return;
  }
  later_.Add(notice);
}

void KernelCache::Tell(const KernelNotice& notice) {
  if (notice.part) return DropNames(*notice.part);
  if (notice.name.empty()) return static_cast<void>(DropStalePages(*notice.node));
  Notify([&](KernelNotifier& notifier) {
    notice.throws_out ? notifier.ThrowOutEntry(*notice.node, notice.name)
                      : notifier.InvalidateEntry(*notice.node, notice.name);
  });
}

void KernelCache::AwaitNames() {
  constexpr std::chrono::seconds kLongest{2};
  later_.Await(kLongest);
}

void KernelCache::DropStalePagesLater(const NodePtr& file) {
  if (file->has_stale_pages()) TellLater({file, {}});
}

namespace {

// Whether the file's writers are closed, and the kernel has only not released them yet.
bool AreClosed(const Node& file, int writers) {
  const auto open = file.handles();
  return writers <= std::count_if(open.begin(), open.end(),
                                  [](const auto& handle) { return handle->SeemsClosed(); });
}

// Whether all of the file is put, as far as its writers have written.
bool IsPut(const Node& file, int writers) {
  return writers == 0 || AreClosed(file, writers) || !file.is_being_written();
}

}  // namespace

// Who writes meanwhile is watched: the kernel has what he writes before it comes here. False: there
// is nobody to tell.
bool KernelCache::DropPages(const Node& node) {
  const auto file = node.shared_file();
  std::optional<DroppedPages::Dropping> dropping;
  if (file != nullptr && file->writers() > 0) dropping.emplace(file->dropped_pages());
  return Notify([&](KernelNotifier& notifier) { notifier.InvalidateInode(node); });
}

FilePages KernelCache::DropStalePages(Node& file) {
  FilePages pages;
  pages.file = file.ShareFile();
  pages.no_writer_comes = pages.file->KeepWritersOut();
  // In this order: who ends to write says before that the pages are stale.
  pages.is_written = pages.file->writers() > 0;
  uint64_t stale = file.stale_pages();
  while (stale != 0 && IsPut(file, pages.file->writers()) && DropPages(file)) {
    file.PagesWereDropped(stale);
    stale = file.stale_pages();
  }
  pages.are_stale = stale != 0;
  return pages;
}

}  // namespace cellfs::fs
