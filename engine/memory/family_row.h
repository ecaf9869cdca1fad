// SPDX-License-Identifier: MIT
//
// FamilyRow: the stored cells of one row in one family, taken apart into columns, and the questions
// that reads and rewrites ask of it: what hides this put, which puts does NEW_VERSION_BEHAVIOR
// leave.
#ifndef CELLFS_ENGINE_MEMORY_FAMILY_ROW_H_
#define CELLFS_ENGINE_MEMORY_FAMILY_ROW_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/cell.h"
#include "engine/schema.h"

namespace cellfs {

// Cells in cell order that belong to somebody else.
using CellList = std::vector<const Cell*>;

// Family tombstones lie in the column of the empty qualifier.
using ColumnsOfRow = std::map<std::string, CellList>;
ColumnsOfRow ByColumn(const CellList& cells);

// The oldest timestamp that the family's TTL leaves alive at `now`.
Timestamp OldestAlive(const FamilySchema& family, Timestamp now);
bool OutlivedItself(const Cell& cell, Timestamp now);  // its own TTL

// Whether `tombstone` hides puts (or covers tombstones) of `column` with `timestamp`, as far as its
// kind and timestamp say.
bool Covers(const Cell& tombstone, const std::string& column, Timestamp timestamp);

// NEW_VERSION_BEHAVIOR (NewVersionBehaviorTracker): the puts of `column` that are left when all
// that is in `writings` is written again in the order of sequence ids, and VERSIONS is enforced
// before every tombstone that leaves puts, and in the end. `writings`: the column's cells and the
// family tombstones.
std::set<const Cell*> LeftByRewriting(const CellList& writings, const std::string& column,
                                      int32_t max_versions);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_MEMORY_FAMILY_ROW_H_
