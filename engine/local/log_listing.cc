// SPDX-License-Identifier: MIT
#include "engine/log_listing.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "engine/catalog/catalog_json.h"
#include "engine/local/store_directory.h"
#include "engine/log/cut_off_log.h"
#include "engine/log/log_format.h"
#include "engine/log/log_tail.h"
#include "engine/log/lost_header.h"
#include "engine/visibility/cell_cursor.h"

namespace cellfs {
namespace {

class LogListing {
 public:
  LogListing(FileLayer& files, std::string directory, const TakeLogEntry& take)
      : files_(files), directory_(std::move(directory)), take_(take) {}

  Status Run(std::optional<uint64_t> only) {
    CELLFS_ASSIGN_OR_RETURN(store_id_, CheckIsStore(files_, directory_));
    LearnNames();
    CELLFS_ASSIGN_OR_RETURN(const auto names, files_.List(directory_ + "/wal"));
    std::vector<uint64_t> numbers;
    for (const std::string& name : names)
      if (const auto number = ParseSegmentName(name)) numbers.push_back(*number);
    if (only && std::find(numbers.begin(), numbers.end(), *only) == numbers.end())
      return {StatusCode::kIllegalArgument, "the log has no segment " + std::to_string(*only) +
                                                "; " + DescribeSegments(numbers)};
    for (size_t i = 0; i < numbers.size() && is_wanted_; ++i) {
      if (only && numbers[i] != *only) continue;
      if (!only && i > 0 && numbers[i] != numbers[i - 1] + 1) {
        before_ = {};
        Damaged(numbers[i - 1] + 1, 0, 0, "the segment is missing");
      }
      CELLFS_RETURN_IF_ERROR(ShowSegment(numbers[i], numbers[i] == numbers.back()));
    }
    return {};
  }

  // Read as if the segment went on with it: where a record lies is part of its checksum.
  Status RunOnCutOff(const std::string& name) {
    CELLFS_ASSIGN_OR_RETURN(store_id_, CheckIsStore(files_, directory_));
    const auto place = PlaceOfCutOff(name);
    if (!place)
      return {StatusCode::kIllegalArgument, "'" + name + "' is no part that was cut off the log"};
    LearnNames();
    CELLFS_ASSIGN_OR_RETURN(const std::string cut_off, files_.Read(directory_ + "/wal/" + name));
    std::string bytes(place->offset, '\0');
    bytes += cut_off;
    // Of a whole segment: another may have its number by now.
    std::optional<SegmentHeader> header = DecodeSegmentHeader(bytes);
    const auto segment = files_.Read(directory_ + "/wal/" + SegmentName(place->segment));
    if (segment.ok() && place->offset != 0) header = DecodeSegmentHeader(*segment);
    if (!header) header = TellLostHeader(bytes, {place->segment, store_id_, std::nullopt});
    if (header && header->format_version == kLogFormatVersion) {
      ShowRecords(place->segment, "", std::move(bytes), header->base,
                  std::max(place->offset, kSegmentHeaderSize));
    } else {
      Damaged(place->segment, place->offset, bytes.size(),
              "nothing tells where its records lay in the log, and so none can be read");
    }
    return {};
  }

 private:
  // Where the records of the segment that was read last end, and what follows them, if one was.
  struct Before {
    LogPosition end = 0;
    size_t offset = 0;
    std::optional<LogTail> tail;
  };

  static std::string DescribeSegments(const std::vector<uint64_t>& numbers) {
    if (numbers.empty()) return "it has none";
    return "it has " + std::to_string(numbers.front()) + " to " + std::to_string(numbers.back());
  }

  // A catalog that cannot be read keeps nobody from the log.
  void LearnNames() {
    const StatusOr<SavedCatalog> saved = ReadCatalog(files_, directory_);
    if (!saved.ok()) return;
    const StatusOr<Catalog> catalog = DecodeCatalog(*saved);
    if (!catalog.ok()) return;
    for (const CatalogDroppedTable& dropped : catalog->dropped_tables)
      names_[dropped.table.id] = dropped.table.schema->name().ToString();
    for (const auto& [name, table] : catalog->tables) names_[table.id] = name.ToString();
  }

