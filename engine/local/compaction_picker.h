// SPDX-License-Identifier: MIT
//
// Which files of a family are compacted, and how (HBase: CompactionPolicy; LevelDB:
// VersionSet::PickCompaction). Nothing here reads a file.
#ifndef CELLFS_ENGINE_LOCAL_COMPACTION_PICKER_H_
#define CELLFS_ENGINE_LOCAL_COMPACTION_PICKER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "engine/admin.h"
#include "engine/local/table_version.h"
#include "engine/options.h"
#include "engine/schema.h"

namespace cellfs {

// Files of one family that are to become one, or several without a common row. Of no other file
// that has rows in common with one of them do the sequence ids lie between theirs.
struct Compaction {
  FamilySchema family;
  StoreFiles files;  // oldest first; not empty
  CompactionKind kind = CompactionKind::kMinor;
  bool heeds_newer_tombstones = false;  // what those of newer files hide goes

  uint64_t bytes() const;
  SequenceId lowest() const;
  SequenceId highest() const;
};

// How many files the family has for who limits their number: units (FileUnit) of the piece that has
// most, and young ones.
size_t CountFiles(const TableVersion& version, const FamilySchema& family);

// The memstore size at which the table is flushed.
int64_t FlushSizeOf(const TableSchema& schema, const SiteSettings& site);
// How long a file that a compaction writes becomes, and a piece of the key range at least.
uint64_t BytesOfPiece(const TableSchema& schema, const SiteSettings& site);

// The numbers of files that others compact (HBase: HStore.filesCompacting).
using TakenFiles = std::set<uint64_t>;
bool HasTaken(const StoreFiles& files, const TakenFiles& taken);

// What is worth it now: young files, where none of them is taken; else of a piece, likewise, so many
// bytes at most. nullopt: nothing is.
std::optional<Compaction> PickCompaction(const TableVersion& version, const FamilySchema& family,
                                         const SiteSettings& site, Timestamp now,
                                         const TakenFiles& taken = {},
                                         uint64_t most_bytes = std::numeric_limits<uint64_t>::max());
// Those that can go unread, for all in them has expired.
StoreFiles PickExpired(const StoreFiles& files, const FamilySchema& family, Timestamp now);
// Each two units of a piece that follow each other, the smallest first, where more than two are
// there.
std::vector<StoreFiles> PickPairs(const KeyRanges& ranges);
StoreFiles NewerThan(const Compaction& compaction, StoreFiles files);

// When the last major compaction of the family, or of a piece of it, began, as its files tell; 0:
// there was none. Where that is not known any more, the latest time at which it may have been.
Timestamp LatestMajorCompaction(const TableFiles& files, std::string_view family,
                                bool has_every_file, Timestamp now);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_COMPACTION_PICKER_H_
