// SPDX-License-Identifier: MIT
#include "engine/file/store_file_cursor.h"

#include <utility>

namespace cellfs {
namespace {

// Of a marker.
enum Column { kRow, kQualifier, kTimestamp, kType, kSequenceId, kTimeToLive };

// From here on it is read into our own memory at once, which costs a few microseconds.
constexpr uint64_t kLongValue = uint64_t{256} << 10;

}  // namespace

StoreFileCursor::StoreFileCursor(StoreFile::Lease file, CellSet set, SequenceId read_point,
                                 bool lengths_only, std::optional<std::string_view> only_row)
    : file_(std::move(file)),
      set_(set),
      read_point_(read_point),
      lengths_only_(lengths_only),
      only_row_(only_row) {}

StoreFileCursor::~StoreFileCursor() {
  if (value_ != nullptr) value_->Reset();
}

StatusOr<bool> StoreFileCursor::MayHaveFamilyTombstones(std::string_view row) {
  if (file_.facts().family_tombstones == 0) return false;
  return file_.MayHaveTombstones(set_, row, {});
}

// Whether nothing lies between the place last sought and the present cell, with `place` among it.
bool StoreFileCursor::IsKnownAt(const CellPlace& place) const {
  if (!at_first_ || (valid_ && IsBefore(stored_.cell, place))) return false;
  if (const int order = place.row.compare(row_); order != 0) return order > 0;
  if (const int order = place.qualifier.compare(qualifier_); order != 0) return order > 0;
  return place.timestamp <= timestamp_;
}

Status StoreFileCursor::Seek(const CellPlace& place) {
  if (IsKnownAt(place)) return Status();
  next_row_ = place.row;
  next_qualifier_ = place.qualifier;
  row_.swap(next_row_);
  qualifier_.swap(next_qualifier_);
  timestamp_ = place.timestamp;
  valid_ = at_first_ = false;
  if (cells_ == nullptr) {
    CELLFS_ASSIGN_OR_RETURN(cells_, file_.reader().Cells(set_));
  }
  CELLFS_RETURN_IF_ERROR(cells_->Seek(row_, qualifier_, -timestamp_));
  CELLFS_RETURN_IF_ERROR(LoadSeen());
  at_first_ = true;
  return Status();
}

Status StoreFileCursor::SeekToRowBefore(std::string_view row) {
  // A row all of whose cells are above the read point is none.
  std::string bound(row);
  for (bool first = true;; first = false) {
    const bool last_row = first && bound.empty();
    CELLFS_ASSIGN_OR_RETURN(Statement* const before, last_row ? file_.reader().LastRow(set_)
                                                              : file_.reader().RowBefore(set_));
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

Status StoreFileCursor::Next() {
  valid_ = at_first_ = false;
  CELLFS_RETURN_IF_ERROR(cells_->Next());
  return LoadSeen();
}

Status StoreFileCursor::LoadSeen() {
  while (cells_->valid()) {
    const Status loaded = Load();
    if (!valid_) return loaded;
    valid_ = !only_row_ || stored_.cell.row == *only_row_;
    if (!valid_) return {};
    if (stored_.cell.sequence_id <= read_point_) return loaded;
    valid_ = false;
    CELLFS_RETURN_IF_ERROR(cells_->Next());
  }
  return {};
}

bool StoreFileCursor::TakeValueAndLength(RecordReader& reader, std::string_view* value,
                                         int64_t* length) const {
  int64_t checksum = 0;
  if (file_.reader().format() <= kLastFormatOfCheckedCells)
    return reader.Integer(length) && reader.Integer(&checksum) && reader.BlobOrNull(value);
  return reader.BlobOrNull(value) &&
         reader.IntegerOrNull(length, static_cast<int64_t>(value->size()));
}

Status StoreFileCursor::Load() {
  std::string_view record;
  CELLFS_RETURN_IF_ERROR(cells_->Record(&record));
  CellView& cell = stored_.cell;
  RecordReader reader;
  int64_t t = 0, y = 0, s = 0, length = 0, tag = 0;
  std::string_view value;
  const bool is_cell = reader.Begin(record) && reader.Blob(&cell.row) &&
                       reader.Blob(&cell.qualifier) && reader.Integer(&t) && reader.Integer(&y) &&
                       reader.Integer(&s) && TakeValueAndLength(reader, &value, &length) &&
                       reader.IntegerOrNull(&stored_.reference, 0) &&
                       reader.IntegerOrNull(&cell.time_to_live, kNoCellTtl) &&
                       reader.IntegerOrNull(&tag, 0);
  if (!is_cell) return Damaged("a cell");
  valid_ = true;
  cell.timestamp = -t;
  cell.type = IsYOfWithdrawal(y) ? kWithdrawMarker : static_cast<CellType>(-y);
  cell.sequence_id = static_cast<SequenceId>(-s);
  cell.value_length = static_cast<uint64_t>(length);
  cell.value = {};
  if (stored_.reference != 0) value = {};
  stored_.packed = {static_cast<ValueTag>(tag), value};
  if (cell.type == kWithdrawMarker) {
    withdrawn_type_ = static_cast<char>(WithdrawnTypeOf(y));
    cell.value = {&withdrawn_type_, 1};
    cell.value_length = 1;
  } else if (!lengths_only_ && stored_.packed.tag == ValueTag::kPlain) {
    cell.value = stored_.packed.bytes;  // long and compressed values wait until they are asked for
  }
  return {};
}

Status StoreFileCursor::LoadValue() {
  CellView& cell = stored_.cell;
  if (lengths_only_) return {};
  if (cell.value.empty() && cell.value_length != 0) {
    if (stored_.reference != 0) CELLFS_RETURN_IF_ERROR(LoadReferenced());
    if (stored_.packed.tag == ValueTag::kPlain) {
      cell.value = stored_.packed.bytes;
    } else {
      std::string unpacked;
      if (!UnpackValue(stored_.packed, cell.value_length, &unpacked))
        return Damaged("a compressed value");
      owned_ = std::move(unpacked);
      cell.value = owned_;
    }
  }
  return cell.value.size() == cell.value_length ? Status() : Damaged("a length");
}

Status StoreFileCursor::LoadReferenced() {
  if (stored_.cell.value_length >= kLongValue) {
    CELLFS_ASSIGN_OR_RETURN(const bool found,
                            file_.reader().LongValue(stored_.reference, &owned_));
    if (!found) return Damaged("a reference to a value");
    stored_.packed.bytes = owned_;
    return {};
  }
  if (value_ == nullptr) {
    CELLFS_ASSIGN_OR_RETURN(value_, file_.reader().Value());
  }
  value_->Reset();
  value_->Bind(1, stored_.reference);
  CELLFS_ASSIGN_OR_RETURN(const bool found, value_->Step());
  if (!found) return Damaged("a reference to a value");
  stored_.packed.bytes = value_->Bytes(0);
  return {};
}

void StoreFileCursor::TakeValue(std::string* value) {
  if (stored_.cell.value.empty() || stored_.cell.value.data() != owned_.data()) {
    value->assign(stored_.cell.value);
    return;
  }
  *value = std::exchange(owned_, {});
  stored_.cell.value = {};
}

Status StoreFileCursor::Damaged(std::string_view what) const {
  return Status(StatusCode::kCorruption, file_.reader().path() + ": " + std::string(what) +
                                             " of family '" + file_.facts().family +
                                             "' is not what was written");
}

namespace {

// Cells without a value, or with one that the type says. Where their index is damaged they are
// found among all cells of the file.
class MarkerCursor : public CellCursor {
 public:
  MarkerCursor(StoreFile::Lease file, MarkerKind kind, CellSet set)
      : file_(std::move(file)), kind_(kind), set_(set) {}
  ~MarkerCursor() override {
    if (rows_ != nullptr) rows_->Reset();
  }

  Status Seek(const CellPlace&) override {
    CELLFS_ASSIGN_OR_RETURN(rows_, file_.reader().MarkersOf(kind_, set_, by_index_));
    return Next();
  }
  Status SeekToRowBefore(std::string_view) override {
    return {StatusCode::kUnsupportedOperation, "markers are read forward"};
  }
  Status Next() override {
    StatusOr<bool> row = rows_->Step();
    if (by_index_ && row.status().code() == StatusCode::kCorruption) {
      CELLFS_RETURN_IF_ERROR(GoOnWithoutIndex(row.status()));
      row = rows_->Step();
    }
    CELLFS_ASSIGN_OR_RETURN(valid_, std::move(row));
    if (!valid_) {
      rows_->Reset();
      return {};
    }
    ++passed_;
    cell_.row = rows_->Bytes(kRow);
    cell_.qualifier = rows_->Bytes(kQualifier);
    cell_.timestamp = -rows_->Integer(kTimestamp);
    cell_.sequence_id = static_cast<SequenceId>(-rows_->Integer(kSequenceId));
    cell_.time_to_live = rows_->IsNull(kTimeToLive) ? kNoCellTtl : rows_->Integer(kTimeToLive);
    TakeType(rows_->Integer(kType));
    return {};
  }
  bool valid() const override { return valid_; }
  const CellView& cell() const override { return cell_; }

 private:
  void TakeType(int64_t y) {
    const bool is_withdrawal = IsYOfWithdrawal(y);
    cell_.type = is_withdrawal ? kWithdrawMarker : static_cast<CellType>(-y);
    if (!is_withdrawal) return;
    type_ = static_cast<char>(WithdrawnTypeOf(y));
    cell_.value = {&type_, 1};
    cell_.value_length = 1;
  }

  // Behind those that it gave before.
  Status GoOnWithoutIndex(const Status& found) {
    file_.NoteDamage(found);
    by_index_ = false;
    rows_->Reset();
    CELLFS_ASSIGN_OR_RETURN(rows_, file_.reader().MarkersOf(kind_, set_, by_index_));
    for (uint64_t i = 0; i < passed_; ++i) CELLFS_RETURN_IF_ERROR(rows_->Step().status());
    return {};
  }

  StoreFile::Lease file_;
  const MarkerKind kind_;
  const CellSet set_;
  bool by_index_ = true;
  uint64_t passed_ = 0;  // markers that were given
  Statement* rows_ = nullptr;
  CellView cell_;
  char type_ = 0;
  bool valid_ = false;
};

}  // namespace

std::unique_ptr<CellCursor> OpenWithdrawals(StoreFile::Lease file) {
  return std::make_unique<MarkerCursor>(std::move(file), MarkerKind::kWithdrawals, CellSet::kShown);
}

std::unique_ptr<CellCursor> OpenTombstones(StoreFile::Lease file, CellSet set) {
  return std::make_unique<MarkerCursor>(std::move(file), MarkerKind::kTombstones, set);
}

}  // namespace cellfs
