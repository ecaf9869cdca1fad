// SPDX-License-Identifier: MIT
//
// What is stored of a table, cell by cell, each with what has become of it. A scan of all that is
// stored goes beside one of what reads see, so that the store's own rules say what is seen: of a
// cluster too. Neither holds more than a piece of a row.
#ifndef CELLFS_SRC_COMMANDS_CELL_KINDS_H_
#define CELLFS_SRC_COMMANDS_CELL_KINDS_H_

#include <functional>

#include "engine/cell.h"
#include "engine/schema.h"
#include "src/commands/command.h"

namespace cellfs {

enum class CellKind {
  kShown,      // what a read gets
  kOlder,      // what a read of all versions gets besides
  kTombstone,
  kExpired,    // a put whose time to live is over
  kHidden,     // one that a tombstone hides, or that is beyond VERSIONS
};

// With lengths in the place of values, until `take` says that it is enough. Where the store keeps
// nothing that is deleted, and does not tell of what is expired, only the first two are there.
Status ForEachStoredCell(const Session& session, const TableSchema& schema,
                         const std::function<bool(const Cell& cell, CellKind kind)>& take);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_CELL_KINDS_H_
