// SPDX-License-Identifier: MIT
#include "engine/log/log_repair.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/log/cut_off_log.h"
#include "engine/log/log_format.h"
#include "engine/log/log_tail.h"
#include "engine/log/lost_header.h"
#include "engine/log/lost_note.h"

namespace cellfs {
namespace {

class LogMending {
 public:
  LogMending(FileLayer& files, std::string directory, const LogSummary& summary, RepairMode mode)
      : files_(files), directory_(std::move(directory)), summary_(summary), mode_(mode) {}

  StatusOr<LogRepair> Run() {
    for (const LostHeader& lost : summary_.lost_headers) CELLFS_RETURN_IF_ERROR(MakeHeader(lost));
    for (const LostNote& lost : summary_.lost_notes) CELLFS_RETURN_IF_ERROR(FillNote(lost));
    for (const LostEnd& lost : summary_.lost_ends) CELLFS_RETURN_IF_ERROR(EndSegment(lost));
    if (summary_.broken) CELLFS_RETURN_IF_ERROR(CutAt(*summary_.broken));
    return std::move(repair_);
  }

 private:
  std::string PathOf(uint64_t number) const { return directory_ + "/" + SegmentName(number); }

  void AddDamage(const std::string& what) {
    repair_.damage += (repair_.damage.empty() ? "" : "; ") + what;
  }

  // ---- Headers ----------------------------------------------------------------------------------

  Status MakeHeader(const LostHeader& lost) {
    AddDamage(lost.what);
    const std::string name = SegmentName(lost.header.number);
    repair_.headers.push_back(name);
    CELLFS_ASSIGN_OR_RETURN(std::string bytes, files_.Read(PathOf(lost.header.number)));
    repair_.saved += CountRecords(bytes.substr(0, GoodEndOf(lost.header.number, bytes)),
                                  kSegmentHeaderSize, lost.header.base);
    if (mode_ == RepairMode::kPlan) return {};
    bytes.resize(std::max(bytes.size(), kSegmentHeaderSize));
    bytes.replace(0, kSegmentHeaderSize, EncodeSegmentHeader(lost.header));
    return ReplaceFile(files_, directory_, name, bytes);
  }

  Status FillNote(const LostNote& lost) {
    AddDamage(lost.what);
    repair_.notes.push_back(SegmentName(lost.segment));
    if (mode_ == RepairMode::kPlan) return {};
    CELLFS_ASSIGN_OR_RETURN(std::string bytes, files_.Read(PathOf(lost.segment)));
    bytes.replace(lost.offset, lost.size, NothingInPlaceOf(lost.size, lost.begin));
    return ReplaceFile(files_, directory_, SegmentName(lost.segment), bytes);
  }

  // Behind its records nothing has to be.
  Status EndSegment(const LostEnd& lost) {
    AddDamage(lost.what);
    repair_.ends.push_back(SegmentName(lost.segment));
    if (mode_ == RepairMode::kPlan) return {};
    CELLFS_ASSIGN_OR_RETURN(const auto file, files_.OpenForAppend(PathOf(lost.segment)));
    CELLFS_RETURN_IF_ERROR(file->Truncate(lost.offset));
    return file->Sync();
  }

  size_t GoodEndOf(uint64_t number, std::string_view bytes) const {
    const bool is_cut = summary_.broken && summary_.broken->segment == number;
    return is_cut ? summary_.broken->offset : bytes.size();
  }

  // ---- The cut ----------------------------------------------------------------------------------

  Status CutAt(const LogBreak& broken) {
    AddDamage(broken.what);
    repair_.is_cut = true;
    CELLFS_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.List(directory_));
    std::vector<uint64_t> behind;
    for (const std::string& name : names) {
      const auto number = ParseSegmentName(name);
      if (!number || *number < broken.segment) continue;
      CELLFS_RETURN_IF_ERROR(Keep(*number, *number == broken.segment ? broken.offset : 0));
      if (*number > broken.segment) behind.push_back(*number);
    }
    return mode_ == RepairMode::kAct ? Cut(broken, behind) : Status();
  }

  // Of zeros and of the note that another segment follows nothing is kept.
  Status Keep(uint64_t number, size_t offset) {
    CELLFS_ASSIGN_OR_RETURN(const std::string bytes, files_.Read(PathOf(number)));
    const LogPosition base = BaseOf(number, bytes);
    const size_t written = bytes.find_last_not_of('\0') + 1;
    if (written <= offset || TailOf(bytes, offset, base) == LogTail::kEnd) return {};
    repair_.records += CountRecords(bytes, offset, base);
    repair_.bytes += written - offset;
    const auto cut = std::string_view(bytes).substr(offset, written - offset);
    CELLFS_ASSIGN_OR_RETURN(std::string name, NameOf(number, offset, cut));
    repair_.kept.push_back(std::move(name));
    return {};
  }

  LogPosition BaseOf(uint64_t number, std::string_view bytes) const {
    if (const auto header = DecodeSegmentHeader(bytes)) return header->base;
    for (const LostHeader& lost : summary_.lost_headers)
      if (lost.header.number == number) return lost.header.base;
    const auto told =
        TellLostHeader(bytes, {.number = number, .store_id = 0, .end_before = std::nullopt});
    return told ? told->base : 0;
  }

  StatusOr<std::string> NameOf(uint64_t number, size_t offset, std::string_view cut) {
    if (mode_ == RepairMode::kPlan) return NameOfCutOff(CutOffBy::kRepair, number, offset);
    return KeepCutOff(files_, directory_, CutOffBy::kRepair, number, offset, cut);
  }

  // The newest first: no gap may be left on the way.
  Status Cut(const LogBreak& broken, const std::vector<uint64_t>& behind) {
    for (auto number = behind.rbegin(); number != behind.rend(); ++number)
      CELLFS_RETURN_IF_ERROR(files_.Remove(PathOf(*number)));
    // A log of which nothing is good begins anew: without a segment it would count as lost.
    const uint64_t last = std::max<uint64_t>(broken.segment, 1);
    CELLFS_ASSIGN_OR_RETURN(const auto file, files_.OpenForAppend(PathOf(last)));
    CELLFS_RETURN_IF_ERROR(file->Truncate(broken.offset));
    CELLFS_RETURN_IF_ERROR(file->Sync());
    return files_.SyncDirectory(directory_);
  }

  FileLayer& files_;
  const std::string directory_;
  const LogSummary& summary_;
  const RepairMode mode_;
  LogRepair repair_;
};

}  // namespace

StatusOr<LogRepair> RepairLog(FileLayer& files, const std::string& directory,
                              const LogSummary& summary, RepairMode mode) {
  return LogMending(files, directory, summary, mode).Run();
}

}  // namespace cellfs
