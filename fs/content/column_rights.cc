// SPDX-License-Identifier: MIT
#include "fs/content/column_rights.h"

#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>

namespace cellfs::fs {
namespace {

// Requests carry the first group only.
bool IsInGroup(const Request& request, gid_t group) {
  if (request.gid == group) return true;
  std::ifstream status("/proc/" + std::to_string(request.pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != "Groups:") continue;
    for (gid_t member; words >> member;) {
      if (member == group) return true;
    }
  }
  return false;
}

bool MayWrite(const Request& request, const OwnerAndMode& column) {
  if (request.uid == 0) return true;
  if (request.uid == column.uid) return (column.mode & S_IWUSR) != 0;
  if (IsInGroup(request, column.gid)) return (column.mode & S_IWGRP) != 0;
  return (column.mode & S_IWOTH) != 0;
}

}  // namespace

Outcome CheckMayAddVersion(const Reading& reading, AttributeStore& attributes,
                           const MountOptions& options, const Request& request,
                           const Place& version) {
  if (!options.allow_other || request.uid == 0) return {};
  const Place column = version.As(PlaceKind::kCell);
  CELLFS_ASSIGN_OR_RETURN(const auto cell,
                          ReadColumn(reading, *request.caller, column, ReadDetail::kLengths));
  if (version.IsVersion()) {
    CELLFS_ASSIGN_OR_RETURN(const auto then, attributes.FindOwnerAt(version, cell.has_value()));
    if (then && !MayWrite(request, *then))
      return {EACCES, "what the column was at that time is another user's"};
  }
  if (!cell) return {};
  CELLFS_ASSIGN_OR_RETURN(const ShownAttributes shown, attributes.Find(column, cell->timestamp));
  if (MayWrite(request, shown)) return {};
  return {EACCES, "the column is another user's"};
}

}  // namespace cellfs::fs
