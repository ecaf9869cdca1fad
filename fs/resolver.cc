// SPDX-License-Identifier: MIT
#include "fs/resolver.h"

#include <algorithm>
#include <iterator>

#include "fs/asof.h"
#include "fs/cellfs_directory.h"
#include "fs/node.h"
#include "fs/reading.h"
#include "fs/row_scan.h"
#include "fs/scan_end.h"
#include "fs/scan_query.h"
#include "fs/toml_files.h"
#include "fs/view.h"

namespace cellfs::fs {
namespace {

constexpr std::string_view kSchemaName = ".schema.toml";
constexpr std::string_view kNamespaceFileName = ".namespace.toml";

Outcome NotThere(NameUse use) {
  switch (use) {
    case NameUse::kLookUp:
      return Outcome(ENOENT);
    case NameUse::kCreateFile:
      return Outcome(EPERM,
                     "files are made in a family: /<namespace>/<table>/<row>/<family>/<file>");
    case NameUse::kCreateDirectory:
      break;
  }
  return Outcome(EPERM, "no directory of that name can be made here");
}

// Names that say no key at all.
Outcome NoKey(const ReadName& read, NameUse use) {
  if (read.kind == ReadName::Kind::kTooLong) return Outcome(ENAMETOOLONG);
  if (read.kind == ReadName::Kind::kReserved) return NotThere(use);
  if (use == NameUse::kLookUp) return Outcome(ENOENT);
  if (read.kind == ReadName::Kind::kLong) {
    return Outcome(ENAMETOOLONG, "the long form of a name can be read, not created");
  }
  return Outcome(EILSEQ, "the name spells no key");
}

bool IsBesideToml(const MountOptions& options, std::string_view name) {
  return name.find(kSchemaName) != name.npos || name.find(kNamespaceFileName) != name.npos ||
         IsTemporaryName(options, std::string(name));
}

Place Named(const Place& directory, PlaceKind kind, std::string_view name) {
  Place place = directory.As(kind);
  place.name = name;
  return place;
}

// A name that HBase refuses names nothing; any other failure is not an absence.
Outcome NotDescribed(const Status& status) {
  return status.code() == StatusCode::kIllegalArgument ? Outcome(ENOENT) : Outcome(status);
}

bool IsInScan(const Scan& scan, std::string_view row) {
  const auto before = [&](std::string_view a, std::string_view b) {
    return scan.reversed ? b < a : a < b;
  };
  if (!scan.start_row.empty()) {
    if (before(row, scan.start_row)) return false;
    if (row == scan.start_row && !scan.include_start_row) return false;
  }
  if (!scan.stop_row.empty()) {
    if (before(scan.stop_row, row)) return false;
    if (row == scan.stop_row && !scan.include_stop_row) return false;
  }
  return true;
}

}  // namespace

// ---- Names --------------------------------------------------------------------------------------

OutcomeOr<Place> Resolver::Child(const Caller& caller, const Place& directory,
                                 std::string_view name, NameUse use) {
  if (name.empty() || name == "." || name == "..") return NotThere(use);
  if (name.size() > kMaxNameLength) return Outcome(ENAMETOOLONG);
  switch (directory.kind) {
    case PlaceKind::kRoot:
      return ChildOfRoot(directory, name, use);
    case PlaceKind::kNamespace:
      return ChildOfNamespace(directory, name, use);
    case PlaceKind::kTable:
      return ChildOfTable(caller, directory, name, use);
    case PlaceKind::kRow:
      return ChildOfRow(directory, name, use);
    case PlaceKind::kFamily:
      return ChildOfFamily(caller, directory, name, use);
    case PlaceKind::kVersionsDirectory:
      return ChildOfVersions(caller, directory, name, use);
    case PlaceKind::kVersionsColumn:
      return ChildOfVersionsColumn(directory, name, use);
    case PlaceKind::kCountersDirectory:
    case PlaceKind::kDeletedDirectory:
      return Column(caller, directory,
                    directory.kind == PlaceKind::kCountersDirectory ? PlaceKind::kCounter
                                                                    : PlaceKind::kDeletedCell,
                    name, use);
    case PlaceKind::kAsofDirectory:
      return ChildOfAsof(directory, name);
    case PlaceKind::kScanDirectory:
      return ChildOfScan(directory, name);
    case PlaceKind::kSelfDirectory:
    case PlaceKind::kKeysDirectory:
      return ChildOfSelf(directory, name);
    default:
      return NotThere(use);
  }
}

OutcomeOr<Place> Resolver::ChildOfRoot(const Place& directory, std::string_view name, NameUse use) {
  if (mount_.options.controls != Controls::kOff && directory.view == nullptr) {
    if (name == ".asof") return directory.As(PlaceKind::kAsofDirectory);
    if (name == ".cellfs") return directory.As(PlaceKind::kSelfDirectory);
  }
  if (use == NameUse::kCreateFile) return NotThere(use);
  if (name == kHiddenNamespace) return NotThere(use);
  Place place = directory.As(PlaceKind::kNamespace);
  place.table.namespace_name = name;
  return place;
}

std::optional<OutcomeOr<Place>> Resolver::ControlChild(const Place& directory,
                                                       std::string_view name, NameUse use) {
  const bool in_table = directory.kind == PlaceKind::kTable;
  const bool is_scan = directory.view != nullptr && !directory.view->IsAsof();
  if (!is_scan && name == (in_table ? kSchemaName : kNamespaceFileName)) {
    return directory.As(in_table ? PlaceKind::kSchemaFile : PlaceKind::kNamespaceFile);
  }
  if (directory.view != nullptr) return std::nullopt;
  if (mount_.options.controls != Controls::kOff) {
    if (name == ".asof") return directory.As(PlaceKind::kAsofDirectory);
    if (name == ".scan" && in_table) return directory.As(PlaceKind::kScanDirectory);
  }
  Place memory = Named(directory, PlaceKind::kMemoryFile, name);
  if (use == NameUse::kCreateFile) {
    if (!IsBesideToml(mount_.options, name)) return NotThere(use);
    return memory;
  }
  if (mount_.unstored.Find(memory)) return memory;
  return std::nullopt;
}

OutcomeOr<Place> Resolver::ChildOfNamespace(const Place& directory, std::string_view name,
                                            NameUse use) {
  if (auto control = ControlChild(directory, name, use)) return *std::move(control);
  Place place = directory.As(PlaceKind::kTable);
  place.table.name = name;
  return place;
}

OutcomeOr<Place> Resolver::ChildOfTable(const Caller& caller, const Place& directory,
                                        std::string_view name, NameUse use) {
  if (auto control = ControlChild(directory, name, use)) return *std::move(control);
  ReadName read = mount_.row_names.Read(name);
  if (read.kind == ReadName::Kind::kLong && use == NameUse::kLookUp) {
    CELLFS_ASSIGN_OR_RETURN(read.key, FullRow(caller, directory, read, name));
  } else if (read.kind != ReadName::Kind::kKey) {
    return NoKey(read, use);
  }
  if (IsHiddenRow(directory.table, read.key)) return NotThere(use);
  Place place = directory.As(PlaceKind::kRow);
  place.row = std::move(read.key);
  return place;
}

OutcomeOr<Place> Resolver::ChildOfRow(const Place& directory, std::string_view name, NameUse use) {
  if (use == NameUse::kCreateFile) return NotThere(use);
  if (!CheckFamilyName(name).ok()) return NotThere(use);
  Place place = directory.As(PlaceKind::kFamily);
  place.family = name;
  return place;
}

OutcomeOr<Place> Resolver::ChildOfFamily(const Caller& caller, const Place& directory,
                                         std::string_view name, NameUse use) {
  if (mount_.options.controls != Controls::kOff && directory.view == nullptr) {
    if (name == ".versions") return directory.As(PlaceKind::kVersionsDirectory);
    if (name == ".counters") return directory.As(PlaceKind::kCountersDirectory);
    if (name == ".deleted") return directory.As(PlaceKind::kDeletedDirectory);
  }
  if (use == NameUse::kCreateDirectory) return Outcome(EPERM, "a family holds files only");
  return Column(caller, directory, PlaceKind::kCell, name, use);
}

OutcomeOr<Place> Resolver::Column(const Caller& caller, const Place& family, PlaceKind kind,
                                  std::string_view name, NameUse use) {
  ReadName read = mount_.qualifier_names.Read(name);
  if (read.kind == ReadName::Kind::kLong && use == NameUse::kLookUp) {
    CELLFS_ASSIGN_OR_RETURN(read.key, FullQualifier(caller, family, read, name));
  } else if (read.kind != ReadName::Kind::kKey) {
    return NoKey(read, use);
  }
  Place place = family.As(kind);
  if (read.timestamp) {
    if (kind != PlaceKind::kCell) return NotThere(use);
    place = family.As(PlaceKind::kVersion, *read.timestamp);
  }
  place.qualifier = std::move(read.key);
  return place;
}

OutcomeOr<Place> Resolver::ChildOfVersions(const Caller& caller, const Place& directory,
                                           std::string_view name, NameUse use) {
  const Place memory = Named(directory, PlaceKind::kMemoryFile, name);
  if (use == NameUse::kCreateFile || mount_.unstored.Find(memory)) return memory;
  return Column(caller, directory, PlaceKind::kVersionsColumn, name, use);
}

OutcomeOr<Place> Resolver::ChildOfVersionsColumn(const Place& directory, std::string_view name,
                                                 NameUse use) {
  if (const auto timestamp = ReadTimestamp(name)) {
    if (use == NameUse::kCreateDirectory) return Outcome(EPERM);
    return directory.As(PlaceKind::kVersionsFile, *timestamp);
  }
  // The timestamp tells a file beside the versions of one column from one in .versions itself.
  Place memory = directory.As(
      use == NameUse::kCreateDirectory ? PlaceKind::kMemoryDirectory : PlaceKind::kMemoryFile, 1);
  memory.name = name;
  if (use == NameUse::kLookUp && !mount_.unstored.Find(memory)) {
    memory.kind = PlaceKind::kMemoryDirectory;
  }
  return memory;
}

OutcomeOr<Place> Resolver::ChildOfAsof(const Place& directory, std::string_view name) {
  const auto time = ReadTimestamp(name);
  if (!time) {
    if (!ParseAsofName(name, mount_.clock->Now())) return Outcome(ENOENT);
    return Named(directory, PlaceKind::kAsofLink, name);
  }
  auto view = std::make_shared<View>();
  view->kind = View::Kind::kAsof;
  view->name = name;
  view->scope = directory.table;
  CELLFS_ASSIGN_OR_RETURN(view->asof, mount_.asof.Find(*time));
  Place place = directory.Parent();
  place.view = std::move(view);
  return place;
}

OutcomeOr<Place> Resolver::ChildOfScan(const Place& directory, std::string_view name) {
  auto query = ScanQuery::Read(name, mount_.options.names);
  if (!query.ok()) return Outcome(ENOENT, query.status().message());
  auto scan = query->ToScan();
  if (!scan.ok()) return Outcome(ENOENT, scan.status().message());
  CELLFS_ASSIGN_OR_RETURN(const auto schema, mount_.store.DescribeTable(directory.table));
  for (const auto& [family, qualifiers] : scan->columns) {
    if (schema->FindFamily(family) != nullptr) continue;
    return Outcome(ENOENT, "scan query: family '" + family + "' is not declared");
  }
  auto view = std::make_shared<View>();
  view->kind = View::Kind::kScan;
  view->name = name;
  view->scope = directory.table;
  view->scan = *std::move(scan);
  if (view->scan.limit >= 0) view->scan_end = std::make_shared<ScanEnd>();
  Place place = directory.Parent();
  place.view = std::move(view);
  return place;
}

OutcomeOr<Place> Resolver::ChildOfSelf(const Place& directory, std::string_view name) {
  if (directory.kind == PlaceKind::kSelfDirectory) {
    if (name == "keys") return directory.As(PlaceKind::kKeysDirectory);
    if (std::find(std::begin(kSelfFiles), std::end(kSelfFiles), name) == std::end(kSelfFiles)) {
      return Outcome(ENOENT);
    }
    return Named(directory, PlaceKind::kSelfFile, name);
  }
  auto key = mount_.long_names.Find(name);
  if (!key) return Outcome(ENOENT);
  Place place = Named(directory, PlaceKind::kKeyFile, name);
  place.row = *std::move(key);
  return place;
}

OutcomeOr<std::string> Resolver::FullRow(const Caller& caller, const Place& table,
                                         const ReadName& read, std::string_view name) {
  Scan scan;
  scan.start_row = read.key;
  scan.stop_row = RowAfterPrefix(read.key);
  scan.lengths_only = true;
  CELLFS_ASSIGN_OR_RETURN(scan.filter, MakeFirstKeyOnlyFilter());
  CELLFS_ASSIGN_OR_RETURN(const auto scanned, RowScan::Open(mount_, caller, table, scan));
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(auto rows, scanned->Next(ScanBatch().max_rows));
    if (rows.empty()) return Outcome(ENOENT);
    for (const RowCells& row : rows) {
      if (mount_.row_names.IsShortenedTo(name, row.front().row)) return row.front().row;
    }
  }
}

