// SPDX-License-Identifier: MIT
//
// Files: making, opening, reading and writing them.
#include "fs/operations/filesystem.h"

#include "fs/content/cell_reader.h"
#include "fs/content/claim.h"
#include "fs/content/view_reader.h"
#include "fs/files/shared_file.h"
#include "fs/operations/with_name.h"
#include "fs/reading/filter_rights.h"
#include "fs/reading/mode_rights.h"
#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

constexpr int kMaxMakeAttempts = 100;

// Where the file's bytes cannot change but by a request of the kernel or with a word to it.
bool MayKeepPages(const Freshness& freshness, const Place& place) {
  return place.kind == PlaceKind::kCell && freshness.is_exact() && place.view == nullptr &&
         !place.table.IsSystemTable();
}

// What is made when it is read has no length that the kernel could rely on.
bool IsLiveText(const Place& place) {
  return place.kind == PlaceKind::kSelfFile || place.kind == PlaceKind::kCounter;
}

// Owner and mode there may be those that it had.
bool ShowsWhatWas(const Place& place) {
  return place.IsOfPast() || place.IsVersion() || place.kind == PlaceKind::kDeletedCell;
}

// Whether the name may show another version later, which need not be as open.
bool MayShowAnother(const Place& place) {
  if (place.kind == PlaceKind::kDeletedCell) return true;
  return place.view != nullptr && !place.view->IsFixed() && place.IsColumn();
}

}  // namespace

// The file at a place where look-up found none: made now, or by somebody else since then. One that
// goes away again in between is made anew.
OutcomeOr<ResolvedEntry> FileSystem::MakeOrFind(const Request& request, const Place& place,
                                                mode_t mode, bool exclusive, OpenMode& open_mode) {
  for (int attempt = 0; attempt < kMaxMakeAttempts; ++attempt) {
    auto made = parts_.claims.Make(request, place, mode, exclusive);
    if (!made.ok()) return LogFailure("create", place, made.status());
    open_mode.created = made->has_value();
    open_mode.exclusive = exclusive;
    if (open_mode.created && (*made)->claim != nullptr) {
      OutcomeOr<ResolvedEntry> claimed(std::in_place, place, std::move((*made)->claim));
      claimed->attributes = (*made)->attributes;
      return claimed;
    }
    auto found = parts_.resolver.Find(*request.caller, place);
    if (found.ok() || found.error() != ENOENT) return found;
  }
  return LogFailure("create", place, {EBUSY, "others make and remove the file all the time"});
}

OutcomeOr<CreatedFile> FileSystem::Create(const Request& request, Node& directory,
                                          std::string_view name, mode_t mode, OpenMode open_mode,
                                          bool exclusive) {
  const ReadOnce once = AskOnce(directory);
  const auto parent = directory.place();
  CELLFS_RETURN_IF_FAILED(CheckWritable(*parent));
  const auto child = parts_.resolver.Child(*request.caller, *parent, name, NameUse::kCreateFile);
  if (!child.ok()) return LogFailure("create", *parent, WithName(name, child.status()));
  while (true) {
    auto created = CreateOnce(request, directory, *child, mode, open_mode, exclusive);
    if (!created.ok() || created->handle != nullptr) return created;
    parts_.tree.inodes.Forget(*created->entry.node, 1);
  }
}

// The kernel knew of no file, so it has asked for the right to make one alone. What a command has
// made meanwhile may be closed to who opens it.
Outcome FileSystem::CheckMayOpenFound(const Request& request, const ResolvedEntry& found,
                                      const OpenMode& mode) const {
  CELLFS_ASSIGN_OR_RETURN(const struct stat shown,
                          parts_.shown.StatOf(found, nullptr, std::nullopt));
  const OwnerAndMode owner{shown.st_uid, shown.st_gid, shown.st_mode};
  const mode_t permissions =
      (mode.read ? kReadPermission : 0) | (mode.write ? kWritePermission : 0);
  return CheckMode(parts_.reading, request, found.place, owner, permissions);
}

// Copies of files from elsewhere have such names by chance.
void FileSystem::HintAtVersion(const Place& made) {
  if (made.kind != PlaceKind::kVersion) return;
  Place named = made.As(PlaceKind::kCell);
  named.qualifier += "@" + std::to_string(made.timestamp);
  parts_.errors.Hint("create", made,
                     "it is a version of '" + made.qualifier + "'; a file of that name is '" +
                         parts_.names.Of(named) + "'");
}

