// SPDX-License-Identifier: MIT
#include "src/commands/target.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "fs/operations/filesystem.h"
#include "src/commands/command.h"
#include "src/commands/printer.h"
#include "src/mount/store_name.h"

namespace cellfs {
namespace {

using fs::Place;
using fs::PlaceKind;

// The names of `path` below `above`; nullopt: it does not lie there.
std::optional<std::vector<std::string>> NamesBelow(const std::filesystem::path& above,
                                                   const std::filesystem::path& path) {
  const auto [end_above, rest] =
      std::mismatch(above.begin(), above.end(), path.begin(), path.end());
  if (end_above != above.end()) return std::nullopt;
  return std::vector<std::string>(rest, path.end());
}

// What cannot be looked into may be one; who opens it is told that it is not his. And one that has
// lost its FORMAT is told so.
bool MayBeStore(const std::filesystem::path& directory) {
  const auto has = [&](const char* name) {
    return access((directory / name).c_str(), F_OK) == 0 || errno == EACCES;
  };
  return has("FORMAT") || (has("CATALOG") && has("tables") && has("wal"));
}

// A working directory that was deleted has no path any more, but the shell remembers it, and what was
// in it can still be asked for.
std::string FromWorkingDirectory(const std::string& path) {
  std::error_code error;
  const bool is_there = !std::filesystem::current_path(error).empty() && !error;
  if (path.starts_with('/') || is_there) return path;
  const char* const remembered = getenv("PWD");
  if (remembered == nullptr) return path;
  return std::string(remembered) + "/" + path;
}

std::optional<StorePath> BelowMount(const std::string& path) {
  std::optional<StorePath> found;
  for (MountedStore& mount : ListMounts()) {
    auto names = NamesBelow(mount.mountpoint, path);
    // A later mount lies over an earlier one of the same place.
    if (!names || (found && names->size() > found->names.size())) continue;
    const std::string store = mount.store;
    found = StorePath{std::move(mount), false, store, *std::move(names)};
  }
  return found;
}

std::optional<StorePath> InStore(const std::string& path) {
  const std::filesystem::path whole(path);
  for (std::filesystem::path store = whole; store.has_relative_path();
       store = store.parent_path()) {
    if (!MayBeStore(store)) continue;
    return StorePath{FindMountOf(store.string()), true, store.string(), *NamesBelow(store, whole)};
  }
  return std::nullopt;
}

// Servers are asked directly, whoever has their store mounted.
StatusOr<StorePath> InRemote(const std::string& path) {
  CELLFS_ASSIGN_OR_RETURN(RemoteName name, ParseRemote(path));
  StorePath found{.mount = std::nullopt, .is_by_store = true, .store = name.store(), .names = {}};
  found.names = std::move(name.names);
  return found;
}

// A command is about data of the present, and of single versions where it says so. What stands below
// .asof is not looked up, for that would keep it.
Status CheckIsData(const Place& place, const Arguments& arguments) {
  switch (place.kind) {
    case PlaceKind::kAsofDirectory:
    case PlaceKind::kScanDirectory:
      return WrongCall("commands take paths of the present; --at says a time where it can be said");
    case PlaceKind::kSelfDirectory:
    case PlaceKind::kMemoryFile:
    case PlaceKind::kMemoryDirectory:
      return WrongCall(ShownPath(arguments) + " is no data");
    default:
      return {};
  }
}

// What a path names by its own name, whatever the command.
bool IsNamedAlways(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::kRoot:
    case PlaceKind::kNamespace:
    case PlaceKind::kTable:
    case PlaceKind::kRow:
    case PlaceKind::kFamily:
    case PlaceKind::kCell:
      return true;
    default:
      return false;
  }
}

Status NotForThis(const Place& place, const Arguments& arguments) {
  const std::string path = ShownPath(arguments);
  switch (place.kind) {
    case PlaceKind::kSchemaFile:
      return WrongCall(path + " is the schema of a table, which 'cellfs describe' shows; name the "
                       "table itself");
    case PlaceKind::kNamespaceFile:
      return WrongCall(path + " is a namespace's file, which 'cellfs describe' shows; name the "
                       "namespace itself");
    case PlaceKind::kVersion:
      return WrongCall(path + " is one version; name the column itself");
    case PlaceKind::kCounter:
      return WrongCall(path + " is a counter; use incr, or name the column itself");
    case PlaceKind::kVersionsColumn:
    case PlaceKind::kDeletedCell:
      return WrongCall(path + " is not what this command takes; name the column itself");
    case PlaceKind::kVersionsDirectory:
    case PlaceKind::kCountersDirectory:
    case PlaceKind::kDeletedDirectory:
      return WrongCall(path + " is not what this command takes; name the family, or a name in it");
    default:
      return WrongCall(path + " is no data");
  }
}

// One kind for both ways to name a version.
Place WithOneKindOfVersion(Place place) {
  if (place.kind != PlaceKind::kVersionsFile) return place;
  return place.As(PlaceKind::kVersion, place.timestamp);
}

// The depth that the place has by itself.
std::optional<Depth> DepthOf(const Place& place) {
  switch (place.kind) {
    case PlaceKind::kRoot:
      return std::nullopt;
    case PlaceKind::kNamespace:
    case PlaceKind::kNamespaceFile:
      return Depth::kNamespace;
    case PlaceKind::kTable:
    case PlaceKind::kSchemaFile:
      return Depth::kTable;
    case PlaceKind::kRow:
      return Depth::kRow;
    default:
      return Depth::kColumn;
  }
}

const char* NameOf(Depth depth) {
  switch (depth) {
    case Depth::kNamespace:
      return "a namespace";
    case Depth::kTable:
      return "a table";
    case Depth::kRow:
      return "a row";
    case Depth::kColumn:
      break;
  }
  return "a column";
}

StatusOr<Place> TableIn(const Place& place, const std::string& word) {
  if (place.kind != PlaceKind::kNamespace) return fs::TablePlace(ParseTableName(word));
  if (word.find(':') == std::string::npos)
    return fs::TablePlace({place.table.namespace_name, word});
  const TableName table = ParseTableName(word);
  if (table.namespace_name == place.table.namespace_name) return fs::TablePlace(table);
  return WrongCall("table '" + word + "' is not in the namespace '" +
                   place.table.namespace_name + "'");
}

// Who says the family again means a column of it, hardly one whose qualifier begins so.
Status CheckNamesNoFamily(const Place& family, const std::string& word) {
  const std::string again = family.family + ":";
  if (!word.starts_with(again)) return {};
  return WrongCall("the path names the family '" + family.family + "' already: say '" +
                   word.substr(again.size()) + "'; a qualifier that begins so is '" + again +
                   word + "' in the path of its row");
}

StatusOr<Place> ColumnIn(const Place& row, const std::string& word) {
  CELLFS_ASSIGN_OR_RETURN(const ColumnWord column, ParseColumn(row, word));
  Place family = fs::FamilyPlace(row.table, row.row, column.family);
  if (!column.qualifier) return family;
  return fs::CellPlace(row.table, row.row, column.family, *column.qualifier);
}

// One step further with a word.
StatusOr<Place> Below(const Place& place, std::optional<Depth> depth, Depth wanted,
                      const std::string& word) {
  if (!depth) {
    if (wanted == Depth::kNamespace) return fs::NamespacePlace(word);
    return TableIn(place, word);
  }
  if (*depth == Depth::kNamespace) return TableIn(place, word);
  if (*depth == Depth::kTable) {
    if (word.empty()) return WrongCall("the row is empty; a row has at least one byte");
    return fs::RowPlace(place.table, BytesOf(word));
  }
  return ColumnIn(place, word);
}

}  // namespace

