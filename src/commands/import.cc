// SPDX-License-Identifier: MIT
//
// import: what export has written, or TSV and CSV, into a store.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "src/commands/all.h"
#include "src/commands/cells.h"
#include "src/commands/delimited.h"
#include "src/commands/export_format.h"
#include "src/commands/import_lines.h"
#include "src/commands/importer.h"
#include "src/commands/line_input.h"
#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

// What an export says of itself.
class ExportFrame {
 public:
  // True: the line is one of the frame.
  StatusOr<bool> Take(const json& line) {
    if (const auto format = line.find(kExportMember); format != line.end()) {
      has_begun_ = true;
      if (format->is_number_integer() && *format == kExportFormat) return true;
      return WrongCall("the export has format " + format->dump() + ", which this version does not "
                       "know");
    }
    if (!line.contains(kEndMember)) return false;
    has_ended_ = true;
    return true;
  }
  bool IsCutShort() const { return has_begun_ && !has_ended_; }

 private:
  bool has_begun_ = false;
  bool has_ended_ = false;
};

Status AddJsonLine(const std::string& text, int64_t number, bool is_new, Importer& importer,
                   ExportFrame& frame) {
  auto line = FromJsonText(text);
  if (!line || !line->is_object()) {
    if (is_new) importer.Refuse(number, "it is no JSON object, or one that says a member twice");
    return {};
  }
  CELLFS_ASSIGN_OR_RETURN(const bool is_frame, frame.Take(*line));
  if (is_frame || !is_new) return {};
  if (line->contains("families") || line->contains("properties"))
    return importer.AddSchema(*std::move(line), number);
  if (line->contains("row")) return importer.AddCell(*std::move(line), number, text.size());
  importer.Refuse(number, "it is neither about a cell nor a schema: \"row\" is missing");
  return {};
}

Status AddRecord(const Delimited& delimited, const std::string& text, int64_t number,
                 Importer& importer) {
  auto cells = delimited.CellsOf(text);
  if (!cells.ok()) {
    importer.Refuse(number, cells.status().message());
    return {};
  }
  for (json& cell : *cells)
    CELLFS_RETURN_IF_ERROR(importer.AddCell(std::move(cell), number, text.size()));
  return {};
}

StatusOr<std::optional<Delimited>> DelimitedOf(const Arguments& arguments) {
  const bool is_csv = arguments.Flag("csv");
  if (!is_csv && !arguments.Flag("tsv")) {
    if (arguments.Has("columns") || arguments.Has("separator"))
      return WrongCall("--columns and --separator go with --tsv or --csv");
    return std::optional<Delimited>();
  }
  if (is_csv && arguments.Flag("tsv")) return WrongCall("say --tsv or --csv, not both");
  const std::string separator =
      arguments.Has("separator") ? BytesOf(arguments.Text("separator")) : is_csv ? "," : "\t";
  if (separator.size() != 1) return WrongCall("--separator is one byte");
  CELLFS_ASSIGN_OR_RETURN(Delimited delimited,
                          Delimited::Make(arguments.Text("columns"), separator[0], is_csv));
  return std::optional(std::move(delimited));
}

