// SPDX-License-Identifier: MIT
#include "engine/local/compaction_picker.h"

#include <algorithm>
#include <cstddef>

#include "engine/local/compaction_policy.h"
#include "engine/visibility/compaction_matcher.h"
#include "engine/visibility/query_matcher.h"

namespace cellfs {
namespace {

// A major compaction is worth it from so many cells of garbage, and so many of them in a hundred.
constexpr int64_t kLeastGarbage = 10000;
constexpr int64_t kGarbagePercent = 25;

// Whether cells go with time alone.
bool HasTimeLimits(const FamilySchema& family) {
  return family.time_to_live() != kForever || family.deleted_ttl().has_value();
}

// Tombstones that are kept would be written again with what they mark. A file tells how old the last
// of its cells is, not the last of its tombstones; what it does not tell waits for its time.
bool HasMuchGarbage(const StoreFiles& files, Timestamp oldest_kept_tombstone) {
  int64_t cells = 0;
  int64_t garbage = 0;
  for (const auto& file : files) {
    const FileFacts& facts = file->facts();
    cells += facts.cells;
    if (facts.is_major) continue;
    garbage += facts.surplus + 2 * facts.withdrawals;
    // Each stands for itself and for what it hides.
    if (facts.newest < oldest_kept_tombstone) garbage += 2 * facts.tombstones;
  }
  return garbage >= kLeastGarbage && garbage * 100 >= cells * kGarbagePercent;
}

bool IsMajorDue(const TableName& table, const FamilySchema& family, const KeyPiece& piece,
                const SiteSettings& site, Timestamp now) {
  if (piece.units.size() >= static_cast<size_t>(site.compaction_max)) return false;
  const StoreFiles& files = piece.files;
  // Nothing would come of it but what time has ended since.
  const bool is_done =
      piece.units.size() == 1 && std::all_of(files.begin(), files.end(), [](const auto& file) {
        return file->facts().is_major;
      });
  if (is_done && !HasTimeLimits(family)) return false;
  Timestamp oldest = kLatestTimestamp;
  for (const auto& file : files) oldest = std::min(oldest, file->facts().written);
  return NeedsMajor(
      now, oldest,
      {.period = site.major_compaction_period, .jitter = site.major_compaction_jitter},
      table.ToString(), family.name());
}

}  // namespace

SequenceId Compaction::lowest() const {
  SequenceId lowest = kMaxSequenceId;
  for (const auto& file : files) lowest = std::min(lowest, file->facts().lowest);
  return lowest;
}

SequenceId Compaction::highest() const {
  SequenceId highest = 0;
  for (const auto& file : files) highest = std::max(highest, file->facts().highest);
  return highest;
}

uint64_t Compaction::bytes() const {
  uint64_t bytes = 0;
  for (const auto& file : files) bytes += file->facts().bytes;
  return bytes;
}

int64_t FlushSizeOf(const TableSchema& schema, const SiteSettings& site) {
  return schema.memstore_flush_size().value_or(site.memstore_flush_size);
}

uint64_t BytesOfPiece(const TableSchema& schema, const SiteSettings& site) {
  constexpr uint64_t kFlushes = 8;
  return kFlushes *
         static_cast<uint64_t>(std::max(FlushSizeOf(schema, site), site.memstore_flush_size));
}

size_t CountFiles(const TableVersion& version, const FamilySchema& family) {
  return version.files->RangesOf(family.name()).MostUnits();
}

namespace {

// Of a piece without young files over it: with all of them it may be major, for no file is older.
std::optional<Compaction> PickInPiece(const TableVersion& version, const FamilySchema& family,
                                      const KeyPiece& piece, size_t pieces,
                                      const SiteSettings& site, uint64_t most_bytes) {
  std::vector<uint64_t> sizes;
  for (const FileUnit& unit : piece.units) sizes.push_back(unit.bytes);
  const auto flush_size = static_cast<uint64_t>(FlushSizeOf(*version.schema, site));
  const CompactionLimits limits{
      .min_files = static_cast<size_t>(site.compaction_min),
      .max_files = static_cast<size_t>(site.compaction_max),
      .ratio = site.compaction_ratio,
      .min_size = flush_size / pieces,
      .max_size = most_bytes,
      .blocking_files = static_cast<size_t>(site.blocking_store_files)};
  const auto range = SelectCompaction(sizes, limits);
  if (!range) return std::nullopt;
  Compaction compaction{family, {}, CompactionKind::kMinor};
  for (size_t i = range->begin; i < range->end; ++i) {
    const StoreFiles& files = piece.units[i].files;
    compaction.files.insert(compaction.files.end(), files.begin(), files.end());
  }
  if (compaction.bytes() > most_bytes) return std::nullopt;
  if (compaction.files.size() == piece.files.size()) compaction.kind = CompactionKind::kMajor;
  return compaction;
}

// Once there are as many as are worth a compaction, or more than a piece takes.
bool AreWorthMerging(const TableVersion& version, const KeyPiece& young, const SiteSettings& site) {
  uint64_t bytes = 0;
  for (const FileUnit& unit : young.units) bytes += unit.bytes;
  return young.units.size() >= static_cast<size_t>(std::max(site.compaction_min, 2)) ||
         bytes > BytesOfPiece(*version.schema, site);
}

}  // namespace

bool HasTaken(const StoreFiles& files, const TakenFiles& taken) {
  return !taken.empty() && std::any_of(files.begin(), files.end(), [&](const auto& file) {
    return taken.contains(file->facts().number);
  });
}

// Young files first: each is one that all pieces have, and the merge of a few takes it from all. Then
// of the piece that has most files, where several want it. What concerns a piece as a whole has to
// wait until young files have become its own.
std::optional<Compaction> PickCompaction(const TableVersion& version, const FamilySchema& family,
                                         const SiteSettings& site, Timestamp now,
                                         const TakenFiles& taken, uint64_t most_bytes) {
  const KeyRanges& ranges = version.files->RangesOf(family.name());
  const KeyPiece& young = ranges.young();
  bool merges_young = AreWorthMerging(version, young, site);
  std::optional<Compaction> picked;
  const Timestamp kept = OldestKeptTombstone(family, now, site.time_to_purge_deletes);
  size_t most = 0;
  for (const KeyPiece& piece : ranges.pieces()) {
    if (piece.files.empty() || piece.units.size() <= most || HasTaken(piece.files, taken)) continue;
    std::optional<Compaction> in_piece;
    if (HasMuchGarbage(piece.files, kept) ||
        IsMajorDue(version.schema->name(), family, piece, site, now)) {
      merges_young |= !young.files.empty();
      Compaction whole{family, piece.files, CompactionKind::kMajor};
      if (young.files.empty() && whole.bytes() <= most_bytes) in_piece = std::move(whole);
    } else {
      in_piece = PickInPiece(version, family, piece, ranges.pieces().size(), site, most_bytes);
      if (in_piece && !young.files.empty()) in_piece->kind = CompactionKind::kMinor;
    }
    if (!in_piece) continue;
    most = piece.units.size();
    picked = std::move(in_piece);
  }
  if (merges_young && !HasTaken(young.files, taken))
    return Compaction{family, young.files, CompactionKind::kMinor};
  return picked;
}

// One that withdraws what an older file may have stays as long as that, for a TTL may be raised.
StoreFiles PickExpired(const StoreFiles& files, const FamilySchema& family, Timestamp now) {
  StoreFiles expired;
  if (family.min_versions() != 0) return expired;
  const Timestamp oldest = OldestUnexpired(family, now);
  bool all_older_go = true;
  for (const auto& file : files) {
    const FileFacts& facts = file->facts();
    const bool goes = facts.newest < oldest && (facts.withdrawals == 0 || all_older_go);
    if (goes) expired.push_back(file);
    all_older_go &= goes;
  }
  return expired;
}

std::vector<StoreFiles> PickPairs(const KeyRanges& ranges) {
  std::vector<FileUnit> pairs;
  for (const KeyPiece& piece : ranges.pieces()) {
    const std::vector<FileUnit>& units = piece.units;
    for (size_t i = 0; units.size() > 2 && i + 1 < units.size(); ++i) {
      FileUnit& pair = pairs.emplace_back(units[i]);
      pair.files.insert(pair.files.end(), units[i + 1].files.begin(), units[i + 1].files.end());
      pair.bytes += units[i + 1].bytes;
    }
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const FileUnit& a, const FileUnit& b) { return a.bytes < b.bytes; });
  std::vector<StoreFiles> smallest_first;
  smallest_first.reserve(pairs.size());
  for (FileUnit& pair : pairs) smallest_first.push_back(std::move(pair.files));
  return smallest_first;
}

StoreFiles NewerThan(const Compaction& compaction, StoreFiles files) {
  const SequenceId highest = compaction.highest();
  std::erase_if(files, [&](const auto& file) { return file->facts().lowest <= highest; });
  return files;
}

// All files are of its time or later (FileFacts::written), for those it found have become one. That
// one says so until a minor compaction takes it in. Where the table has every file that it was ever
// given, there was none. Of a piece that has lost all its cells no file would tell: once the range
// is cut, the time is kept with the cuts.
Timestamp LatestMajorCompaction(const TableFiles& files, std::string_view family,
                                bool has_every_file, Timestamp now) {
  if (const auto cut = files.ranges().find(family); cut != files.ranges().end())
    return cut->second.major;
  const StoreFiles& of_family = files.Of(family);
  if (has_every_file) return 0;
  if (of_family.empty()) return now;
  const auto is_major = [](const auto& file) { return file->facts().is_major; };
  const auto made = std::find_if(of_family.begin(), of_family.end(), is_major);
  if (made != of_family.end()) return (*made)->facts().written;
  Timestamp oldest = kLatestTimestamp;
  for (const auto& file : of_family) oldest = std::min(oldest, file->facts().written);
  return oldest;
}

}  // namespace cellfs
