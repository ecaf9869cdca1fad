// SPDX-License-Identifier: MIT
#include "fs/attributes/version_owners.h"

#include <algorithm>
#include <vector>

#include "fs/store/raw_cells.h"

namespace cellfs::fs {
namespace {

constexpr int32_t kMostBetween = 4096;

// Oldest first. Of what was made without a record the first says nothing, and is of old; where that
// is not known any more `known_since` says from when on all of them are.
StatusOr<std::vector<OwnerRecord>> RecordsOf(const RowCells& cells, const std::string& qualifier,
                                             Timestamp& known_since) {
  std::vector<OwnerRecord> records;
  for (auto cell = cells.rbegin(); cell != cells.rend(); ++cell) {
    if (cell->qualifier != qualifier) continue;
    CELLFS_RETURN_IF_ERROR(ReadRecord(*cell, records.emplace_back()));
  }
  if (records.size() < kOwnerVersions) {
    records.emplace(records.begin());
  } else {
    known_since = std::max(known_since, records.front().since);
  }
  return records;
}

}  // namespace

struct VersionOwners::State {
  OwnerRecord own;
  OwnerRecord family;
  Timestamp since = 0;

  // Nullopt: whose the table is.
  std::optional<uid_t> uid() const { return own.uid ? own.uid : family.uid; }
};

struct VersionOwners::History {
  std::vector<State> states;  // each from when on it was so, oldest first
  Timestamp known_since = 0;  // there were others before; 0: these are all
};

VersionOwners::Then VersionOwners::Then::OfNobody(Timestamp until) {
  Then then{.own = {}, .family = {}, .was_in_anothers_directory = false, .until = until};
  then.own.uid = then.own.gid = 0;
  then.own.mode = 0;
  return then;
}

StatusOr<VersionOwners::History> VersionOwners::HistoryOf(const Place& column,
                                                          const RecordKey& key) const {
  Get get;
  get.row = key.row;
  get.columns[kOwnerFamily] = {key.qualifier, column.family};
  get.max_versions = kAllVersions;
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells, table_.Read(get));
  History history;
  CELLFS_ASSIGN_OR_RETURN(const auto own, RecordsOf(cells, key.qualifier, history.known_since));
  CELLFS_ASSIGN_OR_RETURN(const auto family,
                          RecordsOf(cells, column.family, history.known_since));
  for (size_t i = 0, j = 0;;) {
    history.states.push_back({own[i], family[j], std::max(own[i].since, family[j].since)});
    const bool has_own = i + 1 < own.size();
    const bool has_family = j + 1 < family.size();
    if (!has_own && !has_family) return history;
    const bool is_own_next =
        has_own && (!has_family || own[i + 1].since <= family[j + 1].since);
    ++(is_own_next ? i : j);
  }
}

// Timestamps of versions may be any, so a record is another's only where the column was deleted
// between the version and the record.
StatusOr<std::optional<VersionOwners::Then>> VersionOwners::Find(const Place& column,
                                                                 const DataTable& table,
                                                                 Timestamp version) const {
  CELLFS_ASSIGN_OR_RETURN(const History history, HistoryOf(column, RecordKeyOf(column, table)));
  if (version < history.known_since) {
    CELLFS_ASSIGN_OR_RETURN(const bool was_deleted,
                            WasDeleted(column, *table.schema, version, history.known_since));
    if (was_deleted) return std::optional(Then::OfNobody(history.known_since));
  }
  const std::vector<State>& states = history.states;
  for (size_t i = 1; i < states.size(); ++i) {
    const State& then = states[i - 1];
    const State& later = states[i];
    if (later.since <= version || later.uid() == then.uid()) continue;
    CELLFS_ASSIGN_OR_RETURN(const bool was_deleted,
                            WasDeleted(column, *table.schema, version, later.since));
    if (!was_deleted) continue;
    // Of what was so since the version, for the family's record may have changed first.
    bool was_in_anothers = false;
    for (size_t k = 0; k < i; ++k) {
      was_in_anothers |= states[k + 1].since > version &&
                         states[k].family.uid != states.back().family.uid;
    }
    return std::optional(Then{then.own, then.family, was_in_anothers, later.since});
  }
  return std::optional<Then>();
}

// Newest first: who makes a name anew does so behind a tombstone, of whatever kind, that hides the
// version. What has more than so many versions in between is taken for deleted, which shows it to
// nobody else.
StatusOr<bool> VersionOwners::WasDeleted(const Place& column, const TableSchema& table,
                                         Timestamp version, Timestamp until) const {
  RawCellsQuery query{table.name(), column.row, column.family};
  query.table_id = table.id();
  query.limit = kMostBetween;
  query.times = {version, until + 1};
  CELLFS_ASSIGN_OR_RETURN(
      const RowCells cells,
      RawCellsOfColumn(store_, Caller::Superuser(), query, column.qualifier));
  if (cells.size() >= size_t{kMostBetween}) return true;
  return std::any_of(cells.begin(), cells.end(), [version](const Cell& cell) {
    const bool hides_older =
        cell.type == CellType::kDeleteColumn || cell.type == CellType::kDeleteFamily;
    return hides_older || (IsTombstone(cell.type) && cell.timestamp == version);
  });
}

}  // namespace cellfs::fs