  std::string NameOf(TableId id) const {
    const auto known = names_.find(id);
    return known == names_.end() ? "" : known->second;
  }
  std::string ShownTable(TableId id) const {
    const std::string name = NameOf(id);
    return name.empty() ? "#" + std::to_string(id) : name;
  }

  void Show(const LogEntry& entry) { is_wanted_ = is_wanted_ && take_(entry); }
  void Damaged(uint64_t segment, uint64_t offset, uint64_t end, std::string what) {
    Show({.kind = LogEntry::Kind::kDamage,
          .segment = segment,
          .offset = offset,
          .end = end,
          .what = std::move(what)});
  }

  Status ShowSegment(uint64_t number, bool is_newest) {
    const std::string path = directory_ + "/wal/" + SegmentName(number);
    auto bytes = files_.Read(path);
    if (!bytes.ok()) {
      const auto exists = files_.Exists(path);
      // A store that is open cuts its log.
      return exists.ok() && !*exists ? Status() : bytes.status();
    }
    auto header = DecodeSegmentHeader(*bytes);
    const Before before = std::exchange(before_, {});
    const SegmentHeader expected{.number = number, .base = before.end, .store_id = store_id_};
    if (is_newest && before.tail != LogTail::kEnd && IsUnbegun(*bytes, expected, before.tail) &&
        !(header && HasGrown(number - 1, before)))
      return ShowUnbegun(number, expected, *bytes);
    if (!header) {
      header = TellLostHeader(*bytes, {number, store_id_, std::nullopt});
      Damaged(number, 0, header ? kSegmentHeaderSize : bytes->size(),
              header ? "its header is damaged; the records behind it tell what it was"
                     : "its header is damaged, and so nothing of it can be read");
    }
    if (header && header->format_version != kLogFormatVersion) {
      Damaged(number, 0, bytes->size(), "it is of another format, of a newer cellfs");
    } else if (header) {
      ShowRecords(number, path, *std::move(bytes), header->base);
    }
    return {};
  }

  // A store that is open has gone on in the segment since.
  bool HasGrown(uint64_t number, const Before& before) {
    const auto bytes = files_.Read(directory_ + "/wal/" + SegmentName(number));
    return bytes.ok() && before.offset < bytes->size() &&
           FindRecord(std::string_view(*bytes).substr(before.offset), before.end);
  }

  // What stands in it is there for who looks for what was written last.
  Status ShowUnbegun(uint64_t number, const SegmentHeader& expected, const std::string& bytes) {
    if (CountInUnbegun(bytes, expected) == 0) return {};
    const auto header = DecodeSegmentHeader(bytes);
    Show({.kind = LogEntry::Kind::kUnfinished,
          .segment = number,
          .end = header ? kSegmentHeaderSize : bytes.size(),
          .what = "a segment that is no part of the log: a crash has left it without what lies "
                  "before it, or without its header"});
    ShowRecords(number, "", bytes, header ? header->base : expected.base);
    return {};
  }

  // From the offset on. No path: nobody writes to it.
  void ShowRecords(uint64_t number, const std::string& path, std::string bytes_read,
                   LogPosition base, size_t offset = kSegmentHeaderSize) {
    std::string_view bytes = bytes_read;
    size_t read_again_for = 0;
    before_ = {base + offset, offset, LogTail::kNothing};
    while (offset < bytes.size() && is_wanted_) {
      const auto found = FindRecord(bytes.substr(offset), base + offset);
      if (found && ShowWhole(number, offset, bytes.substr(offset, found->size), found->synced)) {
        const auto note = DecodeNote(bytes.substr(offset, found->size));
        offset += found->size;
        if (note && note->kind == LogNote::Kind::kEndOfSegment) {
          before_.tail = LogTail::kEnd;
        } else {
          before_ = {base + offset, offset, LogTail::kNothing};
        }
        continue;
      }
      // What was being written then is whole by now.
      if (!path.empty() && std::exchange(read_again_for, offset) != offset) {
        if (auto again = files_.Read(path); again.ok() && again->size() > offset) {
          bytes_read = *std::move(again);
          bytes = bytes_read;
          continue;
        }
      }
      const LogTail tail = found ? LogTail::kDamaged : TailOf(bytes, offset, base);
      before_.tail = tail;
      if (tail == LogTail::kZeros || tail == LogTail::kNothing || tail == LogTail::kEnd) return;
      const size_t next = std::min(FindNextRecord(bytes, offset + 1, base), bytes.size());
      if (tail == LogTail::kTorn && next == bytes.size()) {
        Show({.kind = LogEntry::Kind::kUnfinished,
              .segment = number,
              .offset = offset,
              .end = next,
              .what = "a write that is under way, or that a crash has cut short"});
        return;
      }
      Damaged(number, offset, next,
              "is not what was written; " +
                  (next == bytes.size()
                       ? "no whole record comes behind it"
                       : "the next whole record begins at offset " + std::to_string(next)));
      offset = next;
    }
  }

