// SPDX-License-Identifier: MIT
#include "fs/operations/callers_rights.h"

#include <sys/stat.h>

#include <cstdio>
#include <utility>

#include "fs/requests/owner.h"

namespace cellfs::fs {
namespace {

Status Denied(const Place& place, const char* what, const OwnerAndMode& owner) {
  char whose[64];
  snprintf(whose, sizeof whose, " (mode %04o of user %u, group %u)",
           static_cast<unsigned>(owner.mode & 07777), owner.uid, owner.gid);
  return {StatusCode::kAccessDenied,
          std::string("no right to ") + what + " " + place.ToString() + whose};
}

}  // namespace

Status CallersRights::Check(const Place& place, mode_t permission, const char* what) const {
  if (!matter()) return {};
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode owner, reading_.FindOwner(place));
  return Allows(owner, credentials_, permission) ? Status() : Denied(place, what, owner);
}

Status CallersRights::CheckReachNamespace(const std::string& name) const {
  CELLFS_RETURN_IF_ERROR(Check(RootPlace(), kSearchPermission, "search"));
  return Check(NamespacePlace(name), kSearchPermission, "search");
}

Status CallersRights::CheckMayReadToml(const Place& place) const {
  const bool is_table = place.kind == PlaceKind::kTable;
  return Check(place.As(is_table ? PlaceKind::kSchemaFile : PlaceKind::kNamespaceFile),
               kReadPermission, "read");
}

Status CallersRights::CheckReach(const TableName& table) const {
  CELLFS_RETURN_IF_ERROR(CheckReachNamespace(table.namespace_name));
  return Check(TablePlace(table), kSearchPermission, "search");
}

Status CallersRights::CheckMayList(const TableName& table) const {
  CELLFS_RETURN_IF_ERROR(CheckReach(table));
  return Check(TablePlace(table), kReadPermission, "list");
}

Status CallersRights::CheckMayRead(const Place& place) const {
  if (!matter()) return {};
  if (place.kind == PlaceKind::kTable) return CheckMayList(place.table);
  for (Place above = place.Parent(); above.kind != PlaceKind::kTable; above = above.Parent())
    CELLFS_RETURN_IF_ERROR(Check(above, kSearchPermission, "search"));
  if (place.IsColumn()) return Check(place, kReadPermission, "read");
  return Check(place, kReadPermission | kSearchPermission, "list");
}

Status CallersRights::CheckMayPut(const Place& column, const IsThere& is_there) const {
  if (!matter()) return {};
  const Place family = column.Parent();
  const Place row = family.Parent();
  if (!is_there.row) return CheckMayMakeIn(row.Parent());
  CELLFS_RETURN_IF_ERROR(Check(row, kSearchPermission, "search"));
  if (!is_there.family) return CheckMayMakeIn(row);
  CELLFS_RETURN_IF_ERROR(Check(family, kSearchPermission, "search"));
  if (!is_there.column) return CheckMayMakeIn(family);
  return Check(column, kWritePermission, "write");
}

Status CallersRights::CheckMayChangeAt(const Place& version, bool shows_value) const {
  if (!matter()) return {};
  CELLFS_ASSIGN_OR_RETURN(const auto then, reading_.FindOwnerAt(version, shows_value));
  if (!then || Allows(*then, credentials_, kWritePermission)) return {};
  return Denied(version, "change what was another's then:", *then);
}

Status CallersRights::CheckMayDelete(const Place& column) const {
  if (!matter()) return {};
  const Place family = column.Parent();
  CELLFS_RETURN_IF_ERROR(Check(family.Parent(), kSearchPermission, "search"));
  CELLFS_RETURN_IF_ERROR(CheckMayMakeIn(family));
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode directory, reading_.FindOwner(family));
  if ((directory.mode & S_ISVTX) == 0 || directory.uid == credentials_.uid) return {};
  return CheckOwns(column);
}

Status CallersRights::CheckMayDeleteAll(const Place& family, bool row_is_there) const {
  if (!matter()) return {};
  const Place row = family.Parent();
  if (!row_is_there) return CheckMayMakeIn(row.Parent());
  CELLFS_RETURN_IF_ERROR(Check(row, kSearchPermission, "search"));
  CELLFS_RETURN_IF_ERROR(CheckMayMakeIn(family));
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode directory, reading_.FindOwner(family));
  if ((directory.mode & S_ISVTX) == 0 || directory.uid == credentials_.uid) return {};
  return Denied(family, "delete all that is in the sticky", directory);
}

Status CallersRights::CheckMayMakeIn(const Place& directory) const {
  if (directory.kind == PlaceKind::kNamespace)
    CELLFS_RETURN_IF_ERROR(Check(RootPlace(), kSearchPermission, "search"));
  return Check(directory, kWritePermission | kSearchPermission, "change");
}

Status CallersRights::CheckMayListIn(const Place& directory) const {
  if (directory.kind != PlaceKind::kRoot)
    CELLFS_RETURN_IF_ERROR(Check(RootPlace(), kSearchPermission, "search"));
  return Check(directory, kReadPermission | kSearchPermission, "list");
}

Status CallersRights::CheckOwns(const Place& place) const {
  if (!matter()) return {};
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode owner, reading_.FindOwner(place));
  if (owner.uid == credentials_.uid) return Status();
  return Denied(place, "change what is somebody else's:", owner);
}

Status CallersRights::CheckMayAdminister() const {
  if (!matter() || IsOwnerOrRoot(credentials_.uid)) return {};
  return {StatusCode::kAccessDenied, "that is for who mounted the store, and root"};
}

std::shared_ptr<FilterRights> CallersRights::OfRead(const TableName& table) const {
  if (!matter()) return nullptr;
  return std::make_shared<FilterRights>(reading_, table, credentials_,
                                        kSearchPermission | kReadPermission);
}

std::shared_ptr<FilterRights> CallersRights::OfNamedColumns(const TableName& table) const {
  if (!matter()) return nullptr;
  return std::make_shared<FilterRights>(reading_, table, credentials_, kSearchPermission);
}

}  // namespace cellfs::fs
