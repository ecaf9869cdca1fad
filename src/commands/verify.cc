// SPDX-License-Identifier: MIT
//
// verify: whether two stores, or a store and an export, have the same cells. Both are gone through
// once, in the order of keys.
#include <sys/stat.h>

#include <compare>
#include <utility>

#include "engine/names.h"
#include "src/commands/all.h"
#include "src/commands/export_format.h"
#include "src/commands/export_stream.h"
#include "src/commands/progress.h"

namespace cellfs {
namespace {

using nlohmann::json;

// Where a line stands among all: a table before its cells, a column's versions newest first, and at
// one time wider tombstones first.
struct Place {
  TableName table;
  bool is_cell = false;
  std::string row;
  std::string family;
  std::string qualifier;
  Timestamp before = 0;  // the timestamp, negative
  int rank = 0;

  friend auto operator<=>(const Place&, const Place&) = default;
};

int RankOf(const std::string& type) {
  for (const CellType known : {CellType::kPut, CellType::kDelete, CellType::kDeleteFamilyVersion,
                               CellType::kDeleteColumn, CellType::kDeleteFamily})
    if (type == TypeName(known)) return -static_cast<int>(known);
  return 0;
}

// The tables and cells of one side, each once: of two cells of one place the newer, which comes
// first, counts.
class Side {
 public:
  explicit Side(std::unique_ptr<ExportStream> stream) : stream_(std::move(stream)) {}

  Status Next() {
    for (;;) {
      CELLFS_ASSIGN_OR_RETURN(const bool is_more, stream_->Next(line_));
      if (!is_more) {
        at_end_ = true;
        return {};
      }
      Place place = TakePlace();
      const bool is_first = count_ == 0;
      if (!is_first && place == place_) continue;
      if (!is_first && place < place_)
        return {StatusCode::kIllegalArgument, "an export is not in the order of its keys"};
      place_ = std::move(place);
      bytes_ += 100 + value().size();
      ++count_;
      return {};
    }
  }
  bool at_end() const { return at_end_; }
  const Place& place() const { return place_; }
  const std::string& value() const { return line_.cell.Text(CellLine::kValue); }
  int64_t ttl() const { return line_.cell.NumberOr(CellLine::kTtl, 0); }
  std::string type() const {
    const std::string& said = line_.cell.Text(CellLine::kType);
    return said.empty() ? std::string(TypeName(CellType::kPut)) : said;
  }
  uint64_t count() const { return count_; }
  uint64_t bytes() const { return bytes_; }

 private:
  Place TakePlace() {
    if (line_.table != table_text_ || count_ == 0) {
      table_text_ = line_.table;
      table_ = ParseTableName(table_text_);
    }
    if (!line_.is_cell) {
      line_.cell.Clear();
      return {.table = table_};
    }
    return {table_,
            true,
            line_.cell.TakeText(CellLine::kRow),
            line_.cell.TakeText(CellLine::kFamily),
            line_.cell.TakeText(CellLine::kQualifier),
            -line_.cell.NumberOr(CellLine::kTimestamp, 0),
            RankOf(type())};
  }

