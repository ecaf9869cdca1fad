// SPDX-License-Identifier: MIT
#include "fs/reading/schema_rights.h"

#include "fs/reading/change_rights.h"
#include "fs/reading/filter_rights.h"
#include "fs/reading/mode_rights.h"

namespace cellfs::fs {
namespace {

StatusOr<bool> OwnsItOrDirectory(const Reading& reading, const Request& request,
                                 const Place& place) {
  for (const Place& one : {place, place.Parent()}) {
    CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode owner, reading.FindOwner(one));
    if (owner.uid == request.uid) return true;
  }
  return false;
}

}  // namespace

Status CheckMayReplaceToml(const Reading& reading, const Request& request, const Place& toml,
                           IsTomlShown is_shown) {
  CELLFS_RETURN_IF_ERROR(CheckMayChange(reading, *request.caller, toml));
  if (!IsBoundByModes(reading, request)) return {};
  CELLFS_ASSIGN_OR_RETURN(const bool owns, OwnsItOrDirectory(reading, request, toml));
  if (owns) return {};
  if (is_shown == IsTomlShown::kNo)
    return {StatusCode::kAccessDenied, toml.ToString() + " is made by its directory's owner alone"};
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode file, reading.FindOwner(toml));
  return CheckMode(reading, request, toml, file, kWritePermission);
}

Status CheckMayDrop(const Reading& reading, const Request& request,
                    const Place& table_or_namespace) {
  if (!IsBoundByModes(reading, request)) return {};
  CELLFS_ASSIGN_OR_RETURN(const bool owns,
                          OwnsItOrDirectory(reading, request, table_or_namespace));
  if (owns) return {};
  return {StatusCode::kAccessDenied, "no right to drop " + table_or_namespace.ToString() +
                                         ", which is another user's"};
}

Status CheckMayHandleDropped(const Reading& reading, const Request& request, const Place& dropped,
                             const OwnerAndMode& owner) {
  if (!IsBoundByModes(reading, request) || owner.uid == request.uid) return {};
  const Place directory = dropped.Parent().Parent();
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode above, reading.FindOwner(directory));
  if (above.uid == request.uid) return {};
  return {StatusCode::kAccessDenied, "no right to " + dropped.name + ", which was another user's"};
}

}  // namespace cellfs::fs
