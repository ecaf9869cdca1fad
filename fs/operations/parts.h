// SPDX-License-Identifier: MIT
//
// Parts: what one mount is made of, and how it is wired together. FileSystem alone has all of it;
// every part, and every operation, is given those that it needs.
#ifndef CELLFS_FS_OPERATIONS_PARTS_H_
#define CELLFS_FS_OPERATIONS_PARTS_H_

#include <memory>
#include <utility>

#include "engine/clock.h"
#include "engine/store.h"
#include "fs/attributes/attribute_store.h"
#include "fs/base/delayed_calls.h"
#include "fs/content/cell_writer.h"
#include "fs/content/column_change.h"
#include "fs/content/column_effects.h"
#include "fs/content/contents.h"
#include "fs/content/counters.h"
#include "fs/content/disk_positions.h"
#include "fs/content/file_claims.h"
#include "fs/content/file_writer.h"
#include "fs/content/orphaning.h"
#include "fs/listing/directory_stream.h"
#include "fs/nodes/live_tree.h"
#include "fs/operations/attribute_changes.h"
#include "fs/operations/directory_changing.h"
#include "fs/operations/mkdir.h"
#include "fs/operations/rename.h"
#include "fs/operations/rmdir.h"
#include "fs/operations/unlink.h"
#include "fs/operations/xattr.h"
#include "fs/reading/reading.h"
#include "fs/requests/callers.h"
#include "fs/requests/scan_slots.h"
#include "fs/resolve/attributes.h"
#include "fs/requests/request_counts.h"
#include "fs/resolve/cellfs_directory.h"
#include "fs/resolve/child_place.h"
#include "fs/resolve/resolver.h"
#include "fs/schema/schema_changes.h"
#include "fs/store/column_mutations.h"
#include "fs/store/freshness.h"
#include "fs/store/kept_tables.h"
#include "fs/store/told_changes.h"
#include "fs/tree/asof.h"
#include "fs/tree/view.h"
#include "fs/tree/error_log.h"
#include "fs/tree/file_names.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

// The members are thread-safe each, and use those above them.
struct Parts {
  Parts(Store& store_in, MountOptions options_in, std::shared_ptr<const Clock> clock_in)
      : options(OptionsOn(store_in.traits(), std::move(options_in))),
        clock(std::move(clock_in)),
        freshness(store_in.traits(), *clock),
        kept_tables(store_in.traits().tables_need_a_family ? std::make_unique<KeptTables>(store_in)
                                                           : nullptr),
        with_kept(kept_tables == nullptr ? store_in : *kept_tables),
        told_changes(freshness.is_exact() ? nullptr
                                          : std::make_unique<ToldChanges>(with_kept, freshness)),
        store(told_changes == nullptr ? with_kept : *told_changes) {
    asof.SetIsKnown([this](const AsofMoment& moment) { return IsKnownToKernel(moment); });
    if (kept_tables == nullptr) return;
    kept_tables->SetTellOfMade([this](const TableName& table) {
      errors.Record("schema", TablePlace(table), attributes.IsStillTheSame(table));
    });
    kept_tables->SetTellOfGone([this](const TableName& table) { tree.ForgetTable(table); });
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  const MountOptions options;
  const std::shared_ptr<const Clock> clock;
  const Freshness freshness;

  // ---- The store, through those that add to it ------------------------------------------------
  const std::unique_ptr<KeptTables> kept_tables;  // null where the store takes every table
  Store& with_kept;
  const std::unique_ptr<ToldChanges> told_changes;  // null where all that is read can be kept
  Store& store;

  // ---- What is kept ---------------------------------------------------------------------------
  ScanSlots scan_slots;
  Callers callers{options.authorization};
  ErrorLog errors{*clock};
  const FileNames names{options};
  LiveTree tree{names, *clock, options};
  AsofRegistry asof{store, *clock, options.asof_hold_ms};
  AttributeStore attributes{store, options, clock, tree.unstored};

  // ---- What looks -----------------------------------------------------------------------------
  const Reading reading{store, attributes, *clock, freshness, scan_slots, options,
                        told_changes == nullptr ? nullptr : &told_changes->read_ahead()};
  RequestCounts request_counts;
  const CellfsDirectory self{reading, tree.inodes, tree.open_file_memory, asof, errors,
                             request_counts, options};
  const ChildPlaces places{reading, names, tree.unstored, asof, options};
  const Resolver resolver{places, reading, tree.inodes, tree.unstored, tree.removed_families,
                          tree.empty_directories, self};
  const EntryAttributes shown{reading, attributes, tree.directory_times, options,
                              options.store_made_at.value_or(clock->Now())};
  const Contents contents{reading, tree.unstored, self};
  const Listing listing{reading, tree.unstored, resolver, names, options};

  // ---- What changes ---------------------------------------------------------------------------
  const ColumnMutations mutations{store, *clock};
  OpenFiles open_files{tree, contents};
  SchemaChanges schemas{store, reading, tree, attributes, errors, open_files};
  DiskPositions disk{store};
  const ColumnEffects effects{tree, reading};
  const ColumnChanging columns{tree, reading, contents, mutations, effects, disk, attributes};
  const CellWriting cells{tree,       reading, contents, columns, disk,
                          attributes, delayed, errors,   options};
  const Counters counters{reading, columns, options};
  const FileClaims claims{reading, tree, attributes, options};
  const FileWriters writers{cells, counters, schemas};

  // ---- What the operations work with ----------------------------------------------------------
  const DirectoryChanging directories{tree,    reading,    resolver, store, kept_tables.get(),
                                      schemas, attributes, errors,   options};
  const FileUnlinking unlinking{tree, reading, resolver, columns, attributes, errors, options};
  const Renaming renaming{tree,    reading,    resolver, columns,
                          schemas, attributes, errors,   options,
                          directories};
  const AttributeChanging changing{tree, reading, resolver, writers, attributes, options};
  const Xattrs xattrs{tree, reading, columns, errors, options};

  DelayedCalls delayed;  // last: its thread uses the rest

 private:
  bool IsKnownToKernel(const AsofMoment& moment) const {
    const auto shows_it = [&](const Place& place) {
      return place.IsDirectory() && place.view != nullptr && place.view->asof.get() == &moment;
    };
    return !tree.inodes.FindAll(shows_it).empty();
  }
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_PARTS_H_