OutcomeOr<std::string> Resolver::FullQualifier(const Caller& caller, const Place& family,
                                               const ReadName& read, std::string_view name) {
  Place whole = family.As(PlaceKind::kFamily);
  whole.qualifier.clear();
  // Hidden columns count too: their versions and last values have names.
  Scan scan;
  scan.start_row = scan.stop_row = whole.row;
  scan.include_stop_row = true;
  scan.raw = true;
  scan.columns[whole.family];
  scan.lengths_only = true;
  CELLFS_ASSIGN_OR_RETURN(scan.filter, MakeColumnPrefixFilter(read.key));
  CELLFS_ASSIGN_OR_RETURN(auto scanner, mount_.store.OpenScanner(caller, whole.table, scan));
  CELLFS_ASSIGN_OR_RETURN(auto rows, scanner->Next({}));
  for (const RowCells& row : rows) {
    for (const Cell& cell : row) {
      if (mount_.qualifier_names.IsShortenedTo(name, cell.qualifier)) return cell.qualifier;
    }
  }
  return Outcome(ENOENT);
}

// ---- What is there ------------------------------------------------------------------------------

OutcomeOr<Found> Resolver::LookUp(const Caller& caller, const Place& directory,
                                  std::string_view name) {
  CELLFS_ASSIGN_OR_RETURN(Place place, Child(caller, directory, name, NameUse::kLookUp));
  return Find(caller, place);
}

