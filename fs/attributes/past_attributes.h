// SPDX-License-Identifier: MIT
//
// PastAttributes: owner, mode and times as they were at the time of an `.asof`, from what the table
// cellfs:attributes held then (fs/attributes/attribute_rows.h) and what the schema of the table, as
// it was, says of them.
#ifndef CELLFS_FS_ATTRIBUTES_PAST_ATTRIBUTES_H_
#define CELLFS_FS_ATTRIBUTES_PAST_ATTRIBUTES_H_

#include <array>
#include <memory>
#include <mutex>
#include <string>

#include "fs/attributes/attribute_table.h"
#include "fs/attributes/inherited_attributes.h"
#include "fs/store/freshness.h"
#include "fs/tree/options.h"
#include "fs/tree/place.h"
#include "fs/tree/view.h"

namespace cellfs::fs {

// Thread-safe.
class PastAttributes {
 public:
  PastAttributes(const AttributeTable& table, const Freshness& freshness,
                 const MountOptions& options)
      : table_(table), freshness_(freshness), options_(options) {}

  // What was in force at the place, which has a view: owner and mode are set. `version` as of
  // AttributeStore::Find.
  StatusOr<AttributeRecord> Find(const Place& place, const DataTable& table, Timestamp version);

 private:
  using Directories = std::shared_ptr<InheritedAttributes>;

  // What namespace and table of the place had.
  struct Kept {
    std::weak_ptr<const View> view;
    TableName table{"", ""};
    std::string row;
    Timestamp read_at = 0;
    Directories directories;
  };
  StatusOr<Directories> DirectoriesOf(const Place& place, const DataTable& table);
  StatusOr<Directories> ReadDirectories(const Place& place, const DataTable& table) const;
  bool Holds(const Kept& kept, const Place& place, const DataTable& table) const;

  const AttributeTable& table_;
  const Freshness& freshness_;
  const MountOptions& options_;

  std::mutex mutex_;  // a leaf; guards the rest
  std::array<Kept, 8> kept_;
  size_t next_ = 0;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_PAST_ATTRIBUTES_H_
