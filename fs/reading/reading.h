// SPDX-License-Identifier: MIT
//
// How places are read from the store: the Get that a place and its view mean, and what it returns.
#ifndef CELLFS_FS_READING_READING_H_
#define CELLFS_FS_READING_READING_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/read.h"
#include "fs/base/outcome.h"
#include "fs/mount/mount_context.h"
#include "fs/nodes/node.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

enum class ReadDetail { kLengths, kValues };

// REQUIRES: a place in a row. The row, narrowed to the place's family and column and to what its
// view sees: time range, moment, filter.
Get GetOf(const Place& place, ReadDetail detail);

// Reads the row as `get`, made by GetOf, says.
OutcomeOr<RowCells> ReadRow(MountContext& mount, const Caller& caller, const Place& place,
                            const Get& get);

// The cell whose value the file shows; none where nothing is visible there. For kDeletedCell the
// last value that a tombstone hides.
OutcomeOr<std::optional<Cell>> ReadColumn(MountContext& mount, const Caller& caller,
                                          const Place& place, ReadDetail detail);
// An error where the caller may not read what is there.
Outcome CheckMayRead(MountContext& mount, const Caller& caller, const Place& place);
// What the file's bytes are: the value, or for a counter its decimal text (EINVAL: not 8 bytes).
OutcomeOr<std::string> FileBytes(const Place& place, Cell cell);

// Whether a node at the place may keep what was found there (Node::Cache): where no rights are
// checked and nobody but this mount's requests changes what a plain name shows.
bool MayBeCached(const MountContext& mount, const Caller& caller, const Place& place);

// The first cell that is visible in the row, or in the row's family where the place has one.
OutcomeOr<std::optional<Cell>> FirstVisibleCell(MountContext& mount, const Caller& caller,
                                                const Place& row_or_family);

// The newest cells of the column, tombstones and hidden puts included, in cell order.
OutcomeOr<RowCells> RawColumn(MountContext& mount, const Caller& caller, const Place& column,
                              ReadDetail detail);
// The timestamps that `.versions/q` lists: the newest VERSIONS at which q@<timestamp> reads.
OutcomeOr<RowCells> ListVersions(MountContext& mount, const Caller& caller, const Place& column);
// The cell as a node knows it. A TTL of its own or of its family (null: unknown) ends it.
CachedCell CachedCellOf(const Cell& cell, const FamilySchema* family);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_READING_READING_H_
