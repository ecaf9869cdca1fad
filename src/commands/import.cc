// SPDX-License-Identifier: MIT
//
// import: what export has written, or TSV and CSV, into a store.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <set>
#include <tuple>
#include <utility>

#include "src/commands/all.h"
#include "src/commands/cell_lines.h"
#include "src/commands/cells.h"
#include "src/commands/delimited.h"
#include "src/commands/export_format.h"
#include "src/commands/line_input.h"
#include "src/commands/progress.h"
#include "src/commands/target.h"
#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr size_t kLinesOfStep = 1000;  // of one row in one step
constexpr size_t kMostLinesSent = 2000;
constexpr size_t kMostBytesSent = size_t{1} << 20;
// Of a row that is longer the order of what has the same time may be lost.
constexpr size_t kMostBytesOfRow = size_t{16} << 20;

// When it was written, as its store told; 0: it did not.
uint64_t SequenceOf(const json& line) {
  const auto found = line.find("sequence");
  return found != line.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

// ---- Where the store is -------------------------------------------------------------------------

// Where all goes that names a table: the table that the call names, else what the line says.
StatusOr<TableName> TableOfLine(const std::optional<TableName>& into, const json& line) {
  if (into) return *into;
  const std::string table = TextIn(line, "table");
  if (table.empty()) return WrongCall("\"table\" is missing, and the call names none");
  return ParseTableName(table);
}

StatusOr<std::optional<TableName>> TableOfCall(const Session& session, const Arguments& arguments) {
  if (arguments.Texts("path").empty() && arguments.Texts("words").empty())
    return std::optional<TableName>();
  CELLFS_ASSIGN_OR_RETURN(const NamedPlace named,
                          NamePlace(session, arguments, Depth::kTable, Depth::kTable));
  CELLFS_RETURN_IF_ERROR(CheckNoMore(named.words));
  if (named.place.kind != fs::PlaceKind::kTable)
    return WrongCall(ShownPath(arguments) + " lies in a table; name the table itself");
  return std::optional(named.place.table);
}

Status SetAll(const json& attributes, const std::function<Status(const std::string&,
                                                                 const std::string&)>& set) {
  for (const auto& [name, value] : attributes.items()) {
    if (!value.is_string()) return WrongCall("\"" + name + "\" is no text");
    CELLFS_RETURN_IF_ERROR(set(name, value.get<std::string>()));
  }
  return {};
}

StatusOr<FamilySchema> FamilyIn(const std::string& name, const json& attributes) {
  FamilySchema family(name);
  CELLFS_RETURN_IF_ERROR(SetAll(attributes, [&](const auto& attribute, const auto& value) {
    return family.Set(attribute, value);
  }));
  return family;
}

// A table that is there stays as it is, and gets the families that it lacks.
Status AddFamiliesOf(Session& session, const TableName& table, const json& families) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, session.store.DescribeTable(table));
  for (const auto& [name, attributes] : families.items()) {
    if (schema->FindFamily(name) != nullptr) continue;
    CELLFS_ASSIGN_OR_RETURN(const FamilySchema family, FamilyIn(name, attributes));
    CELLFS_RETURN_IF_ERROR(session.store.AddFamily(session.caller, table, family));
  }
  return {};
}

// What a store has not is told, and is no reason to leave all else out.
Status MadeWithout(const char* what, const Status& refused) {
  return {refused.code(), "made without its " + std::string(what) + ": " + refused.message()};
}

