// SPDX-License-Identifier: MIT
#include "engine/local/compaction_job.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/file/store_file_cursor.h"
#include "engine/waiting.h"

namespace cellfs {
namespace {

constexpr uint64_t kBytesBetweenPauses = uint64_t{256} << 10;
constexpr std::chrono::nanoseconds kLongestPause = std::chrono::milliseconds(50);

Status NoRoomFor(uint64_t bytes, uint64_t room, bool gives_back) {
  const std::string lacks = std::to_string(bytes - room) + " bytes";
  return {StatusCode::kStoreFull,
          "the disk has no room for a compaction, which needs " + std::to_string(bytes) +
              " bytes and may have " + std::to_string(room) + ": free " + lacks +
              " outside the store, or of the tables that were dropped and are kept, by 'rm -r' of "
              "their names in .deleted; or remove " +
              (gives_back ? lacks + " more" : "files") +
              " of the table, then their names from .deleted, then 'cellfs flush', then compact"};
}

bool HasTooManyFiles(const TableServices& services, const VersionSet& versions,
                     const FamilySchema& family) {
  const TableVersionPtr version = versions.Current();
  return CountFiles(*version, family) >=
         static_cast<size_t>(services.options.site.blocking_store_files);
}

// Files of which the filter is full are ended as well.
OutputLimits LimitsOf(const TableServices& services, const VersionSet& versions,
                      const Compaction& compaction) {
  const TableVersionPtr version = versions.Current();
  OutputLimits limits{.bytes_of_file = BytesOfPiece(*version->schema, services.options.site)};
  const std::string& family = compaction.family.name();
  const auto& cuts = version->files->CutsOf(family);
  const auto seams = version->files->RangesOf(family).Seams(limits.bytes_of_file);
  std::merge(cuts.begin(), cuts.end(), seams.begin(), seams.end(), std::back_inserter(limits.ends));
  int64_t cells = 0;
  for (const auto& file : compaction.files) cells += file->facts().cells;
  const auto any_file = [&](const auto& is_so) {
    return std::any_of(compaction.files.begin(), compaction.files.end(), is_so);
  };
  std::erase_if(limits.ends, [&](const std::string& end) {
    return !any_file([&](const auto& file) { return file->facts().first_row < end; }) ||
           !any_file([&](const auto& file) { return end <= file->facts().last_row; });
  });
  const auto files = static_cast<int64_t>(compaction.bytes() / limits.bytes_of_file) + 1;
  limits.cells_of_file = files == 1 ? cells : (cells / files + 1) * 2;
  return limits;
}

}  // namespace

CompactionJob::CompactionJob(TableServices& services, VersionSet& versions, Compaction compaction,
                             Stopped stopped)
    : services_(services),
      versions_(versions),
      compaction_(std::move(compaction)),
      stopped_(std::move(stopped)),
      alterations_(versions.alterations()),
      limits_(LimitsOf(services, versions, compaction_)),
      has_too_many_files_(HasTooManyFiles(services, versions, compaction_.family)) {}

CompactionJob::~CompactionJob() { services_.claimed_by_compactions -= claimed_; }

// One that gives space back may have what the reserve holds; it comes back with the files that go.
Status CompactionJob::ClaimRoom() {
  DiskReserve& reserve = services_.reserve;
  const uint64_t present = compaction_.bytes();
  uint64_t bytes = present + BytesOfFurtherFiles() + kBytesOfNames;
  if (bytes > reserve.RoomBeside(services_.BytesOfFlush(), /*with_held=*/false)) {
    CELLFS_ASSIGN_OR_RETURN(const uint64_t measured, Measure());
    bytes = std::min(bytes, measured + kBytesOfNames);
    const uint64_t room = reserve.RoomBeside(services_.BytesOfFlush(), bytes < present);
    if (bytes > room) {
      services_.NoteLackedByCompaction(bytes - room);
      return NoRoomFor(bytes, room, bytes < present);
    }
    reserve.MakeRoom(bytes);
  }
  claim_.Take(reserve, bytes);
  claimed_ = bytes;
  services_.claimed_by_compactions += claimed_;
  return {};
}

// What files beside the first take without their cells.
uint64_t CompactionJob::BytesOfFurtherFiles() const {
  return kBytesOfEmptyFile * (compaction_.bytes() / limits_.bytes_of_file + limits_.ends.size());
}

// What its tombstones hide is all here, and stays hidden for as long as they do: nothing older is
// left out. What is withdrawn and kept for a moment hides nothing from others.
bool CompactionJob::TellsHidden(SequenceId keep_up_to) const {
  if (compaction_.heeds_newer_tombstones || compaction_.family.new_version_behavior()) return false;
  const TableVersionPtr version = versions_.Current();
  const StoreFiles& present = version->files->Of(compaction_.family.name());
  const SequenceId lowest = compaction_.lowest();
  return std::none_of(present.begin(), present.end(), [&](const auto& file) {
    const FileFacts& facts = file->facts();
    if (keep_up_to > 0 && facts.withdrawals > 0) return true;
    return facts.highest < lowest &&
           std::any_of(compaction_.files.begin(), compaction_.files.end(),
                       [&](const auto& own) { return HaveCommonRows(own->facts(), facts); });
  });
}

StatusOr<uint64_t> CompactionJob::Measure() const {
  const auto limit = static_cast<uint64_t>(std::max(services_.options.inline_value_limit, 0));
  CELLFS_ASSIGN_OR_RETURN(RewriteInput input, Input(/*lengths_only=*/true));
  uint64_t bytes = kBytesOfEmptyFile + BytesOfFurtherFiles();
  const RewriteOutput measure = [&](CellCursor& cells) {
    const CellView& cell = cells.cell();
    bytes += MostBytesInFile(cell.type, cell.row.size() + cell.qualifier.size(), cell.value_length,
                             limit);
    return Status();
  };
  DroppedColumns dropped;
  CELLFS_RETURN_IF_ERROR(
      RewriteFamily(std::move(input), compaction_.family, Rules(), measure, dropped).status());
  return bytes;
}

StatusOr<bool> CompactionJob::WouldLeaveOutHalf() const {
  const auto length_of = [](const CellView& cell) {
    return cell.row.size() + cell.qualifier.size() + cell.value_length;
  };
  uint64_t present = 0;
  for (const auto& cursor : OpenFiles(/*lengths_only=*/true)) {
    for (Status status = cursor->Seek({}); !status.ok() || cursor->valid();
         status = cursor->Next()) {
      CELLFS_RETURN_IF_ERROR(status);
      if (MustStop()) return Status(StatusCode::kCancelled, "the compaction has been stopped");
      present += length_of(cursor->cell());
    }
  }
  CELLFS_ASSIGN_OR_RETURN(RewriteInput input, Input(/*lengths_only=*/true));
  uint64_t left = 0;
  const RewriteOutput measure = [&](CellCursor& cells) {
    left += length_of(cells.cell());
    return Status();
  };
  DroppedColumns dropped;
  CELLFS_RETURN_IF_ERROR(
      RewriteFamily(std::move(input), compaction_.family, Rules(), measure, dropped).status());
  return left <= present / 2;
}

StatusOr<VersionEdit> CompactionJob::Run() {
  const bool is_major = compaction_.kind == CompactionKind::kMajor;
  const Rewrite rules = Rules();
  BuilderOptions options{.inline_value_limit = services_.options.inline_value_limit,
                         .written = rules.now,
                         .is_major = is_major,
                         .tells_hidden = TellsHidden(rules.keep_up_to),
                         .sync_times = &services_.file_sync_times};
  for (const auto& file : compaction_.files) {
    options.cells_at_most += file->facts().cells;
    if (!is_major) options.written = std::min(options.written, file->facts().written);
  }
  const BlockCache::CompactionReads reads;
  CELLFS_ASSIGN_OR_RETURN(RewriteInput input, Input(/*lengths_only=*/false));
  CompactionOutput output(services_, versions_, compaction_.family, options, limits_,
                          compaction_.lowest(), compaction_.highest());
  // What is written is not claimed any more, or puts would find twice as much missing. One that the
  // background has begun leaves its room to puts that wait for it, unless it gives more back.
  const bool yields = stopped_ && claimed_ >= compaction_.bytes();
  const RewriteOutput put = [&](CellCursor& cell) -> Status {
    CELLFS_RETURN_IF_ERROR(Pace(cell.cell()));
    CELLFS_RETURN_IF_ERROR(output.Put(cell));
    claim_.Shrink(claimed_ - std::min(claimed_, output.bytes_on_disk()));
    if (!yields || services_.waiting_puts == 0) return {};
    return {StatusCode::kCancelled, "puts wait for the room"};
  };
  const StatusOr<Timestamp> complete_since =
      RewriteFamily(std::move(input), compaction_.family, rules, put, dropped_);
  // Whoever stops it, to unmount for example, need not wait for the removal; puts wait for that.
  const bool may_stay = services_.options.background_maintenance && services_.waiting_puts == 0;
  if (!complete_since.ok() && may_stay && MustStop()) output.Leave();
  CELLFS_RETURN_IF_ERROR(complete_since.status());
  VersionEdit edit;
  CELLFS_ASSIGN_OR_RETURN(edit.added, output.Finish());
  edit.removed = compaction_.files;
  if (is_major) edit.major[compaction_.family.name()] = rules.now;
  if (*complete_since > 0) edit.past[compaction_.family.name()].complete_since = *complete_since;
  return edit;
}

Status CompactionJob::Pace(const CellView& written) {
  unpaced_ += written.row.size() + written.qualifier.size() + written.value_length;
  if (unpaced_ < kBytesBetweenPauses) return {};
  const uint64_t bytes = std::exchange(unpaced_, 0);
  // Puts that find no room wait for what it has claimed.
  const auto is_urgent = [this] { return has_too_many_files_ || services_.waiting_puts != 0; };
  if (is_urgent()) return {};
  std::chrono::nanoseconds pause =
      services_.pace.Take(bytes, services_.cache.blocks.reads(), std::chrono::steady_clock::now());
  for (; pause.count() > 0 && !is_urgent(); pause -= kLongestPause) {
    if (MustStop()) return {StatusCode::kCancelled, "the compaction has been stopped"};
    const Waiting waiting(Wait::kIsLong);
    std::this_thread::sleep_for(std::min(pause, kLongestPause));
  }
  return {};
}

bool CompactionJob::MustStop() const {
  return versions_.is_dropped() || versions_.alterations() != alterations_ ||
         (stopped_ && stopped_()) || (asker_ != nullptr && asker_->HasGivenUp());
}

Rewrite CompactionJob::Rules() const {
  const bool is_major = compaction_.kind == CompactionKind::kMajor;
  Rewrite rules = services_.RewriteNow(is_major ? RewriteKind::kMajor : RewriteKind::kMinor);
  for (const auto& file : compaction_.files)
    rules.oldest_put = std::min(rules.oldest_put, file->facts().oldest_put);
  return rules;
}

std::vector<std::unique_ptr<CellCursor>> CompactionJob::OpenFiles(bool lengths_only) const {
  std::vector<std::unique_ptr<CellCursor>> cursors;
  for (FileRun& run : RunsOf(compaction_.files)) {
    FileRun with_hidden;
    for (const auto& file : run.files)
      if (file->facts().hidden.cells != 0) with_hidden.files.push_back(file);
    if (!with_hidden.files.empty()) {
      cursors.push_back(
          OpenRun(std::move(with_hidden), CellSet::kHidden, kMaxSequenceId, lengths_only));
    }
    cursors.push_back(OpenRun(std::move(run), CellSet::kShown, kMaxSequenceId, lengths_only));
  }
  return cursors;
}

StatusOr<RewriteInput> CompactionJob::Input(bool lengths_only) const {
  RewriteInput input;
  input.stopped = [this] { return MustStop(); };
  input.cells = OpenFiles(lengths_only);
  const TableVersionPtr version = versions_.Current();
  const StoreFiles& present = version->files->Of(compaction_.family.name());
  const SequenceId lowest = compaction_.lowest();
  std::vector<FileFacts> older;
  for (const auto& file : present) {
    if (file->facts().highest < lowest) older.push_back(file->facts());
  }
  for (const auto& file : NewerThan(compaction_, present)) {
    if (file->facts().withdrawals != 0) {
      CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, file->Open());
      input.newer_withdrawals.push_back(OpenWithdrawals(std::move(lease)));
    }
    if (compaction_.heeds_newer_tombstones && file->facts().tombstones != 0) {
      for (const CellSet set : kCellSets) {
        if (set == CellSet::kHidden && file->facts().hidden.cells == 0) continue;
        CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, file->Open());
        input.cells.push_back(OpenTombstones(std::move(lease), set));
      }
    }
  }
  if (compaction_.heeds_newer_tombstones) input.highest = compaction_.highest();
  input.older_may_hold = [older = std::move(older)](const CellView& withdrawal) {
    return std::any_of(older.begin(), older.end(),
                       [&](const FileFacts& facts) { return MayHoldPlaceOf(facts, withdrawal); });
  };
  input.is_withdrawn_in_memory = [version,
                                  family = compaction_.family.name()](const CellView& cell) {
    return version->active->MayWithdraw(family, cell) ||
           (version->frozen != nullptr && version->frozen->MayWithdraw(family, cell));
  };
  return input;
}

}  // namespace cellfs
