// SPDX-License-Identifier: MIT
//
// MadeAttributes: what rows that mkdir made, and their families, are to have once there is
// something in them. Until then they are in this mount's memory alone, and so is this: a copy
// makes a directory, closes it, sets its time and opens it, and all of that is stored once,
// before the row's first cell is put.
//
// It goes with the unstored entry that it is of (fs/nodes/unstored_entries.h).
#ifndef CELLFS_FS_ATTRIBUTES_MADE_ATTRIBUTES_H_
#define CELLFS_FS_ATTRIBUTES_MADE_ATTRIBUTES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/names.h"
#include "fs/attributes/attribute_rows.h"
#include "fs/attributes/attribute_update.h"
#include "fs/nodes/unstored_entries.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe; its mutex is a leaf but for that of the unstored entries.
class MadeAttributes {
 public:
  explicit MadeAttributes(const UnstoredEntries& unstored) : unstored_(unstored) {}

  // Whether the update is kept here: of a row that was made and has nothing in it, or of a family
  // that was made in such a row.
  bool Take(const Place& directory, const AttributeUpdate& update);
  // Over what is stored for the place: its own, and that of the family that it is in.
  void Show(const Place& place, RowRecords& records) const;
  bool HasAnyIn(const TableName& table) const;

  struct OfRow {
    std::vector<std::pair<Place, AttributeUpdate>> updates;  // empty: nothing is kept
    uint64_t changes = 0;
  };
  OfRow Find(const TableName& table, const std::string& row) const;
  // All of that is stored, and nothing is kept for the row any more. False: it has changed since.
  bool IsStored(const TableName& table, const std::string& row, const OfRow& stored);

 private:
  struct Made {
    Place directory;
    std::weak_ptr<const UnstoredEntry> entry;  // which counts for its maker as long as it lives
    AttributeUpdate update;
  };
  struct Row {
    Made own;
    std::map<std::string, Made> families;
    uint64_t changes = 0;
  };
  using Key = std::pair<TableName, std::string>;

  // ---- REQUIRES: mutex_
  bool IsThere(const Made& made) const;
  const Row* FindRow(const TableName& table, const std::string& row) const;
  const Made* FindMade(const Place& directory) const;
  bool Begin(const Place& directory, const AttributeUpdate& update);
  void DropGone();

  const UnstoredEntries& unstored_;
  mutable std::mutex mutex_;  // guards the rest
  std::map<Key, Row> rows_;   // some of which have gone
  size_t most_rows_ = 64;     // before those are looked for
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_MADE_ATTRIBUTES_H_
