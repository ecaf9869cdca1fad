// SPDX-License-Identifier: MIT
//
// How places are read from the store: the Get that a place and its view mean, and what it returns.
// Reading is what they are read through: who has nothing else of the store cannot change it.
#ifndef CELLFS_FS_READING_READING_H_
#define CELLFS_FS_READING_READING_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/clock.h"
#include "engine/read.h"
#include "engine/store.h"
#include "fs/attributes/attribute_store.h"
#include "fs/base/outcome.h"
#include "fs/nodes/node.h"
#include "fs/requests/scan_slots.h"
#include "fs/store/freshness.h"
#include "fs/store/raw_cells.h"
#include "fs/store/read_ahead.h"
#include "fs/tree/dropped_names.h"
#include "fs/tree/options.h"
#include "fs/tree/place.h"
#include "fs/tree/viewed_catalog.h"

namespace cellfs::fs {

// The store as it is read, and what a read needs beside it: whose turn a long one is, how long what
// it returns may be kept, and who may look at it. Thread-safe; holds nothing of its own.
class Reading {
 public:
  Reading(Store& store, AttributeStore& attributes, const Clock& clock, const Freshness& freshness,
          ScanSlots& scan_slots, const MountOptions& options, ReadAhead* read_ahead = nullptr)
      : store_(store),
        attributes_(attributes),
        clock_(clock),
        freshness_(freshness),
        scan_slots_(scan_slots),
        options_(options),
        read_ahead_(read_ahead) {}

  const Clock& clock() const { return clock_; }
  const Freshness& freshness() const { return freshness_; }
  ScanSlots& scan_slots() const { return scan_slots_; }
  const StoreTraits& traits() const { return store_.traits(); }

  // ---- Cells; as in engine/store.h and fs/store/raw_cells.h
  StatusOr<RowCells> Read(const Caller& caller, const TableName& table, const Get& get) const {
    return read_ahead_ == nullptr ? store_.Read(caller, table, get)
                                  : read_ahead_->Read(caller, table, get);
  }
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Caller& caller, const TableName& table,
                                                 const Scan& scan) const {
    return store_.OpenScanner(caller, table, scan);
  }
  StatusOr<RowCells> RawCells(const Caller& caller, const RawCellsQuery& query,
                              FilterPtr filter) const {
    return fs::RawCells(store_, caller, query, std::move(filter));
  }
  StatusOr<RowCells> RawCellsOfColumn(const Caller& caller, const RawCellsQuery& query,
                                      const std::string& qualifier) const {
    return fs::RawCellsOfColumn(store_, caller, query, qualifier);
  }

  // ---- What a put would be refused for; as in engine/store.h
  // With bytes: of a put that is to be the column's newest version, and needs room for them.
  Status CheckMayPut(const Caller& caller, const Place& column, uint64_t bytes = 0) const {
    return store_.CheckMayPut(
        caller, column.table,
        {column.row, column.family, column.qualifier, bytes,
         bytes > 0 && column.kind == PlaceKind::kCell});
  }
  Status CheckMayAlter(const Caller& caller, const GrantScope& scope) const {
    return store_.CheckMayAlter(caller, scope);
  }
  Status CheckMayPutWithin(const Caller& caller, const GrantScope& scope) const {
    return store_.CheckMayPutWithin(caller, scope);
  }
  Status CheckRoom(const TableName& table, uint64_t bytes) const {
    return store_.CheckRoom(table, bytes);
  }
  Status CheckValueSize(const Place& column, uint64_t bytes) const {
    return store_.CheckValueSize(column.row, column.family, column.qualifier, bytes);
  }
  // kTimestampUnreadable: what is put at the version's timestamp could not be read by it.
  Status CheckReadable(const Place& version) const;

  // ---- Owners and modes; as in fs/attributes/attribute_store.h
  StatusOr<OwnerAndMode> FindOwner(const Place& place) const {
    return attributes_.FindOwner(place);
  }
  StatusOr<OwnerAndMode> FindOwnerOfVersion(const Place& version) const {
    return attributes_.FindOwnerOfVersion(version);
  }
  StatusOr<std::optional<OwnerAndMode>> FindOwnerAt(const Place& version,
                                                    bool shows_value) const {
    return attributes_.FindOwnerAt(version, shows_value);
  }
  // Whether the running request may know that the deleted column was there.
  StatusOr<bool> ShowsDeleted(const Place& column, Timestamp version) const;
  StatusOr<bool> DiffersBetweenRows(const TableName& table) const {
    return attributes_.DiffersBetweenRows(table);
  }
  // Whether they say who may read what: else the kernel lets nobody in but the daemon's user.
  bool AreModesEnforced() const { return options_.allow_other; }

