// SPDX-License-Identifier: MIT
//
// RowChange: one change of a row by a command, from the locks of its columns to what the file
// system has to know of it:
//
//   1. Begin takes the locks of the columns that are named, looks at what is there, and judges
//      whether the caller may do it.
//   2. The caller makes the mutations, and says how they ended. Where they lack room he lets the
//      change go, waits, and begins anew.
//   3. Nodes learn that the columns changed, while the locks are held; what is new gets its owner,
//      and directories their times. The kernel has been told when FileSystem::AwaitKernel
//      returns, which must not be called under a lock.
//
// A directory whose last file goes stays, as after rm: also the row of a family that is deleted as
// a whole, but nothing of a row that is.
//
// Of what a family's or a row's tombstone deletes the columns are closed, if the kernel knows any of
// them; others end up before or after what is written at the same time.
#ifndef CELLFS_FS_OPERATIONS_ROW_CHANGE_H_
#define CELLFS_FS_OPERATIONS_ROW_CHANGE_H_

#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/store.h"
#include "engine/write_room.h"
#include "fs/content/effect.h"
#include "fs/content/orphaning.h"
#include "fs/nodes/column_lock.h"
#include "fs/operations/callers_rights.h"
#include "fs/operations/filesystem.h"

namespace cellfs::fs {

// Whose what is new is: the caller's, as a file that he creates, or whose what it lies in is.
enum class NewNames { kAreTheCallers, kInherit };

// Of one thread, which takes no other lock of a column meanwhile.
class RowChange {
 public:
  // All of these outlive it.
  RowChange(FileSystem& filesystem, Store& store, const CallersRights& rights, mode_t umask,
            const TableName& table, const std::string& row,
            NewNames new_names = NewNames::kAreTheCallers)
      : filesystem_(filesystem),
        parts_(filesystem.parts()),
        store_(store),
        rights_(rights),
        umask_(umask),
        table_(table),
        row_(row),
        makes_names_(new_names == NewNames::kAreTheCallers) {}
  RowChange(const RowChange&) = delete;
  RowChange& operator=(const RowChange&) = delete;
  ~RowChange();

  // kAccessDenied, also for a timestamp that is still to come (fs/reading/later_timestamps.h);
  // kIllegalArgument for too many columns; what a read of the row fails with. Then
  // nothing is to be changed. `room`, where there is one, is let go before a lock is waited for.
  Status Begin(const std::vector<Mutation>& mutations, RoomToAwait* room = nullptr);
  void Ended(const Status& status);

 private:
  using Key = std::pair<std::string, std::string>;
  struct Column {
    bool is_put = false;
    bool is_made = false;  // what was not there is the caller's now
    bool is_told = false;  // its new value
    bool is_deleted = false;
    std::vector<Timestamp> dated;  // when it is changed at times that the caller chose
    Timestamp first_put = 0;       // what is put is no older
    void ChangesAt(Timestamp time) {
      if (time != kLatestTimestamp) dated.push_back(time);
    }
  };

  Place PlaceOf(const Key& key) const;
  void Add(const Put& put);
  void Add(const Increment& increment);
  void Add(const Append& append);
  void Add(const Withdraw& withdraw);
  void Add(const Delete& remove);
  void AddChanged(Key key, Timestamp timestamp, bool is_told);
  void CloseDeletedFamilies();
  void AddOpenFiles();
  void TakeLocks(RoomToAwait* room);
  Status Look();
  StatusOr<std::map<Key, Timestamp>> FindVisible() const;
  Status LookAtFirstPuts();
  bool IsUnstored(const Place& place) const;
  CallersRights::IsThere IsThere(const Key& key) const;
  Status CheckRights() const;
  void Tell();
  void KeepEmptied() const;
  void NoteMakers();
  void NoteMaker(const Place& place, mode_t mode, Timestamp another_from);
  static Effect EffectOn(const Column& column, bool is_shown, Timestamp version);
  void SettleColumns();
  void NoteNames();

  FileSystem& filesystem_;
  Parts& parts_;
  Store& store_;
  const CallersRights& rights_;
  const mode_t umask_;
  const TableName& table_;
  const std::string& row_;
  const bool makes_names_;  // for the caller
  const int exceptions_ = std::uncaught_exceptions();
  std::map<Key, Column> columns_;
  Timestamp first_put_ = 0;  // of all columns
  std::set<std::string> deleted_families_;
  bool deletes_row_ = false;
  std::set<std::string> families_there_;
  std::map<Key, Timestamp> there_;  // of the named columns, with what is shown
  std::map<Key, Orphaning> orphans_;  // open files whose names may go
  // Of each family from which a column may go, which is the key.
  struct Emptied {
    Emptied(UnstoredEntries& entries, Place of_column, timespec now)
        : column(std::move(of_column)), emptying(entries, column, now) {}
    const Place column;
    const UnstoredEntries::Emptying emptying;
  };
  std::map<std::string, Emptied> emptied_;
  std::optional<ColumnTable::ClosedColumns> closed_;  // of deleted_families_
  std::vector<ColumnLock> locks_;                      // of the other columns
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_ROW_CHANGE_H_
