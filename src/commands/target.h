// SPDX-License-Identifier: MIT
//
// What a command is about. On the command line that begins with a path: a store's directory, a
// cluster's name, a mount point, or something in the tree of one, spelled as the mount spells it,
// also where the store is not mounted (STORE/default/notes/monday). Words go on from there:
//
//     cellfs get ~/store notes monday text:list      cellfs get ~/m/default/notes monday
//     cellfs get ~/m/default/notes/monday/text/list  cellfs get . text:list
//
// Words are keys as HBase's shell writes them: bytes may be \xNN.
#ifndef CELLFS_SRC_COMMANDS_TARGET_H_
#define CELLFS_SRC_COMMANDS_TARGET_H_

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "engine/status_or.h"
#include "fs/tree/place.h"
#include "src/commands/arguments.h"
#include "src/mount/mount_table.h"

namespace cellfs {

struct Session;

// ---- Here ---------------------------------------------------------------------------------------

// Where a path lies.
struct StorePath {
  std::optional<MountedStore> mount;
  bool is_by_store = false;  // named by the store's name, not by its mount point
  std::string store;  // its name, src/mount/store_name.h; empty: only the mount is known
  std::vector<std::string> names;  // below its root
};

// kIllegalArgument: in no store, and below no mount of one.
StatusOr<StorePath> FindStore(const std::string& path);

// As FindStore. kIllegalArgument too where the path leads into the store: for what is about the whole
// of one.
StatusOr<StorePath> FindWholeStore(const std::string& path);

// Why a command that asks a mount, and not the store, has none. `mounts`: those that the store's name
// may mean, of which each has its own; where there is none, `otherwise`.
Status NoMountOf(const std::vector<MountedStore>& mounts, const std::string& otherwise);

// ---- Where the store is -------------------------------------------------------------------------

// The place that "path", the names below the root, denotes. Whether anything is there is not asked.
// kIllegalArgument where it spells none, or one of the past or of a query.
StatusOr<fs::Place> PlaceOf(const Session& session, const Arguments& arguments);

// A place, and the words that are left.
struct NamedPlace {
  fs::Place place;
  std::vector<std::string> words;
};

// How far words may lead.
enum class Depth { kNamespace, kTable, kRow, kColumn };

// Goes on from the target's path with its words, as far as `depth`: a table ("t", "ns:t"), a row, a
// column ("f" or "f:q"; in a family "q"). kIllegalArgument where `least` is not reached.
//
// A path may name namespaces, tables, rows, families and columns by their own names, and what a command
// takes besides: kVersion (also below .versions; the place is a kVersion then), kCounter, kSchemaFile
// and kNamespaceFile. A place of any other kind is refused.
StatusOr<NamedPlace> NamePlace(const Session& session, const Arguments& arguments, Depth least,
                               Depth depth, std::initializer_list<fs::PlaceKind> besides = {});

// The path's names, as its caller spells them: "default/notes/monday". Without any: "/".
std::string ShownPath(const Arguments& arguments);

// Nothing is left of the words.
Status CheckNoMore(const std::vector<std::string>& words);

// A column as words name it.
struct ColumnWord {
  std::string family;
  std::optional<std::string> qualifier;
};
// "f", "f:", "f:q"; where the place is in a family: "q". kIllegalArgument: no family, or the place's
// once more.
StatusOr<ColumnWord> ParseColumn(const fs::Place& place, const std::string& word);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_TARGET_H_