// Without a handle where the file that was found, not made, lost its name meanwhile.
OutcomeOr<CreatedFile> FileSystem::CreateOnce(const Request& request, Node& directory,
                                              const Place& place, mode_t mode, OpenMode open_mode,
                                              bool exclusive) {
  const uint64_t closings = parts_.tree.columns.closings();
  const auto found = MakeOrFind(request, place, mode, exclusive, open_mode);
  if (!found.ok()) return found.status();
  if (!open_mode.created) {
    const Outcome allowed = CheckMayOpenFound(request, *found, open_mode);
    if (!allowed.ok()) return LogFailure("create", place, allowed);
  }
  Claim claim(parts_.tree.unstored, place);
  if (!open_mode.created) claim.Keep();  // it is not ours
  if (open_mode.created) {
    EntriesChanged(directory);
    HintAtVersion(place);
  }
  CreatedFile created;
  NodePtr node = parts_.tree.inodes.LookUp(place);
  const auto fail = [&](const Outcome& outcome) {
    parts_.tree.inodes.Forget(*node, 1);
    return LogFailure("create", place, outcome);
  };
  auto opened = parts_.writers.Open(request, node, place, open_mode);
  if (!opened.ok()) return fail(opened.status());
  created.handle = AddHandle(*node, place, *opened, open_mode, {false, closings});
  created.keep_cache = opened->keep_cache;
  created.direct_io = opened->direct_io;
  if (open_mode.truncate) node->kernel_size().IsSet(0);
  // Into what was just made nothing is written yet.
  const auto pending = open_mode.created ? std::nullopt : node->pending();
  const auto shown = parts_.shown.StatOf(*found, node.get(), pending);
  if (!shown.ok()) {
    node->RemoveHandle(opened->handle.get());
    return fail(shown.status());
  }
  claim.Keep();  // the handle takes it away now
  created.entry.attributes = *shown;
  created.entry.name_valid_seconds = parts_.shown.ValiditySeconds(*found);
  created.entry.attributes_valid_seconds = 0;
  created.entry.node = std::move(node);
  return created;
}

OutcomeOr<Entry> FileSystem::MakeFile(const Request& request, Node& directory,
                                      std::string_view name, mode_t mode) {
  const OpenMode open_mode{.read = false, .write = true};
  const ReadOnce once = AskOnce(directory);
  CELLFS_ASSIGN_OR_RETURN(CreatedFile created,
                          Create(request, directory, name, mode, open_mode, true));
  Node& node = *created.entry.node;
  const Outcome put = created.handle->PutAll();
  Release(node, created.handle);
  if (put.ok()) return std::move(created.entry);
  Outcome failed = LogFailure("mknod", node, put);
  Forget(node, 1);
  return failed;
}

// Whether somebody holds something else than appended bytes that is not put. Those are in the pages,
// so that who opened the file before they came has read them: nobody who opens it afterwards may
// read less.
bool FileSystem::IsEdited(const Node& node, const SharedFile& file) {
  if (file.is_edited()) return true;
  const auto pending = node.pending();
  return pending && !pending->follows_stored;
}

