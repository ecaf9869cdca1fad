// SPDX-License-Identifier: MIT
//
// ReadLog: what happened in a scope: each version that was put, and each delete, as it is stored.
// The delete of a row is the delete of each of its families; what was withdrawn without a trace did
// not happen.
//
// With a limit the newest events are told, newest first: by timestamp, of one timestamp what was
// written last. Costs one raw scan of the scope, memory for `limit` events without their values,
// and a few Gets for each event whose values are wanted. The scan leaves out store files whose
// cells are all outside the times, or older than the events it has already. Without a limit events
// come as they are found, in the order of the store.
#ifndef CELLFS_SRC_HISTORY_LOG_H_
#define CELLFS_SRC_HISTORY_LOG_H_

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>

#include "src/history/scope.h"
#include "src/history/states.h"

namespace cellfs {

struct LogOptions {
  size_t limit = 100;  // events; 0: all, in the order of the store
  // Both included.
  Timestamp since = 0;
  Timestamp until = std::numeric_limits<Timestamp>::max();
  ValueDetail detail = ValueDetail::kLengths;
  bool with_before = false;  // Event::before; its value as `detail` says
};

struct Event {
  // What was written: row, family, qualifier, timestamp, TTL of its own, value_length; a type that
  // is no put is a delete: of a version, a column, a version of a family, a family of the row.
  // Family deletes have an empty qualifier.
  Cell cell;
  // The value could not be read: the store has dropped it since the scan.
  bool value_is_gone = false;
  // With with_before, of a put or the delete of a column: what a reader saw of the column just
  // before its timestamp. Of the delete of a version: that version, where it is still stored.
  std::optional<Cell> before;
};

// False ends the log, which is then ok.
using OnEvent = std::function<bool(Event&& event)>;
// kTableNotFound, kNoSuchColumnFamily, kIllegalArgument, kCancelled, what the store says.
Status ReadLog(const HistoryAccess& access, const Scope& scope, const LogOptions& options,
               const OnEvent& on_event);

}  // namespace cellfs

#endif  // CELLFS_SRC_HISTORY_LOG_H_
