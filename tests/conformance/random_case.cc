// SPDX-License-Identifier: MIT
#include "random_case.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "random_filter.h"
#include "random_scene.h"

namespace cellfs::conformance {
namespace {

class Generator {
 public:
  Generator(uint64_t seed, const RandomCaseOptions& options)
      : scene_(seed), dice_(scene_.dice()), options_(options) {
    wide_markers_ = Chance(50);
    rewrites_ = options_.raw_scans || Chance(85);
  }

  Json Make() {
    const int64_t start = scene_.now();
    Json steps = Json::array();
    for (int i = 0; i < options_.puts; ++i) steps.push_back(Put());
    for (int i = 0; i < options_.steps; ++i) steps.push_back(Step());
    for (int i = 0; i < options_.scans; ++i) steps.push_back(Scan());
    for (const std::string& family : scene_.families()) {
      steps.push_back({{"op", "scan"}, {"families", {family}}, {"versions", "all"}});
    }
    Json made = {{"clock", start},
                 {"needs_clock", true},
                 {"topic", "generated"},
                 {"schema", {{"families", scene_.families_json()}}},
                 {"steps", steps}};
    if (scene_.keeps_markers_for_a_while()) {
      made["config"] = {{"hbase.hstore.time.to.purge.deletes", 1000}};
    }
    return made;
  }

 private:
  int Below(int limit) { return dice_.Below(limit); }
  bool Chance(int percent) { return dice_.Chance(percent); }
  template <typename T>
  const T& Any(const std::vector<T>& list) {
    return dice_.Any(list);
  }
  std::string AnyRow() { return scene_.AnyRow(); }
  std::string AnyColumn() { return scene_.AnyColumn(); }
  std::string AnyValue() { return scene_.AnyValue(); }
  int64_t AnyTime() { return scene_.AnyTime(); }
  Json AnyRange() { return scene_.AnyRange(); }

  void MayStamp(Json& step) {
    if (!Chance(scene_.near() ? 40 : 10)) step["ts"] = Chance(1) ? -1 : AnyTime();
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
    if (rewrites_ && Chance(8)) step["cell_ttl"] = Any(std::vector<int64_t>{0, 100, 1500});
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
    const int count = 2 + Below(3);
    for (int i = 0; i < count; ++i) {
      Json cell = {{"col", AnyColumn()}, {"value", AnyValue()}};
      MayStamp(cell);
      step["cells"].push_back(std::move(cell));
    }
    return step;
  }

