// SPDX-License-Identifier: MIT
//
// What a catalog's tables and namespaces were: each state that has ended, with the time when it
// did. So it can be told which tables there were at a time, and how they were made, also of those
// that have been dropped since.
//
// A past state of a table is kept as long as one of its families, as they are or were, keeps what
// is deleted (KEEP_DELETED_CELLS, DELETED_TTL), one of a namespace as long as a table in it. It is
// bounded in number and bytes as well, for every save of a catalog writes all of it: of one table
// the newest kMaxPastOfTable, which is more than a table of many families needs to be made one by
// one, and kMaxPast in all, with which a save takes some milliseconds more. Split keys, which may
// be the most of a table by far, are kept of the newest states alone, and count apart.
#ifndef CELLFS_ENGINE_REGION_CATALOG_HISTORY_H_
#define CELLFS_ENGINE_REGION_CATALOG_HISTORY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "engine/region/catalog.h"

namespace cellfs {

inline constexpr size_t kMaxPastOfTable = 64;
inline constexpr size_t kMaxPastBytesOfTable = size_t{1} << 20;
inline constexpr size_t kMaxPast = 512;  // of tables, and as many of namespaces
inline constexpr size_t kMaxPastBytes = size_t{8} << 20;       // of tables
inline constexpr size_t kMaxPastSplitBytes = size_t{2} << 20;  // what split keys take in all
inline constexpr size_t kBytesBesideSplitKey = 32;             // that one takes beside its own

// What `before` says of tables and namespaces and `after`, which is to follow it, says no more or
// otherwise, becomes the past of `after`.
void NotePast(const Catalog& before, Timestamp now, Catalog& after);
// Takes out what is not to be kept any longer.
void PrunePast(Timestamp now, Catalog& catalog);

// The tables of a namespace at that time, in order. Where states of a table are not kept, the next
// that is kept stands for them.
std::vector<CatalogTable> TablesAt(const Catalog& catalog, const std::string& namespace_name,
                                   Timestamp time);
std::vector<NamespaceSchema> NamespacesAt(const Catalog& catalog, Timestamp time);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REGION_CATALOG_HISTORY_H_
