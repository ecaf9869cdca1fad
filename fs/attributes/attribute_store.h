// SPDX-License-Identifier: MIT
//
// AttributeStore: owner, mode and times where they are not what the tree would show by itself, in
// the table cellfs:attributes (MountOptions::attributes_table), which is made when the first of
// them is stored. Without such a table nothing is stored, and all is as it is inherited.
//
// Owner and mode belong to a column, with all its versions; a remembered mtime to one version. What
// is not stored is inherited (fs/attributes/inherited_attributes.h).
//
// fs/attributes/attribute_rows.h says how they are stored.
#ifndef CELLFS_FS_ATTRIBUTES_ATTRIBUTE_STORE_H_
#define CELLFS_FS_ATTRIBUTES_ATTRIBUTE_STORE_H_

#include <sys/types.h>
#include <time.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/clock.h"
#include "engine/store.h"
#include "fs/attributes/attribute_cache.h"
#include "fs/attributes/attribute_rows.h"
#include "fs/attributes/attribute_table.h"
#include "fs/attributes/inherited_attributes.h"
#include "fs/attributes/narrowed_modes.h"
#include "fs/attributes/past_attributes.h"
#include "fs/attributes/table_identities.h"
#include "fs/store/freshness.h"
#include "fs/tree/options.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// What is in force at a place: owner and mode with what is inherited; the times where they are
// remembered. In the past: what was, but that nobody reads or enters what he may not today.
struct ShownAttributes : OwnerAndMode {
  TableId table = 0;  // that the place is in; 0: in none, or the store gives no ids
  std::optional<timespec> mtime;
  std::optional<timespec> ctime;
  std::optional<timespec> changed;  // of a directory: when an entry of it last came or went
};

// Only what is to change.
struct AttributeUpdate {
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
  std::optional<mode_t> mode;
  Timestamp version = -1;         // that `mtime` and `forget_mtime` are about; -1 for directories
  std::optional<timespec> mtime;  // nothing is stored where the version itself says the same
  bool forget_mtime = false;
  std::optional<timespec> ctime;
  bool anew = false;  // the name was just created: what was stored under it before is forgotten
};

// A temporary file that goes without a trace, and its only version.
struct TracelessFile {
  Place place;
  Timestamp version = 0;
};

timespec ToTimespec(Timestamp milliseconds);
Timestamp ToMilliseconds(const timespec& time);  // rounded down; < 0 before 1970

// Thread-safe.
class AttributeStore {
 public:
  AttributeStore(Store& store, const MountOptions& options, std::shared_ptr<const Clock> clock);

  // False: nothing is stored.
  bool keeps() const { return options_.attributes_table.has_value(); }

  // Reads what every other call needs, once, or again where it is not fresh any more; they do it
  // themselves where that was not done.
  Status BeLoaded();

  // `version` is the timestamp of the cell that the place shows; < 0: a directory, or none. Must
  // cost next to nothing where nothing is stored for the table. kIoError where what is stored
  // cannot be read: what others may do is not to be guessed.
  StatusOr<ShownAttributes> Find(const Place& place, Timestamp version);

  // The present ones, whatever the view, without the times. REQUIRES: Place::HasAttributes.
  StatusOr<OwnerAndMode> FindOwner(const Place& place);
  // Whether anything is stored for the table's rows and what is in them. Where nothing is, all
  // columns of a family are alike.
  StatusOr<bool> DiffersBetweenRows(const TableName& name);

  // Writes nothing where nothing would be shown otherwise, and nothing for a place without
  // attributes of its own (Place::HasAttributes). What is stored for `gone`, a file of the
  // same row, goes in the same step. What the columns of a family have by inheritance they keep, in
  // one step with the change, deleted ones too: a family's owner and mode are about the directory
  // alone, and who makes it anew gets nothing of what was in it. Where another makes a row or family
  // anew into which its mode let nobody but its owner, what is deleted in it is closed likewise.
  // Where other mounts write, it is made of what is stored then: nothing of theirs is lost.
  Status Update(const Place& place, const AttributeUpdate& update,
                const TracelessFile* gone = nullptr);
  Status Forget(const TracelessFile& gone);

  // Before a rename whose source keeps somebody out whom the target lets in. What this returns is
  // for EndNarrowing, once the target has its own mode again, or the source's owner and mode; where
  // that does not come to be, the next mount does it.
  StatusOr<std::string> Narrow(const NarrowedMode& narrowed);
  Status EndNarrowing(const std::string& begun);

  // When an entry of the directory last came or went, in milliseconds. `is_shown`: it shows that by
  // itself, unless another such time is stored.
  Status StoreDirectoryTime(const Place& directory, Timestamp time, bool is_shown);

  // The store made the table anew for this mount, which is to be the one that it was.
  Status IsStillTheSame(const TableName& table);

  // The namespace was dropped.
  Status DropNamespace(const Place& name_space);
  // The table is about to be dropped. What this returns is for DropTable.
  StatusOr<DataTable> BeginDropTable(const Place& table);
  // It was.
  Status DropTable(const DataTable& table);
  // The table was emptied, or the family of it dropped, at `time`: whoever makes a file of such a
  // name again owns it. Whose it was before stays known.
  Status Emptied(const Place& table, Timestamp time);
  Status DropFamily(const Place& table, const std::string& family, Timestamp time);

 private:
  StatusOr<DataTable> TableOf(const Place& place);
  // Of a place that changes: it must be there.
  StatusOr<DataTable> TableToChange(const Place& place);

