// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>

#include "fs/listing/entry_sources.h"

namespace cellfs::fs {
namespace {

class UnstoredSource : public EntrySource {
 public:
  UnstoredSource(ListedDirectory& directory, const UnstoredEntries& unstored)
      : directory_(directory),
        unstored_(unstored),
        is_by_time_(directory.place().kind == PlaceKind::kVersionsColumn) {}

  OutcomeOr<EntryBatch> After(const Caller& /*caller*/,
                              const std::optional<std::string>& key) override {
    return is_by_time_ ? NewestFirst(key) : ByKey(key);
  }

 private:
  EntryBatch ByKey(const std::optional<std::string>& after) {
    EntryBatch batch;
    auto stored = unstored_.ChildrenAfter(directory_.place(), after, kEntryBatch);
    batch.entries.reserve(stored.size());
    if (stored.size() == kEntryBatch) batch.end = OrderKey(stored.back()->place);
    for (UnstoredPtr& unstored : stored) {
      if (unstored->place.kind == PlaceKind::kVersion) continue;  // never listed, as stored ones
      std::string key = OrderKey(unstored->place);
      Add(batch.entries, std::move(unstored), std::move(key));
    }
    return batch;
  }

  // Versions are listed so, which is not the order in which these are kept.
  EntryBatch NewestFirst(const std::optional<std::string>& after) {
    EntryBatch batch;
    constexpr size_t kAll = std::numeric_limits<size_t>::max();
    for (UnstoredPtr& unstored : unstored_.ChildrenAfter(directory_.place(), std::nullopt, kAll)) {
      const Place& place = unstored->place;
      std::string key = place.kind == PlaceKind::kVersionsFile ? VersionKey(place.timestamp)
                                                               : "\xff" + place.name;
      if (after && key <= *after) continue;
      Add(batch.entries, std::move(unstored), std::move(key));
    }
    std::sort(batch.entries.begin(), batch.entries.end(),
              [](const SourceEntry& a, const SourceEntry& b) { return a.key < b.key; });
    return batch;
  }

  static void Add(SourceEntries& entries, UnstoredPtr unstored, std::string key) {
    SourceEntry& entry = entries.emplace_back(unstored->place);
    entry.key = std::move(key);
    if (unstored->file != nullptr) {
      std::lock_guard lock(unstored->file->mutex);
      entry.found.size = unstored->file->bytes().size();
    }
    entry.found.unstored = std::move(unstored);
  }

  ListedDirectory& directory_;
  const UnstoredEntries& unstored_;
  const bool is_by_time_;
};

}  // namespace

std::unique_ptr<EntrySource> NewUnstoredSource(ListedDirectory& directory,
                                               const UnstoredEntries& unstored) {
  return std::make_unique<UnstoredSource>(directory, unstored);
}

}  // namespace cellfs::fs