  // Whether the bytes, whose checksum is right, are a record or a note.
  bool ShowWhole(uint64_t number, size_t offset, std::string_view bytes, LogPosition synced) {
    LogEntry entry{.segment = number, .offset = offset, .end = offset + bytes.size()};
    if (const auto note = DecodeNote(bytes)) {
      entry.kind = LogEntry::Kind::kNote;
      entry.what = DescribeNote(*note, synced);
      Show(entry);
      return true;
    }
    const auto record = DecodeRecord(bytes, &cells_);
    if (!record) return false;
    entry.table_id = record->table_id;
    entry.table = NameOf(record->table_id);
    entry.sequence_id = record->sequence_id;
    entry.row = record->row;
    entry.cells = record->cells;
    Show(entry);
    return true;
  }

  // `synced`: how far it says that the log is on disk.
  std::string DescribeNote(const LogNote& note, LogPosition synced) const {
    switch (note.kind) {
      case LogNote::Kind::kNothing:
        return synced != 0 ? "the segment before is on disk"
                           : "nothing: a damaged note was here, which a repair has passed over";
      case LogNote::Kind::kEndOfSegment:
        return "the next segment is on disk";
      case LogNote::Kind::kOlderCells:
        return DescribeOlder(note.older);
      case LogNote::Kind::kTables:
        return DescribeTables(note);
    }
    return "";
  }
  std::string DescribeOlder(const OlderCells& older) const {
    std::string text;
    for (const auto& [id, highest] : older)
      text += (text.empty() ? "" : ", ") + ShownTable(id) + " up to " + std::to_string(highest);
    return text.empty() ? "all in older segments is flushed" : "not flushed in older segments: " + text;
  }
  std::string DescribeTables(const LogNote& note) const {
    std::string text;
    for (const auto& [id, mark] : note.tables) {
      text += (text.empty() ? "" : "; ") + ShownTable(id) + " is flushed up to " +
              std::to_string(mark.flushed) + ", store files";
      for (const uint64_t file : mark.files) text += " " + std::to_string(file);
      if (mark.files.empty()) text += " none";
    }
    for (const TableId id : note.dropped)
      text += (text.empty() ? "" : "; ") + ShownTable(id) + " is dropped";
    return text;
  }

  FileLayer& files_;
  const std::string directory_;
  const TakeLogEntry& take_;
  uint64_t store_id_ = 0;
  std::map<TableId, std::string> names_;
  std::vector<CellView> cells_;  // of the record that is shown
  Before before_;
  bool is_wanted_ = true;
};

}  // namespace

std::string LoggedTypeName(const CellView& cell) {
  if (cell.type != kWithdrawMarker) return std::string(TypeName(cell.type));
  const auto type = cell.value.empty() ? 0 : static_cast<unsigned char>(cell.value.front());
  return "Withdrawn" + std::string(TypeName(static_cast<CellType>(type)));
}

Status ListLog(const std::string& directory, std::optional<uint64_t> segment,
               const TakeLogEntry& take) {
  return LogListing(PosixFiles(), directory, take).Run(segment);
}

Status ListCutOffLog(const std::string& directory, const std::string& name,
                     const TakeLogEntry& take) {
  return LogListing(PosixFiles(), directory, take).RunOnCutOff(name);
}

}  // namespace cellfs
