// SPDX-License-Identifier: MIT
//
// Cells travel behind a message as a block, one after the other, as HBase's KeyValueCodecWithTags
// writes them (KeyValueCodec's form where a cell has no tags):
//
//     length of all that follows            4
//     length of the key, of the value       4 + 4
//     key: length of the row                2
//          row
//          length of the family             1
//          family, qualifier
//          timestamp                        8
//          type                             1
//     value
//     length of the tags, tags              2 + .   only where there are any
//
// A tag is the length of what follows (2), its type (1) and its value. Of tags we know the cell's
// time to live; a server reads it from an attribute of the mutation, so none is written here.
#ifndef CELLFS_ENGINE_HBASE_CELL_BLOCK_H_
#define CELLFS_ENGINE_HBASE_CELL_BLOCK_H_

#include <string>
#include <string_view>

#include "engine/cell.h"
#include "engine/status_or.h"

namespace cellfs::hbase {

// What a connection says that its blocks are written by.
inline constexpr std::string_view kCellBlockCodec =
    "org.apache.hadoop.hbase.codec.KeyValueCodecWithTags";

// Writes all of a cell but its time to live and sequence id.
void AppendToBlock(const CellView& cell, std::string& block);

// Takes cells from the front of a block, whose bytes belong to somebody else.
class CellBlockReader {
 public:
  explicit CellBlockReader(std::string_view block) : rest_(block) {}

  bool at_end() const { return rest_.empty(); }
  // kIoError where what is left is no cell, from then on.
  StatusOr<Cell> Next();

 private:
  std::string_view rest_;
};

// The time to live among a cell's tags, kNoCellTtl where it has none; kIoError for what are no tags.
StatusOr<int64_t> TimeToLiveOf(std::string_view tags);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_CELL_BLOCK_H_
