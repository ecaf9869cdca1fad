// SPDX-License-Identifier: MIT
//
// EntrySource: where the entries of a directory come from. Each kind of directory has one for what
// is stored (fs/listing/entry_sources.h says which), and most have another for what is not;
// DirectoryStream merges them. A source is asked for a batch behind a key, so that it holds nothing
// between two requests but where it stands.
#ifndef CELLFS_FS_LISTING_ENTRY_SOURCE_H_
#define CELLFS_FS_LISTING_ENTRY_SOURCE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fs/base/outcome.h"
#include "fs/resolve/resolver.h"

namespace cellfs::fs {

// As many entries a source reads at a time, where there can be many; and of a store that is far
// away, where each time is a request.
inline constexpr size_t kEntryBatch = 128;
inline constexpr size_t kFarEntryBatch = 1024;

struct SourceEntry {
  explicit SourceEntry(const Place& place) : found{place} {}

  std::string key;  // orders the entries of a directory
  ResolvedEntry found;
};
using SourceEntries = std::vector<SourceEntry>;

// About how much memory it takes.
inline size_t HeldBytes(const SourceEntry& entry) {
  const Place& place = entry.found.place;
  return sizeof(SourceEntry) + entry.key.size() + place.row.size() + place.qualifier.size();
}

struct EntryBatch {
  SourceEntries entries;  // in the order of the listing
  // Behind this key there may be more; nullopt: there is nothing more.
  std::optional<std::string> end;
};

// Not thread-safe. Made when a listing begins, and anew when it begins again.
class EntrySource {
 public:
  EntrySource() = default;
  virtual ~EntrySource() = default;
  EntrySource(const EntrySource&) = delete;
  EntrySource& operator=(const EntrySource&) = delete;

  // The first entries behind the key; of the whole directory where there is none. A failure leaves
  // the source as it was.
  virtual OutcomeOr<EntryBatch> After(const Caller& caller,
                                      const std::optional<std::string>& key) = 0;
};

// Of few entries: all of them are read for each batch.
class ShortSource : public EntrySource {
 public:
  OutcomeOr<EntryBatch> After(const Caller& caller, const std::optional<std::string>& key) final {
    CELLFS_ASSIGN_OR_RETURN(SourceEntries entries, All(caller));
    if (key) std::erase_if(entries, [&](const SourceEntry& entry) { return entry.key <= *key; });
    return EntryBatch{std::move(entries), std::nullopt};
  }

 private:
  virtual OutcomeOr<SourceEntries> All(const Caller& caller) = 0;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_LISTING_ENTRY_SOURCE_H_