Status MakeTable(Session& session, const TableName& table, const json& line) {
  const json families = line.value("families", json::object());
  TableSchema schema(table);
  CELLFS_RETURN_IF_ERROR(
      SetAll(line.value("attributes", json::object()),
             [&](const auto& name, const auto& value) { return schema.Set(name, value); }));
  for (const json& key : line.value("splits", json::array())) {
    if (!key.is_string()) return WrongCall("\"splits\" has what is no text");
    schema.split_keys.push_back(key.get<std::string>());
  }
  for (const auto& [name, attributes] : families.items()) {
    CELLFS_ASSIGN_OR_RETURN(FamilySchema family, FamilyIn(name, attributes));
    schema.families.emplace(name, std::move(family));
  }
  const bool has_splits = !schema.split_keys.empty();
  const Status made = session.store.CreateTable(session.caller, schema);
  if (made.code() == StatusCode::kTableExists) return AddFamiliesOf(session, table, families);
  if (made.code() != StatusCode::kUnsupportedOperation || !has_splits) return made;
  schema.split_keys.clear();
  CELLFS_RETURN_IF_ERROR(session.store.CreateTable(session.caller, schema));
  return MadeWithout("splits", made);
}

Status MakeNamespace(Session& session, const json& line) {
  NamespaceSchema schema{TextIn(line, "namespace"), {}};
  CELLFS_RETURN_IF_ERROR(SetAll(line.value("properties", json::object()),
                                [&](const auto& name, const auto& value) {
                                  schema.properties[name] = value;
                                  return Status();
                                }));
  const Status made = session.store.CreateNamespace(session.caller, schema);
  if (made.code() == StatusCode::kNamespaceExists) return {};
  if (made.code() != StatusCode::kUnsupportedOperation || schema.properties.empty()) return made;
  CELLFS_RETURN_IF_ERROR(session.store.CreateNamespace(session.caller, {schema.name, {}}));
  return MadeWithout("properties", made);
}

Status MakeSchema(Session& session, const std::optional<TableName>& into, const json& line) {
  if (!line.is_object()) return WrongCall("it is no JSON object");
  if (line.contains("namespace")) return into ? Status() : MakeNamespace(session, line);
  CELLFS_ASSIGN_OR_RETURN(const TableName table, TableOfLine(into, line));
  return MakeTable(session, table, line);
}

// Steps of one table, and the lines of each.
struct Steps {
  TableName table;
  std::vector<RowMutations> steps;
  std::vector<std::vector<int64_t>> lines;
};

void TakeRefused(Session& session, int64_t line, const Status& why) {
  session.take({{"line", line}, {"refused", why.message()}});
}

// What is wrong with a line itself, and would be the next time: others may still be done.
bool IsOfLine(const Status& status) { return ExitCodeOf(status) != kExitFailed; }

void MoveStep(Steps& from, size_t step, Steps& to) {
  to.steps.push_back(std::move(from.steps[step]));
  to.lines.push_back(std::move(from.lines[step]));
}

// A step of each line of it alone.
void SplitStep(Steps& from, size_t step, Steps& to) {
  RowMutations& whole = from.steps[step];
  for (size_t i = 0; i < from.lines[step].size(); ++i) {
    to.steps.push_back({whole.row, {}, whole.durability});
    to.steps.back().mutations.push_back(std::move(whole.mutations[i]));
    to.lines.push_back({from.lines[step][i]});
  }
}

// A batch ends with the first step that is refused. That one is tried again line by line, and those
// behind it follow. An error that is none of a line's ends it.
Status Apply(Session& session, Steps steps) {
  while (!steps.steps.empty()) {
    const auto results = session.store.Batch(session.caller, steps.table, steps.steps);
    const auto failed = std::find_if(results.begin(), results.end(),
                                     [](const auto& result) { return !result.ok(); });
    if (failed == results.end()) return {};
    const auto at = static_cast<size_t>(failed - results.begin());
    const int64_t line = steps.lines[at].front();
    if (!IsOfLine(failed->status()))
      return {failed->status().code(),
              "line " + std::to_string(line) + ": " + failed->status().message()};
    Steps rest{steps.table, {}, {}};
    if (steps.lines[at].size() == 1) {
      TakeRefused(session, line, failed->status());
    } else {
      SplitStep(steps, at, rest);
    }
    for (size_t i = at + 1; i < steps.steps.size(); ++i) MoveStep(steps, i, rest);
    steps = std::move(rest);
  }
  return {};
}

