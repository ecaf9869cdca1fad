// SPDX-License-Identifier: MIT
#include "engine/local/sqlite_cursor.h"

#include <utility>

namespace cellfs {
namespace {

enum Column {
  kRow,
  kQualifier,
  kTimestamp,
  kType,
  kSequenceId,
  kLength,
  kTimeToLive,
  // The rest only where values are read.
  kChecksum,
  kReference,
  kTag,
  kValue
};

const char* ConditionOf(CellsFrom from) {
  switch (from) {
    case CellsFrom::kRow:
      return "K >= ?1";
    case CellsFrom::kColumn:
      return "K = ?1 AND Q >= ?2";
    case CellsFrom::kVersion:
      break;
  }
  return "(K, Q, T) >= (?1, ?2, ?3)";
}

// From here on it is read into our own memory at once, which costs a few microseconds.
constexpr uint64_t kLongValue = uint64_t{256} << 10;

}  // namespace

StatusOr<Statement*> FamilyReader::Prepared(std::optional<Statement>& statement,
                                            std::string_view select, std::string_view rest) {
  if (!statement.has_value()) {
    CELLFS_ASSIGN_OR_RETURN(
        Statement prepared,
        database_.Prepare("SELECT " + std::string(select) + " FROM " +
                          QuotedName(CellTableName(family_)) + std::string(rest)));
    statement = std::move(prepared);
  }
  return &*statement;
}

StatusOr<Statement*> FamilyReader::Cells(CellsFrom from, bool lengths_only) {
  std::optional<Statement>& statement =
      (lengths_only ? lengths_ : cells_)[static_cast<size_t>(from)];
  if (statement.has_value()) return &*statement;
  // Of a known row SQLite need not hand out the key again.
  const std::string key = from == CellsFrom::kColumn ? "NULL" : "K";
  return Prepared(statement,
                  key + (lengths_only ? ", Q, T, Y, S, L, X" : ", Q, T, Y, S, L, X, H, R, Z, V"),
                  std::string(" WHERE ") + ConditionOf(from) + " ORDER BY K, Q, T, Y, S");
}

StatusOr<Statement*> FamilyReader::RowBefore() {
  return Prepared(row_before_, "K", " WHERE K < ?1 ORDER BY K DESC LIMIT 1");
}

StatusOr<Statement*> FamilyReader::LastRow() {
  return Prepared(last_row_, "K", " ORDER BY K DESC LIMIT 1");
}

StatusOr<Statement*> FamilyReader::Value() {
  if (!value_.has_value()) {
    CELLFS_ASSIGN_OR_RETURN(
        Statement prepared,
        database_.Prepare("SELECT H, V FROM " + QuotedName(ValueTableName(family_)) +
                          " WHERE R = ?1"));
    value_ = std::move(prepared);
  }
  return &*value_;
}

StatusOr<std::optional<int64_t>> FamilyReader::LongValue(int64_t reference, std::string* value) {
  const std::string table = ValueTableName(family_);
  if (!checksum_.has_value()) {
    CELLFS_ASSIGN_OR_RETURN(
        Statement prepared,
        database_.Prepare("SELECT H FROM " + QuotedName(table) + " WHERE R = ?1"));
    checksum_ = std::move(prepared);
  }
  checksum_->Bind(1, reference);
  CELLFS_ASSIGN_OR_RETURN(const bool found, checksum_->Step());
  if (!found) return std::optional<int64_t>();
  const int64_t checksum = checksum_->Integer(0);
  checksum_->Reset();
  CELLFS_RETURN_IF_ERROR(database_.ReadBlob(table, "V", reference, value));
  return std::optional(checksum);
}

StatusOr<Statement*> FamilyReader::Tombstone() {
  return Prepared(tombstone_, "1",
                  " INDEXED BY " + QuotedName(TombstoneIndexName(family_)) +
                      " WHERE K = ?1 AND Q = ?2 AND Y <> -4 LIMIT 1");
}

StatusOr<bool> FamilyReader::HasTombstones(std::string_view row, std::string_view qualifier) {
  CELLFS_ASSIGN_OR_RETURN(Statement* const statement, Tombstone());
  statement->Bind(1, row);
  statement->Bind(2, qualifier);
  CELLFS_ASSIGN_OR_RETURN(const bool has, statement->Step());
  statement->Reset();
  return has;
}

SqliteCursor::SqliteCursor(std::unique_ptr<FamilyReader> reader, FreeReaders& free,
                           SequenceId read_point, bool lengths_only, const std::string* only_row,
                           bool any_tombstones)
    : reader_(std::move(reader)),
      free_(free),
      read_point_(read_point),
      lengths_only_(lengths_only),
      only_row_(only_row),
      any_tombstones_(any_tombstones) {}

SqliteCursor::~SqliteCursor() {
  if (cells_ != nullptr) cells_->Reset();
  if (value_ != nullptr) value_->Reset();
  free_.push_back(std::move(reader_));
}

StatusOr<bool> SqliteCursor::MayHaveFamilyTombstones(std::string_view row) {
  if (!any_tombstones_) return false;
  return reader_->HasTombstones(row, {});
}

// Whether nothing lies between the place last sought and the present cell, with `place` among it.
bool SqliteCursor::IsKnownAt(const CellPlace& place) const {
  if (!at_first_ || (valid_ && IsBefore(stored_.cell, place))) return false;
  if (const int order = place.row.compare(row_); order != 0) return order > 0;
  if (const int order = place.qualifier.compare(qualifier_); order != 0) return order > 0;
  return place.timestamp <= timestamp_;
}

Status SqliteCursor::Seek(const CellPlace& place) {
  if (IsKnownAt(place)) return Status();
  next_row_ = place.row;
  next_qualifier_ = place.qualifier;
  if (cells_ != nullptr) cells_->Reset();
  row_.swap(next_row_);
  qualifier_.swap(next_qualifier_);
  timestamp_ = place.timestamp;
  from_ = FromHere();
  CELLFS_ASSIGN_OR_RETURN(cells_, reader_->Cells(from_, lengths_only_));
  cells_->Bind(1, row_);
  if (from_ != CellsFrom::kRow) cells_->Bind(2, qualifier_);
  if (from_ == CellsFrom::kVersion) cells_->Bind(3, -timestamp_);
  CELLFS_RETURN_IF_ERROR(StepForward());
  at_first_ = true;
  return Status();
}

CellsFrom SqliteCursor::FromHere() const {
  if (timestamp_ != kLatestTimestamp) return CellsFrom::kVersion;
  if (only_row_ != nullptr && *only_row_ == row_) return CellsFrom::kColumn;
  return qualifier_.empty() ? CellsFrom::kRow : CellsFrom::kVersion;
}

Status SqliteCursor::SeekToRowBefore(std::string_view row) {
  // A row all of whose cells are above the read point is none.
  std::string bound(row);
  for (bool first = true;; first = false) {
    const bool last_row = first && bound.empty();
    CELLFS_ASSIGN_OR_RETURN(Statement* const before,
                            last_row ? reader_->LastRow() : reader_->RowBefore());
    if (!last_row) before->Bind(1, bound);
    CELLFS_ASSIGN_OR_RETURN(const bool found, before->Step());
    std::string candidate(found ? before->Bytes(0) : std::string_view());
    before->Reset();
    if (!found) {
      valid_ = at_first_ = false;
      return Status();
    }
    CELLFS_RETURN_IF_ERROR(Seek({candidate}));
    if (valid_ && stored_.cell.row == candidate) return Status();
    bound.swap(candidate);
  }
}

Status SqliteCursor::Next() {
  at_first_ = false;
  return StepForward();
}

std::string_view SqliteCursor::RowHere() const {
  return from_ == CellsFrom::kColumn ? std::string_view(row_) : cells_->Bytes(kRow);
}

Status SqliteCursor::StepForward() {
  valid_ = false;
  do {
    CELLFS_ASSIGN_OR_RETURN(valid_, cells_->Step());
    valid_ = valid_ && (only_row_ == nullptr || RowHere() == *only_row_);
    if (!valid_) {
      cells_->Reset();  // another step would begin again
      return Status();
    }
  } while (static_cast<SequenceId>(-cells_->Integer(kSequenceId)) > read_point_);
  return Load();
}

Status SqliteCursor::Load() {
  CellView& cell = stored_.cell;
  cell.row = RowHere();
  cell.qualifier = cells_->Bytes(kQualifier);
  cell.timestamp = -cells_->Integer(kTimestamp);
  cell.type = static_cast<CellType>(-cells_->Integer(kType));
  cell.sequence_id = static_cast<SequenceId>(-cells_->Integer(kSequenceId));
  cell.value_length = static_cast<uint64_t>(cells_->Integer(kLength));
  cell.time_to_live = cells_->IsNull(kTimeToLive) ? kNoCellTtl : cells_->Integer(kTimeToLive);
  return lengths_only_ ? Status() : LoadPacked();
}

Status SqliteCursor::LoadPacked() {
  CellView& cell = stored_.cell;
  cell.value = {};
  stored_.reference = cells_->Integer(kReference);
  stored_.packed = {static_cast<ValueTag>(cells_->Integer(kTag)), {}};
  if (stored_.reference == 0) stored_.packed.bytes = cells_->Bytes(kValue);
  if (ChecksumOf(stored_) != cells_->Integer(kChecksum)) return Damaged("a cell");
  // Long and compressed values wait until they are asked for.
  if (stored_.reference == 0 && stored_.packed.tag == ValueTag::kPlain) {
    cell.value = stored_.packed.bytes;
  }
  return Status();
}

Status SqliteCursor::LoadValue() {
  if (lengths_only_ || !stored_.cell.value.empty() || stored_.cell.value_length == 0)
    return Status();
  if (stored_.reference != 0) CELLFS_RETURN_IF_ERROR(LoadReferenced());
  if (stored_.packed.tag == ValueTag::kPlain) {
    stored_.cell.value = stored_.packed.bytes;
    return stored_.cell.value.size() == stored_.cell.value_length ? Status() : Damaged("a length");
  }
  std::string unpacked;
  if (!UnpackValue(stored_.packed, stored_.cell.value_length, &unpacked)) {
    return Damaged("a compressed value");
  }
  owned_ = std::move(unpacked);
  stored_.cell.value = owned_;
  return Status();
}

Status SqliteCursor::LoadReferenced() {
  int64_t checksum = 0;
  if (stored_.cell.value_length >= kLongValue) {
    CELLFS_ASSIGN_OR_RETURN(const std::optional<int64_t> found,
                            reader_->LongValue(stored_.reference, &owned_));
    if (!found) return Damaged("a reference to a value");
    checksum = *found;
    stored_.packed.bytes = owned_;
  } else {
    if (value_ == nullptr) {
      CELLFS_ASSIGN_OR_RETURN(value_, reader_->Value());
    }
    value_->Reset();
    value_->Bind(1, stored_.reference);
    CELLFS_ASSIGN_OR_RETURN(const bool found, value_->Step());
    if (!found) return Damaged("a reference to a value");
    checksum = value_->Integer(0);
    stored_.packed.bytes = value_->Bytes(1);
  }
  return ChecksumOfValue(stored_.packed.bytes, stored_.reference) == checksum ? Status()
                                                                              : Damaged("a value");
}

void SqliteCursor::TakeValue(std::string* value) {
  if (stored_.cell.value.empty() || stored_.cell.value.data() != owned_.data()) {
    value->assign(stored_.cell.value);
    return;
  }
  *value = std::exchange(owned_, {});
  stored_.cell.value = {};
}

Status SqliteCursor::Damaged(std::string_view what) const {
  return Status(StatusCode::kCorruption, reader_->path() + ": " + std::string(what) +
                                             " of family '" + reader_->family() +
                                             "' does not match its checksum");
}

}  // namespace cellfs
