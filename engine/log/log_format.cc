// SPDX-License-Identifier: MIT
#include "engine/log/log_format.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "engine/visibility/cell_cursor.h"

namespace cellfs {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

constexpr std::string_view kSegmentMagic = "CELLWAL\n";
constexpr TableId kNoTable = 0;   // of notes
constexpr uint64_t kDropped = 0;  // in place of the number of the next file

template <typename Number>
void PutNumber(Number number, std::string* out) {
  out->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// Puts numbers and bytes one behind the other where there is room for them: to append each to a
// string takes three times as long.
class Writer {
 public:
  explicit Writer(char* to) : to_(to) {}

  template <typename Number>
  void PutNumber(Number number) {
    std::memcpy(to_, &number, sizeof(number));
    to_ += sizeof(number);
  }
  void PutBytes(std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(to_, bytes.data(), bytes.size());
    to_ += bytes.size();
  }
  template <typename Length>
  void PutBytes(std::string_view bytes) {
    PutNumber(static_cast<Length>(bytes.size()));
    PutBytes(bytes);
  }
  const char* at() const { return to_; }

 private:
  char* to_;
};

// Takes numbers and bytes off the front; once something is missing, it stays false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename Number>
  Number TakeNumber() {
    Number number = 0;
    const std::string_view bytes = Take(sizeof(number));
    if (good_) std::memcpy(&number, bytes.data(), sizeof(number));
    return number;
  }
  template <typename Length>
  std::string_view TakeBytes() {
    return Take(TakeNumber<Length>());
  }
  std::string_view Take(size_t size) {
    good_ = good_ && size <= rest_.size();
    if (!good_) return {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  bool good() const { return good_; }
  bool at_end() const { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

// All but the bytes of its value.
void EncodeCell(const CellView& cell, Writer* out) {
  out->PutBytes<uint8_t>(cell.family);
  out->PutBytes<uint32_t>(cell.qualifier);
  out->PutNumber(cell.timestamp);
  out->PutNumber(static_cast<uint8_t>(cell.type));
  out->PutNumber(cell.time_to_live);
  out->PutNumber(static_cast<uint32_t>(cell.value.size()));
}

CellView DecodeCell(Reader* reader) {
  CellView cell;
  cell.family = reader->TakeBytes<uint8_t>();
  cell.qualifier = reader->TakeBytes<uint32_t>();
  cell.timestamp = reader->TakeNumber<Timestamp>();
  cell.type = static_cast<CellType>(reader->TakeNumber<uint8_t>());
  cell.time_to_live = reader->TakeNumber<int64_t>();
  cell.value = reader->TakeBytes<uint32_t>();
  cell.value_length = cell.value.size();
  return cell;
}

size_t SizeOf(const LogRecord& record) {
  size_t size = kRecordHeaderSize + 22 + record.row.size();
  for (const CellView& cell : record.cells)
    size += 26 + cell.family.size() + cell.qualifier.size() + cell.value.size();
  return size;
}

// Of the payload from `begin` on, with the values that come in between.
uint64_t ChecksumOf(std::string_view bytes, std::span<const ValueApart> apart, size_t begin,
                    LogPosition seed) {
  if (apart.empty()) return LogChecksum(bytes.substr(begin), seed);
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                             XXH3_freeState);
  if (state == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset_withSeed(state.get(), seed);
  const auto add = [&](std::string_view piece) {
    XXH3_64bits_update(state.get(), piece.data(), piece.size());
  };
  for (const ValueApart& value : apart) {
    add(bytes.substr(begin, value.before - begin));
    add(value.bytes);
    begin = value.before;
  }
  add(bytes.substr(begin));
  return XXH3_64bits_digest(state.get());
}

// REQUIRES: the record is from `begin` on, with room for its header.
void FillRecordHeader(const RecordPlace& place, size_t begin, std::string* out,
                      std::span<const ValueApart> apart = {}) {
  const size_t payload = begin + kRecordHeaderSize;
  size_t size = out->size() - payload;
  for (const ValueApart& value : apart) size += value.bytes.size();
  char* const header = out->data() + begin;
  std::memcpy(header, kRecordMagic.data(), kRecordMagic.size());
  Writer writer(header + kRecordMagic.size());
  writer.PutNumber(static_cast<uint32_t>(size));
  writer.PutNumber(place.synced);
  writer.PutNumber(LogChecksum({header, kCheckedHeaderSize}, place.begin));
  writer.PutNumber(ChecksumOf(*out, apart, payload, place.begin));
}

// The one-byte value of a withdrawal, which must outlive the batch's views.
std::string_view ValueOfWithdrawal(CellType type) {
  static constexpr char kCodes[] = {4, 8, 10, 12, 14};
  for (const char& code : kCodes)
    if (static_cast<CellType>(code) == type) return {&code, 1};
  return {kCodes, 1};
}

}  // namespace

std::pmr::vector<CellView> CellsOf(const RowBatch& batch, SequenceId sequence_id,
                                   std::pmr::memory_resource* memory) {
  std::pmr::vector<CellView> cells(memory);
  cells.reserve(batch.cells.size() + batch.withdrawn.size());
  for (const Cell& cell : batch.cells) {
    CellView view = ViewOf(cell);
    view.row = batch.row;
    view.sequence_id = sequence_id;
    view.value_length = cell.value.size();
    cells.push_back(view);
  }
  for (const WithdrawCell& cell : batch.withdrawn)
    cells.push_back({batch.row, cell.family, cell.qualifier, cell.timestamp, kWithdrawMarker,
                     sequence_id, kNoCellTtl, ValueOfWithdrawal(cell.type), 1});
  return cells;
}

std::string EncodeSegmentHeader(const SegmentHeader& header) {
  std::string bytes(kSegmentMagic);
  PutNumber(header.format_version, &bytes);
  PutNumber(header.number, &bytes);
  PutNumber(header.base, &bytes);
  PutNumber(header.store_id, &bytes);
  PutNumber(LogChecksum(bytes, 0), &bytes);
  return bytes;
}

std::optional<SegmentHeader> DecodeSegmentHeader(std::string_view bytes) {
  Reader reader(bytes);
  const std::string_view magic = reader.Take(kSegmentMagic.size());
  SegmentHeader header;
  header.format_version = reader.TakeNumber<uint32_t>();
  header.number = reader.TakeNumber<uint64_t>();
  header.base = reader.TakeNumber<LogPosition>();
  header.store_id = reader.TakeNumber<uint64_t>();
  const uint64_t checksum = reader.TakeNumber<uint64_t>();
  if (!reader.good() || magic != kSegmentMagic) return std::nullopt;
  if (checksum != LogChecksum(bytes.substr(0, kSegmentHeaderSize - 8), 0)) return std::nullopt;
  return header;
}

std::string SegmentName(uint64_t number) {
  char name[32];
  std::snprintf(name, sizeof(name), "%016" PRIu64 ".log", number);
  return name;
}

std::optional<uint64_t> ParseSegmentName(std::string_view name) {
  uint64_t number = 0;
  for (const char digit : name.substr(0, name.find('.'))) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + static_cast<uint64_t>(digit - '0');
  }
  if (number == 0 || SegmentName(number) != name) return std::nullopt;
  return number;
}

Status EncodeRecord(const LogRecord& record, const RecordPlace& place, std::string* out,
                    std::vector<ValueApart>* apart) {
  size_t size = SizeOf(record);
  if (size > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    return {StatusCode::kValueTooLarge,
            "a mutation of " + std::to_string(size) + " bytes is over the log's maximum of 2 GiB"};
  const auto is_apart = [&](const CellView& cell) {
    return apart != nullptr && cell.value.size() >= ValueApart::kLong;
  };
  for (const CellView& cell : record.cells)
    if (is_apart(cell)) size -= cell.value.size();
  const size_t begin = out->size();
  const size_t others = apart != nullptr ? apart->size() : 0;
  out->resize(begin + size);
  Writer writer(out->data() + begin + kRecordHeaderSize);
  writer.PutNumber(record.table_id);
  writer.PutNumber(record.sequence_id);
  writer.PutBytes<uint16_t>(record.row);
  writer.PutNumber(static_cast<uint32_t>(record.cells.size()));
  for (const CellView& cell : record.cells) {
    EncodeCell(cell, &writer);
    if (is_apart(cell)) {
      apart->push_back({static_cast<size_t>(writer.at() - out->data()), cell.value});
    } else {
      writer.PutBytes(cell.value);
    }
  }
  std::span<const ValueApart> own;
  if (apart != nullptr) own = std::span(*apart).subspan(others);
  FillRecordHeader(place, begin, out, own);
  return {};
}

void EncodeNote(const LogNote& note, const RecordPlace& place, std::string* out) {
  const size_t begin = out->size();
  out->append(kRecordHeaderSize, '\0');
  PutNumber(kNoTable, out);
  PutNumber(static_cast<uint8_t>(note.kind), out);
  for (const auto& [table, highest] : note.older) {
    PutNumber(table, out);
    PutNumber(highest, out);
  }
  for (const auto& [table, mark] : note.tables) {
    PutNumber(table, out);
    PutNumber(mark.next_file, out);
    PutNumber(mark.flushed, out);
    PutNumber(static_cast<uint32_t>(mark.files.size()), out);
    for (const uint64_t number : mark.files) PutNumber(number, out);
  }
  for (const TableId table : note.dropped) {
    PutNumber(table, out);
    PutNumber(kDropped, out);
  }
  out->append(note.padding, '\0');
  FillRecordHeader(place, begin, out);
}

namespace {

void TakeTable(Reader* reader, LogNote* note) {
  const auto table = reader->TakeNumber<TableId>();
  TableMark mark{.flushed = 0, .next_file = reader->TakeNumber<uint64_t>(), .files = {}};
  if (mark.next_file == kDropped) {
    note->dropped.push_back(table);
    return;
  }
  mark.flushed = reader->TakeNumber<SequenceId>();
  const auto count = reader->TakeNumber<uint32_t>();
  for (uint32_t i = 0; i < count && reader->good(); ++i)
    mark.files.push_back(reader->TakeNumber<uint64_t>());
  note->tables[table] = std::move(mark);
}

}  // namespace

void NoteHighest(const LogRecord& record, OlderCells* cells) {
  SequenceId& highest = (*cells)[record.table_id];
  highest = std::max(highest, record.sequence_id);
}

void LogNote::ApplyTo(TableMarks* marks) const {
  for (const auto& [table, mark] : tables) (*marks)[table] = mark;
  for (const TableId table : dropped) marks->erase(table);
}

std::optional<LogNote> DecodeNote(std::string_view bytes) {
  Reader reader(bytes);
  reader.Take(kRecordHeaderSize);
  if (reader.TakeNumber<TableId>() != kNoTable || !reader.good()) return std::nullopt;
  LogNote note;
  note.kind = static_cast<LogNote::Kind>(reader.TakeNumber<uint8_t>());
  if (note.kind > LogNote::Kind::kTables) return std::nullopt;
  if (note.kind == LogNote::Kind::kNothing) {
    note.padding = bytes.size() - kSmallestNote;
    return note;
  }
  while (reader.good() && !reader.at_end()) {
    if (note.kind == LogNote::Kind::kTables) {
      TakeTable(&reader, &note);
      continue;
    }
    const auto table = reader.TakeNumber<TableId>();
    note.older[table] = reader.TakeNumber<SequenceId>();
  }
  return note;
}

uint64_t LogChecksum(std::string_view bytes, LogPosition begin) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), begin);
}

std::optional<IntactRecord> FindRecordHeader(std::string_view bytes, LogPosition begin) {
  Reader reader(bytes);
  if (reader.Take(kRecordMagic.size()) != kRecordMagic) return std::nullopt;
  const auto length = reader.TakeNumber<uint32_t>();
  const auto synced = reader.TakeNumber<LogPosition>();
  const auto checksum = reader.TakeNumber<uint64_t>();
  if (!reader.good() || checksum != LogChecksum(bytes.substr(0, kCheckedHeaderSize), begin))
    return std::nullopt;
  return IntactRecord{kRecordHeaderSize + length, synced};
}

std::optional<IntactRecord> FindRecord(std::string_view bytes, LogPosition begin) {
  const auto header = FindRecordHeader(bytes, begin);
  if (!header || header->size > bytes.size()) return std::nullopt;
  Reader reader(bytes.substr(kRecordHeaderSize - sizeof(uint64_t)));
  const auto checksum = reader.TakeNumber<uint64_t>();
  const std::string_view payload =
      bytes.substr(kRecordHeaderSize, header->size - kRecordHeaderSize);
  if (LogChecksum(payload, begin) != checksum) return std::nullopt;
  return header;
}

std::optional<LogRecord> DecodeRecord(std::string_view bytes, std::vector<CellView>* cells) {
  Reader reader(bytes);
  reader.Take(kRecordHeaderSize);
  LogRecord record;
  record.table_id = reader.TakeNumber<TableId>();
  record.sequence_id = reader.TakeNumber<SequenceId>();
  record.row = reader.TakeBytes<uint16_t>();
  const uint32_t count = reader.TakeNumber<uint32_t>();
  cells->clear();
  for (uint32_t i = 0; i < count && reader.good(); ++i) {
    cells->push_back(DecodeCell(&reader));
    cells->back().row = record.row;
    cells->back().sequence_id = record.sequence_id;
  }
  if (!reader.at_end()) return std::nullopt;
  record.cells = *cells;
  return record;
}

}  // namespace cellfs
