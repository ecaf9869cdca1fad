// SPDX-License-Identifier: MIT
//
// TableCompactor: the compactions of one table (HBase: CompactSplit). Where the disk has no room for
// what is worth it, or was asked for, it goes on in smaller steps that give some back.
#ifndef CELLFS_ENGINE_LOCAL_TABLE_COMPACTOR_H_
#define CELLFS_ENGINE_LOCAL_TABLE_COMPACTOR_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "engine/admin.h"
#include "engine/local/attempts.h"
#include "engine/local/compaction_job.h"
#include "engine/local/compaction_picker.h"
#include "engine/local/compaction_turns.h"
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
  // One of that, of that length, of files that no other has; true: there was one. Ends
  // early, without an error, where `stopped` says so. A family that met an error is left alone for a
  // while (Attempts). Null: somebody waits for it, and neither pauses nor turns keep him from it.
  StatusOr<bool> CompactByPolicy(CompactionLength length, const Stopped& stopped);
  // When the table is dropped: those under way have ended.
  void Await() { turns_.Await(); }

  // Of the family's last one.
  const Attempts& AttemptsOf(const std::string& family);
  uint64_t compactions() const { return compactions_; }

 private:
  using Turn = CompactionTurns::Turn;

  Status CompactAll(CompactionKind kind);
  // REQUIRES: the family alone, as of all that follow without a turn.
  Status CompactFamily(const FamilySchema& family, CompactionKind kind, Turn& turn);
  Status CompactPieces(const FamilySchema& family, CompactionKind kind, std::string& from);
  StatusOr<bool> CompactPair(const FamilySchema& family);
  StatusOr<bool> ThinFiles(const FamilySchema& family, const Stopped& stopped);
  StatusOr<bool> IsWorthThinning(const Compaction& alone, const Stopped& stopped) const;
  StatusOr<std::optional<Compaction>> FindGarbage(const TableVersion& version,
                                                  const FamilySchema& family,
                                                  const Stopped& stopped, Turn& turn);
  bool HasGrown(const FamilySchema& family, const KeyPiece& piece);
  StatusOr<bool> CompactIfWorthIt(const FamilySchema& family, CompactionLength length,
                                  const Stopped& stopped, Turn& turn);
  std::optional<Compaction> ChooseFor(Turn& turn, const FamilySchema& family,
                                      CompactionLength length);
  Attempts& AttemptsAt(const std::string& family);
  Status Ended(const FamilySchema& family, const Status& status);
  uint64_t MostBytes(const TableVersion& version, CompactionLength length) const;
  StatusOr<bool> DropExpired(const FamilySchema& family, Turn& turn);
  Status RunJob(Compaction compaction, const Stopped& stopped);

  TableServices& services_;
  VersionSet& versions_;
  CompactionTurns turns_;
  std::mutex mutex_;
  std::map<std::string, Attempts> attempts_;  // by family; the map is guarded by mutex_
  // By family and first row of a piece: its bytes when it was gone through for garbage last.
  std::map<std::pair<std::string, std::string>, uint64_t> gone_through_;  // guarded by mutex_
  std::atomic<uint64_t> compactions_{0};
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_TABLE_COMPACTOR_H_
