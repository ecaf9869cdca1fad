// SPDX-License-Identifier: MIT
//
// What of the table of attributes is at hand always, and how it is read: owners and modes of the
// root, namespaces and tables, for which tables there is more, and which tables these are. Tables
// are named by their rows (fs/attributes/attribute_rows.h).
#ifndef CELLFS_FS_ATTRIBUTES_ATTRIBUTE_LOADING_H_
#define CELLFS_FS_ATTRIBUTES_ATTRIBUTE_LOADING_H_

#include <set>
#include <string>

#include "engine/store.h"
#include "fs/attributes/attribute_table.h"
#include "fs/attributes/inherited_attributes.h"
#include "fs/attributes/table_identities.h"
#include "fs/store/freshness.h"

namespace cellfs::fs {

struct LoadedAttributes {
  AttributeTable::Contents contents;
  std::set<std::string> marked;  // as those to be dropped
  bool has_narrowed = false;     // NarrowedModes has some
  InheritedAttributes::Directories directories;
  TableIdentities::Identities identities;
};

// Of a table that is not there: nothing.
StatusOr<LoadedAttributes> LoadAttributes(Store& store, const AttributeTable& table,
                                          const Freshness& freshness);
// What is stored for one of the directories.
Status ReloadDirectory(const AttributeTable& table, const std::string& row,
                       InheritedAttributes& inherited);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_ATTRIBUTE_LOADING_H_
