// SPDX-License-Identifier: MIT
//
// Store: a versioned, sorted map of cells with HBase 2.6's semantics. Everything above the engine
// speaks to this interface alone; the embedded store keeps its promises, and so does HBase itself.
// What ours can do beyond them is told by traits().
//
//     auto result = store.Mutate(Caller::Superuser(), table, RowMutations::Of(put));
//     auto cells = store.Read(Caller::Superuser(), table, get);
//
// What is promised:
//   - a mutation is atomic within one row, over all its families, and readers see all of it or
//   none;
//   - nothing is atomic over rows; a scan is ordered but is no snapshot of the table;
//   - the store chooses timestamps (its clock) where the writer gives none;
//   - a call that ends with kOutcomeUnknown may or may not have happened;
//   - a tombstone hides what its rule covers, also what is written later, until it is compacted
//   away.
//
// A missing table or family is an error; a missing cell or row is an empty answer.
// Thread-safe; calls may block for as long as the disk (or a network) takes.
#ifndef CELLFS_ENGINE_STORE_H_
#define CELLFS_ENGINE_STORE_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/admin.h"
#include "engine/caller.h"
#include "engine/dropped.h"
#include "engine/mutation.h"
#include "engine/names.h"
#include "engine/past_catalog.h"
#include "engine/read.h"
#include "engine/schema.h"
#include "engine/status_or.h"
#include "engine/store_traits.h"

