// SPDX-License-Identifier: MIT
#include "engine/hbase/region.h"

#include <hbase.pb.h>

#include <algorithm>
#include <charconv>

namespace cellfs::hbase {
namespace {

// Above every id of a region, which are times in milliseconds.
constexpr std::string_view kBehindEveryId = "99999999999999";

const std::string* ValueIn(const RowCells& cells, std::string_view qualifier) {
  const auto found = std::ranges::find_if(cells, [&](const Cell& cell) {
    return cell.family == "info" && cell.qualifier == qualifier;
  });
  return found == cells.end() ? nullptr : &found->value;
}

Status NoMetaRow(const std::string& what) {
  return {StatusCode::kIoError, "a row of hbase:meta " + what};
}

// "host:port"
std::optional<ServerAddress> ParseAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return std::nullopt;
  ServerAddress address{.host = std::string(text.substr(0, colon))};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, address.port);
  if (address.host.empty() || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return address;
}

}  // namespace

Region MetaRegionAt(const ServerAddress& server) {
  return {.name = "hbase:meta,,1", .table = kMetaTable, .server = server};
}

std::string FirstMetaRow(const TableName& table) { return table.ToString() + ",,"; }

std::string EndOfMetaRows(const TableName& table) { return table.ToString() + "-"; }

std::string MetaRowBefore(const TableName& table, std::string_view row) {
  std::string key = table.ToString() + ",";
  key += row;
  key += ",";
  key += kBehindEveryId;
  return key;
}

StatusOr<std::optional<Region>> RegionInMeta(const RowCells& cells) {
  const std::string* const info_bytes = ValueIn(cells, "regioninfo");
  if (info_bytes == nullptr) return NoMetaRow("has no regioninfo");
  pb::RegionInfo info;
  if (!info_bytes->starts_with(kProtobufMark) ||
      !info.ParseFromString(info_bytes->substr(kProtobufMark.size()))) {
    return NoMetaRow("has a regioninfo that cannot be read");
  }
  if (info.split() || info.offline()) return std::optional<Region>();
  Region region{.name = cells.front().row,
                .id = info.region_id(),
                .table = {.namespace_name = info.table_name().namespace_(),
                          .name = info.table_name().qualifier()},
                .start_key = info.start_key(),
                .end_key = info.end_key()};
  const std::string* const server = ValueIn(cells, "server");
  if (server == nullptr || server->empty()) return std::optional(std::move(region));
  const auto address = ParseAddress(*server);
  if (!address) return NoMetaRow("names a server \"" + *server + "\"");
  region.server = *address;
  return std::optional(std::move(region));
}

}  // namespace cellfs::hbase
