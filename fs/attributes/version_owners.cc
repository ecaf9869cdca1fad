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

// What a directory that was made anew has closed (OwnerRecord::had_mode) is what it was.
bool VersionOwners::IsContinued(const State& then, const State& later) {
  if (later.uid() != then.uid()) return false;
  const bool is_same = SameOwner(then.own, later.own) && then.family.uid == later.family.uid;
  return is_same || later.own.had_mode;
}

// By the record that is another.
bool VersionOwners::IsOfAnother(Timestamp version, const State& then, const State& later) {
  const auto is_of_another = [&](const OwnerRecord& before, const OwnerRecord& after) {
    return version < after.another_from && after.since != before.since;
  };
  return is_of_another(then.own, later.own) || is_of_another(then.family, later.family);
}

struct VersionOwners::History {
  std::vector<State> states;  // each from when on it was so, oldest first
  Timestamp known_since = 0;  // there were others before; 0: these are all
};

VersionOwners::Then VersionOwners::Then::OfNobody(Timestamp until) {
  Stored closed;
  closed.own.uid = closed.own.gid = 0;
  closed.own.mode = 0;
  return {.stored = {closed}, .was_in_anothers_directory = false, .until = until};
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
    CELLFS_ASSIGN_OR_RETURN(const Deletion deletion,
                            FindDeletion(column, *table.schema, version, history.known_since));
    if (deletion != Deletion::kNone) return std::optional(Then::OfNobody(history.known_since));
  }
  const std::vector<State>& states = history.states;
  for (size_t i = 1; i < states.size(); ++i) {
    const bool is_later = states[i].since > version ||
                          IsOfAnother(version, states[i - 1], states[i]);
    if (!is_later || IsContinued(states[i - 1], states[i])) continue;
    CELLFS_ASSIGN_OR_RETURN(
        const Deletion deletion,
        DeletionBetween(column, table, version, states[i - 1], states[i]));
    if (deletion != Deletion::kNone)
      return std::optional(ThenOf(states, i, version, deletion == Deletion::kSure));
  }
  return std::optional<Then>();
}

StatusOr<VersionOwners::Deletion> VersionOwners::DeletionBetween(const Place& column,
                                                                 const DataTable& table,
                                                                 Timestamp version,
                                                                 const State& then,
                                                                 const State& later) const {
  if (IsOfAnother(version, then, later)) return Deletion::kSure;
  return FindDeletion(column, *table.schema, version, later.since);
}

StatusOr<bool> VersionOwners::IsOfBeforeDeletion(const Place& column, const DataTable& table,
                                                 Timestamp version) const {
  CELLFS_ASSIGN_OR_RETURN(const Deletion deletion,
                          FindDeletion(column, *table.schema, version, kLatestTimestamp - 1));
  return deletion != Deletion::kNone;
}

// What there was before the state.
VersionOwners::Then VersionOwners::ThenOf(const std::vector<State>& states, size_t at,
                                          Timestamp version, bool is_sure) {
  const State& before = states[at - 1];
  Then then{.stored = {{before.own, before.family}},
            .was_in_anothers_directory = false,
            .until = states[at].since};
  for (size_t i = at; !is_sure && i < states.size() && states[i].uid() == before.uid(); ++i)
    then.stored.push_back({states[i].own, states[i].family});
  // Of what was so since the version, for the family's record may have changed first.
  for (size_t i = 0; i < at; ++i) {
    then.was_in_anothers_directory |= states[i + 1].since > version &&
                                      states[i].family.uid != states.back().family.uid;
  }
  return then;
}

// Newest first: who makes a name anew does so behind a tombstone, of whatever kind, that hides the
// version. That of the version alone has the version's time, whenever that was, and one of the time
// of the record may be younger. What has more than so many versions in between is taken for deleted,
// which shows it to nobody else.
StatusOr<VersionOwners::Deletion> VersionOwners::FindDeletion(const Place& column,
                                                              const TableSchema& table,
                                                              Timestamp version,
                                                              Timestamp until) const {
  RawCellsQuery query{table.name(), column.row, column.family};
  query.table_id = table.id();
  query.limit = kMostBetween;
  query.times = {version, until + 1};
  CELLFS_ASSIGN_OR_RETURN(
      const RowCells cells,
      RawCellsOfColumn(store_, Caller::Superuser(), query, column.qualifier));
  if (cells.size() >= size_t{kMostBetween}) return Deletion::kSure;
  Deletion found = Deletion::kNone;
  for (const Cell& cell : cells) {
    const bool hides_older =
        cell.type == CellType::kDeleteColumn || cell.type == CellType::kDeleteFamily;
    if (hides_older && cell.timestamp < until) return Deletion::kSure;
    if (hides_older || (IsTombstone(cell.type) && cell.timestamp == version))
      found = Deletion::kMaybe;
  }
  return found;
}

}  // namespace cellfs::fs
