// SPDX-License-Identifier: MIT
//
// What stands in .deleted of a namespace and of the root: the tables, or namespaces, that were
// dropped there and are kept. One of its name is `T`; of several each is `T@<ms>`, by the time of
// its drop, which is understood of the one as well.
#ifndef CELLFS_FS_TREE_DROPPED_NAMES_H_
#define CELLFS_FS_TREE_DROPPED_NAMES_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/dropped.h"

namespace cellfs::fs {

struct DroppedName {
  std::string name;  // as it is listed
  std::string key;   // that it had
  Timestamp dropped = 0;
  std::shared_ptr<const TableSchema> table;  // null: it is a namespace
};

// Of the namespace, or, without one, of the root; in the order of their names.
std::vector<DroppedName> DroppedIn(const Dropped& dropped, const std::string& name_space);
std::optional<DroppedName> FindDropped(const Dropped& dropped, const std::string& name_space,
                                       std::string_view name);
// "T@<ms>".
std::string WithTimeOfDrop(const std::string& key, Timestamp dropped);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_DROPPED_NAMES_H_