OutcomeOr<OpenedFile> FileSystem::OpenForReading(const Request& request, NodePtr node,
                                                 const Place& place) {
  OpenedFile opened;
  opened.no_flush = true;
  if (IsLiveText(place)) {
    CELLFS_ASSIGN_OR_RETURN(std::string text, parts_.contents.WholeFile(*request.caller, place));
    opened.handle = std::make_shared<TextReader>(std::move(text));
    opened.direct_io = true;
    return opened;
  }
  // The pages are of the name, whatever that shows.
  const bool may_show_others = parts_.options.allow_other && MayShowAnother(place);
  if (place.view != nullptr) {
    auto reader = std::make_shared<ViewReader>(parts_.tree.open_file_memory, parts_.contents,
                                               request, std::move(node));
    if (MayShowAnother(place)) {
      CELLFS_ASSIGN_OR_RETURN(const Timestamp version, reader->Open());
      CELLFS_RETURN_IF_FAILED(CheckMayReadVersion(request, place, version));
    }
    opened.direct_io = may_show_others;
    opened.handle = std::move(reader);
    return opened;
  }
  auto reader = std::make_shared<CellReader>(parts_.tree, parts_.contents, request, node);
  if (MayShowAnother(place) && !node->unlinked()) {
    CELLFS_ASSIGN_OR_RETURN(const Timestamp version, reader->KeepToVersion());
    CELLFS_RETURN_IF_FAILED(CheckMayReadVersion(request, place, version));
    opened.direct_io = may_show_others;
  }
  if (place.kind == PlaceKind::kDeletedCell) {
    CELLFS_ASSIGN_OR_RETURN(const ResolvedEntry found,
                            parts_.resolver.Find(*request.caller, place));
    CELLFS_ASSIGN_OR_RETURN(const struct stat shown,
                            parts_.shown.StatOf(found, node.get(), std::nullopt));
    restoring_readers_.Opened(place, shown, request.pid);
  }
  bool is_written = false;
  bool is_stale = false;
  bool is_edited = false;
  do {
    // In this order: who ends to write says before that the pages are stale.
    is_written = reader->file().writers() > 0;
    is_stale = node->stale_pages(parts_.clock->Now()) != 0;
    if (is_stale) {
      // The kernel would drop them when the open has returned, and others may write by then.
      const FilePages pages = parts_.tree.kernel.DropStalePages(*node);
      is_written = pages.is_written;
      is_stale = pages.are_stale;
    }
    is_edited = is_written && IsEdited(*node, reader->file());
    // Who was an editor, and is none any more, has put meanwhile.
  } while (is_written && !is_edited && !is_stale && node->has_stale_pages());
  if (node->unlinked() || is_edited) {
    // Somebody is writing it: this one reads the value before, whole, and past the pages. Or the
    // name has just gone: what has it now is read.
    CELLFS_RETURN_IF_FAILED(reader->Hold());
    opened.direct_io = true;
  } else if (is_written && (is_stale || !MayKeepPages(parts_.freshness, place))) {
    opened.direct_io = true;  // pages must not be dropped now, and are not right
  } else if (node->kernel_size().MayCutWritten()) {
    opened.direct_io = true;
  } else {
    opened.keep_cache = !is_stale && MayKeepPages(parts_.freshness, place);
  }
  // Even a direct open drops pages, unless it says that they are to be kept.
  if (is_written) opened.keep_cache = true;
  opened.handle = std::move(reader);
  return opened;
}

// Adds the handle under the lock, so that this one is told as well when the name goes. Null where
// it may have gone since `seen`; but a file that was made here and is gone again is one without a
// name.
FileHandle* FileSystem::AddHandle(Node& node, const Place& place, const OpenedFile& opened,
                                  const OpenMode& mode, const SeenFile& seen) {
  if (place.view != nullptr) return node.AddHandle(opened.handle);
  const auto held = ColumnLock::Of(node);
  const bool is_as_seen =
      node.unlinked() == seen.unlinked && parts_.tree.columns.closings() == seen.closings;
  if (!is_as_seen && !mode.created) return nullptr;
  if (const auto file = node.unlinked() && mode.write ? node.shared_file() : nullptr) {
    if (file->orphan() == nullptr)
      file->BecomeOrphan(parts_.tree.open_file_memory, opened.handle->user, std::string(),
                           ToTimespec(parts_.clock->Now()));
    opened.handle->NameGoes();
    opened.handle->NameWent();
  }
  return node.AddHandle(opened.handle);
}

// The kernel has asked the owner and the mode that it had.
Outcome FileSystem::CheckMayToday(const Request& request, const Place& past, mode_t permissions) {
  if (!IsBoundByModes(parts_.reading, request)) return {};
  if (!past.HasAttributes()) {
    if (!past.IsDirectory()) return {};
    return CheckMayToday(request, past.DataDirectory(), permissions);
  }
  Timestamp version = past.IsVersion() ? past.timestamp : -1;
  const bool shows_any = past.IsOfPast() || past.kind == PlaceKind::kDeletedCell;
  if (shows_any && past.IsColumn() && version < 0) {
    CELLFS_ASSIGN_OR_RETURN(const auto found, parts_.resolver.Find(*request.caller, past));
    version = found.version;
  }
  return CheckMayToday(request, past, version, permissions);
}

Outcome FileSystem::CheckMayToday(const Request& request, const Place& past, Timestamp version,
                                  mode_t permissions) {
  CELLFS_ASSIGN_OR_RETURN(const auto asked, parts_.attributes.FindAskedToday(past, version));
  CELLFS_RETURN_IF_FAILED(
      CheckMode(parts_.reading, request, past, asked.present, permissions));
  if (asked.name_space) {
    CELLFS_RETURN_IF_FAILED(CheckMode(parts_.reading, request, past, *asked.name_space,
                                      kSearchPermission));
  }
  if (!asked.deleted) return {};
  return CheckMode(parts_.reading, request, past, *asked.deleted, permissions);
}

