// SPDX-License-Identifier: MIT
//
// The bytes of the write-ahead log: segment headers and records. docs/storage.md, "The log", has
// every one of them. Pure functions; Wal does the writing. What follows the records: log_tail.h.
#ifndef CELLFS_ENGINE_LOG_LOG_FORMAT_H_
#define CELLFS_ENGINE_LOG_LOG_FORMAT_H_

#include <cstdint>
#include <map>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/storage/storage_engine.h"

namespace cellfs {

// What one sequence id wrote to one row of one table. `row` and `sequence_id` of the cells are
// those of the record. Withdrawals are cells of type kWithdrawMarker.
struct LogRecord {
  TableId table_id = 0;
  SequenceId sequence_id = 0;
  std::string_view row;
  std::span<const CellView> cells;
};

// The cells of a batch as the log and the memstore hold them, withdrawals last. Good as long as
// the batch, and the memory that they lie in.
std::pmr::vector<CellView> CellsOf(
    const RowBatch& batch, SequenceId sequence_id,
    std::pmr::memory_resource* memory = std::pmr::get_default_resource());

inline constexpr uint32_t kLogFormatVersion = 2;
inline constexpr size_t kSegmentHeaderSize = 44;
inline constexpr size_t kRecordHeaderSize = 32;

struct SegmentHeader {
  uint32_t format_version = kLogFormatVersion;
  uint64_t number = 0;
  LogPosition base = 0;   // the log position of the segment's first byte
  uint64_t store_id = 0;  // of the store that the segment belongs to
};
std::string EncodeSegmentHeader(const SegmentHeader& header);
// nullopt: not a header, or damaged.
std::optional<SegmentHeader> DecodeSegmentHeader(std::string_view bytes);
// "0000000000000001.log"
std::string SegmentName(uint64_t number);
std::optional<uint64_t> ParseSegmentName(std::string_view name);

// Where a record lies, and how far the log was known to be on disk when it was written.
struct RecordPlace {
  LogPosition begin = 0;
  LogPosition synced = 0;
};

// A long value, which is not copied: it comes before what the other bytes have from there on.
struct ValueApart {
  static constexpr size_t kLong = size_t{256} << 10;

  size_t before = 0;
  std::string_view bytes;
};

// Appends the record to `out`, and its long values to `apart` where there is one. The checksum
// covers its place too, so that stale, repeated or nested copies of a record are none.
// kValueTooLarge over 2 GiB.
Status EncodeRecord(const LogRecord& record, const RecordPlace& place, std::string* out,
                    std::vector<ValueApart>* apart = nullptr);

// The highest sequence id of each table that was not flushed yet when a segment was created, in the
// segments before it. Once those are cut, the table's store file has it.
using OlderCells = std::map<TableId, SequenceId>;
// What they say of the record's table takes the record in.
void NoteHighest(const LogRecord& record, OlderCells* cells);

// What a table's manifest was like when the log was told. An older one in its place is found by it,
// and of files that no manifest names it tells which were replaced.
struct TableMark {
  SequenceId flushed = 0;
  uint64_t next_file = 1;
  std::vector<uint64_t> files;  // their numbers, ascending

  friend bool operator==(const TableMark&, const TableMark&) = default;
};
using TableMarks = std::map<TableId, TableMark>;

// What a segment says besides what was written, in records that belong to no table.
struct LogNote {
  enum class Kind : uint8_t {
    kNothing = 0,       // but what its header says; or in the place of one that was damaged
    kOlderCells = 1,    // `older`
    kEndOfSegment = 2,  // the next segment is on disk
    kTables = 3,        // `tables`, and those that were dropped
  };
  Kind kind = Kind::kOlderCells;
  OlderCells older;
  TableMarks tables;
  std::vector<TableId> dropped;
  size_t padding = 0;  // zeros, of kNothing

  // Makes the marks of a segment's beginning those behind the note.
  void ApplyTo(TableMarks* marks) const;
};
// Of one without contents.
inline constexpr size_t kSmallestNote = kRecordHeaderSize + 9;
void EncodeNote(const LogNote& note, const RecordPlace& place, std::string* out);

struct IntactRecord {
  size_t size = 0;  // header included
  LogPosition synced = 0;
};
// A record's header begins with this, and has a checksum of its own behind its first bytes.
inline constexpr std::string_view kRecordMagic = "\xc5REC";
inline constexpr size_t kCheckedHeaderSize = 16;
// Of bytes that belong to what is at `begin` of the log.
uint64_t LogChecksum(std::string_view bytes, LogPosition begin);
// By its header, of a record that may be cut short or damaged itself.
std::optional<IntactRecord> FindRecordHeader(std::string_view bytes, LogPosition begin);
// The record that `bytes`, at `begin` of the log, starts with; nullopt: cut short or damaged.
std::optional<IntactRecord> FindRecord(std::string_view bytes, LogPosition begin);

// The note in an intact record; nullopt: it is a table's, or of an unknown form.
std::optional<LogNote> DecodeNote(std::string_view bytes);

// The contents of the intact record in `bytes`. The cells lie in `cells`, the rest points into
// `bytes`. nullopt: the checksum is right but this is not a record.
std::optional<LogRecord> DecodeRecord(std::string_view bytes, std::vector<CellView>* cells);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOG_LOG_FORMAT_H_
