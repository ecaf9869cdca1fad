// SPDX-License-Identifier: MIT
//
// Resolver: from a directory and a name to a place, and whether something is there.
#ifndef CELLFS_FS_RESOLVE_RESOLVER_H_
#define CELLFS_FS_RESOLVE_RESOLVER_H_

#include <optional>
#include <string_view>

#include "fs/base/outcome.h"
#include "fs/mount/mount_context.h"
#include "fs/resolve/child_place.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// A place where something is, with what one reading told of it.
struct ResolvedEntry {
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
  OutcomeOr<ResolvedEntry> Find(const Caller& caller, const Place& place);
  OutcomeOr<ResolvedEntry> LookUp(const Caller& caller, const Place& directory,
                                  std::string_view name);

  // What the cell says of the place in `found`.
  static void Describe(const CachedCell& cell, ResolvedEntry& found);

 private:
  OutcomeOr<ResolvedEntry> FindByContent(const Caller& caller, const Place& place);
  OutcomeOr<ResolvedEntry> FindDirectory(const Caller& caller, const Place& place);
  OutcomeOr<ResolvedEntry> FindRow(const Caller& caller, const Place& place);
  OutcomeOr<ResolvedEntry> FindFamily(const Caller& caller, const Place& place);
  OutcomeOr<ResolvedEntry> FindColumn(const Caller& caller, const Place& place);
  // From a cell that was read there; the node, if there is one, knows it afterwards.
  OutcomeOr<ResolvedEntry> FromCell(const Place& place, const Cell& cell, Node* node,
                                    uint64_t looked_at);
  OutcomeOr<std::optional<ResolvedEntry>> FindFilled(const Caller& caller, const Place& place);
  std::optional<CachedCell> UnexpiredCell(const Node& node);
  OutcomeOr<ResolvedEntry> FindVersionsColumn(const Caller& caller, const Place& place);
  OutcomeOr<ResolvedEntry> FindToml(const Place& place);
  OutcomeOr<ResolvedEntry> FindSelf(const Place& place);
  OutcomeOr<ResolvedEntry> FindLink(const Place& place);
  OutcomeOr<ResolvedEntry> FindNamespace(const Place& place);
  OutcomeOr<ResolvedEntry> FindTable(const Place& place);
  // What is there only by being made.
  static OutcomeOr<ResolvedEntry> FromEntry(UnstoredPtr entry);  // null: ENOENT

  MountContext& mount_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_RESOLVE_RESOLVER_H_
