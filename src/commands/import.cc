// SPDX-License-Identifier: MIT
//
// import: what export has written, or TSV and CSV, into a store.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "src/commands/all.h"
#include "src/commands/cells.h"
#include "src/commands/delimited.h"
#include "src/commands/import_lines.h"
#include "src/commands/importer.h"
#include "src/commands/line_input.h"

namespace cellfs {
namespace {

using nlohmann::json;

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

StatusOr<int> RunImport(const Front& front, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const auto source, Source::Open(arguments.Text("from")));
  const ImportState state(arguments.Text("state"));
  CELLFS_ASSIGN_OR_RETURN(const ImportState::Done done, state.Read());
  json options = arguments.values();
  for (const char* name : {"from", "state", "table"}) options.erase(name);
  if (arguments.Has("table")) options["words"] = json::array({arguments.Text("table")});
  CELLFS_ASSIGN_OR_RETURN(const auto access, front.Open(arguments.Text("target"), options));
  Progress progress(source->Size());
  Importer importer(*access, std::move(options), state, progress);
  const Status imported = importer.Import(source->input(), done);
  progress.Clear();
  if (front.printer.style().json) {
    front.printer.Json({{"cells", importer.cells()}, {"refused", importer.refused()}});
  } else {
    front.printer.Line(std::to_string(importer.cells()) + " cells" +
                       (importer.refused() == 0
                            ? ""
                            : "; refused: " + std::to_string(importer.refused()) + " lines"));
  }
  CELLFS_RETURN_IF_ERROR(imported);
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
    .example = "import ~/m store.jsonl\nimport ~/m <log.jsonl\n"
               "import --state done ~/m store.jsonl\n"
               "import --table notes ~/m monday.jsonl\n"
               "import --tsv --columns HBASE_ROW_KEY,text:list,text:title --table notes ~/m notes.tsv",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a store, a mount point or a table");
          syntax.Word("from", "FILE", "instead of standard input", /*is_required=*/false);
          syntax.Option("--table", "table", "TABLE", "all goes into that table");
          syntax.Option("--state", "state", "FILE", "keeps how far it is, and goes on from there");
          AddDelimitedOptions(syntax);
          syntax.Flag("--skip-empty", "skip_empty", "an empty field is no cell");
          AddDurabilityOption(syntax);
        },
    .prints_json = true,
    .serve = ServeImport,
    .run = RunImport,
};

}  // namespace cellfs
