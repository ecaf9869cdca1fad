// SPDX-License-Identifier: MIT
//
// Column: what this mount knows of one column beside what is stored. There is one for each column
// that
//   - a node shows, by whatever name: q, q@<timestamp>, .versions/q/<timestamp>, .counters/q,
//     .deleted/q;
//   - a thread changes, or waits to change;
//   - this mount made or renamed within the hour;
// and it goes with the last of these. A file that holds no value (a .toml, a file in memory) has one
// as well, for the lock.
//
// Its lock (fs/nodes/column_lock.h) puts its changes one after the other: of what is stored, of the
// name and of what handles hold. What it shows is told and learned without the lock.
#ifndef CELLFS_FS_NODES_COLUMN_H_
#define CELLFS_FS_NODES_COLUMN_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "engine/cell.h"
#include "fs/base/owner_and_mode.h"
#include "fs/nodes/cached_cell.h"
#include "fs/nodes/generation.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

class Column;
class ColumnTable;
class Node;

// A part of the table, and the mutex that guards it, a leaf. Its columns keep it, for a file that
// somebody holds may outlive the table.
struct alignas(64) ColumnShard {
  // The number is a hash already, and no secret one: places are compared.
  struct Identity {
    size_t operator()(uint64_t number) const { return static_cast<size_t>(number); }
  };
  std::mutex mutex;
  std::unordered_multimap<uint64_t, Column*, Identity> columns;
  // No generation of a column that went from here exceeds it. A new one begins with it: what was
  // read before that may be of before a change that nobody remembers.
  uint64_t newest_gone = 1;
};

// Thread-safe. ColumnTable makes it.
class Column : public std::enable_shared_from_this<Column> {
 public:
  // `cell`: a place of the kind kCell. `shard`: the part of the table that it is in.
  Column(ColumnTable& table, std::shared_ptr<ColumnShard> shard, std::shared_ptr<const Place> cell,
         uint64_t number)
      : table_(table), shard_(std::move(shard)), cell_(std::move(cell)), number_(number) {}
  ~Column();
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;

  const Place& cell() const { return *cell_; }
  const std::shared_ptr<const Place>& shared_cell() const { return cell_; }
  uint64_t number() const { return number_; }  // Place::ColumnNumber; two may have the same

  // ---- What it shows --------------------------------------------------------------------------
  uint64_t generation() const { return generation_.get(); }
  // What is read of it by any name may be another from now on.
  void Changed(Change change = Change::kAny);
  // Of the cell that it shows as q; nullopt: not cached.
  std::optional<CachedCell> cached_cell() const;
  // `looked_at`: Generation::Newest() from before the cell was read. After a put: the generation
  // that Changed() gave, under the lock. Ignored if it has changed since.
  void Learn(const CachedCell& cell, uint64_t looked_at);
  // Where others write to the store: the version of q that was read or put last. Returns the one
  // before; < 0: none.
  Timestamp SeeVersion(Timestamp version) { return seen_version_.exchange(version); }

  // Whether another node than this one (null: any) shows it, or did.
  bool IsShownBeside(const Node* node) const;
  // Of all nodes that show it. Allocates nothing: it is called also where memory has run out.
  void PagesAreStale();
  void PagesExpire(Timestamp when);

  // ---- What this mount made of it within the hour ---------------------------------------------
  // So that temporary files leave no trace and a save adds one version. Guarded by the lock. Until
  // the hour is over the column stays in the table.
  // Its first version, put here; nullopt: it is not known to be.
  std::optional<Timestamp> created() const;
  void NoteCreated(Timestamp version);
  // The tombstone that a rename left which put the file aside (fs/operations/rename_column.cc).
  std::optional<Timestamp> renamed_away() const;
  // Whose the file was then. REQUIRES: renamed_away().
  const OwnerAndMode& renamed_from() const { return stamps_->renamed_from; }
  void NoteRenamedAway(Timestamp tombstone, const OwnerAndMode& from);
  void ForgetStamps() { stamps_.reset(); }

 private:
  friend class ColumnLock;
  friend class ColumnTable;
  friend class InodeTable;

  struct Stamp {
    Timestamp timestamp;
    Timestamp when;
  };
  struct Stamps {
    std::optional<Stamp> created;
    std::optional<Stamp> renamed_away;
    OwnerAndMode renamed_from;
  };

  void Add(Node& node);
  void Remove(Node& node);
  std::optional<Timestamp> Read(std::optional<Stamp> Stamps::*stamp) const;
  void Note(std::optional<Stamp> Stamps::*stamp, Timestamp timestamp);

  ColumnTable& table_;
  const std::shared_ptr<ColumnShard> shard_;  // its mutex guards the next two
  CellCache cell_cache_;
  Node* first_node_ = nullptr;
  const std::shared_ptr<const Place> cell_;  // shared with its node
  const uint64_t number_;
  Generation generation_;
  std::atomic<Timestamp> seen_version_{-1};
  std::mutex mutex_;                // what ColumnLock locks
  std::unique_ptr<Stamps> stamps_;  // guarded by it
};

using ColumnPtr = std::shared_ptr<Column>;

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_COLUMN_H_
