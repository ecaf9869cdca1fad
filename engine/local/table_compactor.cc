// SPDX-License-Identifier: MIT
#include "engine/local/table_compactor.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/local/rewrite_notice.h"
#include "engine/work_limit.h"

namespace cellfs {
namespace {

constexpr int kAttempts = 5;  // where the table is altered meanwhile

}  // namespace

// ---- What is asked for --------------------------------------------------------------------------

Status TableCompactor::Compact(CompactionKind kind) {
  const auto bytes_of_files = [this] {
    const Snapshot<TableVersion> version = versions_.Current();
    return version->files->bytes();
  };
  const uint64_t before = bytes_of_files();
  Status done = CompactAll(kind);
  const uint64_t after = bytes_of_files();
  if (done.code() == StatusCode::kStoreFull && after < before)
    done = {done.code(), done.message() + ". What could go in smaller steps went: " +
                             std::to_string(before - after) + " bytes"};
  return done;
}

// A family for which there is no room is no reason to leave the others, and what they give back may
// be what it lacks.
Status TableCompactor::CompactAll(CompactionKind kind) {
  const std::shared_ptr<const TableSchema> schema = versions_.Schema();
  std::vector<const FamilySchema*> families;
  for (const auto& [name, family] : schema->families) families.push_back(&family);
  while (true) {
    std::vector<const FamilySchema*> without_room;
    Status full;
    for (const FamilySchema* family : families) {
      const auto turn = turns_.TakeAlone(family->name());
      if (turn == nullptr) return Cancelled();
      Status status = Ended(*family, CompactFamily(*family, kind, *turn));
      if (status.code() == StatusCode::kStoreFull) {
        without_room.push_back(family);
        full = std::move(status);
      } else {
        CELLFS_RETURN_IF_ERROR(status);
      }
    }
    const bool is_done = without_room.empty();
    if (is_done) ++compactions_;
    if (is_done || without_room.size() == families.size()) return full;
    families = std::move(without_room);
  }
}

Status TableCompactor::CompactFamily(const FamilySchema& family, CompactionKind kind,
                                     Turn& turn) {
  bool has_thinned = false;
  std::string from;
  for (int attempt = 1;; ++attempt) {
    Status status = DropExpired(family, turn).status();
    if (status.ok()) status = CompactPieces(family, kind, from);
    if (status.code() == StatusCode::kStoreFull) {
      bool has_made_room = false;
      if (!std::exchange(has_thinned, true)) {
        CELLFS_ASSIGN_OR_RETURN(has_made_room, ThinFiles(family, {}));
      }
      if (!has_made_room) {
        CELLFS_ASSIGN_OR_RETURN(has_made_room, CompactPair(family));
      }
      if (!has_made_room) return status;
      attempt = 0;
    } else if (status.code() != StatusCode::kUnavailable || attempt >= kAttempts ||
               versions_.is_dropped()) {
      return status;
    }
  }
}

// One after the other, so that none needs more room than its files have. Those before the row
// `from` are done.
Status TableCompactor::CompactPieces(const FamilySchema& family, CompactionKind kind,
                                     std::string& from) {
  for (;;) {
    const TableVersionPtr version = versions_.Current();
    const KeyRanges& ranges = version->files->RangesOf(family.name());
    if (const StoreFiles& young = ranges.young().files; !young.empty()) {
      CELLFS_RETURN_IF_ERROR(RunJob({family, young, CompactionKind::kMinor}, {}));
      continue;
    }
    const auto& pieces = ranges.pieces();
    const auto next = std::upper_bound(
        pieces.begin() + 1, pieces.end(), from,
        [](const std::string& row, const KeyPiece& piece) { return row < piece.begin; });
    CELLFS_RETURN_IF_ERROR(RunJob({family, (next - 1)->files, kind}, {}));
    if (next == pieces.end()) return {};
    from = next->begin;
  }
}

// False: there is no room for any two, or no more than two are there.
StatusOr<bool> TableCompactor::CompactPair(const FamilySchema& family) {
  const TableVersionPtr version = versions_.Current();
  for (StoreFiles& pair : PickPairs(version->files->RangesOf(family.name()))) {
    const Status status = RunJob({family, std::move(pair), CompactionKind::kMinor}, {});
    if (status.ok()) return true;
    if (status.code() != StatusCode::kStoreFull) return status;
  }
  return false;
}

// Takes out of each file alone what tombstones and withdrawals hide, also those of newer files: what
// is written so is never more than what goes, and nothing where a whole file was deleted. False: no
// file has become smaller.
StatusOr<bool> TableCompactor::ThinFiles(const FamilySchema& family, const Stopped& stopped) {
  bool has_made_room = false;
  for (bool again = true; again;) {
    bool lacks_room = false;
    again = false;
    // A file goes once nobody holds it, so only one is held at a time.
    std::vector<uint64_t> numbers;
    for (const auto& file : versions_.FilesOf(family.name()))
      numbers.push_back(file->facts().number);
    for (const uint64_t number : numbers) {
      Compaction alone{family, versions_.FilesOf(family.name()), CompactionKind::kMinor,
                       /*heeds_newer_tombstones=*/true};
      std::erase_if(alone.files, [&](const auto& file) { return file->facts().number != number; });
      if (alone.files.empty()) continue;
      CELLFS_ASSIGN_OR_RETURN(const bool is_worth_it, IsWorthThinning(alone, stopped));
      if (!is_worth_it) continue;
      const Status status = RunJob(std::move(alone), stopped);
      lacks_room |= status.code() == StatusCode::kStoreFull;
      if (status.code() == StatusCode::kStoreFull) continue;
      CELLFS_RETURN_IF_ERROR(status);
      again = has_made_room = true;
    }
    again &= lacks_room;
  }
  return has_made_room;
}

StatusOr<bool> TableCompactor::IsWorthThinning(const Compaction& alone,
                                               const Stopped& stopped) const {
  const auto hides = [](const auto& file) {
    return file->facts().tombstones + file->facts().withdrawals != 0;
  };
  const StoreFiles newer = NewerThan(alone, versions_.FilesOf(alone.family.name()));
  if (!hides(alone.files.front()) && std::none_of(newer.begin(), newer.end(), hides))
    return false;
  const CompactionJob job(services_, versions_, alone, stopped);
  CELLFS_ASSIGN_OR_RETURN(const uint64_t left, job.Measure());
  return left + kBytesOfNames < alone.bytes();
}

// ---- What is worth it ---------------------------------------------------------------------------

Status TableCompactor::CompactSelected() {
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(const bool was_worth_it,
                            CompactByPolicy(CompactionLength::kAny, {}));
    if (!was_worth_it) return {};
  }
}

