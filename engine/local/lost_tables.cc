// SPDX-License-Identifier: MIT
#include "engine/local/lost_tables.h"

#include <charconv>
#include <optional>

#include "engine/local/manifest.h"

namespace cellfs {
namespace {

// "7", "7-2"; nothing else is looked at.
std::optional<TableId> TableOf(const std::string& name) {
  TableId id = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, id);
  if (parsed.ec != std::errc() || id == 0 || (parsed.ptr != end && *parsed.ptr != '-')) return {};
  return id;
}

}  // namespace

StatusOr<std::set<TableId>> LostTables::TablesIn(const std::string& directory) const {
  std::set<TableId> tables;
  CELLFS_ASSIGN_OR_RETURN(const auto names, files_.List(directory));
  for (const std::string& name : names)
    if (const auto id = TableOf(name)) tables.insert(*id);
  return tables;
}

StatusOr<std::set<TableId>> LostTables::Find() const {
  CELLFS_ASSIGN_OR_RETURN(const bool is_there, files_.Exists(Lost()));
  if (!is_there) return std::set<TableId>();
  return TablesIn(Lost());
}

StatusOr<std::set<TableId>> LostTables::FindStored() const { return TablesIn(Stored()); }

Status LostTables::SetAside(TableId id) {
  CELLFS_RETURN_IF_ERROR(files_.MakeDirectory(Lost()));
  const std::string from = Stored() + "/" + std::to_string(id);
  std::string to = Lost() + "/" + std::to_string(id);
  CELLFS_ASSIGN_OR_RETURN(const bool is_stored, files_.Exists(from));
  CELLFS_ASSIGN_OR_RETURN(bool is_taken, files_.Exists(to));
  if (!is_stored && is_taken) return {};
  for (int copy = 2; is_taken; ++copy) {
    to = Lost() + "/" + std::to_string(id) + "-" + std::to_string(copy);
    CELLFS_ASSIGN_OR_RETURN(is_taken, files_.Exists(to));
  }
  if (is_stored) {
    CELLFS_RETURN_IF_ERROR(files_.Rename(from, to));
  } else {
    CELLFS_RETURN_IF_ERROR(files_.MakeDirectory(to));
  }
  return MakeDurable();
}

Status LostTables::BringBack(TableId id) {
  const std::string name = std::to_string(id);
  const std::string from = Lost() + "/" + name;
  const std::string to = Stored() + "/" + name;
  CELLFS_ASSIGN_OR_RETURN(const bool is_stored, files_.Exists(to));
  if (is_stored) return {};
  CELLFS_ASSIGN_OR_RETURN(const bool is_lost, files_.Exists(from));
  if (!is_lost) return {};
  CELLFS_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.List(from));
  if (names.empty()) return {};  // all that there is of it lies in the log
  CELLFS_RETURN_IF_ERROR(files_.Rename(from, to));
  return MakeDurable();
}

Status LostTables::MakeDurable() {
  CELLFS_RETURN_IF_ERROR(files_.SyncDirectory(Lost()));
  CELLFS_RETURN_IF_ERROR(files_.SyncDirectory(Stored()));
  return files_.SyncDirectory(directory_);
}

std::string DescribeLostTable(const std::string& directory, TableId id) {
  return "CATALOG is older than table " + std::to_string(id) +
         ", which it does not name: what there is of the table lies in '" + directory +
         "/lost' and in the log. A newer CATALOG, with its EDITS, brings it back; to remove that "
         "directory while the store is not mounted gives it up";
}

std::string DescribeStrangeFamily(const std::string& family) {
  return "CATALOG does not name family '" + family +
         "', of which the table has store files: it is an older copy, or the drop of the family was "
         "cut short. The files stay, and a newer CATALOG, with its EDITS, put in place while the "
         "store is not mounted, brings them back; to declare the family anew gives them up";
}

std::string DescribeStrangeFamilyInLog(const std::string& family) {
  return "CATALOG does not name family '" + family +
         "', of which the log has cells: it is an older copy. They stay in the log, and a newer "
         "CATALOG, with its EDITS, helps, put in place while the store is not mounted";
}

}  // namespace cellfs
