// SPDX-License-Identifier: MIT
#include "engine/local/compaction_picker.h"

#include <algorithm>
#include <cstddef>

#include "engine/local/compaction_policy.h"
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

bool HasMuchGarbage(const StoreFiles& files) {
  int64_t cells = 0;
  int64_t garbage = 0;
  for (const auto& file : files) {
    const FileFacts& facts = file->facts();
    cells += facts.cells;
    // A tombstone stands for itself and for what it hides.
    if (!facts.is_major) garbage += facts.surplus + 2 * (facts.tombstones + facts.withdrawals);
  }
  return garbage >= kLeastGarbage && garbage * 100 >= cells * kGarbagePercent;
}

// From here on a file is large enough to stay beside others.
constexpr uint64_t kLeastOfUnit = uint64_t{8} << 20;

// Files that follow each other in age and count as one.
struct Unit {
  FileRange files;
  uint64_t bytes = 0;
};

std::vector<Unit> UnitsOf(const TableFiles& files, std::string_view family) {
  const StoreFiles& by_age = files.Of(family);
  const auto is_large = [&](size_t at) { return by_age[at]->facts().bytes >= kLeastOfUnit; };
  std::vector<Unit> units;
  size_t at = 0;
  for (const FileRun& run : files.RunsOf(family)) {
    for (const size_t begin = at; at < begin + run.files.size(); ++at) {
      const bool joins = at > begin && is_large(at - 1) && is_large(at);
      if (!joins) units.push_back({{at, at}, 0});
      units.back().files.end = at + 1;
      units.back().bytes += by_age[at]->facts().bytes;
    }
  }
  return units;
}

bool IsMajorDue(const TableName& table, const FamilySchema& family, const StoreFiles& files,
                size_t count, const SiteSettings& site, Timestamp now) {
  if (count >= static_cast<size_t>(site.compaction_max)) return false;
  // Nothing would come of it but what time has ended since.
  if (files.size() == 1 && files.front()->facts().is_major && !HasTimeLimits(family)) return false;
  Timestamp oldest = kLatestTimestamp;
  for (const auto& file : files) oldest = std::min(oldest, file->facts().written);
  return NeedsMajor(
      now, oldest,
      {.period = site.major_compaction_period, .jitter = site.major_compaction_jitter},
      table.ToString(), family.name());
}

}  // namespace

uint64_t Compaction::bytes() const {
  uint64_t bytes = 0;
  for (const auto& file : files) bytes += file->facts().bytes;
  return bytes;
}

int64_t FlushSizeOf(const TableSchema& schema, const SiteSettings& site) {
  return schema.memstore_flush_size().value_or(site.memstore_flush_size);
}

size_t CountFiles(const TableVersion& version, const FamilySchema& family) {
  return UnitsOf(*version.files, family.name()).size();
}

std::optional<Compaction> PickCompaction(const TableVersion& version, const FamilySchema& family,
                                         const SiteSettings& site, Timestamp now) {
  const StoreFiles& files = version.files->Of(family.name());
  if (files.empty()) return std::nullopt;
  const std::vector<Unit> units = UnitsOf(*version.files, family.name());
  if (HasMuchGarbage(files) ||
      IsMajorDue(version.schema->name(), family, files, units.size(), site, now))
    return Compaction{family, files, CompactionKind::kMajor};
  std::vector<uint64_t> sizes;
  for (const Unit& unit : units) sizes.push_back(unit.bytes);
  const CompactionLimits limits{
      .min_files = static_cast<size_t>(site.compaction_min),
      .max_files = static_cast<size_t>(site.compaction_max),
      .ratio = site.compaction_ratio,
      .min_size = static_cast<uint64_t>(FlushSizeOf(*version.schema, site)),
      .blocking_files = static_cast<size_t>(site.blocking_store_files)};
  const auto range = SelectCompaction(sizes, limits);
  if (!range) return std::nullopt;
  const auto begin = files.begin() + static_cast<ptrdiff_t>(units[range->begin].files.begin);
  const auto end = files.begin() + static_cast<ptrdiff_t>(units[range->end - 1].files.end);
  const bool is_all = range->begin == 0 && range->end == units.size();
  return Compaction{family, StoreFiles(begin, end),
                    is_all ? CompactionKind::kMajor : CompactionKind::kMinor};
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

std::vector<StoreFiles> PickPairs(const StoreFiles& files) {
  std::vector<StoreFiles> pairs;
  if (files.size() <= 2) return pairs;
  for (auto file = files.begin(); file + 1 != files.end(); ++file)
    pairs.emplace_back(file, file + 2);
  const auto bytes = [](const StoreFiles& pair) {
    return pair.front()->facts().bytes + pair.back()->facts().bytes;
  };
  std::sort(pairs.begin(), pairs.end(),
            [&](const StoreFiles& a, const StoreFiles& b) { return bytes(a) < bytes(b); });
  return pairs;
}

StoreFiles NewerThan(const Compaction& compaction, StoreFiles files) {
  const SequenceId highest = compaction.files.back()->facts().highest;
  std::erase_if(files, [&](const auto& file) { return file->facts().lowest <= highest; });
  return files;
}

// All files are of its time or later (FileFacts::written), for those it found have become one. That
// one says so until a minor compaction takes it in. Where the table has every file that it was ever
// given, there was none.
Timestamp LatestMajorCompaction(const StoreFiles& files, bool has_every_file, Timestamp now) {
  if (has_every_file) return 0;
  if (files.empty()) return now;
  const auto is_major = [](const auto& file) { return file->facts().is_major; };
  const auto made = std::find_if(files.begin(), files.end(), is_major);
  if (made != files.end()) return (*made)->facts().written;
  Timestamp oldest = kLatestTimestamp;
  for (const auto& file : files) oldest = std::min(oldest, file->facts().written);
  return oldest;
}

}  // namespace cellfs