// What is written in one step has one sequence id, and of a put and a tombstone, or of two puts, at
// one time the order counts: such do not go together.
class OneTime {
 public:
  // False: the line has to wait until those before it are done.
  bool Add(const Mutation& mutation, uint64_t sequence) {
    const Put* const put = std::get_if<Put>(&mutation);
    const bool is_mixed = has_lines_ && sequence != sequence_ && (put == nullptr || !only_puts_);
    if (is_mixed) return false;
    if (put != nullptr) {
      const PutCell& cell = put->cells.front();
      if (!places_.emplace(cell.qualifier, cell.timestamp, cell.family).second) return false;
    }
    only_puts_ = put != nullptr && only_puts_;
    has_lines_ = true;
    sequence_ = sequence;
    return true;
  }

 private:
  bool has_lines_ = false;
  bool only_puts_ = true;
  uint64_t sequence_ = 0;
  std::set<std::tuple<std::string, Timestamp, std::string>> places_;  // of puts
};

Status ImportLines(Session& session, const std::optional<TableName>& into,
                   const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const Durability durability, DurabilityOf(arguments));
  static const json nothing = json::array();
  const auto listed = [&](const char* name) -> const json& {
    const auto found = arguments.values().find(name);
    return found == arguments.values().end() ? nothing : *found;
  };
  const json& lines = listed("lines");
  const json& numbers = listed("numbers");
  if (lines.size() != numbers.size()) return WrongCall("as many numbers as lines are needed");
  Steps steps;
  OneTime of_row;
  for (size_t i = 0; i < lines.size(); ++i) {
    const int64_t number = numbers[i].is_number_integer() ? numbers[i].get<int64_t>() : 0;
    const auto table = TableOfLine(into, lines[i]);
    auto mutation = table.ok() ? MutationOf(lines[i]) : StatusOr<Mutation>(table.status());
    if (!mutation.ok()) {
      TakeRefused(session, number, mutation.status());
      continue;
    }
    const std::string& row = RowOf(*mutation);
    const bool is_same_table = steps.steps.empty() || *table == steps.table;
    const bool is_same_row =
        is_same_table && !steps.steps.empty() && steps.steps.back().row == row;
    if (!is_same_row) of_row = OneTime();
    const bool may_go_on = of_row.Add(*mutation, SequenceOf(lines[i]));
    if (!is_same_table || !may_go_on) {
      CELLFS_RETURN_IF_ERROR(Apply(session, std::exchange(steps, Steps())));
      of_row = OneTime();
      of_row.Add(*mutation, SequenceOf(lines[i]));
    }
    steps.table = *table;
    const bool goes_on = is_same_row && !steps.steps.empty() &&
                         steps.steps.back().mutations.size() < kLinesOfStep;
    if (!goes_on) {
      steps.steps.push_back({row, {}, durability});
      steps.lines.emplace_back();
    }
    steps.lines.back().push_back(number);
    steps.steps.back().mutations.push_back(*std::move(mutation));
  }
  return steps.steps.empty() ? Status() : Apply(session, std::move(steps));
}

StatusOr<Answer> ServeImport(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const auto into, TableOfCall(session, arguments));
  const auto schema = arguments.values().find("schema");
  CELLFS_RETURN_IF_ERROR(schema != arguments.values().end()
                             ? MakeSchema(session, into, *schema)
                             : ImportLines(session, into, arguments));
  return Answer::kDone;
}

// ---- Here ---------------------------------------------------------------------------------------

// How far an import has come, in a file: the line up to which all is done.
class ImportState {
 public:
  explicit ImportState(std::string path) : path_(std::move(path)) {}