OutcomeOr<Found> Resolver::Find(const Caller& caller, const Place& place) {
  const uint64_t looked_at = Node::NewestGeneration();
  auto found = FindByKind(caller, place);
  if (found.ok()) found->looked_at = looked_at;
  return found;
}

OutcomeOr<Found> Resolver::FindByKind(const Caller& caller, const Place& place) {
  switch (place.kind) {
    case PlaceKind::kNamespace:
      return FindNamespace(place);
    case PlaceKind::kTable:
      return FindTable(place);
    case PlaceKind::kRow:
      return FindRow(caller, place);
    case PlaceKind::kFamily:
      return FindFamily(caller, place);
    case PlaceKind::kCell:
    case PlaceKind::kVersion:
    case PlaceKind::kVersionsFile:
    case PlaceKind::kCounter:
    case PlaceKind::kDeletedCell:
      return FindColumn(caller, place);
    case PlaceKind::kVersionsColumn:
      return FindVersionsColumn(caller, place);
    case PlaceKind::kSchemaFile:
    case PlaceKind::kNamespaceFile:
      return FindToml(place);
    case PlaceKind::kSelfFile:
    case PlaceKind::kKeyFile:
      return FindSelf(place);
    case PlaceKind::kMemoryFile:
    case PlaceKind::kMemoryDirectory:
      return FromEntry(mount_.unstored.Find(place));
    case PlaceKind::kAsofLink: {
      Found found{place};
      found.size = std::to_string(mount_.clock->Now()).size();
      return found;
    }
    default:
      return Found{place};
  }
}