// A family that fails is no reason to leave the others.
StatusOr<bool> TableCompactor::CompactByPolicy(CompactionLength length, const Stopped& stopped) {
  const std::shared_ptr<const TableSchema> schema = versions_.Schema();
  if (!schema->compaction_enabled()) return false;
  Status failed;
  for (const auto& [name, family] : schema->families) {
    if (versions_.is_dropped()) return false;
    if (stopped && !AttemptsAt(name).MayTry(services_.options.clock->Elapsed())) continue;
    const auto turn = stopped ? turns_.TryToShare(name) : turns_.TakeAlone(name);
    if (turn == nullptr) continue;
    const StatusOr<bool> done = CompactIfWorthIt(family, length, stopped, *turn);
    Status status = done.status();
    if (!done.ok() || *done || length == CompactionLength::kAny) status = Ended(family, status);
    if (done.ok() && *done) return true;
    if (failed.ok()) failed = std::move(status);
  }
  if (!failed.ok()) return failed;
  return false;
}

Attempts& TableCompactor::AttemptsAt(const std::string& family) {
  const std::lock_guard lock(mutex_);
  return attempts_[family];
}

const Attempts& TableCompactor::AttemptsOf(const std::string& family) {
  return AttemptsAt(family);
}

// One that was stopped, or that an alteration has ended, has met no error.
Status TableCompactor::Ended(const FamilySchema& family, const Status& status) {
  Status told = versions_.NoteDamage(status);
  if (told.code() != StatusCode::kCancelled)
    AttemptsAt(family.name()).Ended(told, services_.options.clock->Elapsed());
  return told;
}

// Long values are not written anew to have fewer files, but where half of them is garbage. Facts do not
// tell what newer files have overwritten; the keys do, and of long values they are few.
StatusOr<std::optional<Compaction>> TableCompactor::FindGarbage(const TableVersion& version,
                                                                const FamilySchema& family,
                                                                const Stopped& stopped,
                                                                Turn& turn) {
  const KeyRanges& ranges = version.files->RangesOf(family.name());
  if (!ranges.young().files.empty()) return std::optional<Compaction>();
  for (const KeyPiece& piece : ranges.pieces()) {
    if (piece.files.size() < 2 || !HaveLongValues(piece.files) || !HasGrown(family, piece))
      continue;
    std::optional<Compaction> whole = turn.Take([&](const TakenFiles& taken) {
      return HasTaken(piece.files, taken)
                 ? std::nullopt
                 : std::optional(Compaction{family, piece.files, CompactionKind::kMajor});
    });
    if (!whole) continue;
    CELLFS_ASSIGN_OR_RETURN(
        const bool is_worth_it,
        CompactionJob(services_, versions_, *whole, stopped).WouldLeaveOutHalf());
    if (is_worth_it) return whole;
    turn.LetGo();
  }
  return std::optional<Compaction>();
}