  // 0: nothing is done.
  StatusOr<int64_t> Read() const {
    if (path_.empty()) return int64_t{0};
    std::ifstream file(path_);
    if (!file && errno == ENOENT) return int64_t{0};
    int64_t line = 0;
    if (file >> line && line >= 0) return line;
    return WrongCall("'" + path_ + "' is no state of an import; remove it to begin anew");
  }
  Status Write(int64_t line) const {
    if (path_.empty()) return {};
    const std::string next = path_ + ".new";
    std::ofstream file(next, std::ios::trunc);
    file << line << "\n";
    file.close();
    if (file && std::rename(next.c_str(), path_.c_str()) == 0) return {};
    return {StatusCode::kIoError, "'" + path_ + "' cannot be written: " + std::strerror(errno)};
  }

 private:
  const std::string path_;
};

class Importer {
 public:
  Importer(StoreAccess& access, json options, const ImportState& state, Progress& progress)
      : access_(access), options_(std::move(options)), state_(state), progress_(progress) {}

  // A line about a cell.
  Status AddCell(json line, int64_t number, size_t bytes) {
    const bool is_same_row = !row_.empty() && IsSame(row_.back().line, line, "row") &&
                             IsSame(row_.back().line, line, "table");
    if (!is_same_row || bytes_of_row_ > kMostBytesOfRow) CELLFS_RETURN_IF_ERROR(EndRow());
    row_.push_back({std::move(line), number});
    bytes_of_row_ += bytes;
    ++cells_;
    return {};
  }
  Status AddSchema(json line, int64_t number) {
    CELLFS_RETURN_IF_ERROR(Finish());
    json arguments = options_;
    arguments["schema"] = std::move(line);
    const Status made =
        access_.Call("import", arguments, [](const json&) { return true; }).status();
    if (!made.ok() && IsOfLine(made)) {
      Refuse(number, made.message());
      return {};
    }
    return made;
  }
  void Refuse(int64_t number, const std::string& why) {
    progress_.Clear();
    std::cerr << "cellfs: line " << number << ": " << why << "\n";
    ++refused_;
  }
  // All that was added is done.
  Status Finish() {
    CELLFS_RETURN_IF_ERROR(EndRow());
    return Send();
  }

  uint64_t cells() const { return cells_; }
  uint64_t refused() const { return refused_; }

 private:
  struct Added {
    json line;
    int64_t number;
  };

  static bool IsSame(const json& a, const json& b, const char* member) {
    const auto of_a = a.find(member);
    const auto of_b = b.find(member);
    if (of_a == a.end() || of_b == b.end()) return of_a == a.end() && of_b == b.end();
    return *of_a == *of_b;
  }

  // In the order in which it was written, where that is told: what has the same time counts by it.
  Status EndRow() {
    std::stable_sort(row_.begin(), row_.end(), [](const Added& a, const Added& b) {
      return SequenceOf(a.line) < SequenceOf(b.line);
    });
    for (Added& added : row_) {
      last_ = std::max(last_, added.number);
      numbers_.push_back(added.number);
      lines_.push_back(std::move(added.line));
    }
    bytes_ += bytes_of_row_;
    row_.clear();
    bytes_of_row_ = 0;
    return lines_.size() >= kMostLinesSent || bytes_ >= kMostBytesSent ? Send() : Status();
  }
  Status Send() {
    if (lines_.empty()) return {};
    json arguments = options_;
    arguments["lines"] = std::exchange(lines_, json::array());
    arguments["numbers"] = std::exchange(numbers_, json::array());
    bytes_ = 0;
    const auto take = [&](const json& record) {
      if (record.contains("refused"))
        Refuse(record["line"].get<int64_t>(), record["refused"].get<std::string>());
      return true;
    };
    CELLFS_RETURN_IF_ERROR(access_.Call("import", arguments, take).status());
    return state_.Write(last_);
  }

  StoreAccess& access_;
  const json options_;
  const ImportState& state_;
  Progress& progress_;
  std::vector<Added> row_;  // the one that is read
  size_t bytes_of_row_ = 0;
  json lines_ = json::array();  // of whole rows, to be sent
  json numbers_ = json::array();
  size_t bytes_ = 0;
  int64_t last_ = 0;  // the last line of these
  uint64_t cells_ = 0;
  uint64_t refused_ = 0;
};

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