// Of directories that show a row of whoever has its name now: who has one of them open may have come
// there when it was another's. One without a name, as the row's own, shows nothing.
Outcome FileSystem::CheckStillReaches(const Request& request, const Place& directory,
                                      mode_t permissions) {
  using enum PlaceKind;
  const bool is_of_controls = directory.kind == kVersionsDirectory ||
                              directory.kind == kVersionsColumn ||
                              directory.kind == kCountersDirectory ||
                              directory.kind == kDeletedDirectory;
  const bool follows_names = directory.view != nullptr ? !directory.IsOfPast() : is_of_controls;
  if (!follows_names || directory.row.empty() || !IsBoundByModes(parts_.reading, request))
    return {};
  Place above = directory.HasAttributes() ? directory : directory.DataDirectory();
  for (mode_t asked = permissions; above.kind != kTable; asked = kSearchPermission) {
    CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode owner, parts_.attributes.FindOwner(above));
    CELLFS_RETURN_IF_FAILED(CheckMode(parts_.reading, request, above, owner, asked));
    above = above.Parent();
  }
  return {};
}

// What the kernel has asked for is what the name showed then.
Outcome FileSystem::CheckMayReadVersion(const Request& request, const Place& place,
                                        Timestamp version) {
  if (!IsBoundByModes(parts_.reading, request) || version < 0) return {};
  if (!place.IsOfPast()) {
    CELLFS_ASSIGN_OR_RETURN(const ShownAttributes shown, parts_.attributes.Find(place, version));
    CELLFS_RETURN_IF_FAILED(
        CheckMode(parts_.reading, request, place, shown, kReadPermission));
  }
  if (!ShowsWhatWas(place)) return {};
  return CheckMayToday(request, place, version, kReadPermission);
}

// Pages that others' reads have left in the kernel are read without a request, so the right is
// asked for here. What has lost its name is read past them.
Outcome FileSystem::CheckMayOpen(const Request& request, const Node& node, const Place& place,
                                 const OpenMode& mode) {
  if (ShowsWhatWas(place)) {
    const mode_t read = mode.read ? kReadPermission : 0;
    const mode_t write = mode.write ? kWritePermission : 0;
    CELLFS_RETURN_IF_FAILED(CheckMayToday(request, place, read | write));
  }
  if (request.caller->is_superuser() || !mode.read || node.unlinked()) return {};
  return parts_.resolver.Find(*request.caller, place).status();
}

// The name went between the kernel's look-up and now, and may be another file's: that is what is
// read. Where the kernel enforces modes, it has looked at those of the file before, so it must look
// again.
bool FileSystem::MayOpenLate(const Request& request, const OpenMode& mode) const {
  if (mode.write) return mode.truncate;
  return !parts_.options.allow_other || request.uid == 0;
}

// A file whose first put failed, or that a TTL has ended, may still have its name in the kernel.
// Opened for writing it would come back without a word to the kernel about its directory; ESTALE
// makes the kernel look the name up again, and create the file if it may.
Outcome FileSystem::CheckMayPutOver(const Node& node, const Place& place, const OpenMode& mode) {
  const auto put_over = [&](Timestamp version) -> Outcome {
    const bool above = mode.truncate && place.kind == PlaceKind::kCell;
    if (!above || version < kLatestTimestamp - 1) return {};
    return Status(StatusCode::kTimestampsExhausted, "no timestamp is left above the newest");
  };
  if (const auto cell = node.cached_cell(); cell && !cell->expires) return put_over(cell->version);
  if (!place.IsColumn() || place.kind == PlaceKind::kCounter || node.unlinked()) return {};
  const auto found = parts_.resolver.Find(Caller::Superuser(), place);
  if (found.ok()) return put_over(found->version);
  return found.error() == ENOENT ? Outcome(ESTALE) : found.status();
}

// Which the release does else, some time after close(2) has returned: who opens the file then shall
// find them. A file that was made is found anyway.
void FileSystem::PutClosedStarts(const Node& node, bool made_too) {
  if (node.handle_count() == 0) return;
  for (const auto& handle : node.handles()) handle->PutClosedStart(made_too);
}

// And who looks at its history.
void FileSystem::PutClosedStartOf(const Place& history) const {
  if (history.kind != PlaceKind::kVersionsColumn || history.view != nullptr) return;
  const NodePtr file = parts_.tree.inodes.Find(history.As(PlaceKind::kCell));
  if (file != nullptr) PutClosedStarts(*file, /*made_too=*/true);
}

