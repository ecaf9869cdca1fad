// SPDX-License-Identifier: MIT
//
// TableVersion: all that a table consists of at one time (LevelDB's Version, with the memstores).
// What a read needs is one of these and a sequence id, and it stays good for as long as somebody
// holds it. VersionSet has the present one.
#ifndef CELLFS_ENGINE_LOCAL_TABLE_VERSION_H_
#define CELLFS_ENGINE_LOCAL_TABLE_VERSION_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/admin.h"
#include "engine/file/file_run.h"
#include "engine/file/store_file.h"
#include "engine/local/key_ranges.h"
#include "engine/memstore/memory_cells.h"
#include "engine/schema.h"
#include "engine/snapshot.h"

namespace cellfs {

// The store files of a table by family, oldest first, the pieces of the key range that they lie in,
// and the runs that they make. Immutable.
class TableFiles {
 public:
  TableFiles() = default;
  explicit TableFiles(const StoreFiles& files, TableRanges ranges = {});

  const StoreFiles& Of(std::string_view family) const;
  const KeyRanges& RangesOf(std::string_view family) const;
  const std::vector<std::string>& CutsOf(std::string_view family) const;
  const TableRanges& ranges() const { return ranges_; }
  const std::vector<FileRun>& RunsOf(std::string_view family) const;
  // Of what lies beside the file, and may have a row of it. REQUIRES: it has hidden cells.
  Timestamp OldestBeside(const StoreFile& file) const;
  StoreFiles All() const;
  uint64_t bytes() const;
  uint64_t BytesBeyond(size_t units) const;  // KeyRanges', of the family that has most
  Timestamp newest() const { return newest_; }  // of all cells
  bool any_tombstones() const { return any_tombstones_; }

 private:
  struct OfFamily {
    StoreFiles by_age;
    KeyRanges ranges;
    std::vector<FileRun> runs;
    // Of the files with hidden cells: OldestThatShows of all others that have rows in common.
    std::map<uint64_t, Timestamp> oldest_beside;  // by number
  };
  static Timestamp OldestBeside(const FileFacts& facts, const StoreFiles& files);
  const OfFamily& Find(std::string_view family) const;

  Timestamp newest_ = 0;
  bool any_tombstones_ = false;
  TableRanges ranges_;
  std::map<std::string, OfFamily, std::less<>> families_;
};

// By family, where there is something to know.
using FamilyPasts = std::map<std::string, FamilyPast>;

// Immutable, but that `active` gets further cells.
struct TableVersion {
  std::shared_ptr<const TableSchema> schema;
  std::shared_ptr<MemoryCells> active;
  std::shared_ptr<MemoryCells> frozen;  // being flushed, or waiting for it after an error; or null
  std::shared_ptr<const TableFiles> files;
  FamilyPasts past;
  uint64_t bytes_behind = 0;  // of files beyond hbase.hstore.blockingStoreFiles

  bool HasUnflushed() const;
  uint64_t UnflushedBytes() const;
  Timestamp newest() const;  // of all cells
};
using TableVersionPtr = std::shared_ptr<const TableVersion>;

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_TABLE_VERSION_H_
