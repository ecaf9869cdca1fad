// SPDX-License-Identifier: MIT
//
// The compaction of a table: which files of a family, and their way into one.
#include <algorithm>
#include <utility>

#include "engine/local/compaction_policy.h"
#include "engine/local/dropped_columns.h"
#include "engine/local/local_storage.h"
#include "engine/local/rewrite.h"
#include "engine/local/store_file_cursor.h"
#include "engine/visibility/query_matcher.h"

namespace cellfs {
namespace {

constexpr int kCompactAttempts = 5;  // where the table is altered meanwhile
// A major compaction is worth it from so many cells of garbage, and so many of them in a hundred.
constexpr int64_t kLeastGarbage = 10000;
constexpr int64_t kGarbagePercent = 25;

// Whether cells go with time alone.
bool HasTimeLimits(const FamilySchema& family) {
  return family.time_to_live() != kForever || family.deleted_ttl().has_value();
}

}  // namespace

// Every file of every family.
Status LocalStorage::Compact(CompactionKind kind) {
  CELLFS_RETURN_IF_ERROR(context_->CheckMayChange());
  const std::lock_guard compact_lock(compact_mutex_);
  const auto bytes_of_files = [this] {
    const TableStatePtr state = State();
    return state->files->bytes();
  };
  const uint64_t before = bytes_of_files();
  Status done = CompactAll(kind);
  const uint64_t after = bytes_of_files();
  if (done.code() == StatusCode::kStoreFull && after < before)
    done = {done.code(), done.message() + ". What could go in smaller steps went: " +
                             std::to_string(before - after) + " bytes"};
  NoteDamage(done);
  compact_attempts_.Ended(done, context_->options.clock->Elapsed());
  return done;
}

// A family for which there is no room is no reason to leave the others, and what they give back may
// be what it lacks.
Status LocalStorage::CompactAll(CompactionKind kind) {
  const std::shared_ptr<const TableSchema> schema = Schema();
  std::vector<const FamilySchema*> families;
  for (const auto& [name, family] : schema->families) families.push_back(&family);
  while (true) {
    std::vector<const FamilySchema*> without_room;
    Status full;
    for (const FamilySchema* family : families) {
      Status status = CompactFamily(*family, kind);
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

// All its files; where the disk has no room for that, in smaller steps as long as these give some
// back.
Status LocalStorage::CompactFamily(const FamilySchema& family, CompactionKind kind) {
  bool has_thinned = false;
  for (int attempt = 1;; ++attempt) {
    Status status = DropExpired(family).status();
    if (status.ok()) status = CompactSelection({family, FilesOf(family.name()), kind}, {});
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
    } else if (status.code() != StatusCode::kUnavailable || attempt >= kCompactAttempts ||
               dropped_) {
      return status;
    }
  }
}

// Two files that follow each other, the smallest first. False: there is no room for any two, or no
// more than two are there.
StatusOr<bool> LocalStorage::CompactPair(const FamilySchema& family) {
  const StoreFiles files = FilesOf(family.name());
  if (files.size() <= 2) return false;
  std::vector<StoreFiles> pairs;
  for (auto file = files.begin(); file + 1 != files.end(); ++file) pairs.emplace_back(file, file + 2);
  const auto bytes = [](const StoreFiles& pair) {
    return pair.front()->facts().bytes + pair.back()->facts().bytes;
  };
  std::sort(pairs.begin(), pairs.end(),
            [&](const StoreFiles& a, const StoreFiles& b) { return bytes(a) < bytes(b); });
  for (StoreFiles& pair : pairs) {
    const Status status = CompactSelection({family, std::move(pair), CompactionKind::kMinor}, {});
    if (status.ok()) return true;
    if (status.code() != StatusCode::kStoreFull) return status;
  }
  return false;
}

// Takes out of each file alone what tombstones and withdrawals hide, also those of newer files: what
// is written so is never more than what goes, and nothing where a whole file was deleted. False: no
// file has become smaller.
StatusOr<bool> LocalStorage::ThinFiles(const FamilySchema& family,
                                       const std::function<bool()>& stopped) {
  bool has_made_room = false;
  for (bool again = true; again;) {
    bool lacks_room = false;
    again = false;
    // A file goes once nobody holds it, so only one is held at a time.
    std::vector<uint64_t> numbers;
    for (const auto& file : FilesOf(family.name())) numbers.push_back(file->facts().number);
    for (const uint64_t number : numbers) {
      Selection alone{family, FilesOf(family.name()), CompactionKind::kMinor,
                      /*heeds_newer_tombstones=*/true};
      std::erase_if(alone.files, [&](const auto& file) { return file->facts().number != number; });
      if (alone.files.empty()) continue;
      CELLFS_ASSIGN_OR_RETURN(const bool is_worth_it, IsWorthThinning(alone, stopped));
      if (!is_worth_it) continue;
      const Status status = CompactSelection(std::move(alone), stopped);
      lacks_room |= status.code() == StatusCode::kStoreFull;
      if (status.code() == StatusCode::kStoreFull) continue;
      CELLFS_RETURN_IF_ERROR(status);
      again = has_made_room = true;
    }
    again &= lacks_room;
  }
  return has_made_room;
}

StatusOr<bool> LocalStorage::IsWorthThinning(const Selection& selection,
                                             const std::function<bool()>& stopped) const {
  const auto hides = [](const auto& file) {
    return file->facts().tombstones + file->facts().withdrawals != 0;
  };
  const StoreFiles newer = NewerFilesThan(selection);
  if (!hides(selection.files.front()) && std::none_of(newer.begin(), newer.end(), hides))
    return false;
  CELLFS_ASSIGN_OR_RETURN(const uint64_t left, MeasureRewrite(selection, stopped));
  return left + kBytesOfNames < BytesOf(selection);
}

Status LocalStorage::CompactSelected() {
  CELLFS_RETURN_IF_ERROR(context_->CheckMayChange());
  while (true) {
    const std::lock_guard compact_lock(compact_mutex_);
    CELLFS_ASSIGN_OR_RETURN(const bool was_worth_it, CompactOnce({}));
    if (!was_worth_it) return {};
  }
}

StatusOr<bool> LocalStorage::CompactByPolicy(const std::function<bool()>& stopped) {
  const std::lock_guard compact_lock(compact_mutex_);
  if (!compact_attempts_.MayTry(context_->options.clock->Elapsed())) return false;
  return CompactOnce(stopped);
}

StatusOr<bool> LocalStorage::CompactOnce(const std::function<bool()>& stopped) {
  StatusOr<bool> done = CompactWhatIsWorthIt(stopped);
  NoteDamage(done.status());
  compact_attempts_.Ended(done.status(), context_->options.clock->Elapsed());
  return done;
}

StatusOr<bool> LocalStorage::CompactWhatIsWorthIt(const std::function<bool()>& stopped) {
  const std::shared_ptr<const TableSchema> schema = Schema();
  if (!schema->compaction_enabled()) return false;
  for (const auto& [name, family] : schema->families) {
    if (dropped_) return false;
    const StatusOr<bool> has_dropped = DropExpired(family);
    if (has_dropped.status().code() == StatusCode::kUnavailable) return false;
    CELLFS_RETURN_IF_ERROR(has_dropped.status());
    if (*has_dropped) return true;
    std::optional<Selection> selection = SelectByPolicy(family);
    if (!selection) continue;
    Status status = CompactSelection(*std::move(selection), stopped);
    if (status.code() == StatusCode::kStoreFull) {
      const StatusOr<bool> has_made_room = ThinFiles(family, stopped);
      if (!has_made_room.ok() || *has_made_room) status = has_made_room.status();
    }
    if (status.code() == StatusCode::kCancelled || status.code() == StatusCode::kUnavailable)
      return false;
    CELLFS_RETURN_IF_ERROR(status);
    ++compactions_;
    return true;
  }
  return false;
}

std::optional<LocalStorage::Selection> LocalStorage::SelectByPolicy(
    const FamilySchema& family) const {
  const Snapshot<TableState> state = State();
  const StoreFiles& files = state->files->Of(family.name());
  if (files.empty()) return std::nullopt;
  int64_t cells = 0;
  int64_t garbage = 0;
  std::vector<uint64_t> sizes;
  Timestamp oldest = kLatestTimestamp;
  for (const auto& file : files) {
    const FileFacts& facts = file->facts();
    cells += facts.cells;
    // A tombstone stands for itself and for what it hides.
    if (!facts.is_major) garbage += facts.surplus + 2 * (facts.tombstones + facts.withdrawals);
    sizes.push_back(facts.bytes);
    oldest = std::min(oldest, facts.written);
  }
  const bool is_worth_it = garbage >= kLeastGarbage && garbage * 100 >= cells * kGarbagePercent;
  if (is_worth_it || IsMajorDue(family, files, oldest))
    return Selection{family, files, CompactionKind::kMajor};
  const SiteSettings& site = context_->options.site;
  const CompactionLimits limits{.min_files = static_cast<size_t>(site.compaction_min),
                                .max_files = static_cast<size_t>(site.compaction_max),
                                .ratio = site.compaction_ratio,
                                .min_size = static_cast<uint64_t>(FlushSizeOf(*state)),
                                .blocking_files = static_cast<size_t>(site.blocking_store_files)};
  const auto range = SelectCompaction(sizes, limits);
  if (!range) return std::nullopt;
  const auto begin = files.begin() + static_cast<ptrdiff_t>(range->begin);
  const auto end = files.begin() + static_cast<ptrdiff_t>(range->end);
  const bool is_all = range->begin == 0 && range->end == files.size();
  return Selection{family, StoreFiles(begin, end),
                   is_all ? CompactionKind::kMajor : CompactionKind::kMinor};
}

bool LocalStorage::IsMajorDue(const FamilySchema& family, const StoreFiles& files,
                              Timestamp oldest) const {
  const SiteSettings& site = context_->options.site;
  if (files.size() >= static_cast<size_t>(site.compaction_max)) return false;
  // Nothing would come of it but what time has ended since.
  if (files.size() == 1 && files.front()->facts().is_major && !HasTimeLimits(family)) return false;
  return NeedsMajor(
      context_->options.clock->Now(), oldest,
      {.period = site.major_compaction_period, .jitter = site.major_compaction_jitter},
      name().ToString(), family.name());
}

// A file that is expired as a whole goes unread; but one that withdraws what an older file may have
// stays as long as that, for a TTL may be raised.
StatusOr<bool> LocalStorage::DropExpired(const FamilySchema& family) {
  if (family.min_versions() != 0) return false;
  const Timestamp oldest = OldestUnexpired(family, context_->options.clock->Now());
  FileChange change;
  bool all_older_go = true;
  for (const auto& file : FilesOf(family.name())) {
    const FileFacts& facts = file->facts();
    const bool goes = facts.newest < oldest && (facts.withdrawals == 0 || all_older_go);
    if (goes) change.removed.push_back(file);
    all_older_go &= goes;
  }
  if (change.removed.empty()) return false;
  CELLFS_RETURN_IF_ERROR(Commit(change, [](TableState&) {}));
  return true;
}

uint64_t LocalStorage::BytesOf(const Selection& selection) {
  uint64_t bytes = 0;
  for (const auto& file : selection.files) bytes += file->facts().bytes;
  return bytes;
}

Status LocalStorage::CompactSelection(Selection selection, const std::function<bool()>& stopped) {
  if (selection.files.empty()) return Status();
  CELLFS_ASSIGN_OR_RETURN(DiskReserve::Claim claim, ClaimRoomFor(selection, stopped));
  const uint64_t claimed = claim.bytes();
  context_->claimed_by_compactions += claimed;
  const Status done = RewriteSelection(selection, stopped, claim);
  selection.files.clear();  // now they go, unless somebody reads them
  claim.Shrink(0);
  context_->claimed_by_compactions -= claimed;
  context_->reserve.Forget();
  context_->reserve.Fill();
  context_->TellRoomMade();
  return done;
}

namespace {

Status NoRoomFor(uint64_t bytes, uint64_t room, bool gives_back) {
  const std::string lacks = std::to_string(bytes - room) + " bytes";
  return {StatusCode::kStoreFull,
          "the disk has no room for a compaction, which needs " + std::to_string(bytes) +
              " bytes and may have " + std::to_string(room) + ": free " + lacks +
              " outside the store; or remove " + (gives_back ? lacks + " more" : "files") +
              " of the table, then their names from .deleted, then 'cellfs flush', then compact"};
}

}  // namespace

// Before it begins: what a compaction cannot finish would only take room from others meanwhile. One
// that gives space back may have what the reserve holds; it comes back with the files that go.
StatusOr<DiskReserve::Claim> LocalStorage::ClaimRoomFor(const Selection& selection,
                                                        const std::function<bool()>& stopped) {
  DiskReserve& reserve = context_->reserve;
  const uint64_t present = BytesOf(selection);
  uint64_t bytes = present + kBytesOfNames;
  if (bytes > reserve.RoomBeside(context_->BytesOfFlush(), /*with_held=*/false)) {
    CELLFS_ASSIGN_OR_RETURN(const uint64_t measured, MeasureRewrite(selection, stopped));
    bytes = std::min(bytes, measured + kBytesOfNames);
    const uint64_t room = reserve.RoomBeside(context_->BytesOfFlush(), bytes < present);
    if (bytes > room) return NoRoomFor(bytes, room, bytes < present);
    reserve.MakeRoom(bytes);
  }
  return DiskReserve::Claim(reserve, bytes);
}

// What the compaction would write, without the values.
StatusOr<uint64_t> LocalStorage::MeasureRewrite(const Selection& selection,
                                                const std::function<bool()>& stopped) const {
  const auto limit = static_cast<uint64_t>(std::max(context_->options.inline_value_limit, 0));
  CELLFS_ASSIGN_OR_RETURN(RewriteInput input, InputOf(State(), selection, /*lengths_only=*/true));
  input.stopped = [&] { return dropped_ || (stopped && stopped()); };
  uint64_t bytes = kBytesOfEmptyFile;
  const RewriteOutput measure = [&](CellCursor& cells) {
    const CellView& cell = cells.cell();
    bytes += MostBytesInFile(cell.type, cell.row.size() + cell.qualifier.size(), cell.value_length,
                             limit);
    return Status();
  };
  DroppedColumns dropped;
  CELLFS_RETURN_IF_ERROR(RewriteFamily(std::move(input), selection.family, RulesFor(selection),
                                       measure, dropped));
  return bytes;
}

Rewrite LocalStorage::RulesFor(const Selection& selection) const {
  const bool major = selection.kind == CompactionKind::kMajor;
  Rewrite rules = RewriteNow(major ? RewriteKind::kMajor : RewriteKind::kMinor);
  for (const auto& file : selection.files)
    rules.oldest_put = std::min(rules.oldest_put, file->facts().oldest_put);
  return rules;
}

Status LocalStorage::RewriteSelection(const Selection& selection,
                                      const std::function<bool()>& stopped,
                                      DiskReserve::Claim& claim) {
  const FamilySchema& family = selection.family;
  const TableStatePtr state = State();
  const bool major = selection.kind == CompactionKind::kMajor;
  const Rewrite rules = RulesFor(selection);
  BuilderOptions options{.number = next_file_++,
                         .inline_value_limit = context_->options.inline_value_limit,
                         .written = rules.now,
                         .is_major = major};
  for (const auto& file : selection.files) {
    options.cells_at_most += file->facts().cells;
    if (!major) options.written = std::min(options.written, file->facts().written);
  }
  CELLFS_ASSIGN_OR_RETURN(RewriteInput input, InputOf(state, selection, /*lengths_only=*/false));
  input.stopped = [&] { return dropped_ || (stopped && stopped()); };
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<StoreFileBuilder> builder,
                          StoreFileBuilder::Begin(context_->files, folder_, family, options));
  // What is written is not claimed any more, or puts would find twice as much missing. One that the
  // background has begun leaves its room to puts that wait for it, unless it gives more back.
  const uint64_t claimed = claim.bytes();
  const bool yields = stopped && claimed >= BytesOf(selection);
  const RewriteOutput put = Into(*builder);
  const RewriteOutput output = [&](CellCursor& cell) -> Status {
    CELLFS_RETURN_IF_ERROR(put(cell));
    claim.Shrink(claimed - std::min(claimed, builder->bytes_on_disk()));
    if (!yields || context_->waiting_puts == 0) return {};
    return {StatusCode::kCancelled, "puts wait for the room"};
  };
  DroppedColumns dropped;
  CELLFS_RETURN_IF_ERROR(RewriteFamily(std::move(input), family, rules, output, dropped));
  CELLFS_ASSIGN_OR_RETURN(std::optional<FileFacts> facts,
                          builder->Finish(selection.files.front()->facts().lowest,
                                          selection.files.back()->facts().highest));
  FileChange change{.added = {}, .removed = selection.files};
  if (facts) change.added.push_back(*std::move(facts));
  const TableStatePtr before = State();
  const Status committed = Commit(change, [](TableState&) {});
  if (IsInForce(committed)) TellObserver(std::move(dropped), before);
  return committed;
}

StoreFiles LocalStorage::NewerFilesThan(const Selection& selection) const {
  StoreFiles newer = FilesOf(selection.family.name());
  const SequenceId highest = selection.files.back()->facts().highest;
  std::erase_if(newer, [&](const auto& file) { return file->facts().lowest <= highest; });
  return newer;
}

StatusOr<RewriteInput> LocalStorage::InputOf(const TableStatePtr& state,
                                             const Selection& selection, bool lengths_only) const {
  RewriteInput input;
  for (const auto& file : selection.files) {
    CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, file->Open());
    input.cells.push_back(std::make_unique<StoreFileCursor>(std::move(lease), kMaxSequenceId,
                                                            lengths_only));
  }
  const FileFacts& oldest = selection.files.front()->facts();
  const FileFacts& newest = selection.files.back()->facts();
  std::vector<FileFacts> older;
  for (const auto& file : state->files->Of(selection.family.name()))
    if (file->facts().highest < oldest.lowest) older.push_back(file->facts());
  for (const auto& file : NewerFilesThan(selection)) {
    if (file->facts().withdrawals != 0) {
      CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, file->Open());
      input.newer_withdrawals.push_back(OpenWithdrawals(std::move(lease)));
    }
    if (selection.heeds_newer_tombstones && file->facts().tombstones != 0) {
      CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, file->Open());
      input.cells.push_back(OpenTombstones(std::move(lease)));
    }
  }
  if (selection.heeds_newer_tombstones) input.highest = newest.highest;
  input.older_may_hold = [older = std::move(older)](const CellView& withdrawal) {
    return std::any_of(older.begin(), older.end(),
                       [&](const FileFacts& facts) { return MayHoldPlaceOf(facts, withdrawal); });
  };
  input.is_withdrawn_in_memory = [state, family = selection.family.name()](const CellView& cell) {
    return state->active->MayWithdraw(family, cell) ||
           (state->frozen != nullptr && state->frozen->MayWithdraw(family, cell));
  };
  return input;
}

}  // namespace cellfs