StatusOr<StorePath> FindStore(const std::string& path) {
  if (path.empty()) return WrongCall("the path is empty; name a store, a mount point or a path");
  if (IsRemote(path)) return InRemote(path);
  const std::string canonical = CanonicalPath(FromWorkingDirectory(path));
  if (auto found = BelowMount(canonical)) return *std::move(found);
  if (auto found = InStore(canonical)) return *std::move(found);
  if (const auto mount = FindMountOf(canonical))
    return WrongCall(path + " is not there: the store that is mounted on " + mount->mountpoint +
                     " by that name was renamed or removed since; name the mount point");
  return WrongCall(path + " is neither a store nor below a mount of one; 'cellfs mount STORE "
                   "MOUNTPOINT' makes a store");
}

StatusOr<StorePath> FindWholeStore(const std::string& path) {
  CELLFS_ASSIGN_OR_RETURN(StorePath found, FindStore(path));
  if (found.names.empty()) return found;
  return WrongCall(path + " is in a store; name the store itself, " +
                   (found.is_by_store ? found.store : found.mount->mountpoint));
}

Status NoMountOf(const std::vector<MountedStore>& mounts, const std::string& otherwise) {
  if (mounts.empty()) return {StatusCode::kUnsupportedOperation, otherwise};
  return {StatusCode::kIllegalArgument, mounts.front().store + " is mounted on " +
                                            MountpointsOf(mounts) + "; name a mount point"};
}

