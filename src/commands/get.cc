// SPDX-License-Identifier: MIT
//
// get: the cells of a row.
#include <utility>

#include "src/commands/all.h"
#include "src/commands/cells.h"

namespace cellfs {
namespace {

using nlohmann::json;

StatusOr<Answer> ServeGet(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const NamedPlace named,
                          NamePlace(session, arguments, Depth::kRow, Depth::kRow,
                                    {fs::PlaceKind::kVersion, fs::PlaceKind::kCounter}));
  CELLFS_ASSIGN_OR_RETURN(const ValueFormat format, FormatOf(arguments, named.place));
  const bool is_bare = arguments.Flag("bytes");
  if (is_bare && arguments.Has("format")) {
    return Status(StatusCode::kIllegalArgument,
                  "-b prints values as they are, and --format in another form; say one of them");
  }
  Get get;
  get.row = named.place.row;
  get.cancelled = session.cancelled;
  CELLFS_RETURN_IF_ERROR(ReadQuery(named.place, named.words, arguments, session.Now(), get));
  CELLFS_ASSIGN_OR_RETURN(
      const auto reader, session.store.OpenReader(session.caller, named.place.table, get));
  bool is_any = false;
  CELLFS_RETURN_IF_ERROR(ForEachCell(session, *reader, [&](Cell&& cell) {
    is_any = true;
    if (!is_bare) return session.take(RecordOf(std::move(cell), format));
    json record;
    record["bytes"] = std::move(cell.value);
    return session.take(std::move(record));
  }));
  return is_any ? Answer::kDone : Answer::kNo;
}

void PrintGet(Printer& printer, const json& record) {
  if (record.contains("bytes")) {
    printer.Bytes(record["bytes"].get_ref<const std::string&>());
  } else {
    PrintCell(printer, record);
  }
}

}  // namespace

const Command kGetCommand{
    .name = "get",
    .group = Group::kData,
    .summary = "print the cells of a row; 1: there are none",
    .description =
        "A path of one version (.../list@TIMESTAMP, .../.versions/list/TIMESTAMP) is that one; one in "
        ".counters shows the number.",
    .example = "get ~/m notes monday\nget ~/m notes monday text:list text:title\n"
               "get --versions all ~/m/default/notes/monday/text/list",
    .no = "no such cell is stored",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("WORD", "TABLE, ROW, COLUMN...: as far as the path does not say it");
          syntax.Flag("-b,--bytes", "bytes", "only the values, as they are");
          AddQueryOptions(syntax);
        },
    .only_reads = true,
    .serve = ServeGet,
    .print = PrintGet,
};

}  // namespace cellfs