  // What is read of the whole table. Tables are named by their rows.
  struct Loaded {
    AttributeTable::Contents contents;
    std::set<std::string> marked;  // as those to be dropped
    bool has_narrowed = false;     // NarrowedModes has some
    InheritedAttributes::Directories directories;
    TableIdentities::Identities identities;
  };
  StatusOr<Loaded> Load();
  Status LoadBySeeking(Loaded& loaded);
  Status LoadByScanning(Loaded& loaded);
  static Status LoadDirectory(const RowCells& cells, Loaded& loaded);
  Status ReloadDirectory(const std::string& row);
  Status RemoveDropped(const std::set<std::string>& marked);
  Status SettleNarrowed();
  Status Settle(const NarrowedModes::Unfinished& unfinished);
  StatusOr<Timestamp> ShownVersion(const Place& column_or_version);
  StatusOr<std::set<std::string>> RowsOfTables();
  // For a change of what is kept of a directory above the rows: what is read while it is made may
  // lack it.
  std::unique_lock<std::mutex> KeepFromLoading(const Place& place);
  StatusOr<ShownAttributes> FindAbove(const Place& place);
  Status ShowPast(const Place& place, const DataTable& table, Timestamp version,
                  OwnerAndMode& owner, AttributeRecord& times);
  // What is stored for the place, and what it inherits.
  StatusOr<OwnerAndMode> InForce(const Place& place, const DataTable& table,
                                 const RowRecords& records);
  bool HasRecords(const Place& place, const DataTable& table) const;
  StatusOr<std::optional<timespec>> ReadChange(const Place& directory, const DataTable& table);
  // What is stored for the place; nothing without a read where nothing is stored for its table.
  StatusOr<RowRecords> Read(const Place& place, const DataTable& table, const RecordKey& key,
                            Timestamp version);
  StatusOr<RowRecords> Read(const Place& place, const DataTable& table, Timestamp version);
  StatusOr<RowRecords> ReadStored(const Place& place, const RecordKey& key, Timestamp version);
  Status TakeIn(const std::string& row_key);
  StatusOr<AttributeRecord> RecordAfter(const Place& place, const DataTable& table,
                                        const AttributeUpdate& update, const RowRecords& stored);
  void PutOwner(const std::string& qualifier, const OwnerRecord& before, OwnerRecord& after,
                Put& put) const;
  // One attempt of Update. False: another mount changed something meanwhile. `mark`: of the record
  // that was put last and may be there.
  StatusOr<bool> TryUpdate(const Place& place, const AttributeUpdate& update,
                           const TracelessFile* gone, uint64_t& mark);
  // Before something is written for the table; as TableIdentities::Establish.
  enum class Writes { kRecords, kChanges };
  StatusOr<bool> BeginWriting(const Place& place, const DataTable& table, Writes what);
  struct RowChange;
  Status Prepare(const Place& place, const DataTable& table, const AttributeUpdate& update,
                 RowChange& change);
  Status WriteAlone(const Place& place, const DataTable& table, const TracelessFile* gone,
                    RowChange& change);
  StatusOr<bool> WriteBesideOthers(const Place& place, const DataTable& table,
                                   const RowChange& change);
  void Wrote(const RowChange& change, uint64_t changes_before);
  // A record that changes with others.
  struct ChangedRecord {
    std::string qualifier;
    OwnerRecord before;
    Put put;
  };
  // False: another mount has changed one of these records meanwhile.
  StatusOr<bool> WriteWhereUnchanged(const std::vector<ChangedRecord>& changed);
  // What happens to the directory that columns are in.
  struct DirectoryChange {
    enum class Of { kRow, kFamily };

    Of directory = Of::kRow;
    OwnerRecord before;  // kFamily: the record that its columns inherit from
    OwnerRecord after;
    mode_t closed = 0;  // bits of their modes that were void by what was there before
  };
  StatusOr<mode_t> ClosedBefore(const Place& place, const DataTable& table,
                                const AttributeUpdate& update, const OwnerRecord& own);
  // What the columns keep.
  StatusOr<std::vector<ChangedRecord>> KeepColumns(const Place& row_or_family,
                                                   const DataTable& table,
                                                   const DirectoryChange& change);
  using ColumnName = std::pair<std::string, std::string>;  // family, qualifier
  StatusOr<std::set<ColumnName>> StoredColumns(const Place& row_or_family);
  StatusOr<OwnerRecord> KeptBy(const Place& column, const DataTable& table,
                               const RowRecords& records, const DirectoryChange& change);
  StatusOr<std::vector<Timestamp>> OwnerVersions(const RecordKey& key);
  std::unique_lock<std::mutex> BeginChange(const std::string& row_key);
  StatusOr<std::optional<Withdraw>> WithdrawalOf(const TracelessFile& gone, const DataTable& table,
                                                 const RecordKey& key);
  void WasWithdrawn(size_t cells, const RecordKey& key, const TracelessFile& gone,
                    uint64_t changes);
  Status ForgetOwners(const Place& table, const AttributeTable::IsOfThese& goes, Timestamp time);

  Store& store_;
  const MountOptions& options_;
  const std::shared_ptr<const Clock> clock_;
  const Freshness freshness_;
  AttributeTable table_;
  const NarrowedModes narrowed_{table_};
  TableIdentities identities_;
  AttributeCache cache_;
  InheritedAttributes inherited_;
  PastAttributes past_{table_, freshness_, options_};

  std::mutex loading_;
  std::atomic<bool> loaded_{false};
  std::atomic<Timestamp> loaded_at_{0};

  // A change reads what is stored, and writes all of it anew: those of one row go one after the
  // other, those of this mount. By row; behind loading_.
  std::array<std::mutex, 64> changing_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_ATTRIBUTE_STORE_H_
