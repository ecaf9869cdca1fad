// SPDX-License-Identifier: MIT
//
// AttributeStore: owner, mode and times where they are not what the tree would show by itself, in
// the table cellfs:attributes (MountOptions::attributes_table), which is made when the first of
// them is stored. Without such a table nothing is stored, and all is as it is inherited.
//
// Owner and mode belong to a column, with all its versions; a remembered mtime to one version. What
// is not stored is inherited (fs/attributes/inherited_attributes.h).
//
// fs/attributes/attribute_rows.h says how they are stored; what is at hand always is read by
// attribute_loading.h, a place by attribute_reader.h, and changed by attribute_writer.h.
#ifndef CELLFS_FS_ATTRIBUTES_ATTRIBUTE_STORE_H_
#define CELLFS_FS_ATTRIBUTES_ATTRIBUTE_STORE_H_

#include <time.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "engine/clock.h"
#include "engine/store.h"
#include "fs/attributes/attribute_cache.h"
#include "fs/attributes/attribute_reader.h"
#include "fs/attributes/attribute_table.h"
#include "fs/attributes/attribute_writer.h"
#include "fs/attributes/inherited_attributes.h"
#include "fs/attributes/made_attributes.h"
#include "fs/attributes/narrowed_modes.h"
#include "fs/attributes/past_attributes.h"
#include "fs/attributes/plain_columns.h"
#include "fs/attributes/table_identities.h"
#include "fs/attributes/version_owners.h"
#include "fs/nodes/unstored_entries.h"
#include "fs/store/freshness.h"
#include "fs/store/read_once.h"
#include "fs/tree/options.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// What is in force at a place: owner and mode with what is inherited; the times where they are
// remembered. In the past: what was then, of which whoever uses it is asked today's rights as well
// (FindAskedToday). So it is of what is deleted. Of versions from before another made the name anew:
// what was, but that nobody reads what he may not today.
struct ShownAttributes : OwnerAndMode {
  TableId table = 0;  // that the place is in; 0: in none, or the store gives no ids
  std::optional<timespec> mtime;
  std::optional<timespec> ctime;
  std::optional<timespec> changed;  // of a directory: when an entry of it last came or went
  bool has_record = false;          // owner and mode are stored for the place itself
};

// Thread-safe.
class AttributeStore {
 public:
  // All outlive it.
  AttributeStore(Store& store, const MountOptions& options, std::shared_ptr<const Clock> clock,
                 const UnstoredEntries& unstored);

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
  // Of a table that was dropped and is kept.
  StatusOr<OwnerAndMode> FindOwner(const TableSchema& dropped);
  // As Find shows them of a version (kVersion): what was before another made the name anew is whose
  // it was.
  StatusOr<OwnerAndMode> FindOwnerOfVersion(const Place& version);
  // Whose a version is that comes to a column at a time of its own: what the name was then is not that
  // of who has it now. Nullopt: nobody's, for the column shows nothing, and did not then.
  StatusOr<std::optional<OwnerAndMode>> FindOwnerAt(const Place& version, bool shows_value);
  // Of a version from before another made the column's family anew: what that let in then, who may
  // know of it. Empty: nobody is kept from it.
  StatusOr<std::vector<OwnerAndMode>> DirectoriesThen(const Place& column, Timestamp version);
  // What the use of a place in the past asks for beside owner and mode that it shows: the present ones,
  // and of a version from before another made the name anew, those that it had when it was deleted. Of
  // what is deleted these are the present ones: whoever makes a name anew, or is about to, gets nothing
  // of it, and takes nothing away. `version` as of Find.
  // Of a table that has been moved to another namespace since, that one's: who is kept from it is kept
  // from the table's past.
  struct AskedToday {
    OwnerAndMode present;
    std::optional<OwnerAndMode> deleted;
    std::optional<OwnerAndMode> name_space;
  };
  StatusOr<AskedToday> FindAskedToday(const Place& place, Timestamp version);
  // Whether a place in a view shows owner and mode of its time, whatever is in force today.
  bool ShowsThen(const Place& place) const;
  // Whether anything is stored for the table's rows and what is in them. Where nothing is, all
  // columns of a family are alike.
  StatusOr<bool> DiffersBetweenRows(const TableName& name);

  // Writes nothing where nothing would be shown otherwise, and nothing for a place without
  // attributes of its own (Place::HasAttributes). What is stored for `gone`, a file of the
  // same row, goes in the same step; so does what the columns of a directory keep
  // (fs/attributes/kept_columns.h).
  // Where other mounts write, it is made of what is stored then: nothing of theirs is lost.
  Status Update(const Place& place, const AttributeUpdate& update,
                const TracelessFile* gone = nullptr);
  // The same, and what Find returns then.
  StatusOr<ShownAttributes> UpdateAndFind(const Place& place, const AttributeUpdate& update);
  Status Forget(const TracelessFile& gone);
  // Before something is put into the row: what its directories, which were only made so far, are to
  // have (fs/attributes/made_attributes.h).
  Status StoreMade(const TableName& table, const std::string& row);

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

