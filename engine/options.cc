// SPDX-License-Identifier: MIT
#include "engine/options.h"

#include <charconv>
#include <limits>

#include "engine/byte_size.h"

namespace cellfs {
namespace {

// A key whose value is a number, and the smallest and largest that it takes.
template <typename Number>
struct NumberKey {
  std::string_view key;
  Number SiteSettings::*member;
  Number min;
  Number max = std::numeric_limits<Number>::max();
  bool is_bytes = false;
};

constexpr int64_t kAny = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr NumberKey<int64_t> kLongKeys[] = {
    {"hbase.hregion.memstore.flush.size", &SiteSettings::memstore_flush_size, 1, kMost, true},
    {"hbase.hstore.time.to.purge.deletes", &SiteSettings::time_to_purge_deletes, 0},
    {"hbase.hregion.keyvalue.timestamp.slop.millisecs", &SiteSettings::timestamp_slop, kAny},
    {"hbase.client.keyvalue.maxsize", &SiteSettings::client_max_cell_size, kAny, kMost,
     true},
    {"hbase.server.keyvalue.maxsize", &SiteSettings::server_max_cell_size, kAny, kMost,
     true},
    {"hbase.table.max.rowsize", &SiteSettings::max_row_size, 1, kMost, true},
    {"hbase.hregion.majorcompaction", &SiteSettings::major_compaction_period, 0},
};
constexpr NumberKey<int32_t> kIntKeys[] = {
    {"hbase.column.max.version", &SiteSettings::default_max_versions, 1},
    {"hbase.hstore.compaction.min", &SiteSettings::compaction_min, 2},
    {"hbase.hstore.compaction.max", &SiteSettings::compaction_max, 2},
    {"hbase.hstore.blockingStoreFiles", &SiteSettings::blocking_store_files, 2},
};
constexpr NumberKey<double> kFractionKeys[] = {
    {"hbase.hstore.compaction.ratio", &SiteSettings::compaction_ratio, 0},
    {"hbase.hregion.majorcompaction.jitter", &SiteSettings::major_compaction_jitter, 0, 1},
};
constexpr std::string_view kAuthorization = "hbase.security.authorization";

Status Refuse(std::string_view key, std::string_view value, const std::string& allowed) {
  return Status(StatusCode::kIllegalArgument, "site setting '" + std::string(key) + "' = '" +
                                                  std::string(value) + "': must be " + allowed);
}

template <typename Number>
std::string ToText(Number number) {
  char text[400];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

template <typename Number>
Status SetNumber(SiteSettings& settings, const NumberKey<Number>& key, std::string_view value) {
  Number number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  bool is_number = error == std::errc() && end == value.data() + value.size();
  if (const auto bytes = ParseByteSize(value); key.is_bytes && !is_number && bytes) {
    number = static_cast<Number>(*bytes);
    is_number = true;
  }
  if (!is_number || !(number >= key.min && number <= key.max)) {
    const char* const kind = key.is_bytes                  ? "bytes, like 500M or 10G, from "
                             : std::is_integral_v<Number> ? "a whole number from "
                                                          : "a number from ";
    return Refuse(key.key, value, kind + ToText(key.min) + " to " + ToText(key.max));
  }
  settings.*key.member = number;
  return {};
}

}  // namespace

Status SiteSettings::Set(std::string_view key, std::string_view value) {
  for (const auto& known : kLongKeys)
    if (known.key == key) return SetNumber(*this, known, value);
  for (const auto& known : kIntKeys)
    if (known.key == key) return SetNumber(*this, known, value);
  for (const auto& known : kFractionKeys)
    if (known.key == key) return SetNumber(*this, known, value);
  if (key != kAuthorization)
    return Status(StatusCode::kIllegalArgument, "unknown site setting '" + std::string(key) + "'");
  if (value != "true" && value != "false") return Refuse(key, value, "true or false");
  authorization = value == "true";
  return {};
}

std::map<std::string, std::string> SiteSettings::ToMap() const {
  std::map<std::string, std::string> map;
  const auto add = [&](const auto& keys) {
    for (const auto& known : keys) map.emplace(known.key, ToText(this->*known.member));
  };
  add(kLongKeys);
  add(kIntKeys);
  add(kFractionKeys);
  map.emplace(kAuthorization, authorization ? "true" : "false");
  return map;
}

}  // namespace cellfs
