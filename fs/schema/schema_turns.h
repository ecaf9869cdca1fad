// SPDX-License-Identifier: MIT
//
// SchemaTurns: changes of one table's or namespace's schema go one after the other, whoever makes
// them. Those of other tables go on meanwhile: a change may flush, and may wait for a cluster.
#ifndef CELLFS_FS_SCHEMA_SCHEMA_TURNS_H_
#define CELLFS_FS_SCHEMA_SCHEMA_TURNS_H_

#include <map>
#include <memory>
#include <mutex>

#include "engine/names.h"

namespace cellfs::fs {

// Thread-safe.
class SchemaTurns {
 public:
  // Its owner alone changes the schema as long as it lives.
  class Turn {
   public:
    Turn() = default;  // of nothing

    void End() { lock_.unlock(); }

   private:
    friend class SchemaTurns;
    explicit Turn(std::shared_ptr<std::mutex> mutex);

    std::shared_ptr<std::mutex> mutex_;
    std::unique_lock<std::mutex> lock_;
  };

  // Of a namespace where the table's name is empty. Who waits for it counts as waiting.
  Turn Take(const TableName& table);

 private:
  std::shared_ptr<std::mutex> MutexOf(const TableName& table);

  std::mutex mutex_;
  std::map<TableName, std::weak_ptr<std::mutex>> turns_;  // that somebody has or waits for
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_SCHEMA_SCHEMA_TURNS_H_
