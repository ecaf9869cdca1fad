// SPDX-License-Identifier: MIT
#ifndef CELLFS_ENGINE_LOCAL_COMPACTION_POLICY_H_
#define CELLFS_ENGINE_LOCAL_COMPACTION_POLICY_H_
#include <cstdint>
#include <optional>
#include <vector>
namespace cellfs {
struct CompactionSettings { size_t min = 3, max = 10; double ratio = 1.2; uint64_t min_size = uint64_t{128} << 20; };
struct FileRange { size_t begin = 0, end = 0; };
inline std::optional<FileRange> SelectFiles(const std::vector<uint64_t>& sizes, const CompactionSettings& settings) {
  if (sizes.size() < settings.min) return std::nullopt;
  std::optional<FileRange> best; uint64_t best_size = 0;
  for (size_t b = 0; b < sizes.size(); ++b)
    for (size_t e = b + settings.min; e <= sizes.size() && e - b <= settings.max; ++e) {
      uint64_t total = 0; for (size_t i = b; i < e; ++i) total += sizes[i];
      bool ok = total <= settings.min_size;
      if (!ok) { ok = true; for (size_t i = b; i < e; ++i) if (double(sizes[i]) > double(total - sizes[i]) * settings.ratio) ok = false; }
      if (!ok) continue;
      if (!best || e - b > best->end - best->begin || (e - b == best->end - best->begin && total < best_size)) { best = FileRange{b, e}; best_size = total; }
    }
  return best;
}
}
#endif
