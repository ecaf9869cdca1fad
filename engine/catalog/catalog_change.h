// SPDX-License-Identifier: MIT
//
// What is other in one catalog than in another, entry by entry.
#ifndef CELLFS_ENGINE_CATALOG_CATALOG_CHANGE_H_
#define CELLFS_ENGINE_CATALOG_CATALOG_CHANGE_H_

#include <compare>
#include <cstddef>
#include <vector>

#include "engine/catalog/catalog.h"

namespace cellfs {

// Schemas never change: an act that alters a table puts another one in its place.
inline bool IsSame(const CatalogTable& a, const CatalogTable& b) {
  return a.id == b.id && a.schema == b.schema && a.enabled == b.enabled &&
         a.created == b.created && a.brought_back == b.brought_back;
}
inline bool IsSame(const CatalogNamespace& a, const CatalogNamespace& b) {
  return a.value.name == b.value.name && a.value.properties == b.value.properties &&
         a.changed == b.changed && a.created == b.created && a.brought_back == b.brought_back;
}
inline bool IsSame(const CatalogDroppedTable& a, const CatalogDroppedTable& b) {
  return IsSame(a.table, b.table) && a.dropped == b.dropped &&
         a.with_namespace == b.with_namespace && a.emptied == b.emptied && a.begun == b.begun;
}
inline bool IsSame(const CatalogDroppedNamespace& a, const CatalogDroppedNamespace& b) {
  return IsSame(a.space, b.space) && a.dropped == b.dropped;
}
template <typename T>
bool IsSame(const Past<T>& a, const Past<T>& b) {
  return a.until == b.until && IsSame(a.state, b.state);
}
inline bool IsSame(const Stamped<SpaceQuota>& a, const Stamped<SpaceQuota>& b) {
  return a.value == b.value && a.changed == b.changed;
}
inline bool IsSame(const Stamped<Grant>& a, const Stamped<Grant>& b) {
  return a.value.user == b.value.user && a.value.scope == b.value.scope &&
         a.value.permissions == b.value.permissions && a.changed == b.changed;
}
template <typename T>
bool IsSame(const T& a, const T& b) {
  return a == b;
}

// Of a map: the entries that are new or other, and the keys of those that went.
template <typename Map>
struct MapChange {
  std::vector<const typename Map::value_type*> entries;
  std::vector<const typename Map::key_type*> gone;
};

template <typename Map>
MapChange<Map> ChangeOf(const Map& before, const Map& after) {
  MapChange<Map> change;
  auto old = before.begin();
  for (const auto& entry : after) {
    auto order = std::strong_ordering::greater;  // of what was there against this one
    for (; old != before.end() && (order = old->first <=> entry.first) < 0; ++old)
      change.gone.push_back(&old->first);
    const bool was_there = old != before.end() && order == 0;
    if (!was_there || !IsSame(old->second, entry.second)) change.entries.push_back(&entry);
    if (was_there) ++old;
  }
  for (; old != before.end(); ++old) change.gone.push_back(&old->first);
  return change;
}

// Of a list: the places of what went, and of what came, ascending.
struct ListChange {
  std::vector<size_t> gone;  // in the list before
  std::vector<size_t> came;  // in the list after
};

// Entries go, come at the end or change where they are; whatever else happened is told as well, in
// more places than need be.
template <typename T>
ListChange ChangeOf(const std::vector<T>& before, const std::vector<T>& after) {
  ListChange change;
  size_t i = 0;
  size_t j = 0;
  while (i < before.size() && j < after.size()) {
    if (IsSame(before[i], after[j])) {
      ++i;
      ++j;
      continue;
    }
    const bool is_altered = i + 1 == before.size() ? j + 1 == after.size()
                                                   : j + 1 < after.size() &&
                                                         IsSame(before[i + 1], after[j + 1]);
    change.gone.push_back(i++);
    if (is_altered) change.came.push_back(j++);
  }
  for (; i < before.size(); ++i) change.gone.push_back(i);
  for (; j < after.size(); ++j) change.came.push_back(j);
  return change;
}

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CATALOG_CATALOG_CHANGE_H_
