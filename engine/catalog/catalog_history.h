// SPDX-License-Identifier: MIT
//
// What a catalog's tables and namespaces were: each state that has ended, with the time when it
// did. So it can be told which tables there were at a time, and how they were made, also of those
// that have another name now.
//
// A past state is kept as long as any family of the store, as they are or were, keeps what is
// deleted (KEEP_DELETED_CELLS, DELETED_TTL), and all of them within kMaxPastBytes, for every save
// of a catalog writes all of it. Beyond that the oldest goes of the name whose states take most, so
// that who changes one table all day leaves the others their past. Split keys, which may be the
// most of a state by far, have a half of that, and are kept of the newest states.
#ifndef CELLFS_ENGINE_CATALOG_CATALOG_HISTORY_H_
#define CELLFS_ENGINE_CATALOG_CATALOG_HISTORY_H_

#include <cstddef>

#include "engine/catalog/catalog.h"
#include "engine/past_catalog.h"

namespace cellfs {

inline constexpr size_t kMaxPastBytes = size_t{1} << 20;

// What `before` says of tables and namespaces and `after`, which is to follow it, says no more or
// otherwise, becomes the past of `after`.
void NotePast(const Catalog& before, Timestamp now, Catalog& after);
// Takes out what is not to be kept any longer.
void PrunePast(Timestamp now, Catalog& catalog);
// Of a table that went with its cells: what could be told of it would be a table without any.
void ForgetPast(TableId table, Catalog& catalog);
// Roughly what the states take in the catalog's file.
size_t PastBytes(const Catalog& catalog);

// Where states are not kept, the next that is kept stands for them.
PastCatalog CatalogAt(const Catalog& catalog, Timestamp time);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CATALOG_CATALOG_HISTORY_H_
