// SPDX-License-Identifier: MIT
#include "fs/resolve/resolver.h"

#include "fs/nodes/node.h"
#include "fs/reading/deleted_values.h"
#include "fs/reading/listed_versions.h"
#include "fs/reading/row_scan.h"
#include "fs/reading/scan_end.h"
#include "fs/schema/schema_text.h"
#include "fs/tree/dropped_names.h"
#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

// A name that HBase refuses names nothing; any other failure is not an absence.
Outcome NotDescribed(const Status& status) {
  return status.code() == StatusCode::kIllegalArgument ? Outcome(ENOENT) : Outcome(status);
}

bool IsInRange(const Scan& scan, std::string_view row) {
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

OutcomeOr<ResolvedEntry> Resolver::LookUp(const Caller& caller, const Place& directory,
                                          std::string_view name) const {
  const auto place = Child(caller, directory, name, NameUse::kLookUp);
  if (!place.ok()) return place.status();
  if (place->kind != PlaceKind::kRow) return Find(caller, *place);
  auto found = Find(caller, *place);
  // No row of a disabled table can be read, and the editor that enables it makes its file here.
  if (found.error() == EROFS && places_.IsBesideToml(name)) return Outcome(ENOENT);
  return found;
}

OutcomeOr<ResolvedEntry> Resolver::Find(const Caller& caller, const Place& place,
                                        Node* node) const {
  const uint64_t looked_at = Node::NewestGeneration();
  auto found = FindByContent(caller, place, node);
  if (found.ok()) found->looked_at = looked_at;
  return found;
}

OutcomeOr<ResolvedEntry> Resolver::FindByContent(const Caller& caller, const Place& place,
                                                 Node* node) const {
  switch (place.traits().content) {
    case PlaceContent::kValue:
    case PlaceContent::kCounter:
    case PlaceContent::kDeletedValue:
      return FindColumn(caller, place, node);
    case PlaceContent::kToml:
      return FindToml(place);
    case PlaceContent::kText:
      return FindSelf(place);
    case PlaceContent::kMemory:
      return FromEntry(unstored_.Find(place));
    case PlaceContent::kTarget:
      return FindLink(place);
    case PlaceContent::kNone:
      break;
  }
  return FindDirectory(caller, place, node);
}

OutcomeOr<ResolvedEntry> Resolver::FindDirectory(const Caller& caller, const Place& place,
                                                 Node* node) const {
  switch (place.kind) {
    case PlaceKind::kNamespace:
      return FindNamespace(place);
    case PlaceKind::kTable:
      return FindTable(place);
    case PlaceKind::kRow:
      return FindRow(caller, place, node);
    case PlaceKind::kFamily:
      return FindFamily(caller, place, node);
    case PlaceKind::kVersionsColumn:
      return FindVersionsColumn(caller, place);
    case PlaceKind::kDeletedRow:
    case PlaceKind::kDeletedFamily:
      return FindDeleted(caller, place);
    case PlaceKind::kMemoryDirectory:
      return FromEntry(unstored_.Find(place));
    case PlaceKind::kDropped:
      return FindDroppedOne(place);
    default:
      return OutcomeOr<ResolvedEntry>(std::in_place, place);  // always there
  }
}

Resolver::CachingNode::CachingNode(const Resolver& resolver, const Caller& caller,
                                   const Place& place, Node* at_hand)
    : may_be_(MayBeCached(resolver.reading_, caller, place)), node_(may_be_ ? at_hand : nullptr) {
  if (!may_be_ || node_ != nullptr) return;
  number_ = place.InodeNumber();
  found_ = resolver.inodes_.Find(place, number_);
  node_ = found_.get();
}

OutcomeOr<CachedCell> Resolver::Learn(const Place& place, const Cell& cell, Node* node,
                                      uint64_t looked_at) const {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, reading_.DescribeTable(place));
  const CachedCell known = CachedCellOf(cell, schema->FindFamily(cell.family));
  if (node != nullptr) node->Cache(known, looked_at);
  return known;
}

OutcomeOr<ResolvedEntry> Resolver::FromCell(const Place& place, const CachedCell& cell) {
  OutcomeOr<ResolvedEntry> found(std::in_place, place);
  Describe(cell, *found);
  return found;
}

// A value that is no counter is found, and its reading says what is wrong.
OutcomeOr<ResolvedEntry> Resolver::FromCounter(const Place& place, const CachedCell& cell,
                                               Cell value) {
  auto found = FromCell(place, cell);
  const auto text = FileBytes(place, std::move(value));
  found->size = text.ok() ? text->size() : 0;
  return found;
}

void Resolver::Describe(const CachedCell& cell, ResolvedEntry& found) {
  found.size = found.place.IsDirectory() ? 0 : cell.size;
  found.version = cell.version;
  found.expires = cell.expires;
}