  const std::unique_ptr<ExportStream> stream_;
  ExportLine line_;
  std::string table_text_;  // of the last line,
  TableName table_;         // read
  Place place_;
  bool at_end_ = false;
  uint64_t count_ = 0;
  uint64_t bytes_ = 0;
};

json DifferenceOf(const Side& side, const char* what) {
  const Place& place = side.place();
  json difference = {{"difference", what}, {"table", place.table.ToString()}};
  if (!place.is_cell) return difference;
  difference.update({{"row", place.row},
                     {"family", place.family},
                     {"qualifier", place.qualifier},
                     {"timestamp", -place.before},
                     {"type", side.type()}});
  return difference;
}

void Print(const Front& front, const json& difference) {
  if (front.printer.style().json) return front.printer.Json(difference);
  const auto text = [&](const char* name) { return ShownBytes(difference.value(name, "")); };
  std::vector<std::string> fields = {difference["difference"].get<std::string>(), text("table")};
  if (difference.contains("row")) {
    fields.push_back(text("row"));
    fields.push_back(ShownColumn(difference.value("family", ""), difference.value("qualifier", "")));
    fields.push_back(std::to_string(difference.value("timestamp", Timestamp{0})));
    if (const std::string type = text("type"); type != "Put") fields.push_back(type);
  }
  front.printer.Row(std::move(fields));
}

StatusOr<uint64_t> Compare(const Front& front, Side& a, Side& b) {
  Progress progress(/*total_bytes=*/0);
  uint64_t differences = 0;
  const auto tell = [&](const Side& side, const char* what) {
    ++differences;
    progress.Clear();
    Print(front, DifferenceOf(side, what));
  };
  CELLFS_RETURN_IF_ERROR(a.Next());
  CELLFS_RETURN_IF_ERROR(b.Next());
  while ((!a.at_end() || !b.at_end()) && front.printer.ok()) {
    progress.Show(std::max(a.count(), b.count()), std::max(a.bytes(), b.bytes()));
    const bool only_a = b.at_end() || (!a.at_end() && a.place() < b.place());
    const bool only_b = a.at_end() || (!b.at_end() && b.place() < a.place());
    if (only_a || only_b) {
      tell(only_a ? a : b, only_a ? "only in the first" : "only in the second");
    } else if (a.value() != b.value()) {
      tell(a, "other value");
    } else if (a.ttl() != b.ttl()) {
      tell(a, "other ttl");
    }
    if (!only_b) CELLFS_RETURN_IF_ERROR(a.Next());
    if (!only_a) CELLFS_RETURN_IF_ERROR(b.Next());
  }
  return differences;
}

bool IsExportFile(const std::string& target) {
  struct stat found {};
  return ::stat(target.c_str(), &found) == 0 && S_ISREG(found.st_mode);
}

StatusOr<std::unique_ptr<ExportStream>> Open(const Front& front, const std::string& target,
                                             const json& options) {
  if (IsExportFile(target)) return ExportStream::OfFile(target);
  return ExportStream::OfStore(front, target, options);
}

StatusOr<int> RunVerify(const Front& front, const Arguments& arguments) {
  const std::string first = arguments.Text("target");
  const std::string second = arguments.Text("second");
  json options = arguments.values();
  for (const char* name : {"second", "table", "raw"}) options.erase(name);
  if (arguments.Has("table")) options["words"] = json::array({arguments.Text("table")});
  // A file has all that is stored, and cannot tell what of it is seen.
  const bool is_raw = arguments.Flag("raw") || IsExportFile(first) || IsExportFile(second);
  if (!is_raw) options["visible"] = true;
  CELLFS_ASSIGN_OR_RETURN(auto of_first, Open(front, first, options));
  CELLFS_ASSIGN_OR_RETURN(auto of_second, Open(front, second, options));
  Side a(std::move(of_first));
  Side b(std::move(of_second));
  CELLFS_ASSIGN_OR_RETURN(const uint64_t differences, Compare(front, a, b));
  front.printer.Finish();
  return differences == 0 ? kExitDone : kExitNo;
}

}  // namespace

const Command kVerifyCommand{
    .name = "verify",
    .group = Group::kData,
    .summary = "compare the cells of two stores, or of a store and an export; 1: some differ",
    .description =
        "Of two stores, mounts, clusters or databases, or tables of them, what reads see of all versions is "
        "compared; with --raw, and with a file that export wrote, all that is stored, tombstones and hidden "
        "versions too, which compactions remove. Attributes, splits and sequence ids are not compared. Nothing "
        "is held in memory.",
    .example = "verify ~/m hbase://master1:16000/\nverify ~/m store.jsonl\nverify --table notes ~/m ~/other",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a store, a mount point, a namespace, a table or an export's file");
          syntax.Word("second", "SECOND", "another one");
          syntax.Option("--table", "table", "TABLE", "that table alone, of stores");
          syntax.Flag("--raw", "raw", "all that is stored");
        },
    .prints_no = true,
    .prints_json = true,
    .only_reads = true,
    .run = RunVerify,
};

}  // namespace cellfs
