// SPDX-License-Identifier: MIT
#include "fs/attributes/made_attributes.h"

#include <algorithm>

namespace cellfs::fs {
namespace {

bool IsRowOrFamily(const Place& place) {
  const bool is_in_row = place.kind == PlaceKind::kRow || place.kind == PlaceKind::kFamily;
  return is_in_row && place.view == nullptr;
}

void Merge(const AttributeUpdate& later, AttributeUpdate& made) {
  if (later.uid) made.uid = later.uid;
  if (later.gid) made.gid = later.gid;
  if (later.mode) made.mode = later.mode;
  if (later.ctime) made.ctime = later.ctime;
  if (later.mtime || later.forget_mtime) made.mtime = later.mtime;
}

void ShowOwner(const AttributeUpdate& made, OwnerRecord& shown) {
  shown.uid = made.uid;
  shown.gid = made.gid;
  shown.mode = made.mode;
  shown.ctime = made.ctime;
}

}  // namespace

bool MadeAttributes::IsThere(const Made& made) const {
  const UnstoredPtr entry = made.entry.lock();
  return entry != nullptr && unstored_.Find(made.directory) == entry;
}

const MadeAttributes::Row* MadeAttributes::FindRow(const TableName& table,
                                                   const std::string& row) const {
  const auto found = rows_.find({table, row});
  return found != rows_.end() && IsThere(found->second.own) ? &found->second : nullptr;
}

const MadeAttributes::Made* MadeAttributes::FindMade(const Place& directory) const {
  const Row* const row = FindRow(directory.table, directory.row);
  if (row == nullptr) return nullptr;
  if (directory.kind == PlaceKind::kRow) return &row->own;
  const auto family = row->families.find(directory.family);
  return family != row->families.end() && IsThere(family->second) ? &family->second : nullptr;
}

void MadeAttributes::DropGone() {
  if (rows_.size() < most_rows_) return;
  std::erase_if(rows_, [&](const auto& row) { return !IsThere(row.second.own); });
  most_rows_ = std::max<size_t>(64, 2 * rows_.size());
}

// With mkdir.
bool MadeAttributes::Begin(const Place& directory, const AttributeUpdate& update) {
  const UnstoredPtr entry = unstored_.Find(directory);
  if (entry == nullptr || entry->reason != UnstoredReason::kMade) return false;
  Made made{directory, entry, update};
  if (directory.kind == PlaceKind::kRow) {
    DropGone();
    rows_.insert_or_assign({directory.table, directory.row}, Row{std::move(made), {}, 0});
    return true;
  }
  if (FindRow(directory.table, directory.row) == nullptr) return false;
  Row& row = rows_.find({directory.table, directory.row})->second;
  row.families.insert_or_assign(directory.family, std::move(made));
  ++row.changes;
  return true;
}

bool MadeAttributes::Take(const Place& directory, const AttributeUpdate& update) {
  if (!IsRowOrFamily(directory) || update.as_own) return false;
  const std::lock_guard lock(mutex_);
  if (update.anew) return Begin(directory, update);
  if (FindMade(directory) == nullptr) return false;
  Row& row = rows_.find({directory.table, directory.row})->second;
  const bool is_row = directory.kind == PlaceKind::kRow;
  Merge(update, (is_row ? row.own : row.families.find(directory.family)->second).update);
  ++row.changes;
  return true;
}

void MadeAttributes::Show(const Place& place, RowRecords& records) const {
  if (place.row.empty()) return;
  const std::lock_guard lock(mutex_);
  if (rows_.empty()) return;
  if (IsRowOrFamily(place)) {
    const Made* const made = FindMade(place);
    if (made == nullptr) return;
    ShowOwner(made->update, records.own);
    records.own.time.mtime = made->update.mtime;
  } else if (place.IsColumn()) {
    const Made* const made = FindMade(FamilyPlace(place.table, place.row, place.family));
    if (made != nullptr) ShowOwner(made->update, records.family);
  }
}

bool MadeAttributes::HasAnyIn(const TableName& table) const {
  const std::lock_guard lock(mutex_);
  const auto first = rows_.lower_bound({table, std::string()});
  return first != rows_.end() && first->first.first == table;
}

MadeAttributes::OfRow MadeAttributes::Find(const TableName& table, const std::string& row) const {
  OfRow found;
  const std::lock_guard lock(mutex_);
  const Row* const made = rows_.empty() ? nullptr : FindRow(table, row);
  if (made == nullptr) return found;
  found.changes = made->changes;
  found.updates.emplace_back(made->own.directory, made->own.update);
  for (const auto& [name, family] : made->families) {
    if (IsThere(family)) found.updates.emplace_back(family.directory, family.update);
  }
  return found;
}

bool MadeAttributes::IsStored(const TableName& table, const std::string& row,
                              const OfRow& stored) {
  const std::lock_guard lock(mutex_);
  const auto found = rows_.find({table, row});
  if (found == rows_.end()) return true;
  if (found->second.changes != stored.changes && IsThere(found->second.own)) return false;
  rows_.erase(found);
  return true;
}

}  // namespace cellfs::fs
