// SPDX-License-Identifier: MIT
#include "engine/local/compaction_policy.h"

#include <algorithm>
#include <cmath>

namespace cellfs {
namespace {

// Where compaction lags behind, another run must be better by so much to be taken: of nearly equal
// ones the older and shorter wins.
constexpr double kBetterBy = 1.05;

struct Run {
  FileRange files;
  uint64_t size = 0;
  size_t count() const { return files.end - files.begin; }
};

// No file is much larger than the others together.
bool AreAlike(std::span<const uint64_t> sizes, uint64_t total, double ratio) {
  return std::all_of(sizes.begin(), sizes.end(), [&](uint64_t size) {
    return static_cast<double>(size) <= static_cast<double>(total - size) * ratio;
  });
}

double FilesPerByte(const Run& run) {
  return static_cast<double>(run.count()) / static_cast<double>(run.size);
}

bool IsBetter(const Run& run, const std::optional<Run>& best, bool lags_behind) {
  if (!best) return true;
  if (lags_behind && best->size > 0 && run.size > 0) {
    return FilesPerByte(run) > FilesPerByte(*best) * kBetterBy;
  }
  if (run.count() != best->count()) return run.count() > best->count();
  return run.size < best->size;
}

// 0 to 1, the same for the same names. FNV-1a with a last mix, since neighbouring names differ in
// the low bits only.
double Draw(std::string_view table, std::string_view family) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const char byte : table) add(static_cast<unsigned char>(byte));
  add(0);
  for (const char byte : family) add(static_cast<unsigned char>(byte));
  hash ^= hash >> 32;
  hash *= 0x9e3779b97f4a7c15;
  return static_cast<double>(hash >> 11) / static_cast<double>(uint64_t{1} << 53);
}

}  // namespace

std::optional<FileRange> SelectCompaction(std::span<const uint64_t> sizes,
                                          const CompactionLimits& limits) {
  const size_t min_files = std::max<size_t>(limits.min_files, 2);
  const bool lags_behind = sizes.size() >= limits.blocking_files;
  size_t first = 0;
  while (first < sizes.size() && sizes[first] > limits.max_size) ++first;

  std::optional<Run> best;
  std::optional<Run> smallest;
  for (size_t begin = first; begin < sizes.size(); ++begin) {
    Run run{{begin, begin}};
    while (run.files.end < sizes.size() && run.count() < limits.max_files) {
      run.size += sizes[run.files.end++];
      if (run.count() < min_files) continue;
      if (!smallest || run.size < smallest->size) smallest = run;
      if (run.size > limits.max_size) continue;
      const bool alike = run.size < limits.min_size ||
                         AreAlike(sizes.subspan(begin, run.count()), run.size, limits.ratio);
      if (alike && IsBetter(run, best, lags_behind)) best = run;
    }
  }
  if (!best && lags_behind) best = smallest;
  if (!best) return std::nullopt;
  return best->files;
}

bool NeedsMajor(Timestamp now, Timestamp oldest_file, const MajorSchedule& schedule,
                std::string_view table, std::string_view family) {
  if (schedule.period <= 0) return false;
  const double shift = schedule.jitter * (1 - 2 * Draw(table, family));
  const double period = static_cast<double>(schedule.period) * (1 + std::max(shift, -1.0));
  return static_cast<double>(now) - static_cast<double>(oldest_file) > period;
}

}  // namespace cellfs
