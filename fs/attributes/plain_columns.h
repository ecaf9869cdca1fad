// SPDX-License-Identifier: MIT
//
// PlainColumns: whose a column is in a table for which nothing is stored: as every other one of its
// family. Of the family asked for last, as the entries of a directory are asked for one after the
// other: without it an entry of a long listing takes a seventh more.
#ifndef CELLFS_FS_ATTRIBUTES_PLAIN_COLUMNS_H_
#define CELLFS_FS_ATTRIBUTES_PLAIN_COLUMNS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>

#include "engine/schema.h"
#include "fs/base/owner_and_mode.h"

namespace cellfs::fs {

// Thread-safe; its mutex is a leaf.
class PlainColumns {
 public:
  // What that follows from, read before it is reckoned.
  struct Basis {
    std::shared_ptr<const TableSchema> schema;
    uint64_t record_changes = 0;     // of AttributeTable
    uint64_t directory_changes = 0;  // of InheritedAttributes

    friend bool operator==(const Basis&, const Basis&) = default;
  };
  struct Answer {
    std::optional<OwnerAndMode> owner;  // nullopt: columns differ, for something is stored
  };

  // Nullopt: it is not known.
  std::optional<Answer> Find(const Basis& basis, const std::string& family) const {
    const std::shared_lock lock(mutex_);
    if (basis != basis_ || family != family_) return std::nullopt;
    return answer_;
  }

  void Keep(Basis basis, const std::string& family, const Answer& answer) {
    const std::unique_lock lock(mutex_);
    std::swap(basis_, basis);  // the schema before goes after the lock
    family_ = family;
    answer_ = answer;
  }

 private:
  mutable std::shared_mutex mutex_;  // guards the rest
  Basis basis_;                      // without a schema: nothing is known
  std::string family_;
  Answer answer_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_PLAIN_COLUMNS_H_