// By a quarter since it was gone through, so that this costs little beside what was written.
bool TableCompactor::HasGrown(const FamilySchema& family, const KeyPiece& piece) {
  uint64_t bytes = 0;
  for (const auto& file : piece.files) bytes += file->facts().bytes;
  const std::lock_guard lock(mutex_);
  uint64_t& before = gone_through_[{family.name(), piece.begin}];
  if (bytes >= before && bytes < before + before / 4) return false;
  before = bytes;
  return true;
}

// False too where it was stopped, or the table altered meanwhile.
StatusOr<bool> TableCompactor::CompactIfWorthIt(const FamilySchema& family,
                                                CompactionLength length, const Stopped& stopped,
                                                Turn& turn) {
  const StatusOr<bool> has_dropped = DropExpired(family, turn);
  if (has_dropped.status().code() == StatusCode::kUnavailable) return false;
  CELLFS_RETURN_IF_ERROR(has_dropped.status());
  if (*has_dropped) return true;
  std::optional<Compaction> compaction = ChooseFor(turn, family, length);
  if (!compaction && length == CompactionLength::kAny) {
    const TableVersionPtr version = versions_.Current();
    StatusOr<std::optional<Compaction>> garbage = FindGarbage(*version, family, stopped, turn);
    if (garbage.status().code() == StatusCode::kCancelled) return false;
    CELLFS_ASSIGN_OR_RETURN(compaction, std::move(garbage));
  }
  if (!compaction) return false;
  Status status = RunJob(*std::move(compaction), stopped);
  if (status.code() == StatusCode::kStoreFull && turn.TakeAlone()) {
    const StatusOr<bool> has_made_room = ThinFiles(family, stopped);
    if (!has_made_room.ok() || *has_made_room) status = has_made_room.status();
  }
  if (status.code() == StatusCode::kCancelled || status.code() == StatusCode::kUnavailable)
    return false;
  CELLFS_RETURN_IF_ERROR(status);
  ++compactions_;
  return true;
}

std::optional<Compaction> TableCompactor::ChooseFor(Turn& turn, const FamilySchema& family,
                                                    CompactionLength length) {
  return turn.Take([&](const TakenFiles& taken) {
    const Snapshot<TableVersion> version = versions_.Current();
    return PickCompaction(*version, family, services_.options.site,
                          services_.options.clock->Now(), taken, MostBytes(*version, length));
  });
}

// A short one is over before many more flushes have come (hbase.regionserver.thread.compaction.throttle
// is 20 flush sizes, of a store that has no pieces).
uint64_t TableCompactor::MostBytes(const TableVersion& version, CompactionLength length) const {
  constexpr uint64_t kFlushes = 4;
  if (length == CompactionLength::kAny) return std::numeric_limits<uint64_t>::max();
  return kFlushes * static_cast<uint64_t>(FlushSizeOf(*version.schema, services_.options.site));
}

// All of them or none: which go may depend on those that go before.
StatusOr<bool> TableCompactor::DropExpired(const FamilySchema& family, Turn& turn) {
  VersionEdit edit;
  edit.removed = turn.Take([&](const TakenFiles& taken) {
    StoreFiles expired =
        PickExpired(versions_.FilesOf(family.name()), family, services_.options.clock->Now());
    return HasTaken(expired, taken) ? StoreFiles() : expired;
  });
  if (edit.removed.empty()) return false;
  const Status applied = versions_.Apply(edit);
  turn.LetGo();
  CELLFS_RETURN_IF_ERROR(applied);
  return true;
}

Status TableCompactor::RunJob(Compaction compaction, const Stopped& stopped) {
  if (compaction.files.empty()) return {};
  // Its files are being removed.
  if (versions_.is_dropped()) return {StatusCode::kUnavailable, "the table has been dropped"};
  const JobsUnderWay::Job told(services_.jobs, "compact " + versions_.Schema()->name().ToString());
  const auto run = [&]() -> Status {
    CompactionJob job(services_, versions_, std::move(compaction), stopped);
    CELLFS_RETURN_IF_ERROR(job.ClaimRoom());
    CELLFS_ASSIGN_OR_RETURN(const VersionEdit edit, job.Run());
    const TableVersionPtr before = versions_.Current();
    const Status applied = versions_.Apply(edit);
    if (IsInForce(applied)) TellOfRewrite(services_, job.TakeDropped(), before);
    return applied;
  };
  const Status done = run();
  // By now the files have gone, unless somebody reads them.
  services_.reserve.Forget();
  services_.reserve.Fill();
  services_.TellRoomMade();
  return done;
}

}  // namespace cellfs
