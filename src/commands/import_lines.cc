// SPDX-License-Identifier: MIT
#include "src/commands/import_lines.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "src/commands/cell_json.h"
#include "src/commands/cells.h"
#include "src/commands/delimited.h"
#include "src/commands/export_format.h"
#include "src/commands/import_schema.h"
#include "src/commands/import_steps.h"
#include "src/commands/target.h"
#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

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

// One block of text.
class Block {
 public:
  Block(Session& session, std::optional<TableName> into, std::optional<Delimited> delimited,
        Durability durability)
      : session_(session),
        into_(std::move(into)),
        delimited_(std::move(delimited)),
        steps_(session, durability) {}

  Status Take(std::string_view text, int64_t first_line, bool is_whole) {
    line_ = first_line;
    while (offset_ < text.size()) {
      const std::string_view rest = text.substr(offset_);
      const auto length = FindRecord(rest, is_whole);
      if (!length) break;
      const std::string_view record = rest.substr(0, *length);
      const auto lines = std::max<int64_t>(1, std::count(record.begin(), record.end(), '\n'));
      CELLFS_RETURN_IF_ERROR(AddRecord(WithoutEnd(record)));
      offset_ += *length;
      line_ += lines;
    }
    if (is_whole) CELLFS_RETURN_IF_ERROR(EndRow());
    steps_.DropRow();
    return steps_.Finish();
  }
  void Tell(int64_t first_line) const {
    json answer = {{"bytes", taken_}, {"lines", taken_lines_ - first_line},
                   {"cells", steps_.cells()}};
    if (begins_) answer["begins"] = true;
    if (ends_) answer["ends"] = true;
    session_.take(std::move(answer));
  }

 private:
  // Nullopt: its end is not there yet.
  std::optional<size_t> FindRecord(std::string_view text, bool is_whole) const {
    std::optional<size_t> length;
    if (delimited_) {
      length = delimited_->FindRecord(text);
    } else if (const size_t end = text.find('\n'); end != text.npos) {
      length = end + 1;
    }
    if (!length && is_whole) length = text.size();
    return length;
  }
  static std::string_view WithoutEnd(std::string_view record) {
    if (record.ends_with('\n')) record.remove_suffix(1);
    if (record.ends_with('\r')) record.remove_suffix(1);
    return record;
  }

  // What comes before the line is in whole rows.
  Status EndRow() {
    taken_ = offset_;
    taken_lines_ = line_;
    return steps_.EndRow();
  }

  Status AddRecord(std::string_view record) {
    if (record.find_first_not_of(" \t") == record.npos) return {};
    if (delimited_) {
      auto put = delimited_->PutOf(record);
      if (!put.ok()) return Refuse(put.status());
      return put->cells.empty() ? Status() : AddCell(*into_, Mutation(*std::move(put)), 0);
    }
    if (!json_.Read(record, cell_)) return AddOther(record);
    return AddCellLine();
  }
  Status AddCellLine() {
    auto table = NamedTable(cell_.Text(CellLine::kTable));
    if (!table.ok()) return Refuse(table.status());
    auto mutation = cell_.TakeMutation();
    if (!mutation.ok()) return Refuse(mutation.status());
    return AddCell(*table, *std::move(mutation), cell_.Sequence());
  }
  // Most lines name the table of the one before.
  StatusOr<TableName> NamedTable(const std::string& table) {
    if (!into_ && table_ && table == table_text_) return *table_;
    CELLFS_ASSIGN_OR_RETURN(TableName named, TableOfLine(into_, table));
    table_ = named;
    table_text_ = table;
    return named;
  }
  Status AddCell(const TableName& table, Mutation mutation, uint64_t sequence) {
    if (!steps_.IsInRow(table, RowOf(mutation))) CELLFS_RETURN_IF_ERROR(EndRow());
    steps_.Add(table, std::move(mutation), sequence, line_);
    return {};
  }

  // A line of the frame, a schema, or one that is wrong.
  Status AddOther(std::string_view record) {
    const auto line = FromJsonText(record);
    if (!line || !line->is_object())
      return Refuse(WrongCall("it is no JSON object, or one that says a member twice"));
    if (const auto format = line->find(kExportMember); format != line->end()) {
      begins_ = true;
      if (format->is_number_integer() && *format == kExportFormat) return {};
      return WrongCall("the export has format " + format->dump() +
                       ", which this version does not know");
    }
    if (line->contains(kEndMember)) {
      ends_ = true;
      return {};
    }
    if (line->contains("families") || line->contains("properties")) return AddSchema(*line);
    if (!line->contains("row"))
      return Refuse(WrongCall("it is neither about a cell nor a schema: \"row\" is missing"));
    cell_ = CellLine::Of(*line);
    return AddCellLine();
  }
  // Before the cells that come behind it, and after those before it.
  Status AddSchema(const json& line) {
    CELLFS_RETURN_IF_ERROR(EndRow());
    CELLFS_RETURN_IF_ERROR(steps_.Finish());
    const Status made = MakeSchema(session_, into_, line);
    if (made.ok() || !IsOfLine(made)) return made;
    return Refuse(made);
  }
  Status Refuse(const Status& why) {
    steps_.Refuse(line_, why);
    return {};
  }

  Session& session_;
  const std::optional<TableName> into_;
  const std::optional<Delimited> delimited_;
  ImportSteps steps_;
  CellJsonReader json_;
  CellLine cell_;
  std::optional<TableName> table_;  // of the last line,
  std::string table_text_;          // which named it so
  size_t offset_ = 0;               // of the line
  int64_t line_ = 0;
  size_t taken_ = 0;  // up to there all is in whole rows
  int64_t taken_lines_ = 0;
  bool begins_ = false;
  bool ends_ = false;
};

}  // namespace

StatusOr<Answer> ServeImport(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(auto into, TableOfCall(session, arguments));
  CELLFS_ASSIGN_OR_RETURN(auto delimited, DelimitedOf(arguments));
  if (delimited && !into) return WrongCall("say which table it goes into: --table");
  CELLFS_ASSIGN_OR_RETURN(const Durability durability, DurabilityOf(arguments));
  const json& given = arguments.values();
  const bool has_text = given.contains("text") && given["text"].is_string();
  const bool has_line = given.contains("line") && given["line"].is_number_unsigned();
  if (!has_text || !has_line) return WrongCall("an import takes a text and its first line's number");
  const auto& text = given["text"].get_ref<const std::string&>();
  const auto first_line = given["line"].get<int64_t>();
  Block block(session, std::move(into), std::move(delimited), durability);
  CELLFS_RETURN_IF_ERROR(block.Take(text, first_line, arguments.Flag("whole")));
  block.Tell(first_line);
  return Answer::kDone;
}

}  // namespace cellfs
