// SPDX-License-Identifier: MIT
#include "engine/options.h"

#include <charconv>
#include <limits>

namespace cellfs {
namespace {

// A key whose value is a number, and the smallest and largest that it takes.
template <typename Number>
struct NumberKey {
  std::string_view key;
  Number SiteSettings::*member;
  Number min;
  Number max = std::numeric_limits<Number>::max();
};

constexpr int64_t kAny = std::numeric_limits<int64_t>::min();
constexpr NumberKey<int64_t> kLongKeys[] = {
    {"hbase.hregion.memstore.flush.size", &SiteSettings::memstore_flush_size, 1},
    {"hbase.hstore.time.to.purge.deletes", &SiteSettings::time_to_purge_deletes, 0},
    {"hbase.hregion.keyvalue.timestamp.slop.millisecs", &SiteSettings::timestamp_slop, kAny},
    {"hbase.client.keyvalue.maxsize", &SiteSettings::client_max_cell_size, kAny},
    {"hbase.server.keyvalue.maxsize", &SiteSettings::server_max_cell_size, kAny},
    {"hbase.table.max.rowsize", &SiteSettings::max_row_size, 1},
};
constexpr NumberKey<int32_t> kIntKeys[] = {
    {"hbase.column.max.version", &SiteSettings::default_max_versions, 1},
};
constexpr std::string_view kAuthorization = "hbase.security.authorization";

Status Refuse(std::string_view key, std::string_view value, const std::string& allowed) {
  return Status(StatusCode::kIllegalArgument, "site setting '" + std::string(key) + "' = '" +
                                                  std::string(value) + "': must be " + allowed);
}

template <typename Number>
Status SetNumber(SiteSettings& settings, const NumberKey<Number>& key, std::string_view value) {
  Number number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < key.min ||
      number > key.max) {
    return Refuse(
        key.key, value,
        "a whole number from " + std::to_string(key.min) + " to " + std::to_string(key.max));
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
  if (key != kAuthorization)
    return Status(StatusCode::kIllegalArgument, "unknown site setting '" + std::string(key) + "'");
  if (value != "true" && value != "false") return Refuse(key, value, "true or false");
  authorization = value == "true";
  return {};
}

std::map<std::string, std::string> SiteSettings::ToMap() const {
  std::map<std::string, std::string> map;
  for (const auto& known : kLongKeys) map.emplace(known.key, std::to_string(this->*known.member));
  for (const auto& known : kIntKeys) map.emplace(known.key, std::to_string(this->*known.member));
  map.emplace(kAuthorization, authorization ? "true" : "false");
  return map;
}

}  // namespace cellfs
