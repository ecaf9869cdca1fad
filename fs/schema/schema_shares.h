// SPDX-License-Identifier: MIT
//
// SchemaShares: each change of a schema writes those of all tables, so what ordinary users' tables
// say takes kMostSchemaBytes at most, in shares as those of fs/base/shared_limit.h: who has most
// may have as much as is left then. Whoever mounted the store, and root, may make more. What is
// about to be said counts as well: changes of several tables go on at the same time. A cluster
// keeps each schema by itself, and bounds tables by its own quotas: there nothing is counted.
#ifndef CELLFS_FS_SCHEMA_SCHEMA_SHARES_H_
#define CELLFS_FS_SCHEMA_SCHEMA_SHARES_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/store.h"
#include "fs/attributes/attribute_store.h"

namespace cellfs::fs {

inline constexpr uint64_t kMostSchemaBytes = uint64_t{8} << 20;

// Thread-safe.
class SchemaShares {
 public:
  SchemaShares(Store& store, AttributeStore& attributes)
      : store_(store), attributes_(attributes) {}

  // What one change adds. It counts as long as it is held: until the schema is in force, or not.
  struct Growth {
    uid_t owner = 0;
    uint64_t bytes = 0;
  };
  using Reservation = std::shared_ptr<const Growth>;  // null: of what does not count
  // For who asks now to give the table this schema, also one that is not there yet. A table counts
  // for its owner, and may always become smaller. kQuotaExceeded: it is too much for his share.
  StatusOr<Reservation> Reserve(const TableSchema& schema);

 private:
  struct Shares {
    uint64_t owners = 0;  // of the tables of one user, but for the one that changes
    uint64_t others = 0;  // of all other ordinary users
  };

  Reservation Add(const Growth& growth);
  // `reservation`: of the table that changes.
  StatusOr<Shares> Count(const TableName& changing, const Reservation& reservation);

  Store& store_;
  AttributeStore& attributes_;
  std::mutex mutex_;                                // a leaf
  std::vector<std::weak_ptr<const Growth>> reservations_;  // guarded by mutex_
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_SCHEMA_SCHEMA_SHARES_H_
