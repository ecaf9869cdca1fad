// SPDX-License-Identifier: MIT
//
// export: tables with their schemas and all that is stored of their cells, in JSON Lines; docs/
// export-format.md.
#include <unistd.h>

#include <iostream>
#include <utility>

#include "src/commands/all.h"
#include "src/commands/cells.h"
#include "src/commands/delimited.h"
#include "src/commands/export_delimited.h"
#include "src/commands/export_format.h"
#include "src/commands/named_tables.h"
#include "src/commands/progress.h"
#include "src/commands/schema_words.h"
#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

// ---- Where the store is -------------------------------------------------------------------------

Status TakeNamespace(Session& session, const std::string& name) {
  CELLFS_ASSIGN_OR_RETURN(const NamespaceSchema schema, session.store.DescribeNamespace(name));
  session.take({{"namespace", name}, {"properties", schema.properties}});
  return {};
}

Status TakeSchema(Session& session, const TableSchema& schema) {
  json families = json::object();
  for (const auto& [name, family] : schema.families) families[name] = family.attributes();
  session.take({{"table", schema.name().ToString()},
                {"attributes", schema.attributes()},
                {"splits", schema.split_keys},
                {"families", std::move(families)}});
  return {};
}

// All that is stored, tombstones and hidden versions too, where the store keeps such; or what reads
// see of all versions.
StatusOr<uint64_t> TakeCells(Session& session, const TableName& table, bool only_visible) {
  Scan scan;
  scan.raw = session.store.traits().keeps_deleted && !only_visible;
  scan.max_versions = kAllVersions;
  const std::string name = table.ToString();
  uint64_t cells = 0;
  CELLFS_ASSIGN_OR_RETURN(const auto scanner,
                          session.store.OpenScanner(session.caller, table, scan));
  CELLFS_RETURN_IF_ERROR(ForEachCell(session, *scanner, [&](Cell&& cell) {
    ++cells;
    const SequenceId sequence = cell.sequence_id;
    json record = RecordOf(std::move(cell), ValueFormat::kText, /*is_raw=*/true);
    record["table"] = name;
    if (sequence != 0) record["sequence"] = sequence;
    return session.take(std::move(record));
  }));
  return cells;
}

StatusOr<Answer> ServeExport(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const auto delimited, DelimitedOf(arguments));
  CELLFS_ASSIGN_OR_RETURN(const auto tables, NamedTables(session, arguments));
  if (delimited) {
    if (tables.size() != 1) return WrongCall("--tsv and --csv are of one table; name it");
    CELLFS_RETURN_IF_ERROR(ExportDelimited(session, tables.front(), *delimited));
    return Answer::kDone;
  }
  session.take({{kExportMember, kExportFormat}});
  std::string last_namespace(kDefaultNamespace);
  uint64_t cells = 0;
  for (const TableName& table : tables) {
    if (table.namespace_name != last_namespace)
      CELLFS_RETURN_IF_ERROR(TakeNamespace(session, table.namespace_name));
    last_namespace = table.namespace_name;
    CELLFS_ASSIGN_OR_RETURN(const auto schema, session.store.DescribeTable(table));
    CELLFS_RETURN_IF_ERROR(TakeSchema(session, *schema));
    CELLFS_ASSIGN_OR_RETURN(const uint64_t taken, TakeCells(session, table, arguments.Flag("visible")));
    cells += taken;
  }
  session.take({{kEndMember, {{"tables", tables.size()}, {"cells", cells}}}});
  return Answer::kDone;
}

// ---- Here ---------------------------------------------------------------------------------------

StatusOr<int> RunExport(const Front& front, const Arguments& arguments) {
  json sent = arguments.values();
  CELLFS_ASSIGN_OR_RETURN(const auto access,
                          front.Open(arguments.Text("target"), sent, /*only_reads=*/true));
  Progress progress(/*total_bytes=*/0);
  const bool is_delimited = arguments.Flag("tsv") || arguments.Flag("csv");
  uint64_t count = 0;
  uint64_t bytes = 0;
  bool has_refused = false;
  const auto take = [&](json record) {
    if (is_delimited && record.contains("refused")) {
      progress.Clear();
      has_refused = true;
      std::cerr << "cellfs: row " << ShownBytes(record.value("row", "")) << ": "
                << record.value("refused", "") << "\n";
      return true;
    }
    const bool is_cell = !is_delimited && record.contains("row");
    count += is_delimited ? record.value("rows", uint64_t{0}) : is_cell ? 1 : 0;
    const std::string text =
        is_delimited ? record.value("text", "") : ToJsonText(std::move(record)) + "\n";
    bytes += text.size();
    front.printer.Bytes(text);
    progress.Show(count, bytes);
    return front.printer.ok();
  };
  CELLFS_ASSIGN_OR_RETURN(const Answer answer, access->Call("export", sent, take));
  return has_refused ? kExitNo : ExitCodeOf(answer);
}

}  // namespace

const Command kExportCommand{
    .name = "export",
    .group = Group::kData,
    .summary = "print tables with their schemas and whole history, for import; 1: rows were refused",
    .description =
        "In JSON Lines, whose format export-format.md describes: schemas, versions, tombstones, in the order "
        "of keys, from a scan that holds nothing in memory. The last line says how many cells there "
        "were, so that an export that was cut short is told from a whole one. Owners and modes of files are "
        "not in it: backup programs on a mount keep them. --tsv and --csv write the newest values of one "
        "table, a row a line, with the fields that --columns names as HBase's ImportTsv does; what cannot be "
        "written so is named on standard error.",
    .example = "export ~/m >store.jsonl\nexport ~/m/log | zstd >log.jsonl.zst\nexport ~/m notes | cellfs "
               "import hbase://master1:16000/\n"
               "export --csv --columns HBASE_ROW_KEY,text:title,text:list ~/m notes >notes.csv",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a store, a mount point, a namespace or a table");
          syntax.Words("TABLE", "a table alone, if the path is not one's");
          AddDelimitedOptions(syntax);
        },
    .only_reads = true,
    .serve = ServeExport,
    .run = RunExport,
};

}  // namespace cellfs