StatusOr<Place> PlaceOf(const Session& session, const Arguments& arguments) {
  Place place = fs::RootPlace();
  const auto& places = session.filesystem.parts().places;
  for (const std::string& name : arguments.Texts("path")) {
    auto child = places.Find(session.caller, place, name, fs::NameUse::kLookUp);
    if (!child.ok()) {
      return WrongCall("'" + ShownBytes(name) + "' in " + ShownPath(arguments) + " names nothing" +
                       (child.status().reason().empty() ? "" : ": " + child.status().reason()));
    }
    place = *std::move(child);
    CELLFS_RETURN_IF_ERROR(CheckIsData(place, arguments));
  }
  return place;
}

Status CheckNoMore(const std::vector<std::string>& words) {
  return words.empty() ? Status() : WrongCall("'" + words.front() + "' is one word too many");
}

StatusOr<ColumnWord> ParseColumn(const Place& place, const std::string& word) {
  if (place.kind == PlaceKind::kFamily) {
    CELLFS_RETURN_IF_ERROR(CheckNamesNoFamily(place, word));
    return ColumnWord{place.family, BytesOf(word)};
  }
  const size_t colon = word.find(':');
  ColumnWord column{BytesOf(word.substr(0, colon)), std::nullopt};
  if (colon != std::string::npos) column.qualifier = BytesOf(word.substr(colon + 1));
  if (column.family.empty())
    return WrongCall("'" + word + "' names no family; a column is FAMILY:QUALIFIER");
  return column;
}

std::string ShownPath(const Arguments& arguments) {
  std::string path;
  for (const std::string& name : arguments.Texts("path"))
    path += (path.empty() ? "" : "/") + ShownBytes(name);
  return path.empty() ? "/" : path;
}

StatusOr<NamedPlace> NamePlace(const Session& session, const Arguments& arguments, Depth least,
                               Depth depth, std::initializer_list<PlaceKind> besides) {
  NamedPlace named{fs::RootPlace(), arguments.Texts("words")};
  CELLFS_ASSIGN_OR_RETURN(named.place, PlaceOf(session, arguments));
  named.place = WithOneKindOfVersion(std::move(named.place));
  const PlaceKind kind = named.place.kind;
  if (!IsNamedAlways(kind) && std::find(besides.begin(), besides.end(), kind) == besides.end())
    return NotForThis(named.place, arguments);
  size_t taken = 0;
  while (taken < named.words.size()) {
    const auto now = DepthOf(named.place);
    const bool is_family = named.place.kind == PlaceKind::kFamily;
    const bool is_whole = is_family ? depth < Depth::kColumn : now && *now >= depth;
    if (is_whole) break;
    CELLFS_ASSIGN_OR_RETURN(named.place, Below(named.place, now, depth, named.words[taken]));
    ++taken;
  }
  named.words.erase(named.words.begin(), named.words.begin() + static_cast<ptrdiff_t>(taken));
  const auto reached = DepthOf(named.place);
  if (!reached || *reached < least) {
    const bool lacks_table = least > Depth::kTable && (!reached || *reached < Depth::kTable);
    return WrongCall(std::string("name ") + (lacks_table ? "a table and " : "") + NameOf(least));
  }
  return named;
}

}  // namespace cellfs
