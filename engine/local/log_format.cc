// SPDX-License-Identifier: MIT
#include "engine/local/log_format.h"

#include <xxhash.h>

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <limits>

#include "engine/visibility/cell_cursor.h"

namespace cellfs {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

constexpr std::string_view kSegmentMagic = "CELLWAL\n";
constexpr std::string_view kRecordMagic = "\xc5REC";
constexpr size_t kChecksummedFrom = 12;  // of a record: what follows magic and checksum

template <typename Number>
void PutNumber(Number number, std::string* out) {
  out->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename Length>
void PutBytes(std::string_view bytes, std::string* out) {
  PutNumber(static_cast<Length>(bytes.size()), out);
  out->append(bytes);
}

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

uint64_t ChecksumOf(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

void EncodeCell(const CellView& cell, std::string* out) {
  PutBytes<uint8_t>(cell.family, out);
  PutBytes<uint32_t>(cell.qualifier, out);
  PutNumber(cell.timestamp, out);
  PutNumber(static_cast<uint8_t>(cell.type), out);
  PutNumber(cell.time_to_live, out);
  PutBytes<uint32_t>(cell.value, out);
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

// The one-byte value of a withdrawal, which must outlive the batch's views.
std::string_view ValueOfWithdrawal(CellType type) {
  static constexpr char kCodes[] = {4, 8, 10, 12, 14};
  for (const char& code : kCodes)
    if (static_cast<CellType>(code) == type) return {&code, 1};
  return {kCodes, 1};
}

}  // namespace

std::vector<CellView> CellsOf(const RowBatch& batch, SequenceId sequence_id) {
  std::vector<CellView> cells;
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
  PutNumber(ChecksumOf(bytes, 0), &bytes);
  return bytes;
}

std::optional<SegmentHeader> DecodeSegmentHeader(std::string_view bytes) {
  Reader reader(bytes);
  const std::string_view magic = reader.Take(kSegmentMagic.size());
  SegmentHeader header;
  header.format_version = reader.TakeNumber<uint32_t>();
  header.number = reader.TakeNumber<uint64_t>();
  header.base = reader.TakeNumber<LogPosition>();
  const uint64_t checksum = reader.TakeNumber<uint64_t>();
  if (!reader.good() || magic != kSegmentMagic) return std::nullopt;
  if (checksum != ChecksumOf(bytes.substr(0, kSegmentHeaderSize - 8), 0)) return std::nullopt;
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

Status EncodeRecord(const LogRecord& record, const RecordPlace& place, std::string* out) {
  const size_t size = SizeOf(record);
  if (size > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    return {StatusCode::kValueTooLarge,
            "a mutation of " + std::to_string(size) + " bytes is over the log's maximum of 2 GiB"};
  const size_t begin = out->size();
  out->append(kRecordMagic);
  PutNumber(uint64_t{0}, out);  // the checksum, once the rest is there
  PutNumber(static_cast<uint32_t>(size - kRecordHeaderSize), out);
  PutNumber(place.synced, out);
  PutNumber(record.table_id, out);
  PutNumber(record.sequence_id, out);
  PutBytes<uint16_t>(record.row, out);
  PutNumber(static_cast<uint32_t>(record.cells.size()), out);
  for (const CellView& cell : record.cells) EncodeCell(cell, out);
  const uint64_t checksum =
      ChecksumOf(std::string_view(*out).substr(begin + kChecksummedFrom), place.begin);
  std::memcpy(out->data() + begin + kRecordMagic.size(), &checksum, sizeof(checksum));
  return {};
}

std::optional<IntactRecord> FindRecord(std::string_view bytes, LogPosition begin) {
  Reader reader(bytes);
  if (reader.Take(kRecordMagic.size()) != kRecordMagic) return std::nullopt;
  const uint64_t checksum = reader.TakeNumber<uint64_t>();
  const uint32_t length = reader.TakeNumber<uint32_t>();
  const LogPosition synced = reader.TakeNumber<LogPosition>();
  reader.Take(length);
  if (!reader.good()) return std::nullopt;
  const size_t size = kRecordHeaderSize + length;
  const std::string_view covered = bytes.substr(kChecksummedFrom, size - kChecksummedFrom);
  if (ChecksumOf(covered, begin) != checksum) return std::nullopt;
  return IntactRecord{size, synced};
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

size_t FindNextRecord(std::string_view segment, size_t from, LogPosition base) {
  for (size_t at = segment.find(kRecordMagic, from); at != std::string_view::npos;
       at = segment.find(kRecordMagic, at + 1))
    if (FindRecord(segment.substr(at), base + at)) return at;
  return std::string_view::npos;
}

namespace {

constexpr size_t kPageSize = 4096;

bool IsZero(std::string_view bytes) { return bytes.find_first_not_of('\0') == bytes.npos; }

// A machine that loses power may have written later pages of a file before earlier ones, which then
// are zero: from the damage to the end of its page, or whole pages between it and `limit`.
bool HasUnwrittenPage(std::string_view bytes, size_t damage, size_t limit) {
  size_t page_end = damage / kPageSize * kPageSize + kPageSize;
  for (size_t begin = damage; begin < limit && page_end <= bytes.size(); page_end += kPageSize) {
    if (IsZero(bytes.substr(begin, page_end - begin))) return true;
    begin = page_end;
  }
  return false;
}

}  // namespace

// The last write of a process that died is cut short, and nothing follows. Where intact records
// follow, the damage is a write that the disk never did (power loss, before a sync), or corruption.
bool IsTornTail(std::string_view segment, size_t damage, LogPosition base) {
  size_t next = FindNextRecord(segment, damage + 1, base);
  const bool unwritten = HasUnwrittenPage(segment, damage, std::min(next, segment.size()));
  while (next != std::string_view::npos) {
    const auto found = FindRecord(segment.substr(next), base + next);
    if (!unwritten || found->synced > base + damage) return false;
    next = FindNextRecord(segment, next + found->size, base);
  }
  return true;
}

}  // namespace cellfs
