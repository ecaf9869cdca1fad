// SPDX-License-Identifier: MIT
#include "src/commands/cell_line.h"

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

constexpr std::array<std::string_view, CellLine::kUnknown> kNames = {
    "table", "row", "column", "family", "qualifier", "timestamp",
    "type",  "ttl", "value",  "amount", "shown",     "sequence"};

std::optional<CellType> TombstoneOf(std::string_view type) {
  for (const CellType tombstone : {CellType::kDelete, CellType::kDeleteColumn,
                                   CellType::kDeleteFamily, CellType::kDeleteFamilyVersion}) {
    if (type == TypeName(tombstone)) return tombstone;
  }
  return std::nullopt;
}

std::string Quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

Status IsMissing(CellLine::Member member) {
  return WrongCall(Quoted(kNames[member]) + " is missing");
}

Status IsNoText(CellLine::Member member) {
  return WrongCall(Quoted(kNames[member]) + " is neither text nor {\"hex\": \"00ff\"}");
}

// A raw scan writes an empty qualifier of these.
Status CheckIsOfFamily(CellType tombstone, const std::string& qualifier) {
  if (qualifier.empty()) return {};
  const bool is_all = tombstone == CellType::kDeleteFamily;
  return WrongCall(std::string(TypeName(tombstone)) + " takes a family; of a column says " +
                   std::string(TypeName(is_all ? CellType::kDeleteColumn : CellType::kDelete)));
}

}  // namespace

CellLine::Member CellLine::MemberOf(std::string_view name) {
  return static_cast<Member>(std::find(kNames.begin(), kNames.end(), name) - kNames.begin());
}

CellLine CellLine::Of(const json& object) {
  constexpr uint64_t kGreatest = std::numeric_limits<int64_t>::max();
  CellLine line;
  for (const auto& [name, value] : object.items()) {
    const Member member = MemberOf(name);
    if (member == kUnknown) {
      line.SetUnknown(name);
    } else if (value.is_string()) {
      line.SetText(member, value.get<std::string>());
    } else if (value.is_number_unsigned() && value.get<uint64_t>() > kGreatest) {
      line.SetGreatNumber(member);
    } else if (value.is_number_integer()) {
      line.SetNumber(member, value.get<int64_t>());
    } else {
      line.SetOther(member);
    }
  }
  return line;
}

// What is not known may be meant for something that is.
Status CellLine::CheckTexts() const {
  if (Has(kUnknown)) {
    const std::string closest =
        fs::ClosestTo(Text(kUnknown), std::vector<std::string>(kNames.begin(), kNames.end()));
    return WrongCall(Quoted(Text(kUnknown)) + " is not understood" +
                     (closest.empty() ? "" : "; did you mean " + Quoted(closest) + "?"));
  }
  for (const Member member : {kTable, kRow, kColumn, kFamily, kQualifier, kType})
    if (Has(member) && said_[member].kind != Kind::kText) return IsNoText(member);
  return {};
}

// What does not go with the type, or with another member, may be meant for something else.
Status CellLine::CheckMembers(std::string_view type, bool is_tombstone) const {
  if (Has(kColumn) && (Has(kFamily) || Has(kQualifier)))
    return WrongCall("\"column\" stands for \"family\" and \"qualifier\"; say one or the other");
  const bool is_increment = type == "Increment";
  const auto does_not_go = [&](Member member) {
    return WrongCall(Quoted(kNames[member]) + " does not go with the type " + std::string(type));
  };
  // A raw scan writes an empty value of deletes.
  const bool has_value = is_tombstone ? !Text(kValue).empty() : Has(kValue);
  if (Has(kAmount) && !is_increment) return does_not_go(kAmount);
  if (Has(kTtl) && is_tombstone) return does_not_go(kTtl);
  if (has_value && (is_tombstone || is_increment)) return does_not_go(kValue);
  return {};
}

StatusOr<int64_t> CellLine::Number(Member member, int64_t otherwise) const {
  const Said& said = said_[member];
  if (said.kind == Kind::kNothing) return otherwise;
  if (said.kind == Kind::kNumber) return said.number;
  return WrongCall(Quoted(kNames[member]) + (said.kind == Kind::kGreatNumber
                                                 ? " is no number of 8 bytes with a sign"
                                                 : " is no number"));
}

Status CheckTimeToLive(int64_t ttl) {
  if (ttl >= 1 && ttl <= kLongestTtl) return {};
  return WrongCall("\"ttl\" is " + std::to_string(ttl) + "; it is milliseconds, from 1 to " +
                   std::to_string(kLongestTtl));
}

StatusOr<int64_t> CellLine::TimeToLive() const {
  CELLFS_ASSIGN_OR_RETURN(const int64_t ttl, Number(kTtl, kNoCellTtl));
  if (Has(kTtl)) CELLFS_RETURN_IF_ERROR(CheckTimeToLive(ttl));
  return ttl;
}

