// SPDX-License-Identifier: MIT
//
// VersionOwners: whose an old version is. Owner and mode belong to a column with all its versions,
// but whatever comes under a name that was removed opens nothing of what was there: what was put
// before the deletion keeps its owner and mode. Whose it was is told by the records of column and
// family, of which only so many are kept: what was deleted before the oldest of them is nobody's but
// root's, for who changes a mode often would get it else. That the name was made anew its record
// says (OwnerRecord::another_from), whatever has become of the deletion; where there was no record
// before, and so of the files that had what they inherit, the deletion's tombstone does.
#ifndef CELLFS_FS_ATTRIBUTES_VERSION_OWNERS_H_
#define CELLFS_FS_ATTRIBUTES_VERSION_OWNERS_H_

#include <optional>
#include <vector>

#include "engine/store.h"
#include "fs/attributes/attribute_rows.h"
#include "fs/attributes/attribute_table.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe; holds nothing of its own.
class VersionOwners {
 public:
  VersionOwners(Store& store, const AttributeTable& table) : store_(store), table_(table) {}

  // What was stored for a column, and for the family of its row, which it inherits from, when it was
  // deleted after a version.
  struct Then {
    struct Stored {
      OwnerRecord own;
      OwnerRecord family;
    };
    // Not empty. Several, oldest first, where it is not known which of them that was: what one of
    // them closes is closed.
    std::vector<Stored> stored;
    // The family's directory was another's as well: what was closed by it, or by the row's, is now
    // reached through directories that say nothing of then.
    bool was_in_anothers_directory = false;
    Timestamp until = 0;  // from then on the name was another's

    static Then OfNobody(Timestamp until);
  };
  // `table` is the column's, which may have another name than in its place. Nullopt: the present
  // records are the version's too.
  StatusOr<std::optional<Then>> Find(const Place& column, const DataTable& table,
                                     Timestamp version) const;
  // Whether a version of that time is one from before the column was last deleted.
  StatusOr<bool> IsOfBeforeDeletion(const Place& column, const DataTable& table,
                                    Timestamp version) const;

 private:
  struct State;
  struct History;
  // Of a version, before a time.
  enum class Deletion { kNone, kMaybe, kSure };
  static bool IsContinued(const State& then, const State& later);
  static bool IsOfAnother(Timestamp version, const State& then, const State& later);
  // Before the later of two states, of a version that is older than that.
  StatusOr<Deletion> DeletionBetween(const Place& column, const DataTable& table,
                                     Timestamp version, const State& then, const State& later) const;
  StatusOr<History> HistoryOf(const Place& column, const RecordKey& key) const;
  static Then ThenOf(const std::vector<State>& states, size_t at, Timestamp version, bool is_sure);
  StatusOr<Deletion> FindDeletion(const Place& column, const TableSchema& table,
                                  Timestamp version, Timestamp until) const;

  Store& store_;
  const AttributeTable& table_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_VERSION_OWNERS_H_
