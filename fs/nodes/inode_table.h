// SPDX-License-Identifier: MIT
//
// InodeTable: the nodes the kernel knows, by place, with exact look-up counts. A node goes when the
// kernel has forgotten it as often as it was told of it and nobody else holds it.
#ifndef CELLFS_FS_NODES_INODE_TABLE_H_
#define CELLFS_FS_NODES_INODE_TABLE_H_

#include <cstddef>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "fs/nodes/column_table.h"
#include "fs/nodes/node.h"

namespace cellfs::fs {

// Thread-safe.
class InodeTable {
 public:
  explicit InodeTable(ColumnTable& columns);

  const NodePtr& root() const { return root_; }
  // Those of its files.
  ColumnTable& columns() const { return columns_; }

  // The node of the place, made where there is none; counts one look-up.
  NodePtr LookUp(const Place& place);
  // The same without counting; null where the kernel does not know the place.
  NodePtr Find(const Place& place) const { return Find(place, place.InodeNumber()); }
  NodePtr Find(const Place& place, uint64_t inode_number) const;
  // Likewise of the row or family, as `directory` says, that the column is in.
  NodePtr FindDirectory(const Place& column, PlaceKind directory) const;
  void Forget(Node& node, uint64_t count);

  // The file of `from` is now at `to`; a node that was at `to` becomes unlinked.
  void Move(const Place& from, const Place& to);
  // The same of the table and of all nodes in it, at once for who looks: a million take a second.
  // Those in a view stay: what has a time, or a query, in its path is looked up anew.
  void MoveTable(const TableName& from, const TableName& to);
  // The name is gone: the node of the place, if any, becomes unlinked, and a new look-up of the
  // place makes a new node. Returns it.
  NodePtr Unlink(const Place& place);

  // The store has changed otherwise: nodes that are new from now on are told to the kernel only by
  // look-ups that begin after this.
  void InvalidateLookUps();

  // Every node whose place fulfils the condition, unlinked ones too. Walks the whole table, but
  // others need not wait for that; a node that is unlinked meanwhile may come twice.
  std::vector<NodePtr> FindAll(const std::function<bool(const Place&)>& condition) const;
  size_t size() const;
  // After very many nodes have gone: gives the table's own memory back. Whether there was any.
  bool Shrink();

 private:
  // What lies in the buckets from `bucket` on, of a few of them, and moves that on.
  std::vector<NodePtr> SliceLocked(size_t& bucket) const;
  bool WalkSlices(const std::function<void(const std::vector<NodePtr>&)>& take) const;

  struct InodeHash {
    size_t operator()(uint64_t inode) const { return static_cast<size_t>(inode); }
  };
  // By inode number. That is a hash of the place, and no secret one: whoever finds two names of one
  // number must not get from one to the other.
  using Nodes = std::unordered_multimap<uint64_t, NodePtr, InodeHash>;

  Nodes::const_iterator FindLocked(const Place& place, uint64_t inode) const;
  NodePtr Make(const Place& place, uint64_t inode) const;
  static void Leave(Node& node);
  NodePtr UnlinkLocked(const Place& place);
  // Where a node is, or is to be.
  struct Spot {
    std::shared_ptr<const Place> place;
    uint64_t number = 0;
    ColumnPtr column;
  };
  Spot SpotOf(const Place& place) const;
  // What was there before is in `to` then.
  void MoveLocked(Nodes::const_iterator node, Spot& to);

  ColumnTable& columns_;
  const NodePtr root_;
  mutable std::mutex mutex_;
  Nodes nodes_;
  uint64_t moves_ = 0;
  // Unlinked nodes that the kernel has not forgotten yet, by address.
  std::unordered_map<const Node*, NodePtr> unlinked_;
  // No generation of a node that is gone from its name exceeds it. A new node begins with it: what
  // was read of its place before that may be of a file which is not there any more, or not as it
  // was.
  uint64_t newest_gone_ = 1;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_INODE_TABLE_H_
