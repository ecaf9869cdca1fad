// SPDX-License-Identifier: MIT
//
// KeptColumns: owner and mode of a family of a row are about the directory alone. When they change,
// what is in it keeps what it had by inheritance, deleted columns too: who makes the family anew
// gets nothing of what was in it. Where somebody else makes a row or family anew into which its
// mode let nobody but its owner, what is deleted in it is closed likewise; what it shows, to whoever
// brings it back, is the mode that it had.
#ifndef CELLFS_FS_ATTRIBUTES_KEPT_COLUMNS_H_
#define CELLFS_FS_ATTRIBUTES_KEPT_COLUMNS_H_

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/store.h"
#include "fs/attributes/attribute_reader.h"
#include "fs/attributes/attribute_rows.h"
#include "fs/attributes/inherited_attributes.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Of a directory, a change of what is stored for it.
struct DirectoryRecordChange {
  OwnerRecord before;
  OwnerRecord after;
  std::optional<uid_t> made_by;  // just now
};

struct KeptColumn {
  RecordKey key;
  OwnerRecord before;
  OwnerRecord after;
};

// Thread-safe.
class KeptColumns {
 public:
  // All outlive it.
  KeptColumns(Store& store, AttributeReader& reader, InheritedAttributes& inherited)
      : store_(store), reader_(reader), inherited_(inherited) {}

  // All columns that need another record. Of another place than a row or a family: none.
  StatusOr<std::vector<KeptColumn>> Of(const Place& directory, const DataTable& table,
                                       const DirectoryRecordChange& change);

 private:
  // Bits of their modes that are void by what was there before.
  StatusOr<mode_t> ClosedBefore(const Place& directory, const DataTable& table,
                                const DirectoryRecordChange& change);
  using ColumnName = std::pair<std::string, std::string>;  // family, qualifier
  StatusOr<std::set<ColumnName>> StoredColumns(const Place& row_or_family);
  // What the families of the column's records say, before and after.
  struct FamilyRecords {
    const OwnerRecord& before;
    const OwnerRecord& after;
  };
  StatusOr<OwnerRecord> KeptBy(const Place& column, const DataTable& table,
                               const OwnerRecord& own, const FamilyRecords& family, mode_t closed);

  Store& store_;
  AttributeReader& reader_;
  InheritedAttributes& inherited_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_KEPT_COLUMNS_H_
