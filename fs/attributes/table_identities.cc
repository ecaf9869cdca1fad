// SPDX-License-Identifier: MIT
#include "fs/attributes/table_identities.h"

#include <charconv>
#include <mutex>
#include <string_view>
#include <utility>

#include "fs/attributes/attribute_rows.h"
#include "fs/base/random_number.h"

namespace cellfs::fs {
namespace {

constexpr char kIdentity[] = "table";  // a qualifier in kChangeFamily
constexpr char kRowMark = '@';
constexpr Timestamp kLongestMaking = 300'000;  // milliseconds

std::string RowOfIdentity(const TableName& table) {
  return kRowMark + table.namespace_name + ':' + table.name;
}

std::string WriteIdentity(const TableIdentities::Identity& identity) {
  std::string text =
      std::to_string(identity.id) + ' ' + std::to_string(identity.incarnation.state);
  for (const int64_t region : identity.incarnation.regions) text += ' ' + std::to_string(region);
  return text;
}

template <typename Number>
bool ReadNumber(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (text.empty()) return true;
  if (text.front() != ' ') return false;
  text.remove_prefix(1);
  return true;
}

// Of a table that a mount is making anew: whatever is seen of it, it is the one.
bool IsBeingMade(const TableIncarnation& stored) {
  return stored.state == 0 && stored.regions.empty();
}

bool IsOf(const TableIdentities::Identity& identity, const TableSchema& schema) {
  const TableIncarnation& stored = identity.incarnation;
  return IsBeingMade(stored) || schema.incarnation()->IsSameTable(stored);
}

}  // namespace

// ---- As they are stored -------------------------------------------------------------------------

bool TableIdentities::IsRowOfOne(const std::string& row) { return row.front() == kRowMark; }

Status TableIdentities::Read(const Cell& cell, Identities& identities) {
  if (cell.family != kChangeFamily || cell.qualifier != kIdentity || cell.value.empty()) return {};
  const size_t colon = cell.row.find(':');
  Identity identity;
  identity.text = cell.value;
  identity.since = cell.timestamp;
  std::string_view rest = identity.text;
  bool is_right = colon != std::string::npos && ReadNumber(rest, identity.id) &&
                  ReadNumber(rest, identity.incarnation.state);
  while (is_right && !rest.empty()) {
    is_right = ReadNumber(rest, identity.incarnation.regions.emplace_back());
  }
  if (!is_right) {
    return {StatusCode::kCorruption, "the identity of a table is '" + cell.value + "'"};
  }
  identities.insert_or_assign(TableName{cell.row.substr(1, colon - 1), cell.row.substr(colon + 1)},
                              std::move(identity));
  return {};
}

uint64_t TableIdentities::changes() const {
  const std::shared_lock lock(mutex_);
  return changes_;
}

void TableIdentities::Learn(Identities identities, uint64_t changes_before) {
  const std::unique_lock lock(mutex_);
  if (changes_ != changes_before) return;
  for (const auto& [table, before] : stored_) {
    const auto now = identities.find(table);
    if (now != identities.end() && now->second.text == before.text)
      now->second.tried = before.tried;
  }
  stored_ = std::move(identities);
}

std::optional<TableIdentities::Identity> TableIdentities::Find(const TableName& table) const {
  const std::shared_lock lock(mutex_);
  const auto found = stored_.find(table);
  return found == stored_.end() ? std::nullopt : std::optional(found->second);
}

void TableIdentities::Set(const TableName& table, std::optional<Identity> identity) {
  const std::unique_lock lock(mutex_);
  ++changes_;
  stored_.erase(table);
  if (identity) stored_.emplace(table, *std::move(identity));
}

Status TableIdentities::Reread(const TableName& table) {
  Get get;
  get.row = RowOfIdentity(table);
  get.columns[kChangeFamily] = {kIdentity};
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells, table_.Read(get));
  Identities read;
  for (const Cell& cell : cells) CELLFS_RETURN_IF_ERROR(Read(cell, read));
  Set(table, read.empty() ? std::nullopt : std::optional(std::move(read.begin()->second)));
  return {};
}

StatusOr<bool> TableIdentities::Put(const TableName& table, const std::string& text_before,
                                    Identity identity) {
  identity.text = WriteIdentity(identity);
  identity.since = clock_.Now();
  identity.tried.reset();
  const std::string row = RowOfIdentity(table);
  const ColumnCondition as_read{kChangeFamily, kIdentity, CompareOperator::kEqual, text_before};
  cellfs::Put put{row, {{kChangeFamily, kIdentity, kLatestTimestamp, identity.text, {}}}};
  CELLFS_ASSIGN_OR_RETURN(const bool done,
                          table_.WriteIf(as_read, RowMutations::Of(std::move(put))));
  if (done) {
    Set(table, std::move(identity));
  } else {
    CELLFS_RETURN_IF_ERROR(Reread(table));
  }
  return done;
}

