// SPDX-License-Identifier: MIT
//
// FileFacts: what a store file has in it, so that most reads need not open it. The manifest of its
// table keeps them, and the file itself.
#ifndef CELLFS_ENGINE_FILE_FILE_FACTS_H_
#define CELLFS_ENGINE_FILE_FILE_FACTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/cell.h"

namespace cellfs {

// Of the cells that a compaction told to be hidden (hidden_cells.h).
struct HiddenFacts {
  int64_t cells = 0;
  Timestamp newest_tombstone = 0;

  friend bool operator==(const HiddenFacts&, const HiddenFacts&) = default;
};

// What the bytes of the cells are taken by, in thousandths, as the file itself tells it; the rest
// is live, or not known.
struct RoomFacts {
  int64_t old_versions = 0;
  int64_t deleted = 0;  // tombstones, and what these hide

  friend bool operator==(const RoomFacts&, const RoomFacts&) = default;
};

struct FileFacts {
  uint64_t number = 0;  // of the table, never given twice
  std::string family;
  std::string first_row;
  std::string last_row;
  Timestamp oldest = kLatestTimestamp;  // of all cells
  Timestamp newest = 0;
  Timestamp oldest_put = kLatestTimestamp;  // kLatestTimestamp: there is none
  // What was written to the family between these lies here, as far as it was to be kept. The ranges
  // of two files do not overlap, so they tell which is older.
  SequenceId lowest = kMaxSequenceId;
  SequenceId highest = 0;
  int64_t cells = 0;                // all, those of the next four lines too
  int64_t tombstones = 0;           // of families too
  int64_t family_tombstones = 0;    //
  int64_t withdrawals = 0;          // markers: kWithdrawMarker
  HiddenFacts hidden;               //
  int64_t surplus = 0;              // puts beyond VERSIONS of their column, kept for a moment
  uint64_t bytes = 0;               // what the cells take of the disk
  Timestamp written = 0;            // when the oldest of what it was made from was flushed
  int64_t filter_blocks = 0;        // of the Bloom filter; 0: none
  bool filter_has_columns = false;  // it knows rows and columns; else rows
  bool is_major = false;            // made by a major compaction: what it could free is gone
  // A compaction may write several, of which no two have a row in common: the number of the one
  // before, 0: there is none, and whether another comes behind.
  uint64_t follows = 0;
  bool is_followed = false;
  RoomFacts room;

  friend bool operator==(const FileFacts&, const FileFacts&) = default;
};

inline uint64_t BytesOfThousandths(const FileFacts& facts, int64_t thousandths) {
  return facts.bytes / 1000 * static_cast<uint64_t>(thousandths);
}

// "17.db", in its table's directory.
inline std::string StoreFileName(uint64_t number) { return std::to_string(number) + ".db"; }
inline bool IsStoreFileName(std::string_view name) { return name.ends_with(".db"); }

// Whether both may have something of one row.
inline bool HaveCommonRows(const FileFacts& a, const FileFacts& b) {
  return a.first_row <= b.last_row && b.first_row <= a.last_row;
}

// Of what a tombstone of another file may hide, or what may withdraw one. kLatestTimestamp:
// nothing.
inline Timestamp OldestThatShows(const FileFacts& facts) {
  return facts.withdrawals > 0 ? facts.oldest : facts.oldest_put;
}

// Whether the file may have something at the row and timestamp of the cell.
inline bool MayHoldPlaceOf(const FileFacts& facts, const CellView& cell) {
  return facts.first_row <= cell.row && cell.row <= facts.last_row &&
         facts.oldest <= cell.timestamp && cell.timestamp <= facts.newest;
}

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_FILE_FACTS_H_
