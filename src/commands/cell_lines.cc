// SPDX-License-Identifier: MIT
#include "src/commands/cell_lines.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "fs/base/closest_word.h"
#include "src/commands/cells.h"

namespace cellfs {
namespace {

using nlohmann::json;

std::optional<CellType> TombstoneOf(const std::string& type) {
  for (const CellType tombstone : {CellType::kDelete, CellType::kDeleteColumn,
                                   CellType::kDeleteFamily, CellType::kDeleteFamilyVersion}) {
    if (type == TypeName(tombstone)) return tombstone;
  }
  return std::nullopt;
}

// One line; what is wrong with it is said by its members' names.
class Line {
 public:
  explicit Line(const json& line) : line_(line) {}

  std::string Text(const char* name) const {
    const auto found = line_.find(name);
    return found != line_.end() && found->is_string() ? found->get<std::string>() : "";
  }
  StatusOr<std::string> Value() const {
    const auto found = line_.find("value");
    if (found == line_.end()) return WrongCall("\"value\" is missing");
    if (!found->is_string()) return WrongCall("\"value\" is neither text nor {\"hex\": \"00ff\"}");
    return found->get<std::string>();
  }
  // What is not known may be meant for something that is.
  Status CheckNames() const {
    static const std::vector<std::string> known = {
        "table", "row", "column", "family", "qualifier", "timestamp",
        "type",  "ttl", "value",  "amount", "shown", "sequence"};
    for (const auto& [name, value] : line_.items()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string closest = fs::ClosestTo(name, known);
      return WrongCall("\"" + name + "\" is not understood" +
                       (closest.empty() ? "" : "; did you mean \"" + closest + "\"?"));
    }
    return {};
  }
  // What does not go with the type, or with another member, may be meant for something else.
  Status CheckMembers(const std::string& type) const {
    for (const char* name : {"table", "row", "column", "family", "qualifier", "type"}) {
      const auto found = line_.find(name);
      if (found != line_.end() && !found->is_string())
        return WrongCall("\"" + std::string(name) + "\" is neither text nor {\"hex\": \"00ff\"}");
    }
    if (line_.contains("column") && (line_.contains("family") || line_.contains("qualifier")))
      return WrongCall("\"column\" stands for \"family\" and \"qualifier\"; say one or the other");
    const bool is_delete = TombstoneOf(type).has_value();
    const bool is_increment = type == "Increment";
    // A raw scan writes an empty value of deletes.
    const bool has_value = is_delete ? !Text("value").empty() : line_.contains("value");
    if (line_.contains("amount") && !is_increment) return DoesNotGo("amount", type);
    if (line_.contains("ttl") && is_delete) return DoesNotGo("ttl", type);
    if (has_value && (is_delete || is_increment)) return DoesNotGo("value", type);
    return {};
  }
  StatusOr<int64_t> Number(const char* name, int64_t otherwise) const {
    const auto found = line_.find(name);
    if (found == line_.end()) return otherwise;
    constexpr uint64_t kGreatest = std::numeric_limits<int64_t>::max();
    if (!found->is_number_integer()) return WrongCall(std::string("\"") + name + "\" is no number");
    if (found->is_number_unsigned() && found->get<uint64_t>() > kGreatest)
      return WrongCall(std::string("\"") + name + "\" is no number of 8 bytes with a sign");
    return found->get<int64_t>();
  }
  StatusOr<int64_t> TimeToLive() const {
    CELLFS_ASSIGN_OR_RETURN(const int64_t ttl, Number("ttl", kNoCellTtl));
    if (!line_.contains("ttl") || (ttl >= 1 && ttl <= kLongestTtl)) return ttl;
    return WrongCall("\"ttl\" is " + std::to_string(ttl) + "; it is milliseconds, from 1 to " +
                     std::to_string(kLongestTtl));
  }
  StatusOr<ColumnWord> Column() const {
    if (line_.contains("column")) return ParseColumn(fs::RootPlace(), Text("column"));
    ColumnWord column{Text("family"), std::nullopt};
    if (line_.contains("qualifier")) column.qualifier = Text("qualifier");
    if (column.family.empty()) return WrongCall("\"column\" or \"family\" is missing");
    return column;
  }
 private:
  static Status DoesNotGo(const std::string& member, const std::string& type) {
    return WrongCall("\"" + member + "\" does not go with the type " + type);
  }

