// SPDX-License-Identifier: MIT
#include "random_filter.h"

namespace cellfs::conformance {
namespace {

class FilterMaker {
 public:
  FilterMaker(RandomScene& scene, const FilterPlace& place)
      : scene_(scene), dice_(scene.dice()), place_(place) {}

  Json Make() {
    if (place_.depth > 1 && dice_.Chance(40)) return OfFilters();
    switch (dice_.Below(12)) {
      case 0:
      case 1:
        return OfCells();
      case 2:
      case 3:
        return Comparing();
      case 4:
      case 5:
        return OfOneColumn();
      case 6:
      case 7:
        return OfRows();
      default:
        return OfColumns();
    }
  }

 private:
  Json Inner(bool in_while_match) {
    FilterPlace inner = place_;
    --inner.depth;
    inner.in_while_match = place_.in_while_match || in_while_match;
    return RandomFilter(scene_, inner);
  }

  Json OfFilters() {
    if (dice_.Chance(20)) return {{"type", "SkipFilter"}, {"filter", Inner(false)}};
    if (dice_.Chance(25)) return {{"type", "WhileMatchFilter"}, {"filter", Inner(true)}};
    Json filters = Json::array();
    const int count = dice_.Chance(3) ? 0 : 1 + dice_.Below(3);
    for (int i = 0; i < count; ++i) filters.push_back(Inner(false));
    return {{"type", "FilterList"},
            {"operator", dice_.Chance(50) ? "MUST_PASS_ALL" : "MUST_PASS_ONE"},
            {"filters", filters}};
  }

  Json OfCells() {
    switch (dice_.Below(4)) {
      case 0:
        return {{"type", "FirstKeyOnlyFilter"}};
      case 1:
        return {{"type", "KeyOnlyFilter"}, {"len_as_value", dice_.Chance(50)}};
      default:
        return Timestamps();
    }
  }
  Json Timestamps() {
    Json timestamps = Json::array();
    const int count = 1 + dice_.Below(6);
    for (int i = 0; i < count; ++i) timestamps.push_back(scene_.AnyTime());
    return {{"type", "TimestampsFilter"}, {"timestamps", timestamps}};
  }

  // What a comparator is given to compare with `text`.
  Json Against(const std::string& text) {
    const bool plain = !text.starts_with("long:");
    switch (dice_.Below(plain ? 8 : 6)) {
      case 0:
        return {{"type", "binaryprefix"}, {"value", text}};
      case 6:
        return {{"type", "substring"}, {"value", text}};
      case 7:
        return {{"type", "regexstring"}, {"value", dice_.Chance(50) ? text + "." : "^" + text}};
      default:
        return text;
    }
  }
  Json Comparing(const char* type, const std::string& text) {
    return {{"type", type}, {"compare", scene_.AnyOperator()}, {"comparator", Against(text)}};
  }
  Json Comparing() {
    switch (dice_.Below(4)) {
      case 0:
        return Comparing("FamilyFilter", scene_.AnyFamily());
      case 1:
        return Comparing("QualifierFilter", scene_.AnyQualifier());
      default:
        return Comparing("ValueFilter", scene_.AnyValue());
    }
  }

  Json OfOneColumn() {
    static const std::vector<std::string> types = {
        "SingleColumnValueFilter", "SingleColumnValueFilter", "SingleColumnValueExcludeFilter",
        "ColumnValueFilter", "DependentColumnFilter"};
    const std::string& type = dice_.Any(types);
    Json filter = Comparing(type.c_str(), scene_.AnyValue());
    filter["col"] = scene_.AnyOwnColumn();
    if (type.starts_with("Single")) {
      filter["filter_if_missing"] = dice_.Chance(30);
      filter["latest_version_only"] = dice_.Chance(70);
    }
    if (type == "DependentColumnFilter") {
      filter["drop_dependent"] = dice_.Chance(30);
      if (dice_.Chance(60)) {
        filter.erase("compare");
        filter.erase("comparator");
      }
    }
    return filter;
  }

  Json OfRows() {
    // Within a WhileMatchFilter HBase can empty the scan (HBASE-27691).
    if (place_.in_while_match) return Comparing();
    switch (dice_.Below(4)) {
      case 0:
        return Comparing("RowFilter", scene_.AnyRow());
      case 1:
        return {{"type", "PrefixFilter"}, {"prefix", dice_.Chance(30) ? "r" : scene_.AnyBound()}};
      case 2:
        return {{"type", "InclusiveStopFilter"}, {"stop", scene_.AnyBound()}};
      default:
        return {{"type", "PageFilter"}, {"page_size", dice_.Below(4)}};
    }
  }

  // Those that go on to other columns; among cells of the empty qualifier HBase loses its way.
  Json OfColumns() {
    if (scene_.empty_qualifier()) return Comparing();
    // With NEW_VERSION_BEHAVIOR it depends on HBase's files whether they leave a column that was
    // named, and a raw scan with ColumnPaginationFilter can fail.
    switch (dice_.Below(scene_.new_behavior() ? 3 : place_.raw ? 4 : 5)) {
      case 0:
        return {{"type", "ColumnPrefixFilter"}, {"prefix", dice_.Chance(50) ? "a" : "b"}};
      case 1:
        return MultiplePrefixes();
      case 2:
        return ColumnRange();
      case 3:
        return {{"type", "ColumnCountGetFilter"}, {"limit", dice_.Below(4)}};
      default:
        return {{"type", "ColumnPaginationFilter"},
                {"limit", dice_.Below(4)},
                {"offset", dice_.Below(3)}};
    }
  }
  Json MultiplePrefixes() {
    static const std::vector<Json> lists = {Json::array({"ab", "n"}), Json::array({"a"}),
                                            Json::array({"a", "ab"}), Json::array({"aa", "b"}),
                                            Json::array({"n", "z", "a"})};
    return {{"type", "MultipleColumnPrefixFilter"}, {"prefixes", dice_.Any(lists)}};
  }
  Json ColumnRange() {
    static const std::vector<std::string> mins = {"a", "aa", "ab", "b"};
    static const std::vector<std::string> maxes = {"ab", "b", "m", "n", "z"};
    Json range = {{"type", "ColumnRangeFilter"},
                  {"min_inclusive", dice_.Chance(50)},
                  {"max_inclusive", dice_.Chance(50)}};
    range["min"] = dice_.Chance(20) ? Json() : Json(dice_.Any(mins));
    range["max"] = dice_.Chance(20) ? Json() : Json(dice_.Any(maxes));
    return range;
  }

  RandomScene& scene_;
  Dice& dice_;
  const FilterPlace place_;
};

}  // namespace

Json RandomFilter(RandomScene& scene, const FilterPlace& place) {
  return FilterMaker(scene, place).Make();
}

}  // namespace cellfs::conformance
