// SPDX-License-Identifier: MIT
//
// TableCompactor: the compactions of one table, one of each family at a time (HBase: CompactSplit).
// Where the disk has no room for what is worth it, or was asked for, it goes on in smaller steps that
// give some back.
#ifndef CELLFS_ENGINE_LOCAL_TABLE_COMPACTOR_H_
#define CELLFS_ENGINE_LOCAL_TABLE_COMPACTOR_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "engine/admin.h"
#include "engine/local/attempts.h"
#include "engine/local/compaction_job.h"
#include "engine/local/compaction_picker.h"
#include "engine/local/table_services.h"
#include "engine/local/version_set.h"

namespace cellfs {

// How much a compaction may read that is not to wait behind longer ones.
enum class CompactionLength { kShort, kAny };

// Thread-safe.
class TableCompactor {
 public:
  using Stopped = CompactionJob::Stopped;

  // Both outlive it.
  TableCompactor(TableServices& services, VersionSet& versions)
      : services_(services), versions_(versions) {}
  TableCompactor(const TableCompactor&) = delete;
  TableCompactor& operator=(const TableCompactor&) = delete;

  // Every file of every family.
  Status Compact(CompactionKind kind);
  // What is worth it, until nothing is.
  Status CompactSelected();
  // One of that, of that length, of a family of which none is under way; true: there was one. Ends
  // early, without an error, where `stopped` says so. A family that met an error is left alone for a
  // while (Attempts). Null: somebody waits for it, and neither pauses nor turns keep him from it.
  StatusOr<bool> CompactByPolicy(CompactionLength length, const Stopped& stopped);
  // When the table is dropped: those under way have ended.
  void Await();

  // Of the family's last one.
  const Attempts& AttemptsOf(const std::string& family);
  uint64_t compactions() const { return compactions_; }

 private:
  // Of a family, from before its files are chosen until they have become one.
  class Turn;
  // Null: who asked for it has given up.
  std::unique_ptr<Turn> TakeTurn(const std::string& family);
  std::unique_ptr<Turn> TryTurn(const std::string& family);  // null: another has it

  Status CompactAll(CompactionKind kind);
  // REQUIRES: the family's turn, as of all that follow.
  Status CompactFamily(const FamilySchema& family, CompactionKind kind);
  Status CompactPieces(const FamilySchema& family, CompactionKind kind, std::string& from);
  StatusOr<bool> CompactPair(const FamilySchema& family);
  StatusOr<bool> ThinFiles(const FamilySchema& family, const Stopped& stopped);
  StatusOr<bool> IsWorthThinning(const Compaction& alone, const Stopped& stopped) const;
  StatusOr<std::optional<Compaction>> FindGarbage(const TableVersion& version,
                                                  const FamilySchema& family,
                                                  const Stopped& stopped);
  bool HasGrown(const FamilySchema& family, const KeyPiece& piece);
  StatusOr<bool> CompactIfWorthIt(const FamilySchema& family, CompactionLength length,
                                  const Stopped& stopped);
  Attempts& AttemptsAt(const std::string& family);
  Status Ended(const FamilySchema& family, const Status& status);
  bool IsOfLength(const Compaction& compaction, CompactionLength length) const;
  StatusOr<bool> DropExpired(const FamilySchema& family);
  Status RunJob(Compaction compaction, const Stopped& stopped);

  TableServices& services_;
  VersionSet& versions_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::set<std::string> under_way_;           // families; guarded by mutex_
  std::map<std::string, Attempts> attempts_;  // by family; the map is guarded by mutex_
  // By family and first row of a piece: its bytes when it was gone through for garbage last.
  std::map<std::pair<std::string, std::string>, uint64_t> gone_through_;  // guarded by mutex_
  std::atomic<uint64_t> compactions_{0};
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_TABLE_COMPACTOR_H_
