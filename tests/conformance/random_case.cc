// SPDX-License-Identifier: MIT
#include "random_case.h"

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace cellfs::conformance {
namespace {

constexpr int64_t kStart = 1000000;

class Generator {
 public:
  Generator(uint64_t seed, const RandomCaseOptions& options) : random_(seed), options_(options) {}

  Json Make() {
    Json families = Json::object();
    const int count = 1 + Below(3);
    new_behavior_ = Chance(25);
    wide_markers_ = Chance(50);
    near_ = Chance(50);
    qualifiers_ = {"a", "b", "ab", "n"};
    if (!new_behavior_ && Chance(25)) {
      qualifiers_.push_back("");
      empty_qualifier_ = true;
    }
    for (int i = 0; i < count; ++i) {
      families_.push_back(std::string(1, static_cast<char>('f' + i)));
      families[families_.back()] = FamilyAttributes();
    }
    Json steps = Json::array();
    for (int i = 0; i < options_.steps; ++i) steps.push_back(Step());
    for (const std::string& family : families_) {
      steps.push_back({{"op", "scan"}, {"families", {family}}, {"versions", "all"}});
    }
    Json made = {{"clock", kStart},
                 {"needs_clock", true},
                 {"topic", "generated"},
                 {"schema", {{"families", families}}},
                 {"steps", steps}};
    if (!new_behavior_ && Chance(15)) {
      made["config"] = {{"hbase.hstore.time.to.purge.deletes", 1000}};
    }
    return made;
  }

 private:
  int Below(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }
  bool Chance(int percent) { return Below(100) < percent; }
  template <typename T>
  const T& Any(const std::vector<T>& list) {
    return list[static_cast<size_t>(Below(static_cast<int>(list.size())))];
  }

  Json FamilyAttributes() {
    const int versions = 1 + Below(4);
    Json attributes = {{"VERSIONS", versions},
                       {"MIN_VERSIONS", 0},
                       {"TTL", nullptr},
                       {"KEEP_DELETED_CELLS", "FALSE"},
                       {"NEW_VERSION_BEHAVIOR", new_behavior_}};
    if (near_ && Chance(40)) {
      attributes["TTL"] = 1 + Below(4);
      if (Chance(60)) attributes["MIN_VERSIONS"] = 1 + Below(versions);
      if (attributes["MIN_VERSIONS"] == 0) expiring_ = true;
    }
    if (!new_behavior_ && Chance(40)) {
      attributes["KEEP_DELETED_CELLS"] = Chance(50) ? "TRUE" : "TTL";
      keeping_ = true;
    }
    return attributes;
  }

  int64_t AnyTime() {
    static const std::vector<int64_t> offsets = {-6000, -3000, -2000, -1000, -999, -500,
                                                 -2,    -1,    0,     1,     500};
    return near_ ? now_ + Any(offsets) : 1 + Below(8);
  }
  std::string AnyRow() { return "r" + std::to_string(1 + Below(3)); }
  std::string AnyColumn() {
    if (Chance(1)) return "nowhere:q";
    return Any(families_) + ":" + Any(qualifiers_);
  }
  std::string AnyValue() {
    static const std::vector<std::string> values = {"", "a", "b", "bb", "c", "long:7", "long:-1"};
    return Any(values);
  }

  void MayStamp(Json& step) {
    if (!Chance(near_ ? 40 : 10)) step["ts"] = Chance(1) ? -1 : AnyTime();
  }

  Json Step() {
    static const std::vector<std::pair<int, Json (Generator::*)()>> kinds = {
        {26, &Generator::Put},     {17, &Generator::AnyDelete}, {4, &Generator::Increment},
        {4, &Generator::Append},   {4, &Generator::MutateRow},  {6, &Generator::Check},
        {14, &Generator::Rewrite}, {3, &Generator::Clock},      {12, &Generator::Get},
        {10, &Generator::Scan}};
    int ticket = Below(100);
    for (const auto& [weight, make] : kinds) {
      if ((ticket -= weight) < 0) return (this->*make)();
    }
    return Get();
  }

  Json Put() {
    Json step = PutOn(AnyRow());
    if (Chance(8)) step["cell_ttl"] = Any(std::vector<int64_t>{0, 100, 1500});
    return step;
  }
  Json PutOn(const std::string& row) {
    Json step = {{"op", "put"}, {"row", row}};
    if (Chance(70)) {
      step["col"] = AnyColumn();
      step["value"] = AnyValue();
      MayStamp(step);
      return step;
    }
    step["cells"] = Json::array();
    for (int i = 0; i < 2 + Below(3); ++i) {
      Json cell = {{"col", AnyColumn()}, {"value", AnyValue()}};
      MayStamp(cell);
      step["cells"].push_back(std::move(cell));
    }
    return step;
  }

  std::string MarkerType() {
    static const std::vector<std::string> wide = {"column", "column", "family"};
    static const std::vector<std::string> narrow = {"version", "version", "family_version"};
    if (new_behavior_) return Any(wide_markers_ ? wide : narrow);
    return Any(Chance(50) ? wide : narrow);
  }
  Json Marker(const std::string& type) {
    Json marker = Json::object();
    if (type.starts_with("family")) {
      marker["family"] = Any(families_);
    } else {
      marker["col"] = AnyColumn();
    }
    MayStamp(marker);
    return marker;
  }
  Json AnyDelete() { return DeleteOn(AnyRow()); }
  Json DeleteOn(const std::string& row) {
    if (Chance(12) && (!new_behavior_ || wide_markers_)) {
      Json step = {{"op", "delete_row"}, {"row", row}};
      MayStamp(step);
      return step;
    }
    if (Chance(15)) {
      Json step = {{"op", "delete"}, {"row", row}, {"markers", Json::array()}};
      for (int i = 0; i < 2 + Below(2); ++i) {
        const std::string type = MarkerType();
        Json marker = Marker(type);
        marker["type"] = type;
        step["markers"].push_back(std::move(marker));
      }
      return step;
    }
    const std::string type = MarkerType();
    Json step = Marker(type);
    step["op"] = "delete_" + type;
    step["row"] = row;
    return step;
  }

  Json Increment() { return DeltaOn("increment", AnyRow()); }
  Json Append() { return DeltaOn("append", AnyRow()); }
  Json DeltaOn(const std::string& op, const std::string& row) {
    Json step = {{"op", op}, {"row", row}};
    const auto fill = [&](Json& cell) {
      cell["col"] = Chance(80) ? Any(families_) + ":n" : AnyColumn();
      if (op == "increment") {
        cell["by"] = Below(7) - 2;
      } else {
        cell["value"] = AnyValue();
      }
    };
    if (Chance(75)) {
      fill(step);
    } else {
      step["cells"] = Json::array();
      for (int i = 0; i < 2; ++i) {
        Json cell = Json::object();
        fill(cell);
        MayStamp(cell);
        step["cells"].push_back(std::move(cell));
      }
    }
    if (Chance(10)) step["cell_ttl"] = 1000;
    if (Chance(10) && !new_behavior_) step["time_range"] = AnyRange();
    return step;
  }

  Json Mutations(const std::string& row) {
    Json list = Json::array();
    for (int i = 0; i < 1 + Below(3); ++i) {
      const int kind = Below(10);
      // Where NEW_VERSION_BEHAVIOR looks at what one mutation does to its own puts, HBase has gaps.
      Json one = kind < 5 || new_behavior_ ? PutOn(row)
                 : kind < 8                ? DeleteOn(row)
                                           : DeltaOn(kind == 8 ? "increment" : "append", row);
      one.erase("row");
      list.push_back(std::move(one));
    }
    return list;
  }
  Json MutateRow() {
    const std::string row = AnyRow();
    return {{"op", "mutate_row"}, {"row", row}, {"mutations", Mutations(row)}};
  }
  Json Check() {
    static const std::vector<std::string> operators = {
        "EQUAL", "NOT_EQUAL", "LESS", "LESS_OR_EQUAL", "GREATER", "GREATER_OR_EQUAL"};
    const std::string row = AnyRow();
    Json step = {{"row", row}};
    if (Chance(75)) {
      step["col"] = AnyColumn();
      if (Chance(70)) step["compare"] = Any(operators);
      step["value"] = Chance(30) ? Json() : Json(AnyValue());
    } else {
      step["filter"] = AnyFilter(1, false);
    }
    if (Chance(15) && !new_behavior_) step["time_range"] = AnyRange();
    const int kind = Below(4);
    Json then = kind == 0   ? PutOn(row)
                : kind == 1 ? DeleteOn(row)
                : kind == 2 ? DeltaOn(Chance(50) ? "increment" : "append", row)
                            : Json();
    if (kind == 3) {
      step["op"] = "check_and_mutate";
      step["then"] = Mutations(row);
      return step;
    }
    const std::string op = then["op"];
    step["op"] = "check_and_" + (op.starts_with("delete") ? std::string("delete") : op);
    then.erase("row");
    step["then"] = Json::array({then});
    return step;
  }

  Json Rewrite() {
    const int kind = Below(10);
    if (kind < 6) return {{"op", "flush"}};
    // There HBase leaves out files that have expired as a whole.
    if (kind < 8 && !(new_behavior_ && expiring_)) return {{"op", "minor_compact"}};
    // There a major compaction of HBase 2.6.1 can run for ever.
    if (keeping_ && empty_qualifier_) return {{"op", "flush"}};
    return {{"op", "major_compact"}};
  }
  Json Clock() {
    const int64_t step = Any(std::vector<int64_t>{1, 100, 501, 1000, 2500});
    now_ += step;
    return {{"op", "advance_clock"}, {"ms", step}};
  }

  Json AnyRange() {
    const int64_t a = AnyTime();
    const int64_t b = AnyTime();
    if (Chance(20)) return {a, nullptr};
    if (Chance(30)) return {0, b};
    return {std::min(a, b), std::max(a, b)};
  }
  void Narrow(Json& step, bool raw) {
    const int kind = Below(10);
    if (raw || kind < 3) {
      if (Chance(30)) step["families"] = {Any(families_)};
    } else if (kind < 6) {
      step["col"] = AnyColumn();
    } else if (kind < 8) {
      step["cols"] = {AnyColumn(), AnyColumn()};
    }
    if (Chance(60)) step["versions"] = Chance(50) ? Json("all") : Json(1 + Below(4));
    if (!new_behavior_ && Chance(25)) {
      if (Chance(20)) {
        step["timestamp"] = AnyTime();
      } else if (Chance(20)) {
        step["cf_time_range"] = {{Any(families_), AnyRange()}};
      } else {
        step["time_range"] = AnyRange();
      }
    }
    if (Chance(30)) step["filter"] = AnyFilter(2, raw);
    if (Chance(6)) step["store_limit"] = 1 + Below(3);
    if (Chance(6)) step["store_offset"] = 1 + Below(2);
  }
  Json Get() {
    Json step = {{"op", Chance(90) ? "get" : "exists"}, {"row", AnyRow()}};
    Narrow(step, false);
    if (Chance(1)) step["versions"] = 0;
    return step;
  }
  Json Scan() {
    const bool raw = options_.raw_scans && Chance(30);
    Json step = {{"op", raw || Chance(90) ? "scan" : "count_rows"}};
    if (raw) step["raw"] = true;
    Narrow(step, raw);
    const bool reversed = Chance(20);
    if (reversed) step["reversed"] = true;
    std::string start = AnyRow();
    std::string stop = AnyRow();
    if ((start > stop) != reversed) std::swap(start, stop);
    if (Chance(25)) {
      step["start"] = start;
      if (Chance(40)) step["start_inclusive"] = Chance(50);
    }
    if (Chance(25)) {
      step["stop"] = stop;
      if (Chance(60)) step["stop_inclusive"] = Chance(50);
    }
    if (Chance(15)) step["limit"] = 1 + Below(2);
    return step;
  }

  // depth: how many filters may lie in each other.
  Json AnyFilter(int depth, bool raw) {
    static const std::vector<std::string> operators = {
        "EQUAL", "NOT_EQUAL", "LESS", "LESS_OR_EQUAL", "GREATER", "GREATER_OR_EQUAL"};
    const auto comparing = [&](const char* type, const Json& comparator) {
      return Json{{"type", type}, {"compare", Any(operators)}, {"comparator", comparator}};
    };
    switch (Below(17)) {
      case 0:
        return TimestampsFilter();
      case 1:
        return comparing("ValueFilter", AnyValue());
      case 2:
        return comparing("QualifierFilter", Any(qualifiers_));
      case 3:
        return comparing("FamilyFilter", Any(families_));
      case 4:
        return SingleColumn("SingleColumnValueFilter");
      case 5:
        return SingleColumn("SingleColumnValueExcludeFilter");
      case 6:
        return {{"type", "FirstKeyOnlyFilter"}};
      case 7:
        return {{"type", "KeyOnlyFilter"}, {"len_as_value", Chance(50)}};
      case 8:
      case 9:
        if (depth > 1) {
          return {{"type", Chance(50) ? "SkipFilter" : "WhileMatchFilter"},
                  {"filter", AnyFilter(depth - 1, raw)}};
        }
        return TimestampsFilter();
      case 10:
        return depth > 1 ? RowFilter() : TimestampsFilter();
      case 11:
        return {{"type", "PageFilter"}, {"page_size", 1 + Below(2)}};
      default:
        return empty_qualifier_ || raw ? TimestampsFilter() : ColumnFilter();
    }
  }
  Json TimestampsFilter() {
    return {{"type", "TimestampsFilter"}, {"timestamps", {AnyTime(), AnyTime(), AnyTime()}}};
  }
  // Not within a WhileMatchFilter, where HBase can empty the scan (HBASE-27691).
  Json RowFilter() {
    switch (Below(3)) {
      case 0:
        return {{"type", "RowFilter"}, {"compare", "NOT_EQUAL"}, {"comparator", AnyRow()}};
      case 1:
        return {{"type", "PrefixFilter"}, {"prefix", Chance(50) ? "r" : AnyRow()}};
      default:
        return {{"type", "InclusiveStopFilter"}, {"stop", AnyRow()}};
    }
  }
  // Those that go on to other columns; among cells of the empty qualifier HBase loses its way.
  Json ColumnFilter() {
    // With NEW_VERSION_BEHAVIOR it depends on HBase's files whether they leave a column that was
    // named.
    switch (new_behavior_ ? 1 + Below(3) : Below(5)) {
      case 0:
        return {{"type", "ColumnCountGetFilter"}, {"limit", 1 + Below(3)}};
      case 1:
        return {{"type", "ColumnPrefixFilter"}, {"prefix", Chance(50) ? "a" : "b"}};
      case 2:
        return {{"type", "MultipleColumnPrefixFilter"}, {"prefixes", {"ab", "n"}}};
      case 3:
        return {{"type", "ColumnRangeFilter"},
                {"min", Chance(50) ? "ab" : "a"},
                {"min_inclusive", Chance(50)},
                {"max", "n"},
                {"max_inclusive", Chance(50)}};
      default:
        return {{"type", "ColumnPaginationFilter"}, {"limit", 1 + Below(2)}, {"offset", Below(3)}};
    }
  }
  Json SingleColumn(const char* type) {
    return {{"type", type},
            {"col", Any(families_) + ":" + Any(qualifiers_)},
            {"compare", Chance(50) ? "EQUAL" : "GREATER"},
            {"comparator", AnyValue()},
            {"filter_if_missing", Chance(50)},
            {"latest_version_only", Chance(70)}};
  }

  std::mt19937_64 random_;
  const RandomCaseOptions options_;
  std::vector<std::string> families_;
  std::vector<std::string> qualifiers_;
  bool new_behavior_ = false;
  bool wide_markers_ = false;  // with new_behavior_: only these, else only those of one version
  bool near_ = false;          // timestamps around the clock
  bool keeping_ = false;       // a family keeps deleted cells
  bool expiring_ = false;      // a family's cells expire all
  bool empty_qualifier_ = false;
  int64_t now_ = kStart;
};

}  // namespace

Json RandomCase(uint64_t seed, const RandomCaseOptions& options) {
  return Generator(seed, options).Make();
}

}  // namespace cellfs::conformance
