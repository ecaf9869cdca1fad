// SPDX-License-Identifier: MIT
//
// export: tables with their schemas and all that is stored of their cells, in JSON Lines; docs/
// export-format.md.
#include <unistd.h>

#include <iostream>
#include <utility>

#include "src/commands/all.h"
#include "src/commands/cell_json.h"
#include "src/commands/cells.h"
#include "src/commands/delimited.h"
#include "src/commands/export_delimited.h"
#include "src/commands/export_format.h"
#include "src/commands/named_tables.h"
#include "src/commands/progress.h"
#include "src/commands/schema_words.h"
#include "src/commands/text_out.h"
#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

// ---- Where the store is -------------------------------------------------------------------------

void AddLine(json line, TextOut& out) { out.text() += ToJsonText(std::move(line)) + "\n"; }

Status AddNamespace(Session& session, const std::string& name, TextOut& out) {
  CELLFS_ASSIGN_OR_RETURN(const NamespaceSchema schema, session.store.DescribeNamespace(name));
  AddLine({{"namespace", name}, {"properties", schema.properties}}, out);
  return {};
}

void AddSchema(const TableSchema& schema, TextOut& out) {
  json families = json::object();
  for (const auto& [name, family] : schema.families) families[name] = family.attributes();
  AddLine({{"table", schema.name().ToString()},
           {"attributes", schema.attributes()},
           {"splits", schema.split_keys},
           {"families", std::move(families)}},
          out);
}

// All that is stored, tombstones and hidden versions too, where the store keeps such; or what reads
// see of all versions.
Status AddCells(Session& session, const TableName& table, bool only_visible, TextOut& out) {
  Scan scan;
  scan.raw = session.store.traits().keeps_deleted && !only_visible;
  scan.max_versions = kAllVersions;
  const std::string name = table.ToString();
  CELLFS_ASSIGN_OR_RETURN(const auto scanner,
                          session.store.OpenScanner(session.caller, table, scan));
  return ForEachCell(session, *scanner, [&](const Cell& cell) {
    AddCellJson(cell, name, out.text());
    return out.Count();
  });
}

StatusOr<Answer> ServeExport(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const auto delimited, DelimitedOf(arguments));
  CELLFS_ASSIGN_OR_RETURN(const auto tables, NamedTables(session, arguments));
  if (delimited) {
    if (tables.size() != 1) return WrongCall("--tsv and --csv are of one table; name it");
    CELLFS_RETURN_IF_ERROR(ExportDelimited(session, tables.front(), *delimited));
    return Answer::kDone;
  }
  TextOut out(session);
  AddLine({{kExportMember, kExportFormat}}, out);
  std::string last_namespace(kDefaultNamespace);
  for (const TableName& table : tables) {
    if (table.namespace_name != last_namespace)
      CELLFS_RETURN_IF_ERROR(AddNamespace(session, table.namespace_name, out));
    last_namespace = table.namespace_name;
    CELLFS_ASSIGN_OR_RETURN(const auto schema, session.store.DescribeTable(table));
    AddSchema(*schema, out);
    CELLFS_RETURN_IF_ERROR(AddCells(session, table, arguments.Flag("visible"), out));
  }
  AddLine({{kEndMember, {{"tables", tables.size()}, {"cells", out.count()}}}}, out);
  out.Send();
  return Answer::kDone;
}

// ---- Here ---------------------------------------------------------------------------------------

StatusOr<int> RunExport(const Front& front, const Arguments& arguments) {
  json sent = arguments.values();
  CELLFS_ASSIGN_OR_RETURN(const auto access,
                          front.Open(arguments.Text("target"), sent, /*only_reads=*/true));
  Progress progress(/*total_bytes=*/0);
  uint64_t count = 0;
  uint64_t bytes = 0;
  bool has_refused = false;
  const auto take = [&](const json& record) {
    if (record.contains("refused")) {
      progress.Clear();
      has_refused = true;
      std::cerr << "cellfs: row " << ShownBytes(record.value("row", "")) << ": "
                << record.value("refused", "") << "\n";
      return true;
    }
    const auto& text = record["text"].get_ref<const std::string&>();
    count += record.value("count", uint64_t{0});
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
