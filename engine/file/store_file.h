// SPDX-License-Identifier: MIT
//
// StoreFile: cells of one family of a table, in key order, as one SQLite database (HBase: an HFile
// of an HStore). A StoreFileBuilder has written it; since the manifest has named it, nobody changes
// it. So its readers need no locks and no transactions, and its pages may be kept in memory for as
// long as there is room.
#ifndef CELLFS_ENGINE_FILE_STORE_FILE_H_
#define CELLFS_ENGINE_FILE_STORE_FILE_H_

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/block_cache.h"
#include "engine/file/cell_format.h"
#include "engine/file/file_facts.h"
#include "engine/file/reader_pool.h"
#include "engine/storage/storage_engine.h"
#include "engine/visibility/wanted_columns.h"

namespace cellfs {

// What the store files of one store share.
struct FileCache {
  FileCache(int64_t bytes, size_t most_idle_readers) : blocks(bytes), readers(most_idle_readers) {}

  BlockCache blocks;
  ReaderPool readers;
  // The store is closing: the removal of a file takes time, and the next opening removes what no
  // manifest names.
  std::atomic<uint64_t> leaves_from_bytes{UINT64_MAX};
};

// Where a table's files lie, and whose they are.
struct TableFolder {
  std::string path;
  uint64_t store_id = 0;
  TableId table = 0;
};

// Thread-safe.
class StoreFile : public std::enable_shared_from_this<StoreFile> {
 public:
  // A connection to the file, and the file, for as long as it is read.
  class Lease {
   public:
    Lease(std::shared_ptr<StoreFile> file, ReaderPool::Entries entry)
        : file_(std::move(file)), entry_(std::move(entry)) {}
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    const FileFacts& facts() const { return file_->facts(); }
    StoreFileReader& reader() { return *entry_.front().reader; }
    const StoreFileReader& reader() const { return *entry_.front().reader; }
    // Of the column; family tombstones lie in that of the empty qualifier. True also where the
    // index of tombstones is damaged.
    StatusOr<bool> MayHaveTombstones(CellSet set, std::string_view row, std::string_view qualifier);
    void NoteDamage(const Status& found) { file_->NoteDamage(found); }

   private:
    std::shared_ptr<StoreFile> file_;
    ReaderPool::Entries entry_;  // one, or none after a move
    int exceptions_ = std::uncaught_exceptions();
  };

  // Opens nothing: the first who reads does. `cache` outlives the file.
  StoreFile(std::shared_ptr<const TableFolder> folder, FileFacts facts, FileCache& cache);
  ~StoreFile();
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;

  const FileFacts& facts() const { return facts_; }
  const std::string& path() const { return path_; }

  // No durable manifest names it any more: it is removed with its last reader.
  void SetObsolete() { obsolete_ = true; }

  // kCorruption: it is not the file that the manifest means.
  StatusOr<Lease> Open();
  // False: nothing of the row is here; with `columns`, nothing of any of these columns of it, nor a
  // family tombstone, nor what withdraws one. Asks the Bloom filter, whose damaged blocks are taken
  // to know every key.
  StatusOr<bool> MayHold(std::string_view row, const WantedColumns& columns);

  // Its filter, or an index, which only save time, have been found damaged. Reads go on without,
  // until a compaction writes the file's cells anew.
  void NoteDamage(const Status& found);
  std::string damage() const;  // the first that was found; empty: none

 private:
  StatusOr<std::unique_ptr<StoreFileReader>> Connect();
  StatusOr<bool> FilterMayHold(uint64_t hash);
  StatusOr<std::string> FilterBlock(uint64_t number);

  const std::shared_ptr<const TableFolder> folder_;
  const FileFacts facts_;
  const std::string path_;  // made beforehand, for the destructor
  FileCache& cache_;
  const uint64_t pages_owner_;   // in the block cache
  const uint64_t filter_owner_;  // in the block cache
  ReaderPool::OfFile idle_;      // the pool's
  std::atomic<int64_t> format_{0};  // 0: nobody has looked whether it is the file
  std::atomic<bool> obsolete_{false};
  mutable std::mutex damage_mutex_;
  std::string damage_;  // guarded by damage_mutex_
};

using StoreFiles = std::vector<std::shared_ptr<StoreFile>>;

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_STORE_FILE_H_