  const json& line_;
};

// A raw scan writes an empty qualifier of these.
Status CheckIsOfFamily(CellType tombstone, const ColumnWord& column) {
  if (column.qualifier.value_or("").empty()) return {};
  const bool is_all = tombstone == CellType::kDeleteFamily;
  return WrongCall(std::string(TypeName(tombstone)) + " takes a family; of a column says " +
                   std::string(TypeName(is_all ? CellType::kDeleteColumn : CellType::kDelete)));
}

}  // namespace

StatusOr<Mutation> MutationOf(const json& given) {
  const Line line(given);
  CELLFS_RETURN_IF_ERROR(line.CheckNames());
  const std::string row = line.Text("row");
  const std::string type = given.contains("type") ? line.Text("type") : "Put";
  CELLFS_RETURN_IF_ERROR(line.CheckMembers(type));
  CELLFS_ASSIGN_OR_RETURN(const ColumnWord column, line.Column());
  CELLFS_ASSIGN_OR_RETURN(const Timestamp timestamp, line.Number("timestamp", kLatestTimestamp));
  const auto tombstone = TombstoneOf(type);
  const bool is_of_family = tombstone && IsFamilyTombstone(*tombstone);
  if (!is_of_family && !column.qualifier) return WrongCall("\"qualifier\" is missing");
  if (is_of_family) CELLFS_RETURN_IF_ERROR(CheckIsOfFamily(*tombstone, column));
  if (tombstone == CellType::kDeleteFamilyVersion && timestamp == kLatestTimestamp)
    return WrongCall("\"timestamp\" is missing: which version of the family is to be deleted");
  if (tombstone) {
    Delete remove{.row = row, .markers = {}};
    remove.markers.push_back(
        {*tombstone, column.family, is_of_family ? "" : *column.qualifier, timestamp});
    return Mutation(std::move(remove));
  }
  CELLFS_ASSIGN_OR_RETURN(const int64_t ttl, line.TimeToLive());
  if (type == "Put") {
    Put put{.row = row, .cells = {}, .time_to_live = ttl};
    CELLFS_ASSIGN_OR_RETURN(std::string value, line.Value());
    put.cells.push_back({column.family, *column.qualifier, timestamp, std::move(value), {}});
    return Mutation(std::move(put));
  }
  if (type == "Append") {
    Append append{.row = row, .cells = {}, .time_range = {}, .time_to_live = ttl};
    CELLFS_ASSIGN_OR_RETURN(std::string value, line.Value());
    append.cells.push_back({column.family, *column.qualifier, std::move(value), timestamp});
    return Mutation(std::move(append));
  }
  if (type != "Increment") {
    return WrongCall("\"type\" is '" + type + "'; there are Put, Append, Increment, Delete, "
                     "DeleteColumn, DeleteFamily and DeleteFamilyVersion");
  }
  if (!given.contains("amount")) return WrongCall("\"amount\" is missing");
  CELLFS_ASSIGN_OR_RETURN(const int64_t amount, line.Number("amount", 0));
  Increment increment{.row = row, .cells = {}, .time_range = {}, .time_to_live = ttl};
  increment.cells.push_back({column.family, *column.qualifier, amount, timestamp});
  return Mutation(std::move(increment));
}

const std::string& FamilyOf(const Mutation& mutation) {
  if (const Put* put = std::get_if<Put>(&mutation)) return put->cells.front().family;
  if (const Delete* remove = std::get_if<Delete>(&mutation)) return remove->markers.front().family;
  if (const Append* append = std::get_if<Append>(&mutation)) return append->cells.front().family;
  return std::get<Increment>(mutation).cells.front().family;
}

std::string TextIn(const json& line, const char* name) { return Line(line).Text(name); }

}  // namespace cellfs
