// SPDX-License-Identifier: MIT
//
// VersionOwners: whose an old version is. Owner and mode belong to a column with all its versions,
// but who makes a name anew that another's file had gets nothing of that one: what was put before
// the deletion stays the other's.
#ifndef CELLFS_FS_ATTRIBUTES_VERSION_OWNERS_H_
#define CELLFS_FS_ATTRIBUTES_VERSION_OWNERS_H_

#include <optional>

#include "engine/store.h"
#include "fs/attributes/attribute_rows.h"
#include "fs/attributes/attribute_table.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe; holds nothing of its own.
class VersionOwners {
 public:
  VersionOwners(Store& store, const AttributeTable& table) : store_(store), table_(table) {}

  // REQUIRES: kVersion or kVersionsFile. What was stored for the column when it was deleted after
  // that version; nullopt: the present record is the version's too.
  StatusOr<std::optional<OwnerRecord>> Find(const Place& version, const RecordKey& key) const;

 private:
  StatusOr<bool> WasDeleted(const Place& column, Timestamp after, Timestamp until) const;

  Store& store_;
  const AttributeTable& table_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_VERSION_OWNERS_H_