OutcomeOr<Found> Resolver::FromCell(const Place& place, const Cell& cell, Node* node,
                                    uint64_t looked_at) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, mount_.store.DescribeTable(place.table));
  const KnownCell known = KnownOf(cell, schema->FindFamily(cell.family));
  if (node != nullptr) node->Know(known, looked_at);
  Found found{place};
  Describe(known, found);
  return found;
}

void Resolver::Describe(const KnownCell& cell, Found& found) {
  found.size = found.place.IsDirectory() ? 0 : cell.size;
  found.version = cell.version;
  found.expires = cell.expires;
}

OutcomeOr<Found> Resolver::FromEntry(UnstoredPtr entry) {
  if (entry == nullptr) return Outcome(ENOENT);
  Found found{entry->place};
  if (entry->file != nullptr) {
    std::lock_guard lock(entry->file->mutex);
    found.size = entry->file->bytes().size();
  }
  found.unstored = std::move(entry);
  return found;
}

OutcomeOr<Found> Resolver::FindNamespace(const Place& place) {
  const auto schema = mount_.store.DescribeNamespace(place.table.namespace_name);
  if (!schema.ok()) return NotDescribed(schema.status());
  return Found{place};
}

OutcomeOr<Found> Resolver::FindTable(const Place& place) {
  const auto schema = mount_.store.DescribeTable(place.table);
  if (!schema.ok()) return NotDescribed(schema.status());
  return Found{place};
}

