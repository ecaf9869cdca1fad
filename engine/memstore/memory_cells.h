// SPDX-License-Identifier: MIT
//
// MemoryCells: a memstore with what is asked of it besides its cells: which columns have tombstones
// (to look for them in a column of many versions would mean to walk over all of these), and which
// cells it withdraws; and with its charge on the store's account of memory.
#ifndef CELLFS_ENGINE_MEMSTORE_MEMORY_CELLS_H_
#define CELLFS_ENGINE_MEMSTORE_MEMORY_CELLS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "engine/memstore/memory_account.h"
#include "engine/memstore/memstore.h"
#include "engine/schema.h"

namespace cellfs {

// As Memstore: one thread adds at a time, any number read.
class MemoryCells {
 public:
  MemoryCells(const TableSchema& schema, std::shared_ptr<MemoryAccount> account,
              int32_t inline_value_limit);

  // As Memstore::Addition.
  Memstore::Addition Begin(
      std::pmr::memory_resource* memory = std::pmr::get_default_resource());
  void Prepare(std::span<const CellView> cells, Memstore::Addition& addition);
  // Charges the account with what was added.
  void Finish(Memstore::Addition& addition) noexcept;
  // Its table has no use for it any more; who still reads it (a moment) is accounted for elsewhere.
  // No Finish follows.
  void EndCharge() noexcept { charge_.End(); }

  const Memstore& memstore() const { return memstore_; }
  // What their store files may take beside the cells, of a memstore that has none.
  uint64_t BytesToBegin() const { return memstore_.cells() == 0 ? bytes_of_files_ : 0; }
  uint64_t bytes_of_empty_files() const { return bytes_of_files_; }
  // What their store files may take at most. Once nothing is added any more.
  uint64_t file_bytes() const { return charge_.file_bytes(); }
  bool any_tombstones() const { return any_tombstones_; }
  bool MayHaveTombstones(std::string_view family, std::string_view row,
                         std::string_view qualifier) const;
  // In these columns of the row; without columns, in any row.
  bool MayHaveWithdrawals(std::string_view family, std::string_view row,
                          const WantedColumns& columns) const;
  // Whether a withdrawal among these takes the cell back.
  bool MayWithdraw(std::string_view family, const CellView& cell) const;

 private:
  Memstore memstore_;
  MemoryCharge charge_;
  const uint64_t inline_value_limit_;
  const uint64_t bytes_of_files_;  // that are empty, one for each family
  uint64_t added_file_bytes_ = 0;  // by the present addition
  std::atomic<bool> any_tombstones_{false};
  std::atomic<bool> any_withdrawals_{false};
  mutable std::mutex mutex_;                          // guards the next three
  std::unordered_set<size_t> tombstoned_;             // hashes of columns
  std::unordered_set<size_t> with_withdrawals_;       // likewise
  std::unordered_map<size_t, SequenceId> withdrawn_;  // hashes of cells; below which they go
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_MEMSTORE_MEMORY_CELLS_H_