// Standard input, or a file that is closed in the end.
class Source {
 public:
  static StatusOr<std::unique_ptr<Source>> Open(const std::string& path) {
    if (path.empty() || path == kStandardInputWord)
      return std::make_unique<Source>(STDIN_FILENO, false);
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
      return WrongCall("'" + path + "' cannot be read: " + std::strerror(errno));
    return std::make_unique<Source>(descriptor, true);
  }
  Source(int descriptor, bool is_own)
      : descriptor_(descriptor), is_own_(is_own), input_(descriptor) {}
  ~Source() {
    if (is_own_) ::close(descriptor_);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  LineInput& input() { return input_; }
  // 0: not known.
  uint64_t Size() const {
    struct stat found {};
    const bool is_file = ::fstat(descriptor_, &found) == 0 && S_ISREG(found.st_mode);
    return is_file ? static_cast<uint64_t>(found.st_size) : 0;
  }

 private:
  const int descriptor_;
  const bool is_own_;
  LineInput input_;
};

Status ReadAll(LineInput& input, const std::optional<Delimited>& delimited, int64_t done,
               Importer& importer, ExportFrame& frame, Progress& progress) {
  int64_t number = 0;
  uint64_t bytes = 0;
  std::string record;  // of several lines
  for (;;) {
    CELLFS_ASSIGN_OR_RETURN(const auto read, input.NextLine());
    if (!read) break;
    ++number;
    bytes += read->size() + 1;
    progress.Show(importer.cells(), bytes);
    if (!delimited) {
      if (read->find_first_not_of(" \t\r") == read->npos) continue;
      CELLFS_RETURN_IF_ERROR(AddJsonLine(*read, number, number > done, importer, frame));
      continue;
    }
    record += (record.empty() ? "" : "\n") + *read;
    if (delimited->GoesOn(record)) continue;
    std::string whole = std::exchange(record, "");
    if (whole.ends_with('\r')) whole.pop_back();
    if (whole.empty() || number <= done) continue;
    CELLFS_RETURN_IF_ERROR(AddRecord(*delimited, whole, number, importer));
  }
  if (!record.empty()) importer.Refuse(number, "a quote is open at the end");
  return importer.Finish();
}

StatusOr<int> RunImport(const Front& front, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const auto delimited, DelimitedOf(arguments));
  CELLFS_ASSIGN_OR_RETURN(const auto source, Source::Open(arguments.Text("from")));
  const ImportState state(arguments.Text("state"));
  CELLFS_ASSIGN_OR_RETURN(const int64_t done, state.Read());
  json options = arguments.values();
  for (const char* name : {"from", "state", "tsv", "csv", "columns", "separator"})
    options.erase(name);
  if (arguments.Has("table")) options["words"] = json::array({arguments.Text("table")});
  options.erase("table");
  CELLFS_ASSIGN_OR_RETURN(const auto access, front.Open(arguments.Text("target"), options));
  if (delimited && !options.contains("path") && !options.contains("words"))
    return WrongCall("say which table it goes into: --table");
  Progress progress(source->Size());
  Importer importer(*access, std::move(options), state, progress);
  ExportFrame frame;
  const Status read = ReadAll(source->input(), delimited, done, importer, frame, progress);
  progress.Clear();
  if (front.printer.style().json) {
    front.printer.Json({{"cells", importer.cells()}, {"refused", importer.refused()}});
  } else {
    front.printer.Line(std::to_string(importer.cells()) + " cells" +
                       (importer.refused() == 0
                            ? ""
                            : "; refused: " + std::to_string(importer.refused()) + " lines"));
  }
  CELLFS_RETURN_IF_ERROR(read);
  if (frame.IsCutShort()) {
    return Status(StatusCode::kUnavailable,
                  "the export was cut short: it has no end; what it has is imported");
  }
  return importer.refused() == 0 ? kExitDone : kExitNo;
}

}  // namespace

const Command kImportCommand{
    .name = "import",
    .group = Group::kData,
    .summary = "bring in what export wrote, or TSV or CSV; 1: lines were refused",
    .description =
        "Namespaces, tables and families that are not there are made; those that are stay as they are. Cells "
        "keep their timestamps, so that doing it twice changes nothing. Each line that is refused is "
        "named on standard error, and the rest goes on. With --state it goes on behind what was done, "
        "where it was ended. Of TSV and CSV --columns says what each field is, as HBase's ImportTsv takes it: "
        "HBASE_ROW_KEY, FAMILY:QUALIFIER, HBASE_TS_KEY, HBASE_CELL_TTL, or nothing for a field that is "
        "left out.",
    .example = "import ~/m store.jsonl\nzstd -dc log.jsonl.zst | cellfs import ~/m\n"
               "import --state done ~/m store.jsonl\n"
               "import --table notes ~/m monday.jsonl\n"
               "import --tsv --columns HBASE_ROW_KEY,text:list,text:title --table notes ~/m notes.tsv",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a store, a mount point or a table");
          syntax.Word("from", "FILE", "instead of standard input", /*is_required=*/false);
          syntax.Option("--table", "table", "TABLE", "all goes into that table");
          syntax.Option("--state", "state", "FILE", "keeps how far it is, and goes on from there");
          syntax.Flag("--tsv", "tsv", "fields between tabs");
          syntax.Flag("--csv", "csv", "fields between commas, perhaps in double quotes");
          syntax.Option("--columns", "columns", "COLUMN,...", "what the fields are");
          syntax.Option("--separator", "separator", "BYTE", "what is between fields; may be \\xNN");
          AddDurabilityOption(syntax);
        },
    .prints_json = true,
    .serve = ServeImport,
    .run = RunImport,
};

}  // namespace cellfs
