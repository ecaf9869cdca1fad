// SPDX-License-Identifier: MIT
#include "fs/resolve/view_places.h"

#include "fs/reading/scan_end.h"
#include "fs/tree/asof.h"
#include "fs/tree/time_text.h"
#include "fs/tree/scan_query.h"
#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

std::shared_ptr<View> NewView(View::Kind kind, const Place& directory, std::string_view name) {
  auto view = std::make_shared<View>();
  view->kind = kind;
  view->name = name;
  view->scope = directory.table;
  return view;
}

Place SeenThrough(const Place& directory, std::shared_ptr<const View> view) {
  Place place = directory.Parent();
  place.view = std::move(view);
  return place;
}

OutcomeOr<Scan> ReadQuery(NameMode names, std::string_view name) {
  auto query = ScanQuery::Read(name, names);
  if (!query.ok()) return Outcome(ENOENT, query.status().message());
  auto scan = query->ToScan();
  if (!scan.ok()) return Outcome(ENOENT, scan.status().message());
  return *std::move(scan);
}

Outcome CheckFamilies(const Scan& scan, const TableSchema& schema) {
  for (const auto& [family, qualifiers] : scan.columns) {
    if (schema.FindFamily(family) != nullptr) continue;
    return {ENOENT, "scan query: family '" + family + "' is not declared"};
  }
  return {};
}

}  // namespace

OutcomeOr<Place> PlaceAsOf(const Reading& reading, AsofRegistry& asof, const Place& asof_directory,
                           std::string_view time) {
  const auto timestamp = ReadTimestamp(time);
  if (!timestamp) {
    // The last timestamp that there is is no version's: a link to it would lead to itself.
    const auto said = ParseTime(time, reading.clock().Now());
    if (!said.ok()) return Outcome(ENOENT, said.status().message());
    if (std::to_string(*said) == time) return Outcome(ENOENT);
    Place link = asof_directory.As(PlaceKind::kAsofLink);
    link.name = time;
    return link;
  }
  auto view = NewView(View::Kind::kAsof, asof_directory, time);
  CELLFS_ASSIGN_OR_RETURN(view->asof, asof.Find(*timestamp));
  if (!view->scope.name.empty()) {
    CELLFS_ASSIGN_OR_RETURN(const auto schema, reading.DescribeTable(asof_directory));
    view->scope_id = schema->id();
  }
  return SeenThrough(asof_directory, std::move(view));
}

OutcomeOr<Place> PlaceInScan(const Reading& reading, NameMode names, const Place& scan_directory,
                             std::string_view query) {
  CELLFS_ASSIGN_OR_RETURN(Scan scan, ReadQuery(names, query));
  CELLFS_ASSIGN_OR_RETURN(const auto schema, reading.DescribeTable(scan_directory));
  CELLFS_RETURN_IF_FAILED(CheckFamilies(scan, *schema));
  auto view = NewView(View::Kind::kScan, scan_directory, query);
  view->scan = std::move(scan);
  if (view->scan.limit >= 0) view->scan_end = std::make_shared<ScanEnd>();
  return SeenThrough(scan_directory, std::move(view));
}

}  // namespace cellfs::fs
