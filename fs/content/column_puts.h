// SPDX-License-Identifier: MIT
//
// ColumnPuts: what the put of a file's bytes is beside the bytes: when it is on disk, what the node
// and the directories know afterwards, and the time that is remembered. What follows a put cannot
// fail it.
#ifndef CELLFS_FS_CONTENT_COLUMN_PUTS_H_
#define CELLFS_FS_CONTENT_COLUMN_PUTS_H_

#include <cstdint>
#include <optional>

#include "engine/store.h"
#include "fs/attributes/attribute_store.h"
#include "fs/nodes/live_tree.h"
#include "fs/reading/reading.h"
#include "fs/store/column_mutations.h"
#include "fs/tree/error_log.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// What a put left.
struct StoredPut {
  explicit StoredPut(const MutationResult& result)
      : stamp(result.timestamps.front()), alone(result.columns_were_empty) {}
  Timestamp stamp;
  bool alone;  // nothing else lies on the column
};

// Thread-safe; holds nothing of its own. REQUIRES, but for Sync: the column's lock.
class ColumnPuts {
 public:
  ColumnPuts(Store& store, const Reading& reading, const ColumnMutations& mutations, LiveTree& tree,
             AttributeStore& attributes, ErrorLog& errors)
      : store_(store),
        reading_(reading),
        mutations_(mutations),
        tree_(tree),
        attributes_(attributes),
        errors_(errors) {}

  // What the table promises where nothing is wanted in particular.
  Durability Resolve(const Place& place, Durability wanted) const;
  // Whether the wait for the disk can come after a put.
  bool syncs_apart() const { return reading_.traits().syncs_apart; }
  Status Sync() const { return store_.Sync(); }

  StatusOr<StoredPut> Put(const Caller& caller, const Place& place, RowStep& step) const;
  // Where the value is `present` (empty: also where there is none). Nullopt: it is another.
  StatusOr<std::optional<StoredPut>> PutIf(const Caller& caller, const Place& place, RowStep& step,
                                           std::string present) const;

  // ---- After a put ----------------------------------------------------------------------------
  // The node knows the cell, as long as it is of this generation. `size`: where that is known.
  void Cache(const Place& place, const StoredPut& stored, std::optional<uint64_t> size,
             int64_t time_to_live, Node& node, uint64_t generation) const;
  // The time that the program set, where the version itself does not say it. Whether it is
  // remembered.
  bool RememberTime(const Place& place, const AttributeUpdate& update) const;
  // The file is stored now, and its directories hold something. Whether these show another time.
  bool Settle(const Place& place, Timestamp stamp) const;

 private:
  bool SettleDirectories(const Place& place, Timestamp stamp) const;

  Store& store_;
  const Reading& reading_;
  const ColumnMutations& mutations_;
  LiveTree& tree_;
  AttributeStore& attributes_;
  ErrorLog& errors_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_COLUMN_PUTS_H_
