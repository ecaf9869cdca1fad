// SPDX-License-Identifier: MIT
//
// RestoreTo: makes a scope what it was at T, by new versions. Undelete: brings back what deletes
// hide.
//
//     RestoreOptions options{.dry_run = true};
//     StatusOr<RestoreReport> report = RestoreTo(access, {.table = table}, time, options, print);
//     if (report.ok() && report->refused) Explain(report->unknown);
//
// What it was at T is what a reader would see now if nothing had been written after T: what a TTL
// has ended since stays ended, and a value that was put with a TTL of its own ends when it would
// have.
//
// Nothing is taken back: values are put, and columns that were not there are deleted, all stamped
// above what lies on the column. So the versions in between stay as the family keeps them, and
// restoring to a time before the restore undoes it. A row is changed in one mutation, atomically;
// only one with more than kRestoreCells changes, or kRestoreBytes of values, in several. Columns
// that show the right bytes are not touched. So a restore that was killed is finished by the same
// call, and a second one does nothing.
//
// Reads two raw scans of the scope (a third one for a checker) and the values that are put or compared, as of one moment where
// the store pins moments; what others write meanwhile to a column that is restored lies beneath it
// afterwards. Memory: the changes of one row, within those bounds, and one value.
#ifndef CELLFS_SRC_HISTORY_RESTORE_H_
#define CELLFS_SRC_HISTORY_RESTORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "src/history/states.h"
#include "src/history/unknown.h"

namespace cellfs {

inline constexpr size_t kRestoreCells = 10000;
inline constexpr size_t kRestoreBytes = size_t{16} << 20;

// Makes the mutations of a row, all or none; for who has caches to tell. They may be moved from.
using RowWriter = std::function<Status(RowMutations& mutations)>;

// Whether the put was another's file than the name is now, or closed to more users: it would get the
// owner and the mode of now.
using IsAnothers = std::function<StatusOr<bool>(const Cell& put)>;

struct RestoreOptions {
  bool dry_run = false;  // changes are told, not made
  // What cannot be known is left as it is, and the rest restored.
  bool despite_unknown = false;
  RowWriter writer;  // null: ColumnMutations, as the caller
  // Shown the mutations of every row before the first is made, also where none is to be; what it
  // refuses is the end, and nothing has been changed. Null: nothing is asked.
  RowWriter checker;
  // What it says stays away. Null: nobody has a name after another.
  IsAnothers is_anothers;
};

struct RestoreReport {
  // What cannot be known. Where it is not empty, and despite_unknown is not set, the restore is
  // refused and nothing was changed, nor told.
  Unknown unknown;
  bool refused = false;
  // Left as they are, for the caller may not read what would have to be put there: another's file
  // had that name then. What he reads nothing of is not known to him, and not among these.
  ToldColumns closed;
  // Likewise, for it would become a file of whose the name is now, open to whom his is.
  ToldColumns anothers;
  uint64_t rows = 0;  // with changes
  uint64_t puts = 0;
  uint64_t deletes = 0;
};

// The present state before, the restored one after; told when the row's mutation is made, in the
// order of the store. Lengths only. False ends the restore behind that mutation; it is ok then.
// kIllegalArgument: T lies in the future, or the scope is none. kUnavailable: a value that was to
// be put has been removed meanwhile; the next try tells more. Rows before an error are restored.
StatusOr<RestoreReport> RestoreTo(const HistoryAccess& access, const Scope& scope, Timestamp time,
                                  const RestoreOptions& options, const OnChange& on_change);

// Each column of which the newest put is hidden by a delete and still kept gets that value as a new
// version, where it shows nothing, or an older version that was there before the delete. What a TTL has ended comes back too where a delete hides it;
// its own TTL does not. `unknown` and `despite_unknown` are not used. One raw scan.
StatusOr<RestoreReport> Undelete(const HistoryAccess& access, const Scope& scope,
                                 const RestoreOptions& options, const OnChange& on_change);

}  // namespace cellfs

#endif  // CELLFS_SRC_HISTORY_RESTORE_H_
