// SPDX-License-Identifier: MIT
//
// AttributeCache: rows of the table of attributes, whole, as they were read or written last: of a
// row, several columns are asked for in turn, and most of them have no attributes. What was read
// before a change is not taken in after it.
#ifndef CELLFS_FS_ATTRIBUTES_ATTRIBUTE_CACHE_H_
#define CELLFS_FS_ATTRIBUTES_ATTRIBUTE_CACHE_H_

#include <sys/types.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/cell.h"
#include "fs/store/freshness.h"

namespace cellfs::fs {

// Owner, mode and change of them, where they are stored.
struct OwnerRecord {
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
  std::optional<mode_t> mode;
  // Of what was deleted, the mode that it had before another made its directory anew, which closed
  // it (fs/attributes/kept_columns.h).
  std::optional<mode_t> had_mode;
  // From that version on another file, or directory, has the name than had the record before: older
  // ones are not its past. 0: nothing is known of that.
  Timestamp another_from = 0;
  std::optional<timespec> ctime;
  uint64_t mark = 0;    // with other writers: no two records have the same; else 0
  Timestamp since = 0;  // when owner and mode became so: the record's timestamp; 0: none is stored
};
// So many records of one qualifier are kept, as its newest versions.
inline constexpr size_t kOwnerVersions = 10;

// The mtime that a version, or a directory, was given.
struct TimeRecord {
  std::optional<timespec> mtime;  // none: it shows its own again
  Timestamp since = 0;            // when it became so; 0: none was ever given
};

// What is stored under one qualifier: a column or a family of a row, or the row itself.
struct StoredAttributes {
  OwnerRecord owner;
  std::vector<Timestamp> earlier;         // versions of that record before it, some or all
  std::map<Timestamp, TimeRecord> times;  // remembered beside versions

  bool IsEmpty() const { return owner.since == 0 && times.empty(); }
};
struct QualifierHash : std::hash<std::string_view> {
  using is_transparent = void;
};
using StoredRow = std::unordered_map<std::string, StoredAttributes, QualifierHash, std::equal_to<>>;

// Thread-safe.
class AttributeCache {
 public:
  // A row with more is never kept: its columns are read one by one.
  static constexpr size_t kMaxRowEntries = 1024;

  explicit AttributeCache(const Freshness& freshness) : freshness_(freshness) {}

  // What is known of one qualifier, and of another one beside it.
  struct Known {
    bool whole = true;  // false: the row has too many entries, and no more is known
    OwnerRecord owner;
    TimeRecord time;  // of the version asked for
    OwnerRecord family;
  };
  // Nothing where the row is not known, or was read too long ago.
  std::optional<Known> Find(const std::string& row_key, std::string_view qualifier,
                            Timestamp version, std::string_view family) const;

  // The timestamps of all versions of the qualifier's record, where that many are known; nothing
  // where the row is not known whole.
  std::optional<std::vector<Timestamp>> OwnerVersions(const std::string& row_key,
                                                      std::string_view qualifier) const;

  // Counts Wrote and Forget of the row, and of some others; ask before it is read or written.
  uint64_t ChangesOf(const std::string& row_key) const;
  // As read, with Freshness::Now() from before that; null: the row has too many entries. Not taken
  // in where something changed since.
  void Remember(const std::string& row_key, const StoredRow* row, uint64_t changes_before,
                Timestamp read_at);
  // The qualifier holds this now, over what it held before; an owner or time that is `since`
  // 0: nothing of it is left. Where something else changed since, the row is forgotten.
  void Wrote(const std::string& row_key, const std::string& qualifier, const OwnerRecord& owner,
             Timestamp version, const TimeRecord& time, uint64_t changes_before);
  void Forget(const std::string& row_key);
  void Clear();

 private:
  struct Row {
    bool whole = true;
    StoredRow qualifiers;
    size_t entries = 0;
    Timestamp read_at = 0;
  };
  static size_t NumberOf(const std::string& row_key);
  void Keep(const std::string& row_key, Row row);
  void Drop(const std::string& row_key);

  const Freshness& freshness_;
  mutable std::shared_mutex mutex_;   // a leaf; guards the rest
  std::array<std::atomic<uint64_t>, 256> changes_{};  // by row; changed under the mutex
  std::unordered_map<std::string, Row> rows_;
  size_t entries_ = 0;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_ATTRIBUTE_CACHE_H_
