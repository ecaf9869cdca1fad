// SPDX-License-Identifier: MIT
//
// A region: the rows of a table from start_key up to end_key, which one server has. Where the regions
// are says the table hbase:meta, a row for each; its own region is always called "hbase:meta,,1".
#ifndef CELLFS_ENGINE_HBASE_REGION_H_
#define CELLFS_ENGINE_HBASE_REGION_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/cell.h"
#include "engine/server_address.h"
#include "engine/names.h"
#include "engine/read.h"
#include "engine/status_or.h"

namespace cellfs::hbase {

struct Region {
  std::string name;       // "ns:table,start key,id.encoded name."
  uint64_t id = 0;
  TableName table;
  std::string start_key;  // empty: from the first row
  std::string end_key;    // empty: to the last
  ServerAddress server;

  bool Contains(std::string_view row) const {
    return row >= start_key && (end_key.empty() || row < end_key);
  }
};

// Before messages that are values of cells in tables of the system.
inline constexpr std::string_view kProtobufMark = "PBUF";

inline const TableName kMetaTable{.namespace_name = "hbase", .name = "meta"};

Region MetaRegionAt(const ServerAddress& server);

// The row of hbase:meta from which a reversed scan finds the region that holds `row` first.
std::string MetaRowBefore(const TableName& table, std::string_view row);
// The first row of a table's regions in hbase:meta; all of its rows begin with it.
std::string FirstMetaRow(const TableName& table);

// The row behind the last of them.
std::string EndOfMetaRows(const TableName& table);

// From the cells of a row of hbase:meta. Nothing for a region that was split or merged away and is
// kept for its daughters; kIoError for what is no row of meta. The server is empty where meta names
// none, and of a disabled table it is no server's now.
StatusOr<std::optional<Region>> RegionInMeta(const RowCells& cells);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_REGION_H_
