// SPDX-License-Identifier: MIT
//
// StoreFileBuilder: writes a store file, once, in key order.
#ifndef CELLFS_ENGINE_FILE_STORE_FILE_BUILDER_H_
#define CELLFS_ENGINE_FILE_STORE_FILE_BUILDER_H_

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "engine/cell.h"
#include "engine/disk/file_layer.h"
#include "engine/durations.h"
#include "engine/file/bloom_filter.h"
#include "engine/file/cell_format.h"
#include "engine/file/database.h"
#include "engine/file/file_facts.h"
#include "engine/file/page_writer.h"
#include "engine/file/room_of_cells.h"
#include "engine/file/store_file.h"
#include "engine/file/tree_builder.h"
#include "engine/schema.h"
#include "engine/visibility/hidden_cells.h"

namespace cellfs {

struct BuilderOptions {
  uint64_t number = 0;             // of the file
  int32_t inline_value_limit = 0;  // bytes; longer values lie in a table of their own
  int64_t cells_at_most = 0;       // decides how large the Bloom filter is
  Timestamp written = 0;           // FileFacts::written
  bool is_major = false;           // FileFacts::is_major
  bool tells_hidden = false;       // what is hidden by its own cells is put apart
  uint64_t follows = 0;            // FileFacts::follows
  Durations* sync_times = nullptr;  // counts the syncs of the file; outlives the builder
};

// Not thread-safe. What is not finished, nor left, leaves no file.
class StoreFileBuilder {
 public:
  // The folder exists.
  static StatusOr<std::unique_ptr<StoreFileBuilder>> Begin(
      FileLayer& files, std::shared_ptr<const TableFolder> folder, const FamilySchema& family,
      const BuilderOptions& options);
  ~StoreFileBuilder();
  StoreFileBuilder(const StoreFileBuilder&) = delete;
  StoreFileBuilder& operator=(const StoreFileBuilder&) = delete;

  // In cell order, each once; with its value. Withdrawal markers too, which are shown.
  Status Put(const CellView& cell);
  int64_t cells() const { return facts_.cells; }
  // About what the cells will take of the disk.
  uint64_t bytes() const { return bytes_; }
  // What is written so far takes of it, looked up every few megabytes.
  uint64_t bytes_on_disk() const { return bytes_on_disk_; }
  // Of the last cell.
  const std::string& last_row() const { return facts_.last_row; }
  // Unfinished it stays, for the caller to remove.
  const std::string& Leave() {
    is_left_ = true;
    return path_;
  }

  // The file is complete and on disk (its name is not: SaveManifest syncs the folder). What was
  // written lies between the two sequence ids. nullopt: there were no cells, and there is no file.
  StatusOr<std::optional<FileFacts>> Finish(SequenceId lowest, SequenceId highest,
                                            bool is_followed = false);

  // Of a cell with its key, so that it can be stored: SQLITE_MAX_LENGTH, as Debian builds it, less
  // what its row has besides.
  static constexpr uint64_t kMostBytesOfCell = 1'000'000'000 - 1024;

 private:
  StoreFileBuilder(FileLayer& files, std::shared_ptr<const TableFolder> folder,
                   const FamilySchema& family, const BuilderOptions& options);
  Status Prepare();
  Status CheckComesNext(const CellView& cell, int64_t y) const;
  bool IsInColumn(const CellView& cell) const;  // that of the cell before
  Status PutHeld();
  Status PutValue(const CellView& cell, StoredCell& stored);
  void BeginRecord(const CellView& cell, int64_t y);
  Status PutRow(const StoredCell& stored, int64_t y, CellSet set);
  Status SyncNowAndThen(const StoredCell& stored);
  Status SyncFile();
  CellSet Count(const CellView& cell, int64_t y);
  void AddToFilter(const CellView& cell, bool new_row, bool new_column);
  Status PutFilter();
  Status FinishTrees();
  Status PutFacts();

  FileLayer& files_;
  const std::shared_ptr<const TableFolder> folder_;
  const FamilySchema family_;
  const int32_t inline_value_limit_;
  const bool tells_hidden_;
  Durations* const sync_times_;
  FileFacts facts_;
  const std::string path_;
  bool is_made_ = false;  // the file
  std::unique_ptr<PageWriter> pages_;
  // A tree of the file, and the page that its root has.
  struct Tree {
    std::optional<TreeBuilder> builder;
    uint32_t root = 0;
  };
  struct TreesOfSet {
    Tree cells, tombstones;
  };
  TreesOfSet shown_, hidden_;
  Tree withdrawals_, long_values_, filter_blocks_;
  RecordWriter record_;
  // Y, S and X of withdrawals that are not put yet: of the column and timestamp of the cell before.
  std::vector<std::tuple<int64_t, int64_t, int64_t>> held_;
  std::optional<BloomFilterBuilder> filter_;
  HiddenCells hidden_cells_;
  RoomOfCells room_;
  int64_t next_reference_ = 1;
  // Of the cell before, beside its row.
  std::string qualifier_;
  int64_t last_t_ = 0, last_y_ = 0, last_s_ = 0;
  int32_t puts_ = 0;               // of the present column
  bool family_tombstone_ = false;  // of the present row, or what takes one back, in the filter
  std::string buffer_;
  uint64_t bytes_ = 0;
  uint64_t unsynced_ = 0;  // bytes, about, that no sync was begun of
  uint64_t behind_ = 0;    // likewise, that none was awaited of
  uint64_t bytes_on_disk_ = 0;
  bool finished_ = false;
  bool is_left_ = false;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_STORE_FILE_BUILDER_H_