OutcomeOr<Found> Resolver::FindRow(const Caller& caller, const Place& place) {
  if (place.view != nullptr && !place.view->IsAsof() && !IsInScan(place.view->scan, place.row)) {
    return Outcome(ENOENT);
  }
  if (place.view != nullptr && place.view->scan_end != nullptr) {
    CELLFS_ASSIGN_OR_RETURN(const bool returned,
                            place.view->scan_end->IsBefore(mount_, caller, place));
    if (!returned) return Outcome(ENOENT);
  }
  UnstoredPtr unstored = mount_.unstored.Find(place);  // first: it goes once a cell is stored
  CELLFS_ASSIGN_OR_RETURN(auto found, FindFilled(caller, place));
  if (found) return *std::move(found);
  return FromEntry(std::move(unstored));
}

OutcomeOr<Found> Resolver::FindFamily(const Caller& caller, const Place& place) {
  UnstoredPtr made = mount_.unstored.Find(place);  // first: it goes once a cell is stored
  CELLFS_ASSIGN_OR_RETURN(auto filled, FindFilled(caller, place));
  if (filled) return *std::move(filled);
  if (made || (place.view != nullptr && !place.view->IsAsof())) return FromEntry(std::move(made));
  // Declared, and nothing in it: it is there where the row has or had cells, so not in a row that
  // was just made. For the process that made the row that stays so when the first family has its
  // files: a copy makes the others after it.
  CELLFS_ASSIGN_OR_RETURN(const Found row, FindRow(caller, place.Parent()));
  if (row.unstored && row.unstored->reason == UnstoredReason::kMade) return Outcome(ENOENT);
  Found found{place};
  const auto made_row = mount_.unstored.Find(place.Parent());
  if (made_row && made_row->reason == UnstoredReason::kMade) found.absent_for = made_row->maker;
  return found;
}

