// SPDX-License-Identifier: MIT
#include "fs/tree/place.h"

// Of short parts a call of the library costs more than the hash.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

PlaceKind KindOfScope(const TableName& scope) {
  if (scope.namespace_name.empty()) return PlaceKind::kRoot;
  return scope.name.empty() ? PlaceKind::kNamespace : PlaceKind::kTable;
}

// Each part is hashed with what came before as its seed, so that the same bytes cut into other
// parts give another number.
uint64_t HashOn(uint64_t before, std::string_view part) {
  return XXH3_64bits_withSeed(part.data(), part.size(), before);
}

// 0 is no inode and 1 is the root.
uint64_t WithoutReserved(uint64_t hash) { return hash < 2 ? hash + 2 : hash; }

Place InTable(PlaceKind kind, TableName table) {
  return {.kind = kind, .table = std::move(table)};
}

}  // namespace

const Scan* Place::query() const { return view != nullptr ? view->query() : nullptr; }

bool Place::IsReadOnly() const {
  return traits().Is(place_flag::kReadOnly) || view != nullptr || table.IsSystemTable();
}

Place Place::As(PlaceKind other, Timestamp other_timestamp) const {
  Place place = *this;
  place.kind = other;
  place.timestamp = other_timestamp;
  return place;
}

const std::string* Place::KeyPart() const {
  switch (traits().key) {
    case PlaceKey::kNamespace:
      return &table.namespace_name;
    case PlaceKey::kTable:
      return &table.name;
    case PlaceKey::kRow:
    case PlaceKey::kLongName:
      return &row;
    case PlaceKey::kFamily:
      return &family;
    case PlaceKey::kQualifier:
    case PlaceKey::kVersion:
      return &qualifier;
    case PlaceKey::kName:
      return &name;
    case PlaceKey::kNone:
    case PlaceKey::kFixedName:
    case PlaceKey::kTimestamp:
      break;
  }
  return nullptr;
}

PlaceKind Place::ParentKind() const {
  if (const auto parent = traits().parent) return *parent;
  if (kind == PlaceKind::kDeletedFamily) {
    return timestamp == kInRow ? PlaceKind::kDeletedFamiliesDirectory : PlaceKind::kDeletedRow;
  }
  if (family.empty()) return KindOfScope(table);
  if (timestamp == kInFamily) return PlaceKind::kFamily;
  return timestamp == kBesideVersions ? PlaceKind::kVersionsColumn : PlaceKind::kVersionsDirectory;
}

bool Place::IsOfPast() const { return view != nullptr && view->ShowsPast(); }

Place Place::Parent() const {
  if (view != nullptr && kind == KindOfScope(view->scope)) {
    return InTable(view->Directory(), view->scope);
  }
  Place place = *this;
  if (std::string* const key = place.KeyPart()) key->clear();
  place.kind = ParentKind();
  // .versions may have been asked for by a column (As).
  if (place.kind == PlaceKind::kFamily) place.qualifier.clear();
  place.timestamp = 0;
  place.name.clear();
  return place;
}

Place Place::DataDirectory() const {
  if (kind == PlaceKind::kDeletedRow) return As(PlaceKind::kRow);
  if (kind == PlaceKind::kDeletedFamily) return As(PlaceKind::kFamily);
  Place directory = Parent();
  return directory.HasAttributes() ? directory : directory.DataDirectory();
}

uint64_t Place::TableHash() const { return HashOn(HashOn(0, table.namespace_name), table.name); }

// The table's part can be taken out again (InodeNumberIn).
uint64_t Place::HashAs(PlaceKind other, Timestamp other_timestamp) const {
  uint64_t hash = HashOn(static_cast<uint64_t>(other),
                         {reinterpret_cast<const char*>(&other_timestamp), sizeof other_timestamp});
  for (const std::string* part : {&row, &family, &qualifier, &name}) hash = HashOn(hash, *part);
  return hash ^ TableHash();
}

uint64_t Place::ColumnNumber() const { return WithoutReserved(HashAs(PlaceKind::kCell, 0)); }

uint64_t Place::NumberAbove(PlaceKind directory) const {
  const Timestamp none = 0;
  uint64_t hash = HashOn(static_cast<uint64_t>(directory),
                         {reinterpret_cast<const char*>(&none), sizeof none});
  hash = HashOn(HashOn(hash, row), directory == PlaceKind::kFamily ? family : "");
  return Numbered(HashOn(HashOn(hash, ""), "") ^ TableHash());
}

