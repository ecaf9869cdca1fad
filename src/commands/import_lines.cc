// SPDX-License-Identifier: MIT
#include "src/commands/import_lines.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "src/commands/cell_json.h"
#include "src/commands/cells.h"
#include "src/commands/delimited.h"
#include "src/commands/export_format.h"
#include "src/commands/import_applier.h"
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

// Of fields, which make no table: where it or a family is missing, each line would be refused.
Status CheckIsThere(Session& session, const TableName& table, const Delimited& delimited) {
  const auto schema = session.store.DescribeTable(table);
  if (schema.status().code() == StatusCode::kTableNotFound) return schema.status();
  if (!schema.ok()) return {};  // who may write need not be one who may look
  for (const Delimited::Column& column : delimited.columns()) {
    if (column.field != Delimited::Field::kValue) continue;
    if ((*schema)->FindFamily(column.family) == nullptr)
      return {StatusCode::kNoSuchColumnFamily,
              "--columns has the family '" + column.family + "', which table '" +
                  table.ToString() + "' has not"};
  }
  return {};
}

// Reads one block of text.
class BlockReader {
 public:
  BlockReader(std::optional<TableName> into, const std::optional<Delimited>& delimited,
              Durability durability, ImportSteps::Take take)
      : into_(std::move(into)),
        delimited_(delimited),
        take_(std::move(take)),
        steps_(durability, take_) {}

  Status Read(std::string_view text, int64_t first_line, bool is_whole) {
    line_ = taken_line_ = first_line;
    while (offset_ < text.size()) {
      const std::string_view rest = text.substr(offset_);
      const auto length = FindRecord(rest, is_whole);
      if (!length) break;
      const std::string_view record = rest.substr(0, *length);
      // Of JSON each is one.
      const auto ends = delimited_ ? std::count(record.begin(), record.end(), '\n') : 1;
      CELLFS_RETURN_IF_ERROR(AddRecord(WithoutEnd(record)));
      offset_ += *length;
      line_ += std::max<int64_t>(1, ends);
    }
    if (is_whole) CELLFS_RETURN_IF_ERROR(EndRow());
    steps_.DropRow();
    return steps_.Finish();
  }
  // Up to there all is in whole rows.
  size_t taken() const { return taken_; }
  int64_t taken_line() const { return taken_line_; }
  bool begins() const { return begins_; }  // an export
  bool ends() const { return ends_; }

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

  // Before the line.
  Status EndRow() {
    taken_ = offset_;
    taken_line_ = line_;
    return steps_.EndRow();
  }

  Status AddRecord(std::string_view record) {
    if (record.find_first_not_of(" \t") == record.npos) return {};
    if (delimited_) {
      auto put = delimited_->PutOf(record);
      if (!put.ok()) return steps_.Refuse(line_, put.status());
      return put->cells.empty() ? Status() : AddCell(*into_, Mutation(*std::move(put)), 0);
    }
    if (!json_.Read(record, cell_)) return AddOther(record);
    return AddCellLine();
  }
  Status AddCellLine() {
    auto table = NamedTable(cell_.Text(CellLine::kTable));
    if (!table.ok()) return steps_.Refuse(line_, table.status());
    auto mutation = cell_.TakeMutation();
    if (!mutation.ok()) return steps_.Refuse(line_, mutation.status());
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
    auto line = FromJsonText(record);
    if (!line || !line->is_object()) {
      return steps_.Refuse(line_,
                           WrongCall("it is no JSON object, or one that says a member twice"));
    }
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
    if (line->contains("families") || line->contains("properties"))
      return AddSchema(*std::move(line));
    if (!line->contains("row")) {
      return steps_.Refuse(
          line_, WrongCall("it is neither about a cell nor a schema: \"row\" is missing"));
    }
    cell_ = CellLine::Of(*line);
    return AddCellLine();
  }
  // Before the cells that come behind it, and after those before it.
  Status AddSchema(json schema) {
    CELLFS_RETURN_IF_ERROR(EndRow());
    CELLFS_RETURN_IF_ERROR(steps_.Finish());
    return take_(SchemaLine{line_, std::move(schema)});
  }

  const std::optional<TableName> into_;
  const std::optional<Delimited>& delimited_;
  const ImportSteps::Take take_;
  ImportSteps steps_;
  CellJsonReader json_;
  CellLine cell_;
  std::optional<TableName> table_;  // of the last line,
  std::string table_text_;          // which named it so
  size_t offset_ = 0;               // of the line
  int64_t line_ = 0;
  size_t taken_ = 0;
  int64_t taken_line_ = 0;
  bool begins_ = false;
  bool ends_ = false;
};