  // ---- Schemas and figures; as in engine/store.h
  // Of the namespace or table that the place is in, as its view sees them.
  StatusOr<std::vector<std::string>> ListNamespaces(const Place& root) const {
    return ViewedNamespaces(store_, root);
  }
  StatusOr<NamespaceSchema> DescribeNamespace(const Place& place) const {
    return ViewedNamespaceSchema(store_, place);
  }
  StatusOr<std::vector<TableName>> ListTables(const Place& name_space) const {
    return ViewedTables(store_, name_space);
  }
  StatusOr<std::shared_ptr<const TableSchema>> DescribeTable(const Place& place) const {
    return ViewedSchema(store_, place);
  }
  // With what is said of them beside their schemas.
  StatusOr<PastNamespace> DescribeWholeNamespace(const Place& place) const {
    return ViewedNamespace(store_, place);
  }
  StatusOr<PastTable> DescribeWholeTable(const Place& place) const {
    return ViewedTable(store_, place);
  }
  // The present ones.
  StatusOr<std::optional<SpaceQuota>> TableSpaceQuota(const Place& place) const {
    return store_.TableSpaceQuota(place.table);
  }
  StatusOr<std::optional<SpaceQuota>> NamespaceSpaceQuota(const Place& place) const {
    return store_.NamespaceSpaceQuota(place.table.namespace_name);
  }
  Statistics GetStatistics() const { return store_.GetStatistics(); }
  // What is kept of what was dropped; as in engine/store.h.
  StatusOr<Dropped> ListDropped() const { return store_.ListDropped(); }
  // What stands at a place in .deleted; nullopt: nothing.
  StatusOr<std::optional<DroppedName>> FindDropped(const Place& place) const {
    CELLFS_ASSIGN_OR_RETURN(const Dropped dropped, store_.ListDropped());
    return fs::FindDropped(dropped, place.table.namespace_name, place.name);
  }
  StatusOr<OwnerAndMode> FindOwner(const DroppedName& dropped) const {
    if (dropped.table != nullptr) return attributes_.FindOwner(*dropped.table);
    return attributes_.FindOwner(AttributeStore::PlaceOfDropped(dropped.key, dropped.dropped));
  }
  StatusOr<std::chrono::milliseconds> ClockDifference() const { return store_.ClockDifference(); }

 private:
  Store& store_;
  AttributeStore& attributes_;
  const Clock& clock_;
  const Freshness& freshness_;
  ScanSlots& scan_slots_;
  const MountOptions& options_;
  ReadAhead* const read_ahead_;  // null where all that is read can be kept
};

enum class ReadDetail { kLengths, kValues };

// Whether the place's family was not declared yet, or any more, at the time of its view.
bool WasUndeclared(const Place& place);

// REQUIRES: a place in a row. The row, narrowed to the place's family and column and to what its
// view sees: time range, moment, filter.
Get GetOf(const Place& place, ReadDetail detail);

// Shows `see` the cells of the row, as `get`, made by GetOf, says, until it returns false. Of a
// view with a filter they come in pieces, for a row is as wide as its maker likes.
Outcome ReadRow(const Reading& reading, const Caller& caller, const Place& place, const Get& get,
                const std::function<bool(Cell& cell)>& see);

// The cell whose value the file shows; none where nothing is visible there. For kDeletedCell the
// last value that a tombstone hides.
OutcomeOr<std::optional<Cell>> ReadColumn(const Reading& reading, const Caller& caller,
                                          const Place& place, ReadDetail detail);
// What the file's bytes are: the value, or for a counter its decimal text (EINVAL: not 8 bytes).
OutcomeOr<std::string> FileBytes(const Place& place, Cell cell);

// Whether the place shows what a column had, be it still its value: to look there may take as long as
// its history is, so nobody does it under the column's lock.
bool IsOfHistory(const Place& place);

// Whether a node at the place may keep what was found there (Node::Cache): where no rights are
// checked and nobody but this reading's requests changes what a plain name shows.
bool MayBeCached(const Reading& reading, const Caller& caller, const Place& place);

// The first cell that is visible in the row, or in the row's family where the place has one.
OutcomeOr<std::optional<Cell>> FirstVisibleCell(const Reading& reading, const Caller& caller,
                                                const Place& row_or_family);

// The same of the row without this family of it.
OutcomeOr<std::optional<Cell>> FirstVisibleCellBeside(const Reading& reading, const Caller& caller,
                                                      const Place& family);

// The cell as a node knows it. A TTL of its own or of its family (null: unknown) ends it.
CachedCell CachedCellOf(const Cell& cell, const FamilySchema* family);
CachedCell CachedCellOf(Timestamp version, uint64_t size, int64_t time_to_live,
                        const FamilySchema* family);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_READING_READING_H_