bool Place::IsIn(const Place& place, PlaceKind directory) const {
  return place.kind == directory && place.view == nullptr && place.row == row &&
         place.table == table && (directory == PlaceKind::kRow || place.family == family);
}

// cp copies what is in a directory in the order of inode numbers: the schema goes before the rows.
uint64_t Place::Numbered(uint64_t hash) const {
  constexpr int kTomlBits = 40;
  return WithoutReserved(IsToml() ? hash >> (64 - kTomlBits) : hash);
}

uint64_t Place::InodeNumber() const {
  if (kind == PlaceKind::kRoot && view == nullptr) return 1;
  uint64_t hash = HashAs(kind, timestamp);
  if (view != nullptr) {
    uint64_t seen = HashOn(static_cast<uint64_t>(view->kind), view->name);
    seen = HashOn(seen, view->scope.namespace_name);
    // A table's own view goes with it.
    if (view->scope != table) seen = HashOn(seen, view->scope.name);
    hash ^= seen;
  }
  return Numbered(hash);
}

size_t PlaceHash::operator()(const Place& place) const {
  uint64_t hash = static_cast<uint64_t>(place.kind) ^ static_cast<uint64_t>(place.timestamp) << 8;
  for (const std::string* part : {&place.table.namespace_name, &place.table.name, &place.row,
                                  &place.family, &place.qualifier, &place.name}) {
    if (!part->empty()) hash = HashOn(hash, *part);
  }
  return hash;
}

uint64_t Place::InodeNumberIn(TableId table_id, uint64_t number) const {
  if (table_id == 0 || table.name.empty()) return number;
  constexpr uint64_t kIds = 1;
  const uint64_t in_table =
      HashOn(kIds, {reinterpret_cast<const char*>(&table_id), sizeof table_id});
  const uint64_t change = in_table ^ TableHash();
  return WithoutReserved(number ^ (IsToml() ? Numbered(change) : change));
}

std::string Place::ToString() const {
  std::string text = table.namespace_name.empty() ? "/" : table.namespace_name;
  if (!table.name.empty()) text += ":" + table.name;
  if (!row.empty()) text += "/" + row;
  if (!family.empty()) text += "/" + family;
  if (IsColumn() || kind == PlaceKind::kVersionsColumn) text += ":" + qualifier;
  if (timestamp != 0) text += "@" + std::to_string(timestamp);
  if (kind == PlaceKind::kDropped) text += text == "/" ? ".deleted" : "/.deleted";
  if (!name.empty()) text += (text == "/" ? "" : "/") + name;
  if (IsToml()) (text += '/') += traits().fixed_name;
  if (view != nullptr) text += " " + view->ToString();
  return text;
}

bool operator==(const Place& a, const Place& b) {
  const auto same_view = [&] {
    if (a.view == b.view) return true;
    return a.view && b.view && a.view->kind == b.view->kind && a.view->name == b.view->name &&
           a.view->scope == b.view->scope;
  };
  return a.kind == b.kind && a.timestamp == b.timestamp && a.table == b.table && a.row == b.row &&
         a.family == b.family && a.qualifier == b.qualifier && a.name == b.name && same_view();
}

Place RootPlace() { return {}; }
Place NamespacePlace(std::string namespace_name) {
  return InTable(PlaceKind::kNamespace, {std::move(namespace_name), ""});
}
Place TablePlace(TableName table) { return InTable(PlaceKind::kTable, std::move(table)); }
Place RowPlace(TableName table, std::string row) {
  return {.kind = PlaceKind::kRow, .table = std::move(table), .row = std::move(row)};
}
Place FamilyPlace(TableName table, std::string row, std::string family) {
  return {.kind = PlaceKind::kFamily,
          .table = std::move(table),
          .row = std::move(row),
          .family = std::move(family)};
}
Place CellPlace(TableName table, std::string row, std::string family, std::string qualifier) {
  return {.kind = PlaceKind::kCell,
          .table = std::move(table),
          .row = std::move(row),
          .family = std::move(family),
          .qualifier = std::move(qualifier)};
}

}  // namespace cellfs::fs
