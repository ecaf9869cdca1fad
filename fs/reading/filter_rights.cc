// SPDX-License-Identifier: MIT
#include "fs/reading/filter_rights.h"

#include <algorithm>
#include <utility>

#include "engine/filters.h"
#include "fs/reading/reading.h"
#include "fs/tree/view.h"

namespace cellfs::fs {

bool Allows(const OwnerAndMode& file, const Credentials& credentials, mode_t permissions) {
  int shift = 0;
  if (file.uid == credentials.uid) {
    shift = 6;
  } else if (std::ranges::find(credentials.groups, file.gid) != credentials.groups.end()) {
    shift = 3;
  }
  return (file.mode >> shift & permissions) == permissions;
}

bool FilterRights::Matter(const Reading& reading, const Place& place) {
  if (place.view == nullptr || !place.view->LooksIntoRows()) return false;
  if (!reading.AreModesEnforced()) return false;
  const RunningRequest* const request = RunningRequest::OfThisThread();
  return request != nullptr && request->uid() != 0;
}

std::shared_ptr<FilterRights> FilterRights::Of(const Reading& reading, const Place& place) {
  if (!Matter(reading, place)) return nullptr;
  const FilterPtr& filter = place.query()->filter;
  const bool reads_values = filter != nullptr && filter->ReadsValues();
  return std::make_shared<FilterRights>(
      reading, place.table, RunningRequest::OfThisThread()->FindCredentials(),
      reads_values ? kSearchPermission : kSearchPermission | kReadPermission,
      reads_values ? Sees::kValues : Sees::kNames);
}

FilterRights::FilterRights(const Reading& reading, TableName table, Credentials credentials,
                           mode_t directories, Sees sees)
    : reading_(reading),
      table_(std::move(table)),
      credentials_(std::move(credentials)),
      directories_(directories),
      sees_(sees) {}

FilterPtr FilterRights::Narrow(const FilterPtr& filter) {
  const auto may_see = [rights = shared_from_this()](const CellView& cell) {
    const bool may_read = rights->MayRead(cell);
    if (!may_read && rights->hidden_ != nullptr) rights->hidden_->store(true);
    return may_read;
  };
  return MakeVisibleCellsFilter(may_see, filter);
}

Outcome FilterRights::BeginStep() {
  CELLFS_ASSIGN_OR_RETURN(rows_differ_, reading_.DiffersBetweenRows(table_));
  row_.reset();
  families_.clear();
  column_.reset();
  step_began_ = true;
  return {};
}

// A family's tombstones are of all its columns: who may look into it sees them, for else what they
// hide would seem to be there.
bool FilterRights::MayRead(const CellView& cell) {
  if (rows_differ_ && row_ != cell.row) {
    row_ = cell.row;
    families_.clear();
    column_.reset();
  }
  auto family = families_.find(cell.family);
  if (family == families_.end()) {
    family = families_.emplace(cell.family, IsFamilyOpen(cell)).first;
  }
  const bool is_of_family = !rows_differ_ || sees_ == Sees::kNames || IsFamilyTombstone(cell.type);
  if (!family->second || is_of_family) return family->second;
  const bool is_known =
      column_ && column_->family == cell.family && column_->qualifier == cell.qualifier;
  if (!is_known) {
    column_ = CellPlace(table_, std::string(cell.row), std::string(cell.family),
                        std::string(cell.qualifier));
    is_column_open_ = IsOpen(*column_, kReadPermission);
    next_is_old_ = begins_in_history_ || step_began_;
    step_began_ = false;
  }
  if (!is_column_open_ || shows_closed_versions_) return is_column_open_;
  return cell.type != CellType::kPut || MayReadVersion(cell);
}

// Versions come newest first. Of who owns the newest one nothing more is asked.
bool FilterRights::MayReadVersion(const CellView& cell) {
  if (!std::exchange(next_is_old_, true)) return true;
  const Place version = column_->As(PlaceKind::kVersion, cell.timestamp);
  return IsOpen(reading_.FindOwnerOfVersion(version), kReadPermission);
}

bool FilterRights::IsFamilyOpen(const CellView& cell) {
  const Place column = CellPlace(table_, std::string(cell.row), std::string(cell.family),
                                 std::string(cell.qualifier));
  const Place family = column.Parent();
  return IsOpen(family.Parent(), directories_) && IsOpen(family, directories_) &&
         (rows_differ_ || sees_ == Sees::kNames || IsOpen(column, kReadPermission));
}

bool FilterRights::IsOpen(const Place& place, mode_t permission) {
  return IsOpen(reading_.FindOwner(place), permission);
}

bool FilterRights::IsOpen(const StatusOr<OwnerAndMode>& owner, mode_t permission) {
  if (owner.ok()) return Allows(*owner, credentials_, permission);
  failure_ = owner.status();
  return false;
}

}  // namespace cellfs::fs