  std::string MarkerType() {
    static const std::vector<std::string> wide = {"column", "column", "family"};
    static const std::vector<std::string> narrow = {"version", "version", "family_version"};
    if (scene_.new_behavior()) return Any(wide_markers_ ? wide : narrow);
    return Any(Chance(50) ? wide : narrow);
  }
  Json Marker(const std::string& type) {
    Json marker = Json::object();
    if (type.starts_with("family")) {
      marker["family"] = scene_.AnyFamily();
    } else {
      marker["col"] = AnyColumn();
    }
    if (type == "version" && scene_.doubling()) {
      marker["ts"] = AnyTime();  // otherwise HBase looks for the newest cell
    } else {
      MayStamp(marker);
    }
    return marker;
  }
  Json AnyDelete() { return DeleteOn(AnyRow()); }
  Json DeleteOn(const std::string& row) {
    if (Chance(12) && (!scene_.new_behavior() || wide_markers_)) {
      Json step = {{"op", "delete_row"}, {"row", row}};
      MayStamp(step);
      return step;
    }
    if (Chance(15)) {
      Json step = {{"op", "delete"}, {"row", row}, {"markers", Json::array()}};
      const int count = 2 + Below(2);
      for (int i = 0; i < count; ++i) {
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
      cell["col"] = Chance(80) ? scene_.AnyFamily() + ":n" : AnyColumn();
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
    if (rewrites_ && Chance(10)) step["cell_ttl"] = 1000;
    if (Chance(10) && !scene_.new_behavior()) step["time_range"] = AnyRange();
    return step;
  }

  Json Mutations(const std::string& row) {
    Json list = Json::array();
    const int count = 1 + Below(3);
    for (int i = 0; i < count; ++i) {
      const int kind = Below(10);
      // Where NEW_VERSION_BEHAVIOR looks at what one mutation does to its own puts, HBase has gaps.
      Json one = kind < 5 || scene_.new_behavior() ? PutOn(row)
                 : kind < 8                        ? DeleteOn(row)
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
    const std::string row = AnyRow();
    Json step = {{"row", row}};
    if (Chance(75) && !scene_.doubling()) {
      step["col"] = AnyColumn();
      if (Chance(70)) step["compare"] = scene_.AnyOperator();
      step["value"] = Chance(30) ? Json() : Json(AnyValue());
    } else {
      step["filter"] = RandomFilter(scene_, {.depth = 2});
    }
    if (Chance(15) && !scene_.new_behavior()) step["time_range"] = AnyRange();
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
    if (!rewrites_) return Put();
    const int kind = Below(10);
    if (kind < 6) return {{"op", "flush"}};
    // There HBase leaves out files that have expired as a whole.
    if (kind < 8 && !(scene_.new_behavior() && scene_.expiring())) return {{"op", "minor_compact"}};
    // There a major compaction of HBase 2.6.1 can run for ever.
    if (scene_.keeping() && scene_.empty_qualifier()) return {{"op", "flush"}};
    return {{"op", "major_compact"}};
  }
  Json Clock() {
    const int64_t step = Any(std::vector<int64_t>{1, 100, 501, 1000, 2500});
    scene_.PassTime(step);
    return {{"op", "advance_clock"}, {"ms", step}};
  }

  void Narrow(Json& step, bool raw) {
    const int kind = Below(10);
    if (raw || kind < 6) {
      if (Chance(25)) step["families"] = {scene_.AnyFamily()};
    } else if (kind < 8) {
      step["col"] = AnyColumn();
    } else {
      step["cols"] = {AnyColumn(), AnyColumn(), AnyColumn()};
    }
    if (Chance(60)) step["versions"] = Chance(50) ? Json("all") : Json(1 + Below(4));
    if (!scene_.new_behavior() && Chance(25)) {
      if (Chance(20)) {
        step["timestamp"] = AnyTime();
      } else if (Chance(20)) {
        step["cf_time_range"] = {{scene_.AnyFamily(), AnyRange()}};
      } else {
        step["time_range"] = AnyRange();
      }
    }
    if (Chance(50)) step["filter"] = RandomFilter(scene_, {.depth = 3, .raw = raw});
    if (Chance(12)) step["store_limit"] = Below(4);
    if (Chance(12)) step["store_offset"] = 1 + Below(2);
  }
  Json Get() {
    Json step = {{"op", Chance(90) ? "get" : "exists"}, {"row", AnyRow()}};
    Narrow(step, false);
    if (Chance(1)) step["versions"] = 0;
    return step;
  }
  Json Scan() {
    const bool raw = (options_.raw_scans || !rewrites_) && Chance(30);
    Json step = {{"op", raw || Chance(90) ? "scan" : "count_rows"}};
    if (raw) step["raw"] = true;
    Narrow(step, raw);
    if (Chance(50)) step["reversed"] = true;
    Bound(step);
    if (Chance(15)) step["limit"] = 1 + Below(3);
    return step;
  }
  void Bound(Json& step) {
    const int kind = Below(20);
    if (kind < 2) {
      step["prefix"] = Chance(50) ? "r" : scene_.AnyBound();
      return;
    }
    std::string start = scene_.AnyBound();
    std::string stop = kind < 6 ? start : scene_.AnyBound();
    const bool turned = start > stop;
    if (kind < 17 && turned != step.contains("reversed")) std::swap(start, stop);
    if (kind < 6 || Chance(50)) AddBound(step, "start", start);
    if (kind < 6 || Chance(50)) AddBound(step, "stop", stop);
  }
  void AddBound(Json& step, const std::string& bound, const std::string& row) {
    step[bound] = row;
    if (Chance(80)) step[bound + "_inclusive"] = Chance(75);
  }

  RandomScene scene_;
  Dice& dice_;
  const RandomCaseOptions options_;
  // With NEW_VERSION_BEHAVIOR: only these, else only those of one version.
  bool wide_markers_ = false;
  bool rewrites_ = true;  // else cells stay as they were written, and raw scans may come
};

}  // namespace

Json RandomCase(uint64_t seed, const RandomCaseOptions& options) {
  return Generator(seed, options).Make();
}

}  // namespace cellfs::conformance