OutcomeOr<ResolvedEntry> Resolver::FromEntry(UnstoredPtr entry) {
  if (entry == nullptr) return Outcome(ENOENT);
  ResolvedEntry found{entry->place};
  if (entry->file != nullptr) {
    std::lock_guard lock(entry->file->mutex);
    found.size = entry->file->bytes().size();
  }
  found.unstored = std::move(entry);
  return found;
}

OutcomeOr<ResolvedEntry> Resolver::FindNamespace(const Place& place) const {
  const auto schema = reading_.DescribeNamespace(place);
  if (!schema.ok()) return NotDescribed(schema.status());
  return OutcomeOr<ResolvedEntry>(std::in_place, place);
}

OutcomeOr<ResolvedEntry> Resolver::FindTable(const Place& place) const {
  if (place.view != nullptr && !place.view->HasTable(place.table)) return Outcome(ENOENT);
  const auto schema = reading_.DescribeTable(place);
  if (!schema.ok()) return NotDescribed(schema.status());
  return OutcomeOr<ResolvedEntry>(std::in_place, place);
}

// Of a table that others may have dropped, or made anew, it goes when the table is described.
OutcomeOr<UnstoredPtr> Resolver::FindUnstored(const Place& row_or_family) const {
  UnstoredPtr unstored = unstored_.Find(row_or_family);
  if (unstored == nullptr || reading_.freshness().is_exact()) return unstored;
  const auto schema = reading_.DescribeTable(row_or_family);
  if (!schema.ok()) return NotDescribed(schema.status());
  return unstored_.Find(row_or_family);
}

OutcomeOr<ResolvedEntry> Resolver::FindRow(const Caller& caller, const Place& place,
                                           Node* node) const {
  const Scan* const query = place.query();
  if (query != nullptr && !IsInRange(*query, place.row)) return Outcome(ENOENT);
  if (place.view != nullptr && place.view->scan_end != nullptr) {
    CELLFS_ASSIGN_OR_RETURN(const bool returned,
                            place.view->scan_end->IsBefore(reading_, caller, place));
    if (!returned) return Outcome(ENOENT);
  }
  const uint64_t emptied = unstored_.emptied();
  // First: it goes once a cell is stored.
  CELLFS_ASSIGN_OR_RETURN(UnstoredPtr unstored, FindUnstored(place));
  CELLFS_ASSIGN_OR_RETURN(const auto cell, FindFilled(caller, place, node));
  if (cell) return FromCell(place, *cell);
  // Its last cell may have gone in between.
  if (unstored == nullptr && unstored_.emptied() != emptied) unstored = unstored_.Find(place);
  return FromEntry(std::move(unstored));
}

OutcomeOr<ResolvedEntry> Resolver::FindFamily(const Caller& caller, const Place& place,
                                              Node* node) const {
  const uint64_t emptied = unstored_.emptied();
  // First: it goes once a cell is stored.
  CELLFS_ASSIGN_OR_RETURN(UnstoredPtr made, FindUnstored(place));
  CELLFS_ASSIGN_OR_RETURN(const auto cell, FindFilled(caller, place, node));
  if (cell) return FromCell(place, *cell);
  // Its last cell may have gone in between.
  if (made == nullptr && unstored_.emptied() != emptied) made = unstored_.Find(place);
  if (made || place.query() != nullptr) return FromEntry(std::move(made));
  if (WasUndeclared(place) || removed_families_.Has(place)) return Outcome(ENOENT);
  // Declared, and nothing in it: it is there where the row has or had cells, so not in a row that
  // was just made. For the process that made the row that stays so when the first family has its
  // files: a copy makes the others after it.
  CELLFS_ASSIGN_OR_RETURN(const ResolvedEntry row, FindRow(caller, place.Parent(), nullptr));
  const bool is_made = row.unstored && row.unstored->reason == UnstoredReason::kMade;
  if (is_made && !unstored_.HasHeldCells(row.place)) return Outcome(ENOENT);
  ResolvedEntry found{place};
  const auto made_row = unstored_.Find(place.Parent());
  if (made_row && made_row->reason == UnstoredReason::kMade) found.absent_for = made_row->maker;
  return found;
}

// After each listing the kernel asks for the directory's attributes again.
OutcomeOr<std::optional<CachedCell>> Resolver::FindFilled(const Caller& caller, const Place& place,
                                                          Node* at_hand) const {
  const CachingNode node(*this, caller, place, at_hand);
  if (const auto cell = UnexpiredCell(node.get())) return cell;
  if (node.may_be() && empty_directories_.Has(place)) return std::optional<CachedCell>();
  const uint64_t comings = Generation::Comings();
  const uint64_t looked_at = Node::NewestGeneration();
  CELLFS_ASSIGN_OR_RETURN(const auto cell, FirstVisibleCell(reading_, caller, place));
  if (!cell && node.may_be()) empty_directories_.Note(place, comings);
  if (!cell) return std::optional<CachedCell>();
  CELLFS_ASSIGN_OR_RETURN(const CachedCell known, Learn(place, *cell, node.get(), looked_at));
  return std::optional(known);
}