  // When one of that name was dropped last that is kept; 0: none was.
  StatusOr<Timestamp> LastKeptDrop(const std::string& name_space);
  // The namespace was dropped, after `last_kept_drop`. Where it is kept, so are its owner and mode.
  Status DropNamespace(const Place& name_space, Timestamp last_kept_drop);
  // The place under which those of a namespace lie that was dropped and is kept.
  static Place PlaceOfDropped(const std::string& name_space, Timestamp dropped);
  // Before it is brought back as `to`, which is no namespace yet: it is never there without them.
  Status CopyNamespace(const Place& dropped, const Place& to);
  Status ForgetNamespace(const Place& name_space);  // for good
  // The table is about to be dropped. What this returns is for DropTable.
  StatusOr<DataTable> BeginDropTable(const Place& table);
  // It was. Nothing goes of one that is kept.
  Status DropTable(const DataTable& table);
  // Owner, group and mode that are in force at the table become its own: it goes to another
  // namespace, which has an owner of its own, and nothing in it shall become his.
  Status KeepOwner(const TableSchema& table);
  // For DropTable, of a table that was dropped before.
  StatusOr<DataTable> DroppedTableOf(const TableSchema& dropped);
  // The table was emptied, or the family of it dropped, at `time`: whoever makes a file of such a
  // name again owns it. Whose it was before stays known.
  Status Emptied(const Place& table, Timestamp time);
  Status DropFamily(const Place& table, const std::string& family, Timestamp time);

 private:
  struct Stored {
    DataTable table;
    AttributeWriter::Updated updated;
  };
  StatusOr<Stored> StoreUpdate(const Place& place, const AttributeUpdate& update,
                               const TracelessFile* gone);
  Status StoreMadeAbove(const Place& place);
  Status RemoveDropped(const std::set<std::string>& marked);
  StatusOr<std::set<std::string>> RowsOfTables();
  StatusOr<bool> IsKept(const TableSchema& table);
  Status SettleNarrowed();
  Status Settle(const NarrowedModes::Unfinished& unfinished);
  StatusOr<Timestamp> ShownVersion(const Place& column_or_version);
  // For a change of what is kept of a directory above the rows: what is read while it is made may
  // lack it.
  std::unique_lock<std::mutex> KeepFromLoading(const Place& place);
  StatusOr<ShownAttributes> FindAbove(const Place& place);
  enum class Copies { kWhatDiffers, kAll };
  Status CopyOwner(const Place& from, const Place& to, Copies copies);
  Status RetireNamespace(const Place& name_space, const Place& dropped);
  Status SettleDroppedNamespaces();
  // Where today's owner and mode of what a view shows are: those of a namespace that was dropped
  // since are under another name, also where a new one has its own. The place itself, or what it
  // puts into `retired`; null: nothing of it is kept.
  static const Place* PresentOf(const Place& place, std::optional<Place>& retired);
  Status ShowPresent(const Place& place, const DataTable& table, Timestamp version,
                     OwnerAndMode& owner, AttributeRecord& times);
  StatusOr<std::optional<OwnerAndMode>> OwnerOfPlain(
      const Place& place, const std::shared_ptr<const TableSchema>& schema);
  void ShowTimes(const DataTable& table, Timestamp version, const AttributeRecord& times,
                 ShownAttributes& shown) const;
  Status ShowThroughView(const Place& place, const DataTable& table, Timestamp version,
                         OwnerAndMode& owner, AttributeRecord& times);
  Status ShowPast(const Place& place, const DataTable& table, Timestamp version,
                  OwnerAndMode& owner, AttributeRecord& times);
  StatusOr<std::optional<OwnerAndMode>> NamespaceSinceMoved(const Place& place,
                                                            const DataTable& table);
  bool IsAskedAgain() const { return !options_.read_only; }
  // Of a version that was another's than the column is.
  struct Earlier {
    OwnerAndMode had;       // when it was deleted
    OwnerAndMode in_force;  // that, without what was closed since
    OwnerAndMode allowed;   // what that and the present let whom do
    Timestamp until = 0;   // from then on the name was the other's
  };
  Status ShowEarlier(const Place& place, Timestamp version, const DataTable& table,
                     OwnerAndMode& owner);
  StatusOr<std::optional<Earlier>> FindEarlier(const Place& column, Timestamp version,
                                               const DataTable& table,
                                               const OwnerAndMode& present);
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
  PlainColumns plain_;
  PastAttributes past_{table_, freshness_, options_};
  // Null where it need not be spared to store each change: others do not write.
  const std::unique_ptr<MadeAttributes> made_;
  AttributeReader reader_{store_, freshness_,  table_,     identities_,
                          cache_, inherited_, made_.get()};
  AttributeWriter writer_{{store_, options_, *clock_, freshness_, table_, identities_, cache_,
                           inherited_, reader_}};
  const VersionOwners version_owners_{store_, table_};

  std::array<std::mutex, 16> storing_made_;  // by row; before all others

  std::mutex loading_;  // before the locks of the writer
  std::atomic<bool> loaded_{false};
  std::atomic<Timestamp> loaded_at_{0};
  std::atomic<ReadOnce::Clock::time_point> loading_began_{};
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_ATTRIBUTE_STORE_H_