namespace cellfs {

// Clocks that are further apart choose no timestamps for each other (hbase.master.maxclockskew).
inline constexpr std::chrono::milliseconds kLongestClockDifference{30'000};

class Store {
 public:
  virtual ~Store() = default;

  // The same for as long as it lives.
  virtual const StoreTraits& traits() const = 0;

  // ---- Cells ----------------------------------------------------------------------------------

  virtual StatusOr<RowCells> Read(const Caller& caller, const TableName& table, const Get& get) = 0;
  virtual StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Caller& caller,
                                                         const TableName& table,
                                                         const Scan& scan) = 0;
  virtual StatusOr<MutationResult> Mutate(const Caller& caller, const TableName& table,
                                          const RowMutations& mutations) = 0;
  virtual StatusOr<CheckAndMutateResult> CheckAndMutate(const Caller& caller,
                                                        const TableName& table,
                                                        const cellfs::CheckAndMutate& check) = 0;
  // HBase's batch: each row on its own, in order; they share the wait for the disk. The answers are
  // as many as the rows.
  virtual std::vector<StatusOr<MutationResult>> Batch(const Caller& caller, const TableName& table,
                                                      const std::vector<RowMutations>& rows) = 0;
  // Everything written so far is on disk when this returns.
  virtual Status Sync() = 0;

  // These tell, before there is anything to write, why that would be refused as things are now:
  // hints, for others change them meanwhile. They cost next to nothing; a store that would have to
  // ask elsewhere answers OK.
  // Table, family and rights: kTableNotEnabled, kReadOnly, kNoSuchColumnFamily, kAccessDenied. Room
  // as CheckRoom has it, and kTimestampsExhausted, where they are asked for.
  virtual Status CheckMayPut(const Caller& caller, const TableName& table,
                             const PutToCome& put) = 0;
  // All that Mutate would be refused for: of the call, the table, the row as it is now, a quota in
  // force and rights, but not want of room. A store that would have to ask elsewhere looks at the
  // table alone.
  virtual Status CheckMayMutate(const Caller& caller, const TableName& table,
                                const RowMutations& mutations) = 0;
  // Rights alone, to alter the schema of the table or namespace that the scope is: kAccessDenied.
  virtual Status CheckMayAlter(const Caller& caller, const GrantScope& scope) = 0;
  // Likewise, to put something into the table, family or column that the scope is, or into a part
  // of it alone: kAccessDenied.
  virtual Status CheckMayPutWithin(const Caller& caller, const GrantScope& scope) = 0;
  // Whether values of so many bytes find room in the table: kSpaceLimiting, kStoreFull, and what
  // helps. Where flushes make room it waits for them, as a put does.
  virtual Status CheckRoom(const TableName& table, uint64_t bytes) = 0;
  // Whether a value of so many bytes may be put into the column: kValueTooLarge.
  virtual Status CheckValueSize(const std::string& row, const std::string& family,
                                const std::string& qualifier, uint64_t bytes) = 0;

  // How far this machine's clock and the store's are apart at least, as far as is known: whoever
  // chooses a timestamp chooses it by the former. Positive where the former is ahead.
  virtual StatusOr<std::chrono::milliseconds> ClockDifference() = 0;

  // ---- Namespaces -----------------------------------------------------------------------------

  virtual Status CreateNamespace(const Caller& caller, const NamespaceSchema& schema) = 0;
  virtual Status AlterNamespace(const Caller& caller, const NamespaceSchema& schema) = 0;
  virtual Status DropNamespace(const Caller& caller, const std::string& name) = 0;
  virtual StatusOr<NamespaceSchema> DescribeNamespace(const std::string& name) = 0;
  virtual StatusOr<std::vector<std::string>> ListNamespaces() = 0;  // sorted

  // ---- Tables ---------------------------------------------------------------------------------

  virtual Status CreateTable(const Caller& caller, const TableSchema& schema) = 0;
  // Replaces schema and families at once: families that the new schema leaves out go with their
  // data. A schema change closes the regions, so it flushes first (HRegion.close). Split keys stay.
  virtual Status AlterTable(const Caller& caller, const TableSchema& schema) = 0;
  // The same, and the split keys too: of a table in which no cell lies, which the caller has seen.
  // It is the same table, with its id, quota and grants. A client of HBase drops it and makes it
  // anew. kUnavailable where somebody has put something meanwhile.
  virtual Status RecreateTable(const Caller& caller, const TableSchema& schema) = 0;
  // The key becomes a split key: the region that it lies in is cut there, unless one begins there
  // already (kDoNotRetry). A on the table; the namespace's regions are counted. No cell moves. A
  // client of HBase asks for the split and waits until the regions are there.
  virtual Status SplitTable(const Caller& caller, const TableName& table,
                            const std::string& key) = 0;
  virtual Status AddFamily(const Caller& caller, const TableName& table,
                           const FamilySchema& family) = 0;
  virtual Status ModifyFamily(const Caller& caller, const TableName& table,
                              const FamilySchema& family) = 0;
  virtual Status DropFamily(const Caller& caller, const TableName& table,
                            const std::string& family) = 0;
  // Under another name, also in another namespace, it is the same table, with its id, cells, quota
  // and grants. kTableExists; kUnsupportedOperation where !traits().renames_tables.
  virtual Status RenameTable(const Caller& caller, const TableName& from, const TableName& to) = 0;
  // Disabled first. One that holds a cell, a hidden one too, is kept for its DROPPED_TTL.
  virtual Status DropTable(const Caller& caller, const TableName& table) = 0;
  // An enabled table that shows nobody a cell is dropped, or kept, in one step; false where it shows
  // one. So no write that was acknowledged goes with it, and nothing is flushed that is not to stay.
  // A client of HBase makes it READONLY meanwhile.
  virtual StatusOr<bool> DropEmptyTable(const Caller& caller, const TableName& table) = 0;
  virtual Status TruncateTable(const Caller& caller, const TableName& table) = 0;  // disabled first
  virtual Status EnableTable(const Caller& caller, const TableName& table) = 0;
  virtual Status DisableTable(const Caller& caller, const TableName& table) = 0;
  // With the table's id, where the store gives one.
  virtual StatusOr<std::shared_ptr<const TableSchema>> DescribeTable(const TableName& table) = 0;
  virtual StatusOr<bool> IsTableEnabled(const TableName& table) = 0;
  virtual StatusOr<std::vector<TableName>> ListTables(const std::string& namespace_name) = 0;

  // The table that has the id, whatever it is called now. kTableNotFound; kUnsupportedOperation as
  // below.
  virtual StatusOr<std::shared_ptr<const TableSchema>> FindTable(TableId id) = 0;
  // The namespaces and tables of that time, as far as they are still known, and the present ones
  // for a time that is yet to come. A table that was dropped since is among them where it held no
  // cell then. kUnsupportedOperation where !traits().tells_past_catalog.
  virtual StatusOr<std::shared_ptr<const PastCatalog>> CatalogAt(Timestamp time) = 0;

  // ---- What was dropped and is kept -----------------------------------------------------------
  // Room that others need is taken from what is kept, the oldest first. Where
  // !traits().keeps_dropped nothing is kept, and these are kUnsupportedOperation.

  virtual StatusOr<Dropped> ListDropped() = 0;
  // As it was, and enabled, under a name that is free; quota and grants have gone. A on its former
  // namespace, and what CreateTable wants. kTableNotFound: nothing of that id is kept.
  virtual Status BringBackTable(const Caller& caller, TableId id, const TableName& name) = 0;
  virtual Status FreeDroppedTable(const Caller& caller, TableId id) = 0;  // for good; A likewise
  // Likewise, of one that nobody has asked to free: Statistics::freed_early says why it went.
  virtual Status FreeDroppedEarly(const Caller& caller, TableId id, const std::string& why) = 0;
  // The one that was dropped at that time, with all that is kept in it, under a name that is free.
  virtual Status BringBackNamespace(const Caller& caller, Timestamp dropped,
                                    const std::string& name) = 0;
  virtual Status FreeDroppedNamespace(const Caller& caller, Timestamp dropped) = 0;

  // ---- Maintenance ----------------------------------------------------------------------------

  virtual Status Flush(const Caller& caller, const TableName& table) = 0;
  // Makes one store file of all those of a family; kMinor keeps tombstones. Does not touch the
  // memstore. What a pinned Moment may see stays.
  virtual Status Compact(const Caller& caller, const TableName& table, CompactionKind kind) = 0;
  virtual Statistics GetStatistics() = 0;
  // The present, kept for reading as long as the result lives: reads with it see the same cells for
  // ever, whatever is withdrawn, flushed or compacted. Those of one `holder` are counted together:
  // kUnavailable where all moments keep as much as they may (StoreOptions::moment_limit), and his,
  // which are more than a few, at least an even share of that; kUnsupportedOperation where
  // !traits().pins_moments.
  virtual StatusOr<std::shared_ptr<const Moment>> PinMoment(const std::string& holder) = 0;

  // ---- Quotas and rights ----------------------------------------------------------------------

  virtual Status SetTableSpaceQuota(const Caller& caller, const TableName& table,
                                    const std::optional<SpaceQuota>& quota) = 0;
  virtual Status SetNamespaceSpaceQuota(const Caller& caller, const std::string& namespace_name,
                                        const std::optional<SpaceQuota>& quota) = 0;
  virtual StatusOr<std::optional<SpaceQuota>> TableSpaceQuota(const TableName& table) = 0;
  virtual StatusOr<std::optional<SpaceQuota>> NamespaceSpaceQuota(const std::string& name) = 0;
  // HBase's QuotaObserverChore, now: compares sizes with limits and puts violations in force.
  // Before that what was dropped goes where its time has come, or a quota or a full disk needs its
  // room.
  virtual Status CheckSpaceQuotas() = 0;

  // Adds to (merge) or replaces what the user had at that scope.
  virtual Status GrantPermissions(const Caller& caller, const Grant& grant, bool merge) = 0;
  virtual Status RevokePermissions(const Caller& caller, const std::string& user,
                                   const GrantScope& scope) = 0;
  virtual StatusOr<std::vector<Grant>> ListGrants() = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_STORE_H_
