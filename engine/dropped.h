// SPDX-License-Identifier: MIT
//
// What was dropped and is kept for a while, so that it can be brought back (DROPPED_TTL of a
// table).
#ifndef CELLFS_ENGINE_DROPPED_H_
#define CELLFS_ENGINE_DROPPED_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/cell.h"
#include "engine/schema.h"

namespace cellfs {

// No two that are kept have the same time.
struct DroppedTable {
  std::shared_ptr<const TableSchema> schema;  // with the name that it had, and its id
  Timestamp dropped = 0;
  // When the namespace in which it was dropped went with it; 0: the table itself was dropped.
  Timestamp with_namespace = 0;
};

struct DroppedNamespace {
  NamespaceSchema schema;
  Timestamp dropped = 0;
};

// In the order of the drops.
struct Dropped {
  std::vector<DroppedTable> tables;
  std::vector<DroppedNamespace> namespaces;  // those in which a table is kept
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_DROPPED_H_
