// SPDX-License-Identifier: MIT
#include "fs/listing/entry_sources.h"

namespace cellfs::fs {
namespace {

std::unique_ptr<EntrySource> StoredSource(ListedDirectory& directory,
                                          const MountOptions& options) {
  switch (directory.place().kind) {
    case PlaceKind::kRoot:
      return NewNamespaceSource(directory);
    case PlaceKind::kNamespace:
      return NewTableSource(directory, options);
    case PlaceKind::kTable:
      return NewRowSource(directory);
    case PlaceKind::kRow:
      return NewFamilySource(directory);
    case PlaceKind::kFamily:
      return directory.place().query() != nullptr
                 ? NewQuerySource(directory)
                 : NewColumnSource(directory, PlaceKind::kCell);
    case PlaceKind::kVersionsDirectory:
      return NewColumnSource(directory, PlaceKind::kVersionsColumn);
    case PlaceKind::kVersionsColumn:
      return NewVersionSource(directory);
    case PlaceKind::kCountersDirectory:
      return NewColumnSource(directory, PlaceKind::kCounter);
    case PlaceKind::kDeletedDirectory:
    case PlaceKind::kDeletedFamily:
      return NewDeletedSource(directory);
    case PlaceKind::kDeletedRowsDirectory:
      return NewDeletedRowSource(directory);
    case PlaceKind::kDeletedRow:
    case PlaceKind::kDeletedFamiliesDirectory:
      return NewDeletedFamilySource(directory);
    case PlaceKind::kDroppedDirectory:
      return NewDroppedSource(directory);
    default:
      return nullptr;
  }
}

}  // namespace

EntrySources SourcesOf(ListedDirectory& directory, const UnstoredEntries& unstored,
                       const MountOptions& options) {
  EntrySources sources;
  if (directory.place().view == nullptr) {
    sources.unstored = NewUnstoredSource(directory, unstored);
    if (directory.place().kind == PlaceKind::kVersionsDirectory)
      sources.history = NewHistorySource(directory);
  }
  sources.stored = StoredSource(directory, options);
  return sources;
}

}  // namespace cellfs::fs
