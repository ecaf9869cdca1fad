// SPDX-License-Identifier: MIT
//
// The sources of entries, each in a file of its own, and which of them a directory has. They refer
// to the directory, which must outlive them.
#ifndef CELLFS_FS_LISTING_ENTRY_SOURCES_H_
#define CELLFS_FS_LISTING_ENTRY_SOURCES_H_

#include <memory>

#include "fs/listing/entry_source.h"
#include "fs/listing/listed_directory.h"
#include "fs/nodes/unstored_entries.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

// Read in this order: a cell that is put in between is then seen at least in one of them.
struct EntrySources {
  std::unique_ptr<EntrySource> unstored;  // null in a view
  std::unique_ptr<EntrySource> history;   // of .versions; likewise
  std::unique_ptr<EntrySource> stored;    // null where nothing is, or where it cannot be listed
};
EntrySources SourcesOf(ListedDirectory& directory, const UnstoredEntries& unstored,
                       const MountOptions& options);

// What is there only by being made; not in a view.
std::unique_ptr<EntrySource> NewUnstoredSource(ListedDirectory& directory,
                                               const UnstoredEntries& unstored);

// What is stored.
std::unique_ptr<EntrySource> NewNamespaceSource(ListedDirectory& root);
std::unique_ptr<EntrySource> NewDroppedSource(ListedDirectory& directory);
std::unique_ptr<EntrySource> NewTableSource(ListedDirectory& name_space,
                                            const MountOptions& options);
std::unique_ptr<EntrySource> NewRowSource(ListedDirectory& table);
std::unique_ptr<EntrySource> NewFamilySource(ListedDirectory& row);
// The columns of a family as places of a kind: files, or what .versions and .counters make of them.
std::unique_ptr<EntrySource> NewColumnSource(ListedDirectory& directory, PlaceKind kind);
// The cells of a family that a query returns.
std::unique_ptr<EntrySource> NewQuerySource(ListedDirectory& family);
std::unique_ptr<EntrySource> NewVersionSource(ListedDirectory& versions_column);
std::unique_ptr<EntrySource> NewDeletedSource(ListedDirectory& deleted);
// The rows that show nothing and of which something is kept; the families.
std::unique_ptr<EntrySource> NewDeletedRowSource(ListedDirectory& deleted);
std::unique_ptr<EntrySource> NewDeletedFamilySource(ListedDirectory& deleted);
// The columns of .versions of which only the history can be read.
std::unique_ptr<EntrySource> NewHistorySource(ListedDirectory& versions);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_LISTING_ENTRY_SOURCES_H_
