// SPDX-License-Identifier: MIT
//
// The bytes of the write-ahead log: segment headers and records. docs/storage.md, "The log", has
// every one of them. Pure functions; Wal does the writing.
#ifndef CELLFS_ENGINE_LOCAL_LOG_FORMAT_H_
#define CELLFS_ENGINE_LOCAL_LOG_FORMAT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/region/storage_engine.h"

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
// the batch.
std::vector<CellView> CellsOf(const RowBatch& batch, SequenceId sequence_id);

inline constexpr uint32_t kLogFormatVersion = 1;
inline constexpr size_t kSegmentHeaderSize = 36;
inline constexpr size_t kRecordHeaderSize = 24;

struct SegmentHeader {
  uint32_t format_version = kLogFormatVersion;
  uint64_t number = 0;
  LogPosition base = 0;  // the log position of the segment's first byte
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

// Appends the record to `out`. The checksum covers its place too, so that stale, repeated or nested
// copies of a record are none. kValueTooLarge over 2 GiB.
Status EncodeRecord(const LogRecord& record, const RecordPlace& place, std::string* out);

struct IntactRecord {
  size_t size = 0;  // header included
  LogPosition synced = 0;
};
// The record that `bytes`, at `begin` of the log, starts with; nullopt: cut short or damaged.
std::optional<IntactRecord> FindRecord(std::string_view bytes, LogPosition begin);

// The contents of the intact record in `bytes`. The cells lie in `cells`, the rest points into
// `bytes`. nullopt: the checksum is right but this is not a record.
std::optional<LogRecord> DecodeRecord(std::string_view bytes, std::vector<CellView>* cells);

// Where, from `from` on, the next intact record of a segment begins; npos: nowhere.
size_t FindNextRecord(std::string_view segment, size_t from, LogPosition base);

// Whether the damage, of a length unknown, is what the death of the process or of the machine may
// leave at the end of the newest segment; false: something else has damaged it.
bool IsTornTail(std::string_view segment, size_t damage, LogPosition base);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_LOG_FORMAT_H_
