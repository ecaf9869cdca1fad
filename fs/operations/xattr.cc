// SPDX-License-Identifier: MIT
#include "fs/operations/xattr.h"

#include <charconv>

#include "fs/content/cell_writer.h"
#include "fs/content/column_change.h"
#include "fs/content/column_traces.h"
#include "fs/reading/listed_versions.h"

namespace cellfs::fs {

namespace {

constexpr std::string_view kPrefix = "user.cellfs.";

std::string KeyOf(const Place& place) {
  switch (place.kind) {
    case PlaceKind::kRow:
      return place.row;
    case PlaceKind::kFamily:
      return place.family;
    default:
      return place.IsColumn() ? place.qualifier : place.name;
  }
}

OutcomeOr<std::string> CountVersions(const Reading& reading, const Caller& caller,
                                     const Place& column) {
  constexpr size_t kPiece = 1024;
  ListedVersions versions(reading, column);
  size_t count = 0;
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(const RowCells piece, versions.Next(caller, kPiece));
    count += piece.size();
    if (piece.size() < kPiece) return std::to_string(count);
  }
}

OutcomeOr<std::string> ColumnAttribute(const Reading& reading, const Caller& caller,
                                       const Place& place, std::string_view name) {
  if (!place.IsColumn()) return Outcome(ENODATA);
  if (name == "versions") return CountVersions(reading, caller, place);
  const ReadDetail detail = name == "counter" ? ReadDetail::kValues : ReadDetail::kLengths;
  CELLFS_ASSIGN_OR_RETURN(auto cell, ReadColumn(reading, caller, place, detail));
  if (!cell) return Outcome(ENODATA);
  if (name == "timestamp") return std::to_string(cell->timestamp);
  if (name == "ttl") {
    if (cell->time_to_live == kNoCellTtl) return Outcome(ENODATA);
    return std::to_string(cell->time_to_live);
  }
  CELLFS_ASSIGN_OR_RETURN(std::string text,
                          FileBytes(place.As(PlaceKind::kCounter), *std::move(cell)));
  text.pop_back();  // the newline
  return text;
}

// The same bytes at the same timestamp, with another end.
Outcome PutAgain(const Xattrs& with, const Caller& caller, ColumnChange& change,
                 int64_t time_to_live) {
  const Place& place = change.place();
  CELLFS_ASSIGN_OR_RETURN(auto cell, ReadColumn(with.reading, caller, place, ReadDetail::kValues));
  if (!cell) return ENOENT;
  IfValueIs same{place.family, place.qualifier, cell->value, {}};
  if (place.kind != PlaceKind::kCell) same.time_range = AtTimestamp(cell->timestamp);
  Put put{place.row, {{place.family, place.qualifier, cell->timestamp, cell->value, {}}}};
  put.time_to_live = time_to_live;
  // The cell without that end must not come back when this one has ended.
  RowStep step{RowMutations::Of(std::move(put), with.options.durability),
               WithdrawVersion(place, cell->timestamp),
               {}};
  CELLFS_ASSIGN_OR_RETURN(const bool done,
                          change.SendWithdrawing(caller, std::move(step), std::move(same)));
  return done ? Outcome() : Outcome(EAGAIN);
}

// The name can end now, so what the kernel caches of it, it must ask for again.
Outcome PutTimeToLive(const Xattrs& with, const Caller& caller, const NodePtr& file,
                      int64_t milliseconds) {
  ColumnChange change(with.changing, file);
  if (file->unlinked()) return ENOENT;
  CELLFS_RETURN_IF_FAILED(PutAgain(with, caller, change, milliseconds));
  change.Did(effect::Ends{});
  return change.AwaitDisk();
}

Outcome SetTimeToLive(const Xattrs& with, const Request& request, Node& node,
                      std::string_view value) {
  int64_t milliseconds = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), milliseconds);
  if (error != std::errc() || end != value.data() + value.size() || milliseconds <= 0) {
    return {EINVAL, "user.cellfs.ttl is a number of milliseconds from 1"};
  }
  for (const auto& handle : node.handles()) {
    auto* const writer = dynamic_cast<CellWriter*>(handle.get());
    if (writer != nullptr && writer->SetTimeToLive(milliseconds)) return {};
  }
  return PutTimeToLive(with, *request.caller, node.shared_from_this(), milliseconds);
}

}  // namespace

OutcomeOr<std::string> GetXattr(const Xattrs& with, const Request& request, Node& node,
                                const std::string& name) {
  if (!with.options.xattr || !name.starts_with(kPrefix)) return Outcome(EOPNOTSUPP);
  const std::string_view short_name = std::string_view(name).substr(kPrefix.size());
  const Snapshot<Place> now = node.place();
  const Place& place = *now;
  if (short_name == "key") return KeyOf(place);
  if (short_name == "error") {
    std::string reason = with.errors.ReasonFor(place);
    if (reason.empty()) return Outcome(ENODATA);
    return reason;
  }
  for (std::string_view known : {"timestamp", "ttl", "versions", "counter"}) {
    if (short_name == known)
      return ColumnAttribute(with.reading, *request.caller, place, short_name);
  }
  return Outcome(EOPNOTSUPP);
}

Outcome SetXattr(const Xattrs& with, const Request& request, Node& node, const std::string& name,
                 std::string_view value) {
  if (!with.options.xattr || name != std::string(kPrefix) + "ttl") return EOPNOTSUPP;
  const Snapshot<Place> now = node.place();
  const Place& place = *now;
  if (place.IsReadOnly() || with.options.read_only) return EROFS;
  if (place.traits().content != PlaceContent::kValue) return EOPNOTSUPP;
  return SetTimeToLive(with, request, node, value);
}

}  // namespace cellfs::fs
