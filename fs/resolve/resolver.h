// SPDX-License-Identifier: MIT
//
// Resolver: from a directory and a name to a place, and whether something is there.
#ifndef CELLFS_FS_RESOLVE_RESOLVER_H_
#define CELLFS_FS_RESOLVE_RESOLVER_H_

#include <optional>
#include <string_view>
#include <utility>

#include "fs/attributes/attribute_store.h"
#include "fs/base/outcome.h"
#include "fs/nodes/empty_directories.h"
#include "fs/nodes/inode_table.h"
#include "fs/nodes/removed_families.h"
#include "fs/nodes/unstored_entries.h"
#include "fs/reading/reading.h"
#include "fs/resolve/cellfs_directory.h"
#include "fs/resolve/child_place.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// A place where something is, with what one reading told of it.
struct ResolvedEntry {
  explicit ResolvedEntry(const Place& place_in, UnstoredPtr unstored_in = nullptr)
      : place(place_in), unstored(std::move(unstored_in)) {}

  Place place;
  uint64_t size = 0;       // bytes of a file
  Timestamp version = -1;  // of the cell shown, or of a cell in the directory; < 0: unknown
  std::optional<Timestamp> expires;  // when a TTL may end it
  uint64_t looked_at = 0;  // Node::NewestGeneration() before it was looked for; Find sets it
  UnstoredPtr unstored;    // where it is there only by being made
  // What AttributeStore::Find says of it, where who made or changed it knows that.
  std::optional<ShownAttributes> attributes;
  // A family that nobody made in a row that this process made: there for everybody else.
  pid_t absent_for = 0;
  // A .toml that nobody has written: absent for who makes it with O_EXCL.
  bool may_be_made = false;
};

// Thread-safe; holds nothing of its own.
class Resolver {
 public:
  Resolver(const ChildPlaces& places, const Reading& reading, const InodeTable& inodes,
           const UnstoredEntries& unstored, const RemovedFamilies& removed_families,
           EmptyDirectories& empty_directories, const CellfsDirectory& self)
      : places_(places),
        reading_(reading),
        inodes_(inodes),
        unstored_(unstored),
        removed_families_(removed_families),
        empty_directories_(empty_directories),
        self_(self) {}

  // As ChildPlaces::Find.
  OutcomeOr<Place> Child(const Caller& caller, const Place& directory, std::string_view name,
                         NameUse use) const {
    return places_.Find(caller, directory, name, use);
  }
  // What is there now; ENOENT where there is nothing. `node`: the one that has the place now, where
  // it is at hand.
  OutcomeOr<ResolvedEntry> Find(const Caller& caller, const Place& place,
                                Node* node = nullptr) const;
  OutcomeOr<ResolvedEntry> LookUp(const Caller& caller, const Place& directory,
                                  std::string_view name) const;

  // What the cell says of the place in `found`.
  static void Describe(const CachedCell& cell, ResolvedEntry& found);

 private:
  // The node that has the place, where one may keep what is found there.
  class CachingNode {
   public:
    CachingNode(const Resolver& resolver, const Caller& caller, const Place& place, Node* at_hand);
    Node* get() const { return node_; }
    bool may_be() const { return may_be_; }
    // Whether there could be one, and the kernel knows of none.
    bool is_none() const { return may_be_ && node_ == nullptr; }
    // Of the place; where there is none.
    uint64_t number() const { return number_; }

   private:
    const bool may_be_;
    uint64_t number_ = 0;
    NodePtr found_;
    Node* node_;
  };

  OutcomeOr<ResolvedEntry> FindByContent(const Caller& caller, const Place& place,
                                         Node* node) const;
  OutcomeOr<ResolvedEntry> FindDirectory(const Caller& caller, const Place& place,
                                         Node* node) const;
  OutcomeOr<ResolvedEntry> FindRow(const Caller& caller, const Place& place, Node* node) const;
  OutcomeOr<ResolvedEntry> FindFamily(const Caller& caller, const Place& place, Node* node) const;
  OutcomeOr<ResolvedEntry> FindDeleted(const Caller& caller, const Place& directory) const;
  OutcomeOr<ResolvedEntry> FindColumn(const Caller& caller, const Place& place, Node* node) const;
  // A cell that was read there; the node, if there is one, knows it afterwards.
  OutcomeOr<CachedCell> Learn(const Place& place, const Cell& cell, Node* node,
                              uint64_t looked_at) const;
  // The cell that a row or family shows.
  OutcomeOr<std::optional<CachedCell>> FindFilled(const Caller& caller, const Place& place,
                                                  Node* node) const;
  std::optional<CachedCell> UnexpiredCell(const Node* node) const;
  OutcomeOr<ResolvedEntry> FindVersionsColumn(const Caller& caller, const Place& place) const;
  OutcomeOr<ResolvedEntry> FindToml(const Place& place) const;
  OutcomeOr<ResolvedEntry> FindSelf(const Place& place) const;
  OutcomeOr<ResolvedEntry> FindLink(const Place& place) const;
  OutcomeOr<ResolvedEntry> FindNamespace(const Place& place) const;
  OutcomeOr<ResolvedEntry> FindTable(const Place& place) const;
  OutcomeOr<ResolvedEntry> FindDroppedOne(const Place& place) const;
  static OutcomeOr<ResolvedEntry> FromCell(const Place& place, const CachedCell& cell);
  static OutcomeOr<ResolvedEntry> FromCounter(const Place& place, const CachedCell& cell,
                                              Cell value);
  // A row or family that is there only by being made; null: there is none.
  OutcomeOr<UnstoredPtr> FindUnstored(const Place& row_or_family) const;
  // What is there only by being made.
  static OutcomeOr<ResolvedEntry> FromEntry(UnstoredPtr entry);  // null: ENOENT

  const ChildPlaces& places_;
  const Reading& reading_;
  const InodeTable& inodes_;
  const UnstoredEntries& unstored_;
  const RemovedFamilies& removed_families_;
  EmptyDirectories& empty_directories_;
  const CellfsDirectory& self_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_RESOLVE_RESOLVER_H_
