// SPDX-License-Identifier: MIT
//
// What a reader saw of a scope at a time, and how two such states differ.
//
// A time is nullopt for the present, which is what a Get shows, or T: what a reader at T saw, as
// far as it is still stored. Cells with timestamps up to T count, and tombstones up to T hide; what
// a TTL ended later was there. What VERSIONS or a compaction has removed since cannot be shown;
// FindUnknown (unknown.h) tells of what that may be, and a difference leaves it out. A state leaves
// out what depends on when a version was deleted by its timestamp, for that is not kept.
//
// A state costs one raw scan of the scope up to its time, and a Get for each value that is wanted;
// store files whose cells are all newer are not read. A difference costs a scan of all times, for
// what is newer tells what may be missing.
#ifndef CELLFS_SRC_HISTORY_STATES_H_
#define CELLFS_SRC_HISTORY_STATES_H_

#include <functional>
#include <optional>

#include "src/history/scope.h"

namespace cellfs {

using HistoryTime = std::optional<Timestamp>;

// kValues: but for those that the caller may not read, which another's file had under that name.
enum class ValueDetail { kLengths, kValues };
// Of a cell that came with its length only.
inline bool HasValue(const Cell& cell) { return cell.value.size() == cell.value_length; }

// The put that was seen of a column, in the order of the store; false ends the read, which is then
// ok. Without its value where that is not asked for.
using OnCell = std::function<bool(Cell&& cell)>;
// kUnavailable: the store has dropped a value while it was being read; the next try tells more.
Status ReadState(const HistoryAccess& access, const Scope& scope, HistoryTime time,
                 ValueDetail detail, const OnCell& on_cell);

// A column of which two states show different bytes.
struct Change {
  // Of the older and the newer state; nullopt: it was not there.
  std::optional<Cell> before;
  std::optional<Cell> after;

  bool is_added() const { return !before; }
  bool is_removed() const { return !after; }
  const Cell& key() const { return before ? *before : *after; }  // row, family, qualifier
};

// In the order of the store; false ends the read, which is then ok.
using OnChange = std::function<bool(Change&& change)>;
// Of columns that are known in both states. Values are read to compare those of one length. One put
// is the same in both states; its value is not compared with itself.
Status ReadDifferences(const HistoryAccess& access, const Scope& scope, HistoryTime before,
                       HistoryTime after, ValueDetail detail, const OnChange& on_change);
// The same of what the deletes of the versions of one timestamp have changed: from what a reader saw
// at that time without them, to the present.
Status ReadVersionDeletes(const HistoryAccess& access, const Scope& scope, Timestamp deleted,
                          ValueDetail detail, const OnChange& on_change);

}  // namespace cellfs

#endif  // CELLFS_SRC_HISTORY_STATES_H_
