// SPDX-License-Identifier: MIT
//
// SchemaShares: each change of a schema writes those of all tables, so what ordinary users' tables
// say takes kMostSchemaBytes at most, in shares as those of fs/base/shared_limit.h: who has most may
// have as much as is left then. Whoever mounted the store, and root, may make more.
#ifndef CELLFS_FS_SCHEMA_SCHEMA_SHARES_H_
#define CELLFS_FS_SCHEMA_SCHEMA_SHARES_H_

#include <sys/types.h>

#include "engine/store.h"
#include "fs/attributes/attribute_store.h"

namespace cellfs::fs {

inline constexpr uint64_t kMostSchemaBytes = uint64_t{8} << 20;

// Thread-safe.
class SchemaShares {
 public:
  SchemaShares(Store& store, AttributeStore& attributes)
      : store_(store), attributes_(attributes) {}

  // Whether who asks now may give the table this schema, also one that is not there yet. A table
  // counts for its owner, and may always become smaller. kQuotaExceeded: it is too much for his
  // share.
  Status Check(const TableSchema& schema);

 private:
  struct Shares {
    uint64_t owners = 0;  // of the tables of one user, but for the one that changes
    uint64_t others = 0;  // of all other ordinary users
  };

  StatusOr<Shares> Count(const TableName& changing, uid_t owner);

  Store& store_;
  AttributeStore& attributes_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_SCHEMA_SCHEMA_SHARES_H_
