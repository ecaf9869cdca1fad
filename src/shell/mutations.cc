// SPDX-License-Identifier: MIT
#include "src/shell/mutations.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace cellfs::shell {
namespace {

using nlohmann::json;

// {TTL => 1000} of a mutation; what is not kept is refused, what changes nothing passed over.
Status TakeOptions(const Hash& hash, json& arguments) {
  for (const auto& [key, value] : hash) {
    if (key == "TTL") {
      arguments["ttl"] = value.Text();
    } else if (key == "VISIBILITY") {
      return Refused("visibility labels are not kept");
    } else if (key != "ATTRIBUTES") {
      return Refused("'" + key + "' is nothing that a mutation knows");
    }
  }
  return {};
}

StatusOr<json> DeleteArguments(const Call& call, const std::string& table, const std::string& row) {
  json words = {WordOf(table), WordOf(row)};
  if (call.Has(2) && !call.arguments()[2].Text().empty())
    words.push_back(ColumnWordOf(call.arguments()[2].Text()));
  json arguments = {{"words", std::move(words)}};
  CELLFS_RETURN_IF_ERROR(TakeTimestampAndOptions(call, 3, arguments));
  return arguments;
}

// Of `rows` each.
Status DeleteRows(Call& call, const std::string& table, const std::vector<std::string>& rows) {
  for (const std::string& row : rows) {
    CELLFS_ASSIGN_OR_RETURN(json arguments, DeleteArguments(call, table, row));
    CELLFS_RETURN_IF_ERROR(call.Ask("deleteall", arguments).status());
  }
  return {};
}

// {ROWPREFIXFILTER => 'abc', CACHE => 100}: so many at a time.
Status DeletePrefix(Call& call, const std::string& table, const Hash& hash) {
  int64_t most = 100;
  std::string prefix;
  for (const auto& [key, value] : hash) {
    if (key == "ROWPREFIXFILTER") {
      prefix = value.Text();
    } else if (key == "CACHE" && value.As<int64_t>() != nullptr) {
      most = std::max<int64_t>(*value.As<int64_t>(), 1);
    } else {
      return Refused("'" + key + "' is nothing that deleteall knows");
    }
  }
  if (prefix.empty()) return Refused("ROWPREFIXFILTER is missing");
  std::string start = prefix;
  for (;;) {
    std::vector<std::string> rows;
    CELLFS_RETURN_IF_ERROR(call.Ask("scan",
                                    {{"words", {WordOf(table)}},
                                     {"start", WordOf(start)},
                                     {"prefix", WordOf(prefix)},
                                     {"filter", "FirstKeyOnlyFilter() AND KeyOnlyFilter()"},
                                     {"limit", std::to_string(most)}},
                                    [&](const json& cell) {
                                      rows.push_back(cell["row"].get<std::string>());
                                      return true;
                                    })
                               .status());
    CELLFS_RETURN_IF_ERROR(DeleteRows(call, table, rows));
    if (rows.size() < static_cast<size_t>(most)) return {};
    start = rows.back() + '\0';
  }
}

}  // namespace

Status TakeTimestampAndOptions(const Call& call, size_t first, json& arguments) {
  for (size_t i = first; i < call.count(); ++i) {
    const Value& value = call.arguments()[i];
    if (const auto* hash = value.As<Hash>()) {
      CELLFS_RETURN_IF_ERROR(TakeOptions(*hash, arguments));
    } else if (value.As<int64_t>() != nullptr) {
      arguments["timestamp"] = value.Text();
    } else if (!value.IsNil()) {
      return Refused("a timestamp is a number of milliseconds, not " + value.Inspect());
    }
  }
  return {};
}

StatusOr<Value> RunDelete(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const std::string row, call.Text(1, "row"));
  CELLFS_ASSIGN_OR_RETURN(const std::string column, call.Text(2, "column"));
  if (column.find(':') == column.npos && !call.Has(3))
    return Refused("'" + column + "' is a family, of which delete takes one version: delete '" + table +
                   "', '" + row + "', '" + column + "', TIMESTAMP; deleteall takes all of it");
  CELLFS_ASSIGN_OR_RETURN(json arguments, DeleteArguments(call, table, row));
  CELLFS_RETURN_IF_ERROR(call.Ask("delete", arguments).status());
  return Value{};
}

StatusOr<Value> RunDeleteAll(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  if (const auto* hash = call.arguments()[1].As<Hash>()) {
    CELLFS_RETURN_IF_ERROR(DeletePrefix(call, table, *hash));
    return Value{};
  }
  CELLFS_ASSIGN_OR_RETURN(const std::string row, call.Text(1, "row"));
  CELLFS_RETURN_IF_ERROR(DeleteRows(call, table, {row}));
  return Value{};
}

StatusOr<Value> RunTruncate(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  call.output().Line("Truncating '" + table + "' table (it may take a while):");
  CELLFS_ASSIGN_OR_RETURN(const json enabled,
                          call.AskOne("is_enabled", {{"words", {WordOf(table)}}}));
  if (enabled["answer"].get<bool>()) call.output().Line("Disabling table...");
  call.output().Line("Truncating table...");
  CELLFS_RETURN_IF_ERROR(call.Ask("truncate", {{"words", {WordOf(table)}}}).status());
  return Value{};
}

}  // namespace cellfs::shell