// A row or family that shows a cell. After each listing the kernel asks for its attributes again.
OutcomeOr<std::optional<Found>> Resolver::FindFilled(const Caller& caller, const Place& place) {
  const NodePtr node = MayBeKnown(caller, place) ? mount_.inodes.Find(place) : nullptr;
  if (node != nullptr) {
    if (auto found = FindKnown(place, *node)) return found;
  }
  const uint64_t looked_at = Node::NewestGeneration();
  CELLFS_ASSIGN_OR_RETURN(auto cell, FirstVisibleCell(mount_, caller, place));
  if (!cell) return std::optional<Found>();
  CELLFS_ASSIGN_OR_RETURN(Found found, FromCell(place, *cell, node.get(), looked_at));
  return std::optional(std::move(found));
}

// From what the node knows; nullopt also where a TTL has ended that.
std::optional<Found> Resolver::FindKnown(const Place& place, const Node& node) {
  const auto known = node.known();
  if (!known || (known->expires && *known->expires <= mount_.clock->Now())) return std::nullopt;
  Found found{place};
  Describe(*known, found);
  return found;
}

OutcomeOr<Found> Resolver::FindColumn(const Caller& caller, const Place& place) {
  const bool may_be_known = MayBeKnown(caller, place);
  const NodePtr node = may_be_known ? mount_.inodes.Find(place) : nullptr;
  if (node != nullptr) {
    if (auto found = FindKnown(place, *node)) return *std::move(found);
  }
  const uint64_t looked_at = Node::NewestGeneration();
  const bool is_counter = place.kind == PlaceKind::kCounter;
  UnstoredPtr claim = mount_.unstored.Find(place);  // first: it goes once a value is stored
  CELLFS_ASSIGN_OR_RETURN(
      auto cell,
      ReadColumn(mount_, caller, place, is_counter ? ReadDetail::kValues : ReadDetail::kLengths));
  if (!cell) {
    if (claim == nullptr && may_be_known) mount_.last_absent.Note(place, looked_at);
    return FromEntry(std::move(claim));
  }
  if (place.view != nullptr && place.view->ShowsVersions() && place.kind == PlaceKind::kCell) {
    return Outcome(ENOENT);  // shown as q@<timestamp>
  }
  CELLFS_ASSIGN_OR_RETURN(Found found, FromCell(place, *cell, node.get(), looked_at));
  if (is_counter) {
    // A value that is no counter is found, and its reading says what is wrong.
    const auto text = FileBytes(place, *std::move(cell));
    found.size = text.ok() ? text->size() : 0;
  }
  return found;
}

OutcomeOr<Found> Resolver::FindVersionsColumn(const Caller& caller, const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(
      auto visible, ReadColumn(mount_, caller, place.As(PlaceKind::kCell), ReadDetail::kLengths));
  if (visible) return Found{place};
  CELLFS_ASSIGN_OR_RETURN(RowCells versions, ListVersions(mount_, caller, place));
  if (!versions.empty()) return Found{place};
  return FromEntry(mount_.unstored.Find(place));
}

OutcomeOr<Found> Resolver::FindToml(const Place& place) {
  if (mount_.unstored.IsTomlHidden(place.Parent())) return Outcome(ENOENT);
  CELLFS_ASSIGN_OR_RETURN(std::string text, TomlText(mount_, place));
  Found found{place};
  found.size = text.size();
  return found;
}

OutcomeOr<Found> Resolver::FindSelf(const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(std::string text, CellfsDirectory(mount_).Text(place));
  Found found{place};
  found.size = text.size();
  return found;
}

}  // namespace cellfs::fs