// ---- Of one table -------------------------------------------------------------------------------

std::string TableIdentities::RowOf(const TableSchema& schema) const {
  if (schema.id() != 0) return RowOfTable(schema.id());
  const std::shared_lock lock(mutex_);
  if (!schema.incarnation()) {
    const auto here = here_.find(schema.name());
    return here == here_.end() ? std::string() : RowOfTableHere(here->second);
  }
  const auto found = stored_.find(schema.name());
  const bool is_known = found != stored_.end() && IsOf(found->second, schema);
  return is_known ? RowOfTableHere(found->second.id) : std::string();
}

std::string TableIdentities::NewRow() { return RowOfTableHere(RandomNumber()); }

StatusOr<bool> TableIdentities::Establish(const TableSchema& schema, const std::string& row) {
  if (schema.id() != 0 || RowOf(schema) == row) return true;
  const TableId id = IdOfTableHere(row);
  if (!schema.incarnation()) {
    const std::unique_lock lock(mutex_);
    return here_.try_emplace(schema.name(), id).second;
  }
  {
    const std::unique_lock lock(mutex_);
    here_.erase(schema.name());
  }
  const std::optional<Identity> before = Find(schema.name());
  if (before && IsOf(*before, schema)) return before->id == id;
  CELLFS_ASSIGN_OR_RETURN(const bool done,
                          Put(schema.name(), before ? before->text : std::string(),
                              {.id = id, .incarnation = *schema.incarnation()}));
  // Of a table that is there no more. What cannot be removed is shown nowhere.
  if (done && before) static_cast<void>(table_.RemoveTable(RowOfTableHere(before->id)));
  return done;
}

bool TableIdentities::WasLeft(const Identity& identity) const {
  return IsBeingMade(identity.incarnation) && clock_.Now() - identity.since > kLongestMaking;
}

void TableIdentities::Note(const TableSchema& schema) {
  if (!notes_ || !schema.incarnation()) return;
  const TableIncarnation& seen = *schema.incarnation();
  {
    const std::shared_lock lock(mutex_);
    const auto found = stored_.find(schema.name());
    if (found == stored_.end() || seen == found->second.tried) return;
    const TableIncarnation& stored = found->second.incarnation;
    const bool is_newer = seen != stored && seen.IsLaterThan(stored) && seen.IsSameTable(stored);
    if (!is_newer && !WasLeft(found->second)) return;
  }
  std::optional<Identity> identity = Find(schema.name());
  if (!identity) return;
  const std::string text_before = identity->text;
  identity->tried = seen;
  Set(schema.name(), identity);
  identity->incarnation = seen;
  static_cast<void>(Put(schema.name(), text_before, *std::move(identity)));
}

Status TableIdentities::IsStillTheSame(const TableSchema& schema) {
  if (!schema.incarnation()) return {};
  std::optional<TableId> id;
  {
    const std::unique_lock lock(mutex_);
    const auto here = here_.find(schema.name());
    if (here != here_.end()) {
      id = here->second;
      here_.erase(here);
    }
  }
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::optional<Identity> before = Find(schema.name());
    if (!id && !before) return {};
    Identity now{.id = id ? *id : before->id, .incarnation = *schema.incarnation()};
    const bool begins = !id && !IsBeingMade(before->incarnation) &&
                        now.incarnation.IsSameTable(before->incarnation);
    if (begins) now.incarnation = {};
    CELLFS_ASSIGN_OR_RETURN(const bool done,
                            Put(schema.name(), before ? before->text : std::string(), now));
    if (!done) continue;
    if (before && before->id != now.id)
      static_cast<void>(table_.RemoveTable(RowOfTableHere(before->id)));
    return {};
  }
  return {StatusCode::kUnavailable, "other mounts change whose the table is"};
}

Status TableIdentities::Forget(const TableName& table) {
  {
    const std::unique_lock lock(mutex_);
    here_.erase(table);
  }
  const std::optional<Identity> before = Find(table);
  if (!before) return {};
  Set(table, std::nullopt);
  const std::string row = RowOfIdentity(table);
  const ColumnCondition as_read{kChangeFamily, kIdentity, CompareOperator::kEqual, before->text};
  cellfs::Delete gone{row, {{CellType::kDeleteColumn, kChangeFamily, kIdentity}}};
  return table_.WriteIf(as_read, RowMutations::Of(std::move(gone))).status();
}

}  // namespace cellfs::fs
