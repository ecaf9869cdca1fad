// SPDX-License-Identifier: MIT
//
// MemoryCells: a memstore with what is asked of it besides its cells: which columns have tombstones
// (to look for them in a column of many versions would mean to walk over all of these), and which
// cells it withdraws; and with its charge on the store's account of memory.
#ifndef CELLFS_ENGINE_LOCAL_MEMORY_CELLS_H_
#define CELLFS_ENGINE_LOCAL_MEMORY_CELLS_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "engine/local/memory_account.h"
#include "engine/local/memstore.h"
#include "engine/schema.h"

namespace cellfs {

// As Memstore: one thread adds at a time, any number read.
class MemoryCells {
 public:
  MemoryCells(const TableSchema& schema, std::shared_ptr<MemoryAccount> account);

  Memstore::Addition Begin() { return Memstore::Addition(memstore_); }
  // As Memstore::Addition.
  void Prepare(std::span<const CellView> cells, Memstore::Addition& addition);
  // Charges the account with what was added.
  void Finish(Memstore::Addition& addition) noexcept;
  // Its table has no use for it any more; who still reads it (a moment) is accounted for elsewhere.
  // No Finish follows.
  void EndCharge() noexcept { charge_.End(); }

  const Memstore& memstore() const { return memstore_; }
  bool any_tombstones() const { return any_tombstones_; }
  bool MayHaveTombstones(std::string_view family, std::string_view row,
                         std::string_view qualifier) const;
  // In these columns of the row; without columns, in any row.
  bool MayHaveWithdrawals(std::string_view family, std::string_view row,
                          const std::set<std::string>* columns) const;
  // Whether a withdrawal among these takes the cell back.
  bool MayWithdraw(std::string_view family, const CellView& cell) const;

 private:
  Memstore memstore_;
  MemoryCharge charge_;
  std::atomic<bool> any_tombstones_{false};
  std::atomic<bool> any_withdrawals_{false};
  mutable std::mutex mutex_;                          // guards the next three
  std::unordered_set<size_t> tombstoned_;             // hashes of columns
  std::unordered_set<size_t> with_withdrawals_;       // likewise
  std::unordered_map<size_t, SequenceId> withdrawn_;  // hashes of cells; below which they go
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_MEMORY_CELLS_H_
