// SPDX-License-Identifier: MIT
//
// delete: one version of columns. deleteall: all of columns, families or a row. Both write tombstones.
#include <utility>

#include "src/commands/all.h"
#include "src/commands/cells.h"

namespace cellfs {
namespace {

enum class Extent { kVersion, kAll };

StatusOr<DeleteMarker> MarkerOf(const ColumnWord& column, Extent extent, Timestamp timestamp) {
  if (column.qualifier) {
    return DeleteMarker{extent == Extent::kAll ? CellType::kDeleteColumn : CellType::kDelete,
                        column.family, *column.qualifier, timestamp};
  }
  if (extent == Extent::kAll)
    return DeleteMarker{CellType::kDeleteFamily, column.family, "", timestamp};
  if (timestamp == kLatestTimestamp) {
    return WrongCall("say which version of the family '" + column.family +
                     "' with --timestamp, or use deleteall");
  }
  return DeleteMarker{CellType::kDeleteFamilyVersion, column.family, "", timestamp};
}

// The columns and families that place and words name.
StatusOr<std::vector<ColumnWord>> NamedColumns(const NamedPlace& named) {
  std::vector<ColumnWord> columns;
  if (named.place.IsColumn()) columns.push_back({named.place.family, named.place.qualifier});
  if (named.place.kind == fs::PlaceKind::kFamily && named.words.empty())
    columns.push_back({named.place.family, std::nullopt});
  if (named.place.IsColumn() && !named.words.empty())
    return WrongCall("'" + named.words.front() + "' comes after a column; name one or the other");
  for (const std::string& word : named.words) {
    CELLFS_ASSIGN_OR_RETURN(ColumnWord column, ParseColumn(named.place, word));
    if (column.qualifier && column.qualifier->empty() && word.ends_with(':'))
      column.qualifier.reset();  // "f:" is the family, as in HBase's shell
    columns.push_back(std::move(column));
  }
  return columns;
}

StatusOr<Answer> Remove(Session& session, const Arguments& arguments, Extent extent) {
  CELLFS_ASSIGN_OR_RETURN(const NamedPlace named,
                          NamePlace(session, arguments, Depth::kRow, Depth::kRow,
                                    {fs::PlaceKind::kVersion, fs::PlaceKind::kCounter}));
  CELLFS_ASSIGN_OR_RETURN(const Timestamp timestamp,
                          TimestampOf(named.place, arguments, session.Now()));
  CELLFS_ASSIGN_OR_RETURN(const auto columns, NamedColumns(named));
  if (columns.empty() && extent == Extent::kVersion)
    return WrongCall("name a column; a whole row is deleted by deleteall");
  Delete remove{.row = named.place.row, .markers = {}, .timestamp = timestamp};
  for (const ColumnWord& column : columns) {
    CELLFS_ASSIGN_OR_RETURN(DeleteMarker marker, MarkerOf(column, extent, timestamp));
    remove.markers.push_back(std::move(marker));
  }
  CELLFS_ASSIGN_OR_RETURN(const Durability durability, DurabilityOf(arguments));
  CELLFS_RETURN_IF_ERROR(
      session.store
          .Mutate(session.caller, named.place.table,
                  RowMutations::Of(std::move(remove), durability))
          .status());
  return Answer::kDone;
}

constexpr char kWords[] = "TABLE, ROW, COLUMN...: as far as the path does not say it";

}  // namespace

const Command kDeleteCommand{
    .name = "delete",
    .group = Group::kData,
    .summary = "delete a version of columns: the newest, or that of --timestamp",
    .description = "A path of one version (.../list@TIMESTAMP, .../.versions/list/TIMESTAMP) is that one.",
    .example = "delete ~/m notes monday text:list\ndelete ~/m notes monday text:list -t 1767225600123",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("WORD", kWords);
          syntax.Option("-t,--timestamp", "timestamp", "TIME", "exactly that version");
          AddDurabilityOption(syntax);
        },
    .serve = [](Session& session,
                const Arguments& arguments) { return Remove(session, arguments, Extent::kVersion); },
};

const Command kDeleteAllCommand{
    .name = "deleteall",
    .group = Group::kData,
    .summary = "delete all versions up to now of columns, of families, or of a row",
    .description = "A path of one version (.../list@TIMESTAMP, .../.versions/list/TIMESTAMP) deletes up to it.",
    .example = "deleteall ~/m notes monday\ndeleteall ~/m notes monday text -t -2h",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("WORD", kWords);
          syntax.Option("-t,--timestamp", "timestamp", "TIME", "only versions up to that time");
          AddDurabilityOption(syntax);
        },
    .serve = [](Session& session,
                const Arguments& arguments) { return Remove(session, arguments, Extent::kAll); },
};

}  // namespace cellfs
