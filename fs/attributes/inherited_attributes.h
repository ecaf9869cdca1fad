// SPDX-License-Identifier: MIT
//
// InheritedAttributes: the owner and mode of a place for which none are stored. A column inherits
// from the row's family, that from the family's schema, the table, the namespace and the mount;
// files inherit a directory's mode without its execute bits. What is stored for the root,
// namespaces and tables is kept here for that.
#ifndef CELLFS_FS_ATTRIBUTES_INHERITED_ATTRIBUTES_H_
#define CELLFS_FS_ATTRIBUTES_INHERITED_ATTRIBUTES_H_

#include <sys/types.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>

#include "engine/schema.h"
#include "engine/status_or.h"
#include "fs/attributes/attribute_cache.h"
#include "fs/base/owner_and_mode.h"
#include "fs/tree/options.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// What is stored for one place.
struct AttributeRecord : OwnerRecord {
  TimeRecord time;
  // Of a namespace or table: when an entry of it last came or went.
  std::optional<timespec> changed;
};

// The table of the data that a place is in, and its row in the table of attributes; empty where the
// place is in none, or there is no such table (any more).
struct DataTable {
  std::shared_ptr<const TableSchema> schema;
  std::string row;
};
// For what the family's schema says of owner, group and mode (cellfs.owner, cellfs.group,
// cellfs.mode): names of users and groups become their numbers, which are what is kept.
// kIllegalArgument where it is none.
// kAccessDenied: root may say whose files are, others to themselves, and where it was nobody
// else's: what a file inherits is not stored with it. `before`: null where the family is a new one.
Status SettleInheritance(FamilySchema& family, const FamilySchema* before);

// Thread-safe; its mutex is a leaf.
class InheritedAttributes {
 public:
  // By their rows in the table of attributes.
  using Directories = std::map<std::string, AttributeRecord>;

  explicit InheritedAttributes(const MountOptions& options) : options_(options) {}

  // `row_family` is what is stored for the row's family, where the place is a column in it.
  StatusOr<OwnerAndMode> Of(const Place& place, const DataTable& table,
                            const OwnerRecord& row_family);

  // Of the root, namespaces and tables.
  void SetDirectories(Directories directories);
  AttributeRecord Directory(const std::string& row) const;
  void SetDirectory(const std::string& row, const AttributeRecord& record);  // all but `changed`
  void SetDirectoryChanged(const std::string& row, const timespec& time);
  // Whether there was anything.
  bool ForgetDirectory(const std::string& row);
  // Grows whenever what is inherited from them may be something else.
  uint64_t directory_changes() const { return directory_changes_.load(std::memory_order_acquire); }

 private:
  struct Inheritance {
    OwnerAndMode owner;
    bool mode_is_set = false;
  };
  struct FamilyInheritance {
    std::shared_ptr<const TableSchema> schema;
    std::string family;
    uint64_t directory_changes = 0;  // when it was found
    Inheritance from;
  };

  static void Inherit(const OwnerRecord& record, Inheritance& from);
  Inheritance FromDirectories(const Place& place, const DataTable& table) const;
  StatusOr<Inheritance> FromFamily(const Place& place, const DataTable& table);

  const MountOptions& options_;

  mutable std::shared_mutex mutex_;  // guards the rest
  Directories directories_;
  std::atomic<uint64_t> directory_changes_ = 0;
  std::shared_ptr<const FamilyInheritance> last_family_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_INHERITED_ATTRIBUTES_H_
