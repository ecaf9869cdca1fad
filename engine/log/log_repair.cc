// SPDX-License-Identifier: MIT
#include "engine/log/log_repair.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/log/cut_off_log.h"
#include "engine/log/log_format.h"
#include "engine/log/log_tail.h"

namespace cellfs {
namespace {

class LogCut {
 public:
  LogCut(FileLayer& files, std::string directory, const LogBreak& broken, RepairMode mode)
      : files_(files), directory_(std::move(directory)), broken_(broken), mode_(mode) {}

  StatusOr<LogRepair> Run() {
    repair_.damage = broken_.what;
    CELLFS_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.List(directory_));
    std::vector<uint64_t> behind;
    for (const std::string& name : names) {
      const auto number = ParseSegmentName(name);
      if (!number || *number < broken_.segment) continue;
      CELLFS_RETURN_IF_ERROR(Keep(*number, *number == broken_.segment ? broken_.offset : 0));
      if (*number > broken_.segment) behind.push_back(*number);
    }
    if (mode_ == RepairMode::kAct) CELLFS_RETURN_IF_ERROR(Cut(behind));
    return std::move(repair_);
  }

 private:
  std::string PathOf(uint64_t number) const { return directory_ + "/" + SegmentName(number); }

  // Of zeros and of the note that another segment follows nothing is kept.
  Status Keep(uint64_t number, size_t offset) {
    CELLFS_ASSIGN_OR_RETURN(const std::string bytes, files_.Read(PathOf(number)));
    if (const auto header = DecodeSegmentHeader(bytes)) base_ = header->base;
    const size_t written = bytes.find_last_not_of('\0') + 1;
    if (written > offset && TailOf(bytes, offset, base_) != LogTail::kEnd) {
      repair_.records += CountRecords(bytes, offset, base_);
      const auto cut = std::string_view(bytes).substr(offset, written - offset);
      CELLFS_ASSIGN_OR_RETURN(std::string name, NameOf(number, offset, cut));
      repair_.kept.push_back(std::move(name));
    }
    base_ += offset;  // of the next one, should its header be damaged
    return {};
  }

  StatusOr<std::string> NameOf(uint64_t number, size_t offset, std::string_view cut) {
    if (mode_ == RepairMode::kPlan) return NameOfCutOff(number, offset);
    return KeepCutOff(files_, directory_, number, offset, cut);
  }

  // The newest first: no gap may be left on the way.
  Status Cut(const std::vector<uint64_t>& behind) {
    for (auto number = behind.rbegin(); number != behind.rend(); ++number)
      CELLFS_RETURN_IF_ERROR(files_.Remove(PathOf(*number)));
    // A log of which nothing is good begins anew: without a segment it would count as lost.
    const uint64_t last = std::max<uint64_t>(broken_.segment, 1);
    CELLFS_ASSIGN_OR_RETURN(const auto file, files_.OpenForAppend(PathOf(last)));
    CELLFS_RETURN_IF_ERROR(file->Truncate(broken_.offset));
    CELLFS_RETURN_IF_ERROR(file->Sync());
    return files_.SyncDirectory(directory_);
  }

  FileLayer& files_;
  const std::string directory_;
  const LogBreak& broken_;
  const RepairMode mode_;
  LogPosition base_ = 0;
  LogRepair repair_;
};

}  // namespace

StatusOr<LogRepair> CutLog(FileLayer& files, const std::string& directory, const LogBreak& broken,
                           RepairMode mode) {
  return LogCut(files, directory, broken, mode).Run();
}

}  // namespace cellfs