OutcomeOr<OpenReply> FileSystem::Open(const Request& request, Node& node, const OpenMode& mode) {
  const NodePtr shared = node.shared_from_this();
  const ReadOnce once = AskOnce(node);
  PutClosedStarts(node, /*made_too=*/false);
  OpenReply reply;
  while (reply.handle == nullptr) {
    const Snapshot<Place> place = node.place();
    if (mode.write) CELLFS_RETURN_IF_FAILED(CheckWritable(*place));
    const SeenFile seen{node.unlinked(), parts_.tree.columns.closings()};
    const bool unlinked = seen.unlinked;
    if (unlinked && mode.read && !MayOpenLate(request, mode)) return Outcome(ESTALE);
    const Outcome allowed = CheckMayOpen(request, node, *place, mode);
    const Outcome may_put = mode.write ? CheckMayPutOver(node, *place, mode) : Outcome();
    if (node.unlinked() != unlinked) continue;  // it went meanwhile
    if (!allowed.ok()) return LogFailure("open", node, allowed);
    if (may_put.error() == ESTALE) return may_put;
    if (!may_put.ok()) return LogFailure("open", node, may_put);
    auto opened = mode.write ? parts_.writers.Open(request, shared, *place, mode)
                             : OpenForReading(request, shared, *place);
    if (!opened.ok() && node.unlinked() != unlinked) continue;
    if (!opened.ok()) return LogFailure("open", node, opened.status());
    reply.keep_cache = opened->keep_cache;
    reply.direct_io = opened->direct_io;
    reply.no_flush = opened->no_flush;
    reply.handle = AddHandle(node, *place, *opened, mode, seen);
  }
  if (mode.truncate) node.kernel_size().IsSet(0);
  return reply;
}

OutcomeOr<SharedBytes> FileSystem::Read(const Request& request, Node& node, FileHandle* handle,
                                        uint64_t offset, size_t size, ReadFor what) {
  const ReadOnce once = AskOnce(node);
  if (handle == nullptr) return ReadUnopened(request, node, offset, size);
  auto bytes = handle->Read(offset, size, what);
  if (!bytes.ok()) return LogFailure("read", node, bytes.status());
  return bytes;
}

std::shared_ptr<FileHandle> FileSystem::MakeReader(const Request& request, NodePtr node) {
  const Snapshot<Place> place = node->place();
  if (place->view == nullptr)
    return std::make_shared<CellReader>(parts_.tree, parts_.contents, request, std::move(node));
  return std::make_shared<ViewReader>(parts_.tree.open_file_memory, parts_.contents, request,
                                      std::move(node));
}

// On a read-only mount the kernel opens nothing. The last file read is kept, for long ones come in
// many pieces.
OutcomeOr<SharedBytes> FileSystem::ReadUnopened(const Request& request, Node& node, uint64_t offset,
                                                size_t size) {
  std::shared_ptr<FileHandle> reader;
  {
    std::lock_guard lock(last_read_mutex_);
    if (last_read_node_ != &node || last_reader_ == nullptr || offset == 0) {
      last_read_node_ = &node;
      last_reader_ = MakeReader(request, node.shared_from_this());
    }
    reader = last_reader_;
  }
  auto bytes = reader->Read(offset, size, ReadFor::kPages);
  if (bytes.ok() && offset + bytes->bytes.size() >= bytes->owner->size()) {
    std::lock_guard lock(last_read_mutex_);
    if (last_reader_ == reader) last_reader_.reset();
  }
  if (!bytes.ok()) return LogFailure("read", node, bytes.status());
  return bytes;
}

OutcomeOr<size_t> FileSystem::Write(Node& node, FileHandle& handle, std::string_view bytes,
                                    uint64_t offset, WriteFrom from) {
  const Outcome written = handle.Write(bytes, offset, from);
  if (!written.ok()) return LogFailure("write", node, written);
  return bytes.size();
}

Outcome FileSystem::Allocate(Node& node, FileHandle& handle, uint64_t size) {
  return LogFailure("fallocate", node, handle.Allocate(size));
}

Outcome FileSystem::Flush(Node& node, FileHandle& handle) {
  const ReadOnce once = AskOnce(node);
  Outcome flushed = handle.Flush();
  return flushed.ok() ? flushed : LogFailure("close", node, std::move(flushed));
}

Outcome FileSystem::Sync(Node& node, FileHandle& handle) {
  const ReadOnce once = AskOnce(node);
  Outcome synced = handle.Sync();
  if (synced.ok() && !handle.WaitsForDisk()) synced = parts_.disk.Await(parts_.disk.Issue());
  return synced.ok() ? synced : LogFailure("fsync", node, std::move(synced));
}

void FileSystem::Release(Node& node, FileHandle* handle) {
  if (handle == nullptr) return;
  const ReadOnce once = AskOnce(node);
  handle->Release();
  node.RemoveHandle(handle);
  if (!restoring_readers_.any()) return;
  const Snapshot<Place> place = node.place();
  if (place->kind == PlaceKind::kDeletedCell) restoring_readers_.Closed(*place);
}

}  // namespace cellfs::fs
