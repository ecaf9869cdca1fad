// SPDX-License-Identifier: MIT
#include "fs/attributes/past_attributes.h"

#include <utility>

#include "fs/attributes/attribute_rows.h"

namespace cellfs::fs {

StatusOr<AttributeRecord> PastAttributes::Find(const Place& place, const DataTable& table,
                                               Timestamp version) {
  CELLFS_ASSIGN_OR_RETURN(const Directories directories, DirectoriesOf(place, table));
  RowRecords then;
  // Records of rows go with their table alone, and a table may have no row of its own.
  const bool has_row = place.table.name.empty() || !table.row.empty();
  if (IsInRow(place.kind) ? table_.HasRecords(table.row) : has_row) {
    CELLFS_ASSIGN_OR_RETURN(then, table_.ReadRecords(place, RecordKeyOf(place, table), version,
                                                     place.view.get()));
  }
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode inherited,
                          directories->Of(place, table, then.family));
  then.own.uid = then.own.uid.value_or(inherited.uid);
  then.own.gid = then.own.gid.value_or(inherited.gid);
  then.own.mode = then.own.mode.value_or(inherited.mode);
  return then.own;
}

bool PastAttributes::Holds(const Kept& kept, const Place& place, const DataTable& table) const {
  return kept.directories != nullptr && kept.view.lock() == place.view &&
         kept.table == place.table && kept.row == table.row &&
         (place.view->IsFixed() || freshness_.IsFresh(kept.read_at));
}

StatusOr<PastAttributes::Directories> PastAttributes::DirectoriesOf(const Place& place,
                                                                    const DataTable& table) {
  {
    const std::lock_guard lock(mutex_);
    for (const Kept& kept : kept_) {
      if (Holds(kept, place, table)) return kept.directories;
    }
  }
  Kept read{place.view, place.table, table.row, freshness_.Now(), nullptr};
  CELLFS_ASSIGN_OR_RETURN(read.directories, ReadDirectories(place, table));
  Directories directories = read.directories;
  const std::lock_guard lock(mutex_);
  kept_[next_++ % kept_.size()] = std::move(read);
  return directories;
}

StatusOr<PastAttributes::Directories> PastAttributes::ReadDirectories(
    const Place& place, const DataTable& table) const {
  InheritedAttributes::Directories records;
  for (const std::string& row : {place.table.namespace_name, table.row}) {
    if (row.empty()) continue;
    CELLFS_ASSIGN_OR_RETURN(const RowRecords read,
                            table_.ReadRecords(NamespacePlace(row), {row, ""}, -1,
                                               place.view.get()));
    records.emplace(row, read.own);
  }
  auto directories = std::make_shared<InheritedAttributes>(options_);
  directories->SetDirectories(std::move(records));
  return directories;
}

}  // namespace cellfs::fs
