// SPDX-License-Identifier: MIT
//
// What to read: a Get names one row, a Scan a range of rows; both narrow by columns, time, versions
// and filter in the same words (org.apache.hadoop.hbase.client.Get, Scan).
#ifndef CELLFS_ENGINE_READ_H_
#define CELLFS_ENGINE_READ_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/cell.h"
#include "engine/filter.h"

namespace cellfs {

// [min, max). min == max is legal and holds nothing.
struct TimeRange {
  Timestamp min = 0;
  Timestamp max = std::numeric_limits<Timestamp>::max();

  // The largest max stands for "no end".
  bool Contains(Timestamp timestamp) const {
    return timestamp >= min && (timestamp < max || max == std::numeric_limits<Timestamp>::max());
  }
  bool IsAll() const { return min == 0 && max == std::numeric_limits<Timestamp>::max(); }
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};
inline TimeRange AtTimestamp(Timestamp timestamp) { return {timestamp, timestamp + 1}; }

inline constexpr int32_t kAllVersions = std::numeric_limits<int32_t>::max();

// Family -> the qualifiers asked for; an empty set asks for the whole family.
using Columns = std::map<std::string, std::set<std::string>>;

// A moment of a store that flush and compaction keep while somebody holds it (Store::PinMoment).
// A read with it sees the mutations up to sequence_id, and expiry as of `now`.
struct Moment {
  virtual ~Moment() = default;
  SequenceId sequence_id = 0;
  Timestamp now = 0;
};

// What Get and Scan have in common.
struct Query {
  Columns columns;  // empty: every family
  int32_t max_versions = 1;
  TimeRange time_range;
  std::map<std::string, TimeRange> family_time_ranges;  // go before time_range
  FilterPtr filter;
  int32_t store_limit = -1;  // cells returned of each family of a row; < 0: all
  int32_t store_offset = 0;  // cells of each family of a row to leave out first
  // Families that the filter does not need to judge a row are read for the rows it lets through
  // only (Scan.setLoadColumnFamiliesOnDemand).
  bool load_families_on_demand = true;
  bool lengths_only = false;             // ours: values come back empty, value_length is right
  std::shared_ptr<const Moment> moment;  // ours: null reads the present
  // Ours: the table of that id, whatever its name is or was, in the place of the one that has the
  // name; of families that it has no more there are no cells. 0: by the name.
  uint64_t table_id = 0;
  // Ours: set where rights hide a cell that the read came by. It outlives the read, and its
  // scanner. Null: nobody asks. Of HBase a client hears nothing about that.
  std::atomic<bool>* passed_over = nullptr;
};

struct Get : Query {
  std::string row;
  // Ours. Once it is true the read ends with kCancelled, soon; it lives as long as the read.
  // Null: never.
  const std::atomic<bool>* cancelled = nullptr;
};

struct Scan : Query {
  std::string start_row;  // empty: from the first row
  bool include_start_row = true;
  std::string stop_row;  // empty: to the last row
  bool include_stop_row = false;
  int64_t limit = -1;  // rows; < 0: all
  // The rows turned round, not the cells in them; start_row is then the largest.
  bool reversed = false;
  // Every stored cell, tombstones included. Only whole families, and max_versions counts alone.
  bool raw = false;

  // HBase's Scan.isGetScan.
  bool IsOfOneRow() const {
    return !start_row.empty() && start_row == stop_row && include_start_row && include_stop_row;
  }
};

// Of that row alone.
inline Scan ScanOf(const Get& get) {
  Scan scan;
  static_cast<Query&>(scan) = get;
  scan.start_row = scan.stop_row = get.row;
  scan.include_stop_row = true;
  return scan;
}

// The cells of one row that a read returned, in cell order; empty where the row has none.
using RowCells = std::vector<Cell>;

// How much a Scanner may return at once, and how long it may look for it.
struct ScanBatch {
  using Duration = std::chrono::steady_clock::duration;

  size_t max_rows = 1000;
  size_t max_bytes = size_t{1} << 20;  // passed by the row that reaches it
  // A row that reaches max_bytes may come in pieces: the last row of a batch goes on with the first
  // of the next one, and max_bytes is passed by one cell only (HBase's setAllowPartialResults). The
  // pieces need not be of one state of the row. A filter that judges whole rows gets them whole.
  bool partial_rows = false;
  // Passed by one row at most, so that each batch gets on: a filter that lets nothing through may
  // look at a whole table (HBase's time limit of a scan, with its heartbeats).
  Duration max_time = Duration::max();
  // As in Get, but a row that takes no longer than max_time is finished: after kCancelled the scan
  // is over.
  const std::atomic<bool>* cancelled = nullptr;
};

// A running scan. Each batch is read from the store as it is then: a scan is not a snapshot of the
// table, but each row in it is (HBase's "ACID semantics"). Between batches a scanner holds nothing
// of the store but its place, so it may be kept for hours. Not thread-safe.
class Scanner {
 public:
  virtual ~Scanner() = default;

  // The next rows; an empty vector at the end, and where batch.max_time was up before a row was
  // found. kTableNotFound and the like where the table has gone.
  virtual StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) = 0;
  // Whether Next has come to the end: says it of an empty batch.
  virtual bool at_end() const = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_READ_H_
