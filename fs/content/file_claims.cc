// SPDX-License-Identifier: MIT
#include "fs/content/file_claims.h"

#include <utility>

#include "fs/content/claim.h"
#include "fs/content/column_rights.h"
#include "fs/nodes/column_lock.h"
#include "fs/reading/later_timestamps.h"
#include "fs/reading/raw_pieces.h"
#include "fs/reading/schema_rights.h"

namespace cellfs::fs {

FileClaims::MadeOrNot FileClaims::MakeMemory(const Request& request, const Place& file,
                                             mode_t mode) const {
  CELLFS_ASSIGN_OR_RETURN(auto memory, tree_.memory_files.Make(request.uid));
  UnstoredEntry entry{file, UnstoredReason::kMemory, ToTimespec(tree_.clock.Now()),
                      std::move(memory)};
  entry.file->uid = request.uid;
  entry.file->gid = request.gid;
  entry.file->mode = mode & ~request.umask & 07777;
  entry.file->mtime = entry.file->ctime = entry.made;
  Made made{std::make_shared<const UnstoredEntry>(std::move(entry)), {}};
  if (!tree_.unstored.Add(made.claim)) return std::optional<Made>();
  return std::optional(std::move(made));
}

// What a put would be refused for is told now, because many programs do not ask how close ended.
Outcome FileClaims::CheckTakesPut(const Request& request, const Place& file) const {
  const uint64_t unput = tree_.unput_bytes.total() + UnputBytes::kBlock;
  CELLFS_RETURN_IF_FAILED(reading_.CheckMayPut(*request.caller, file, unput));
  CELLFS_RETURN_IF_FAILED(CheckIsNoLater(reading_, request.uid, file));
  if (file.kind == PlaceKind::kCell) return {};
  CELLFS_RETURN_IF_FAILED(CheckMayAddVersion(reading_, attributes_, options_, request, file));
  return file.kind == PlaceKind::kCounter ? Outcome() : reading_.CheckReadable(file);
}

FileClaims::MadeOrNot FileClaims::MakeColumn(const Request& request, const Place& file,
                                             mode_t mode) const {
  CELLFS_RETURN_IF_FAILED(CheckTakesPut(request, file));
  auto entry = std::make_shared<UnstoredEntry>();
  entry->place = file;
  entry->reason = UnstoredReason::kClaimed;
  entry->made = ToTimespec(tree_.clock.Now());
  Made made{std::move(entry), {}};
  // Others find the file from the claim on, and may put to it, or remove it: not before it is certain
  // that it is ours, and whose it is.
  const auto no_change = ColumnLock::Of(tree_.columns, file);
  if (!tree_.unstored.Add(made.claim)) return std::optional<Made>();
  Claim claim(tree_.unstored, file);
  // Somebody's first put may have come between look-up and claim; it took its own claim away with
  // it.
  if (!tree_.columns.IsAbsent(no_change.column())) {
    CELLFS_ASSIGN_OR_RETURN(auto cell,
                            ReadColumn(reading_, *request.caller, file, ReadDetail::kLengths));
    if (cell) return std::optional<Made>();
  }
  AttributeUpdate update;
  update.uid = request.uid;
  update.gid = request.gid;
  update.mode = mode & ~request.umask & 07777;
  update.anew = true;
  if (file.kind != PlaceKind::kCell) {
    // A version of a column that is there has the column's owner and mode.
    CELLFS_ASSIGN_OR_RETURN(
        auto column,
        ReadColumn(reading_, *request.caller, file.As(PlaceKind::kCell), ReadDetail::kLengths));
    if (column) {
      claim.Keep();
      return std::optional(std::move(made));
    }
  }
  if (options_.allow_other && file.kind == PlaceKind::kCell) {
    CELLFS_ASSIGN_OR_RETURN(const ShownAttributes before, attributes_.Find(file, -1));
    if (before.has_record) {
      CELLFS_ASSIGN_OR_RETURN(update.another_from,
                              FirstTimestampAbove(reading_, Caller::Superuser(), file));
    }
  }
  CELLFS_ASSIGN_OR_RETURN(made.attributes, attributes_.UpdateAndFind(file, update));
  claim.Keep();
  return std::optional(std::move(made));
}

FileClaims::MadeOrNot FileClaims::MakeByContent(const Request& request, const Place& file,
                                                mode_t mode) const {
  switch (file.traits().content) {
    case PlaceContent::kValue:
    case PlaceContent::kCounter:
      return MakeColumn(request, file, mode);
    case PlaceContent::kMemory:
      return MakeMemory(request, file, mode);
    case PlaceContent::kToml:
      CELLFS_RETURN_IF_FAILED(CheckMayReplaceToml(reading_, request, file, IsTomlShown::kNo));
      tree_.unstored.ShowToml(file.Parent());
      return std::optional(Made());
    default:
      return Outcome(EPERM);
  }
}

FileClaims::MadeOrNot FileClaims::Make(const Request& request, const Place& file, mode_t mode,
                                       bool exclusive) const {
  if (file.IsReadOnly() || options_.read_only) return Outcome(EROFS);
  MadeOrNot made = MakeByContent(request, file, mode);
  if (made.ok() && !*made && exclusive) return Outcome(EEXIST);
  return made;
}

}  // namespace cellfs::fs
