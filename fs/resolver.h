// SPDX-License-Identifier: MIT
//
// Resolver: from a directory and a name to a place, and whether something is there.
#ifndef CELLFS_FS_RESOLVER_H_
#define CELLFS_FS_RESOLVER_H_

#include <optional>
#include <string_view>

#include "fs/child_place.h"
#include "fs/mount_context.h"
#include "fs/outcome.h"
#include "fs/place.h"

namespace cellfs::fs {

// A place where something is, with what one reading told of it.
struct Found {
  Place place;
  uint64_t size = 0;       // bytes of a file
  Timestamp version = -1;  // of the cell shown, or of a cell in the directory; < 0: unknown
  std::optional<Timestamp> expires;  // when a TTL may end it
  uint64_t looked_at = 0;  // Node::NewestGeneration() before it was looked for; Find sets it
  UnstoredPtr unstored;    // where it is there only by being made
  // A family that nobody made in a row that this process made: there for everybody else.
  pid_t absent_for = 0;
};

// Thread-safe; holds nothing but the context.
class Resolver {
 public:
  explicit Resolver(MountContext& mount) : mount_(mount) {}

  // As ChildPlace.
  OutcomeOr<Place> Child(const Caller& caller, const Place& directory, std::string_view name,
                         NameUse use) {
    return ChildPlace(mount_, caller, directory, name, use);
  }
  // What is there now; ENOENT where there is nothing.
  OutcomeOr<Found> Find(const Caller& caller, const Place& place);
  OutcomeOr<Found> LookUp(const Caller& caller, const Place& directory, std::string_view name);

  // What the cell says of the place in `found`.
  static void Describe(const KnownCell& cell, Found& found);

 private:
  OutcomeOr<Found> FindByContent(const Caller& caller, const Place& place);
  OutcomeOr<Found> FindDirectory(const Caller& caller, const Place& place);
  OutcomeOr<Found> FindRow(const Caller& caller, const Place& place);
  OutcomeOr<Found> FindFamily(const Caller& caller, const Place& place);
  OutcomeOr<Found> FindColumn(const Caller& caller, const Place& place);
  // From a cell that was read there; the node, if there is one, knows it afterwards.
  OutcomeOr<Found> FromCell(const Place& place, const Cell& cell, Node* node, uint64_t looked_at);
  OutcomeOr<std::optional<Found>> FindFilled(const Caller& caller, const Place& place);
  std::optional<Found> FindKnown(const Place& place, const Node& node);
  OutcomeOr<Found> FindVersionsColumn(const Caller& caller, const Place& place);
  OutcomeOr<Found> FindToml(const Place& place);
  OutcomeOr<Found> FindSelf(const Place& place);
  OutcomeOr<Found> FindLink(const Place& place);
  OutcomeOr<Found> FindNamespace(const Place& place);
  OutcomeOr<Found> FindTable(const Place& place);
  // What is there only by being made.
  static OutcomeOr<Found> FromEntry(UnstoredPtr entry);  // null: ENOENT

  MountContext& mount_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_RESOLVER_H_