StatusOr<std::string> CellLine::TakeValue() {
  if (!Has(kValue)) return IsMissing(kValue);
  if (said_[kValue].kind != Kind::kText) return IsNoText(kValue);
  return std::move(said_[kValue].text);
}

Status CellLine::TakeColumn(std::string& family, std::string& qualifier, bool& has_qualifier) {
  if (Has(kColumn)) {
    CELLFS_ASSIGN_OR_RETURN(ColumnWord column, ParseColumn(fs::RootPlace(), Text(kColumn)));
    family = std::move(column.family);
    has_qualifier = column.qualifier.has_value();
    qualifier = std::move(column.qualifier).value_or("");
    return {};
  }
  if (Text(kFamily).empty()) return WrongCall("\"column\" or \"family\" is missing");
  family = std::move(said_[kFamily].text);
  has_qualifier = Has(kQualifier);
  if (has_qualifier) qualifier = std::move(said_[kQualifier].text);
  return {};
}

StatusOr<Mutation> CellLine::TakeTombstone(CellType type, Timestamp timestamp) {
  DeleteMarker marker{type, {}, {}, timestamp};
  bool has_qualifier = false;
  CELLFS_RETURN_IF_ERROR(TakeColumn(marker.family, marker.qualifier, has_qualifier));
  if (IsFamilyTombstone(type)) {
    CELLFS_RETURN_IF_ERROR(CheckIsOfFamily(type, marker.qualifier));
  } else if (!has_qualifier) {
    return IsMissing(kQualifier);
  }
  if (type == CellType::kDeleteFamilyVersion && timestamp == kLatestTimestamp)
    return WrongCall("\"timestamp\" is missing: which version of the family is to be deleted");
  Delete remove{.row = std::move(said_[kRow].text), .markers = {}};
  remove.markers.push_back(std::move(marker));
  return Mutation(std::move(remove));
}

StatusOr<Mutation> CellLine::TakeMutation() {
  CELLFS_RETURN_IF_ERROR(CheckTexts());
  const std::string_view type = Has(kType) ? std::string_view(Text(kType)) : "Put";
  const auto tombstone = TombstoneOf(type);
  CELLFS_RETURN_IF_ERROR(CheckMembers(type, tombstone.has_value()));
  CELLFS_ASSIGN_OR_RETURN(const Timestamp timestamp, Number(kTimestamp, kLatestTimestamp));
  if (tombstone) return TakeTombstone(*tombstone, timestamp);
  std::string family;
  std::string qualifier;
  bool has_qualifier = false;
  CELLFS_RETURN_IF_ERROR(TakeColumn(family, qualifier, has_qualifier));
  if (!has_qualifier) return IsMissing(kQualifier);
  CELLFS_ASSIGN_OR_RETURN(const int64_t ttl, TimeToLive());
  std::string& row = said_[kRow].text;
  if (type == "Put") {
    CELLFS_ASSIGN_OR_RETURN(std::string value, TakeValue());
    Put put{.row = std::move(row), .cells = {}, .time_to_live = ttl};
    put.cells.push_back({std::move(family), std::move(qualifier), timestamp, std::move(value), {}});
    return Mutation(std::move(put));
  }
  if (type == "Append") {
    CELLFS_ASSIGN_OR_RETURN(std::string value, TakeValue());
    Append append{.row = std::move(row), .cells = {}, .time_range = {}, .time_to_live = ttl};
    append.cells.push_back({std::move(family), std::move(qualifier), std::move(value), timestamp});
    return Mutation(std::move(append));
  }
  if (type != "Increment") {
    return WrongCall("\"type\" is '" + std::string(type) +
                     "'; there are Put, Append, Increment, Delete, DeleteColumn, DeleteFamily and "
                     "DeleteFamilyVersion");
  }
  if (!Has(kAmount)) return IsMissing(kAmount);
  CELLFS_ASSIGN_OR_RETURN(const int64_t amount, Number(kAmount, 0));
  Increment increment{.row = std::move(row), .cells = {}, .time_range = {}, .time_to_live = ttl};
  increment.cells.push_back({std::move(family), std::move(qualifier), amount, timestamp});
  return Mutation(std::move(increment));
}

const std::string& FamilyOf(const Mutation& mutation) {
  if (const Put* put = std::get_if<Put>(&mutation)) return put->cells.front().family;
  if (const Delete* remove = std::get_if<Delete>(&mutation)) return remove->markers.front().family;
  if (const Append* append = std::get_if<Append>(&mutation)) return append->cells.front().family;
  return std::get<Increment>(mutation).cells.front().family;
}

}  // namespace cellfs
