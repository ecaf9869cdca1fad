// SPDX-License-Identifier: MIT
//
// Which files of a family are compacted, and how (HBase: CompactionPolicy; LevelDB:
// VersionSet::PickCompaction). Nothing here reads a file.
#ifndef CELLFS_ENGINE_LOCAL_COMPACTION_PICKER_H_
#define CELLFS_ENGINE_LOCAL_COMPACTION_PICKER_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/admin.h"
#include "engine/local/table_version.h"
#include "engine/options.h"
#include "engine/schema.h"

namespace cellfs {

// Files of one family that are to become one. They follow each other.
struct Compaction {
  FamilySchema family;
  StoreFiles files;  // oldest first; not empty
  CompactionKind kind = CompactionKind::kMinor;
  bool heeds_newer_tombstones = false;  // what those of newer files hide goes

  uint64_t bytes() const;
};

// How many files the family has for who limits their number: the large ones of a run count as one,
// for nothing is gained where they are merged. A small one counts by itself.
size_t CountFiles(const TableVersion& version, const FamilySchema& family);

// The memstore size at which the table is flushed.
int64_t FlushSizeOf(const TableSchema& schema, const SiteSettings& site);

// What is worth it now; nullopt: nothing is.
std::optional<Compaction> PickCompaction(const TableVersion& version, const FamilySchema& family,
                                         const SiteSettings& site, Timestamp now);
// Those that can go unread, for all in them has expired.
StoreFiles PickExpired(const StoreFiles& files, const FamilySchema& family, Timestamp now);
// Each two that follow each other, the smallest first. Empty: no more than two are there.
std::vector<StoreFiles> PickPairs(const StoreFiles& files);
StoreFiles NewerThan(const Compaction& compaction, StoreFiles files);

// When the last major compaction of the family began, as its files tell; 0: there was none. Where
// that is not known any more, the latest time at which it may have been.
Timestamp LatestMajorCompaction(const StoreFiles& files, bool has_every_file, Timestamp now);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_COMPACTION_PICKER_H_