// What one thread has made and another one does.
class WorkQueue {
 public:
  Status Put(ImportWork work) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return works_.size() < kMost || is_left_; });
    if (is_left_) return {StatusCode::kCancelled, "what was made of the lines before has failed"};
    works_.push_back(std::move(work));
    changed_.notify_all();
    return {};
  }
  void End() {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_all();
  }
  // Nullopt: that was all.
  std::optional<ImportWork> Get() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !works_.empty() || has_ended_; });
    if (works_.empty()) return std::nullopt;
    std::optional<ImportWork> work(std::move(works_.front()));
    works_.pop_front();
    changed_.notify_all();
    return work;
  }
  // Nobody gets any more.
  void Leave() {
    const std::lock_guard lock(mutex_);
    is_left_ = true;
    changed_.notify_all();
  }

 private:
  static constexpr size_t kMost = 2;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ImportWork> works_;
  bool has_ended_ = false;
  bool is_left_ = false;
};

// Reads in a thread of its own.
class ReadingAhead {
 public:
  using Read = std::function<Status(const ImportSteps::Take& take)>;

  explicit ReadingAhead(Read read)
      : read_(std::move(read)), thread_([this] {
          was_read_ = ReadAll();
          queue_.End();
        }) {}
  ~ReadingAhead() { static_cast<void>(Join()); }
  ReadingAhead(const ReadingAhead&) = delete;
  ReadingAhead& operator=(const ReadingAhead&) = delete;

  std::optional<ImportWork> Next() { return queue_.Get(); }
  Status Join() {
    queue_.Leave();
    if (thread_.joinable()) thread_.join();
    return was_read_;
  }

 private:
  Status ReadAll() noexcept {
    try {
      return read_([this](ImportWork work) { return queue_.Put(std::move(work)); });
    } catch (const std::exception&) {
      return {StatusCode::kUnavailable, "memory has run out"};
    }
  }

  const Read read_;
  WorkQueue queue_;
  Status was_read_;
  std::thread thread_;  // the last: it uses what is above
};

// Reads on while what was read is stored: of a long text the two take about as long.
Status ReadBeside(const ReadingAhead::Read& read, ImportApplier& applier) {
  std::optional<ReadingAhead> ahead;
  try {
    ahead.emplace(read);
  } catch (const std::system_error&) {  // no thread can be made
    return read([&](ImportWork work) { return applier.Do(std::move(work)); });
  }
  while (auto work = ahead->Next()) CELLFS_RETURN_IF_ERROR(applier.Do(*std::move(work)));
  return ahead->Join();
}

}  // namespace

StatusOr<Answer> ServeImport(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(auto into, TableOfCall(session, arguments));
  CELLFS_ASSIGN_OR_RETURN(const auto delimited, DelimitedOf(arguments));
  if (delimited && !into) return WrongCall("say which table it goes into: --table");
  if (delimited) CELLFS_RETURN_IF_ERROR(CheckIsThere(session, *into, *delimited));
  CELLFS_ASSIGN_OR_RETURN(const Durability durability, DurabilityOf(arguments));
  const json& given = arguments.values();
  const bool has_text = given.contains("text") && given["text"].is_string();
  const bool has_line = given.contains("line") && given["line"].is_number_unsigned();
  if (!has_text || !has_line) return WrongCall("an import takes a text and its first line's number");
  const auto& text = given["text"].get_ref<const std::string&>();
  const auto first_line = given["line"].get<int64_t>();

  ImportApplier applier(session, into);
  std::optional<BlockReader> reader;
  const auto read = [&](const ImportSteps::Take& take) {
    reader.emplace(into, delimited, durability, take);
    return reader->Read(text, first_line, arguments.Flag("whole"));
  };
  constexpr size_t kLongText = size_t{256} << 10;
  CELLFS_RETURN_IF_ERROR(
      text.size() >= kLongText
          ? ReadBeside(read, applier)
          : read([&](ImportWork work) { return applier.Do(std::move(work)); }));
  json answer = {{"bytes", reader->taken()},
                 {"lines", reader->taken_line() - first_line},
                 {"cells", applier.cells()}};
  if (reader->begins()) answer["begins"] = true;
  if (reader->ends()) answer["ends"] = true;
  session.take(std::move(answer));
  return Answer::kDone;
}

}  // namespace cellfs
