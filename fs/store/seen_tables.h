// SPDX-License-Identifier: MIT
//
// SeenTables: by what each table was told when it was described last (TableIncarnation), so that
// one which another client has dropped, or made anew under its name, is told from the one before.
// What this mount makes anew itself is the same. One entry for each table that was ever described.
#ifndef CELLFS_FS_STORE_SEEN_TABLES_H_
#define CELLFS_FS_STORE_SEEN_TABLES_H_

#include <map>
#include <mutex>
#include <optional>

#include "engine/schema.h"

namespace cellfs::fs {

// Thread-safe; its mutex is a leaf.
class SeenTables {
 public:
  // The table was described so. True: it is another one than the one that was seen under its name.
  bool IsAnother(const TableSchema& schema);
  // There is none of this name. True: one was seen.
  bool IsGone(const TableName& table);

  // This mount makes the table, makes it anew or drops it: while it lives nothing that is seen
  // counts, and afterwards the first that is seen is the table.
  class Making {
   public:
    Making(SeenTables& seen, const TableName& table);
    ~Making();
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;

   private:
    SeenTables& seen_;
    const TableName table_;
  };

 private:
  struct Seen {
    std::optional<TableIncarnation> incarnation;
    int makers = 0;
  };

  std::mutex mutex_;
  std::map<TableName, Seen> tables_;  // guarded by mutex_
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_STORE_SEEN_TABLES_H_