// What the node has cached, unless a TTL has ended it.
std::optional<CachedCell> Resolver::UnexpiredCell(const Node* node) const {
  if (node == nullptr) return std::nullopt;
  auto cell = node->cached_cell();
  if (cell && cell->expires && *cell->expires <= reading_.clock().Now()) cell.reset();
  return cell;
}

OutcomeOr<ResolvedEntry> Resolver::FindColumn(const Caller& caller, const Place& place,
                                              Node* at_hand) const {
  const CachingNode node(*this, caller, place, at_hand);
  if (const auto cell = UnexpiredCell(node.get())) return FromCell(place, *cell);
  const uint64_t looked_at = Node::NewestGeneration();
  const bool is_counter = place.kind == PlaceKind::kCounter;
  UnstoredPtr claim = unstored_.Find(place);  // first: it goes once a value is stored
  CELLFS_ASSIGN_OR_RETURN(
      auto cell,
      ReadColumn(reading_, caller, place, is_counter ? ReadDetail::kValues : ReadDetail::kLengths));
  if (!cell) {
    if (claim == nullptr && node.is_none())
      inodes_.columns().NoteAbsent(place, node.number(), looked_at);
    return FromEntry(std::move(claim));
  }
  if (place.view != nullptr && place.view->ShowsVersions() && place.kind == PlaceKind::kCell) {
    return Outcome(ENOENT);  // shown as q@<timestamp>
  }
  CELLFS_ASSIGN_OR_RETURN(const CachedCell known, Learn(place, *cell, node.get(), looked_at));
  return is_counter ? FromCounter(place, known, *std::move(cell)) : FromCell(place, known);
}

// Who takes out of it what is in it, or frees that, goes on in it until the kernel forgets it: mv
// and rm -r remove it in the end.
OutcomeOr<ResolvedEntry> Resolver::FindDeleted(const Caller& caller,
                                               const Place& directory) const {
  CELLFS_ASSIGN_OR_RETURN(const auto cell,
                          FirstDeletedValue(reading_, caller, directory.DataDirectory()));
  if (!cell && inodes_.Find(directory) == nullptr) return Outcome(ENOENT);
  OutcomeOr<ResolvedEntry> found(std::in_place, directory);
  if (cell) found->version = cell->timestamp;
  return found;
}

OutcomeOr<ResolvedEntry> Resolver::FindVersionsColumn(const Caller& caller,
                                                      const Place& place) const {
  CELLFS_ASSIGN_OR_RETURN(
      auto visible, ReadColumn(reading_, caller, place.As(PlaceKind::kCell), ReadDetail::kLengths));
  if (visible) return OutcomeOr<ResolvedEntry>(std::in_place, place);
  CELLFS_ASSIGN_OR_RETURN(const bool has_history, HasListedVersions(reading_, caller, place));
  if (has_history) return OutcomeOr<ResolvedEntry>(std::in_place, place);
  return FromEntry(unstored_.Find(place));
}

OutcomeOr<ResolvedEntry> Resolver::FindToml(const Place& place) const {
  if (unstored_.IsTomlHidden(place.Parent())) return Outcome(ENOENT);
  CELLFS_ASSIGN_OR_RETURN(std::string text, TomlText(reading_, place));
  ResolvedEntry found{place};
  found.size = text.size();
  found.may_be_made = unstored_.MayMakeToml(place.Parent());
  return found;
}

OutcomeOr<ResolvedEntry> Resolver::FindSelf(const Place& place) const {
  CELLFS_ASSIGN_OR_RETURN(std::string text, self_.Text(place));
  ResolvedEntry found{place};
  found.size = text.size();
  return found;
}

// It shows when it was dropped.
OutcomeOr<ResolvedEntry> Resolver::FindDroppedOne(const Place& place) const {
  CELLFS_ASSIGN_OR_RETURN(const auto found, reading_.FindDropped(place));
  if (!found) return Outcome(ENOENT);
  ResolvedEntry entry{place};
  entry.version = found->dropped;
  return entry;
}

// Its target is a time in milliseconds.
OutcomeOr<ResolvedEntry> Resolver::FindLink(const Place& place) const {
  ResolvedEntry found{place};
  found.size = std::to_string(reading_.clock().Now()).size();
  return found;
}

}  // namespace cellfs::fs
