// SPDX-License-Identifier: MIT
//
// The nouns of administration: space quotas, rights, sizes and progress.
#ifndef CELLFS_ENGINE_ADMIN_H_
#define CELLFS_ENGINE_ADMIN_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/durations.h"
#include "engine/names.h"

namespace cellfs {

// What is refused while a space quota is in violation (SpaceViolationPolicy).
enum class SpaceViolationPolicy { kNoInserts, kNoWrites, kNoWritesCompactions, kDisable };
std::string_view PolicyName(SpaceViolationPolicy policy);  // "NO_INSERTS", ...
std::optional<SpaceViolationPolicy> ParsePolicy(std::string_view name);

struct SpaceQuota {
  int64_t limit = 0;  // bytes of store files
  SpaceViolationPolicy policy = SpaceViolationPolicy::kNoInserts;
  friend bool operator==(const SpaceQuota&, const SpaceQuota&) = default;
};

// Where a right holds: everywhere, in a namespace, a table, a family or a column of one.
struct GrantScope {
  std::string namespace_name;      // empty and no table: global
  std::optional<TableName> table;  // then namespace_name is unused
  std::string family;              // of the table; empty: all
  std::optional<std::string> qualifier;
  friend bool operator==(const GrantScope&, const GrantScope&) = default;
};

// Whether what holds at `wide` holds at `narrow`.
bool Covers(const GrantScope& wide, const GrantScope& narrow);

struct Grant {
  std::string user;
  GrantScope scope;
  std::string permissions;  // letters of "RWXCA", in that order
};

enum class CompactionKind { kMinor, kMajor };

// What can be told of a family as it was. Times are milliseconds; 0: nothing like it has happened.
struct FamilyPast {
  // From then on each state can still be told; of an earlier one VERSIONS or deletes have taken
  // something.
  int64_t complete_since = 0;
  // Until then it was to keep less than it does now (KeepsMore): what is missing may have gone by
  // rules that nobody sees any more.
  int64_t widened = 0;

  friend bool operator==(const FamilyPast&, const FamilyPast&) = default;
};

struct TableStatistics {
  TableName table;
  uint64_t memstore_bytes = 0;
  uint64_t memstore_cells = 0;
  uint64_t file_bytes = 0;  // of the store files, what space quotas count
  // Of these, as far as each file tells it of itself; the rest is live, or not known yet.
  uint64_t old_version_bytes = 0;
  uint64_t deleted_bytes = 0;                     // tombstones, and what they hide
  std::optional<SpaceViolationPolicy> violation;  // of a space quota, in force now
  uint64_t flushes = 0;
  uint64_t compactions = 0;
  // What has left no trace any more: cells with a sequence id up to this one have been through a
  // flush, or more.
  uint64_t flushed = 0;
  // By family: when a major compaction last began, or the family was emptied; 0: never. Where that
  // is not known any more, the latest time at which it may have been.
  std::map<std::string, int64_t> major_compactions;
  // By family, where there is something to know of its past.
  std::map<std::string, FamilyPast> past;
  // By family, also of those that are gone: when all its cells were last thrown away, by a truncate
  // or with the family or a table of that name. "" is any family, with an entry of its own or not.
  // Without one it was not, as far as the store knows.
  std::map<std::string, int64_t> emptied;
  int64_t created = 0;  // when this table was made; 0: the store does not say it
  int64_t begun = 0;    // when the first table of that name was made; 0: it is not known
  std::string error;   // why its last flush or compaction failed, until one succeeds; or empty
  int64_t retry_ms = 0;          // until the background tries that again
  uint64_t compaction_debt = 0;  // bytes of the files that it is worth to compact now
  std::string damage;  // what of it is missing or damaged, as far as is known, and what helps
};

inline uint64_t LiveBytes(const TableStatistics& table) {
  return table.file_bytes -
         std::min(table.file_bytes, table.old_version_bytes + table.deleted_bytes);
}

// Of a table that was dropped and is kept.
struct KeptTableStatistics {
  TableName table;  // that it was
  int64_t dropped = 0;
  bool is_in_namespace = true;  // whose quota it counts in; false: that was removed too
  uint64_t file_bytes = 0;
  uint64_t memstore_bytes = 0;
  std::string damage;  // as of a table
};

// Of the reading and checking of all files, again and again. Times are milliseconds since 1970.
struct ScrubStatistics {
  int64_t due = 0;    // when the next one begins, or began; 0: never
  int64_t begun = 0;  // of the last that came to its end; 0: there was none
  int64_t ended = 0;
  uint64_t files = 0;
  uint64_t bytes = 0;
  // What was found by it, and so far by the one under way: the file, what is damaged, what helps.
  // What was mended since is told until the next one.
  std::vector<std::string> damage;
  int64_t under_way_since = 0;  // 0: none is
  uint64_t bytes_read = 0;      // by that, since the store was opened; what is read twice counts twice
  uint64_t bytes_to_read = 0;
};

struct Statistics {
  std::vector<TableStatistics> tables;
  uint64_t log_bytes = 0;       // that a recovery would replay
  uint64_t log_syncs = 0;       // since the store was opened
  DurationFigures log_sync_times;   // of these
  DurationFigures file_sync_times;  // likewise, of store files
  uint64_t mutations = 0;       // since the store was opened
  uint64_t memstore_bytes = 0;  // of all tables, counted against what memory they may take
  uint64_t last_sequence_id = 0;
  std::string maintenance;    // what the background does now: "idle", "paused", "flush t", ...
  Status puts_refused;        // why; OK: they are taken
  // Tables that nothing can be read of, since an older CATALOG does not name them; and what helps.
  std::vector<std::string> lost_tables;
  // What was cut off the log's end though whole records stand in it, and is kept; and what helps.
  std::vector<std::string> cut_off;
  uint64_t past_states = 0;  // what tables and namespaces were, that the catalog keeps
  uint64_t past_bytes = 0;   // that these take in its file
  // What was dropped and is kept (Store::ListDropped), in the order of the drops, and for the newest
  // of what had to go before its time, why.
  std::vector<KeptTableStatistics> kept;
  std::vector<std::string> freed_early;
  // When tables that are not there were dropped; of very many the oldest are forgotten.
  std::map<TableName, int64_t> dropped;
  uint64_t disk_reserve = 0;  // bytes that are held for deletes and flushes on a full disk
  uint64_t disk_reserve_wanted = 0;
  uint32_t pinned_moments = 0;  // held by readers, who go on seeing what has been removed since
  uint64_t moment_bytes = 0;    // of files and memstores that are held for them alone
  uint64_t moment_limit = 0;    // from how many such bytes on moments are refused; 0: there is none
  // Of those bytes what each one's moments keep, who has any; what two keep counts for both.
  std::map<std::string, uint64_t> moment_bytes_by_holder;
  int64_t oldest_moment_age_ms = 0;
  ScrubStatistics scrub;
};

// Whether the holder's moments keep an even share of the limit, or more, of those who keep any. Where
// the limit is reached there is always one.
bool KeepsShareOfMoments(const Statistics& statistics, const std::string& holder);
// Of files and memory.
uint64_t BytesOfKept(const Statistics& statistics);
// Of files, that count in the namespace's quota beside those of its tables.
uint64_t BytesOfKeptIn(const Statistics& statistics, std::string_view namespace_name);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_ADMIN_H_
