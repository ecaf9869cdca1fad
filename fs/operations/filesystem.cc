// SPDX-License-Identifier: MIT
//
// Names, attributes and directories. Files are in filesystem_files.cc.
#include "fs/operations/filesystem.h"

#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include "engine/waiting.h"
#include "fs/files/shared_file.h"
#include "fs/operations/dropped.h"
#include "fs/operations/with_name.h"
#include "fs/reading/filter_rights.h"
#include "fs/requests/exclusive_open.h"
#include "fs/requests/running_request.h"
#include "fs/store/present_time.h"
#include "fs/tree/time_text.h"
#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

// How long a listing looks for more to answer.
constexpr std::chrono::milliseconds kLongestListing{100};
// An open stream holds a batch of entries, and where the kernel does not keep the listing the keys
// behind its offsets.
constexpr uint64_t kBytesOfListing = uint64_t{128} << 10;
// Free bytes of the heap that are not given back: what long values and memstores leave there.
constexpr size_t kKeptHeap = size_t{32} << 20;

}  // namespace

FileSystem::FileSystem(Store& store, MountOptions options, std::shared_ptr<const Clock> clock,
                       StoreControls* controls)
    : parts_(store, std::move(options), std::move(clock)),
      controls_(controls),
      rewritten_(
          parts_.tree.inodes, [this](const NodePtr& node) { Revalidate(node); },
          [this](const TableName& table) { parts_.tree.kernel.TableChanged(table); },
          [this] { parts_.tree.kernel.ForgetAllLater(); }) {
  if (controls_ != nullptr) controls_->SetRewriteObserver(&rewritten_);
}

FileSystem::~FileSystem() {
  if (controls_ != nullptr) controls_->SetRewriteObserver(nullptr);
  try {
    EndHandles(&FileHandle::Abandon, [](const FileHandle&) { return true; });
    StoreDirectoryTimes();
  } catch (const std::exception&) {
    // Memory has run out: what has not been put was not acknowledged.
  }
}

void FileSystem::ReleaseClosed() {
  EndHandles(&FileHandle::Release, [](const FileHandle& handle) { return handle.SeemsClosed(); });
}

// Handles and their nodes hold each other until then.
void FileSystem::EndHandles(void (FileHandle::*end)(), bool (*is_meant)(const FileHandle&)) {
  for (const NodePtr& node : parts_.tree.inodes.FindAll([](const Place&) { return true; })) {
    for (const auto& handle : node->handles()) {
      if (!is_meant(*handle)) continue;
      ((*handle).*end)();
      node->RemoveHandle(handle.get());
    }
  }
}

void FileSystem::LetGoUnused() {
  parts_.asof.LetGoUnused();
  StoreDirectoryTimes();
  if (parts_.tree.inodes.Shrink() || mallinfo2().fordblks > kKeptHeap) malloc_trim(0);
}

void FileSystem::Revalidate(const NodePtr& node) {
  const Snapshot<Place> place = node->place();
  const auto found = parts_.resolver.Find(Caller::Superuser(), *place);
  parts_.tree.kernel.Changed(node, !found.ok() && found.error() == ENOENT);
}

Outcome FileSystem::LogFailure(std::string_view operation, const Place& place, Outcome outcome) {
  // Who reads meets it in a disabled table alone, which is no reason to look for a mount's options.
  // A look-up may be that of who writes.
  const bool reads = operation == "readdir" || operation == "read";
  if (reads && outcome.error() == EROFS) outcome = {ENOMEDIUM, outcome.reason()};
  const bool given_up = outcome.error() == EINTR;
  if (!given_up) parts_.errors.Record(operation, place, outcome);
  return outcome;
}

Outcome FileSystem::LogFailure(std::string_view operation, const Node& node, Outcome outcome) {
  const Snapshot<Place> place = node.place();
  return LogFailure(operation, *place, std::move(outcome));
}

Outcome FileSystem::FinishChange(std::string_view operation, Node& directory, Outcome outcome) {
  if (!outcome.ok()) return LogFailure(operation, directory, std::move(outcome));
  EntriesChanged(directory);
  return {};
}

void FileSystem::EntriesChanged(Node& directory) {
  directory.EntriesChanged();
  const Snapshot<Place> place = directory.place();
  if (!place->HasAttributes()) return;
  directory.ForgetFirstTime();
  NoteDirectoryTime(*place);
}

void FileSystem::NoteDirectoryTime(const Place& directory) {
  if (parts_.tree.directory_times.Note(directory, parts_.clock->Now())) {
    parts_.delayed.Add(kDaemonItself, [this] { StoreDirectoryTimes(); });
  }
}

void FileSystem::NamesChanged(const Place& directory) {
  const NodePtr node = parts_.tree.inodes.Find(directory);
  if (node == nullptr) {
    NoteDirectoryTime(directory);
    return;
  }
  EntriesChanged(*node);
  parts_.tree.kernel.Changed(node, /*is_gone=*/false);
}

// What entries came and went changes the times of their directories.
void FileSystem::StoreDirectoryTimes() {
  for (const DirectoryTimes::Change& change : parts_.tree.directory_times.All()) {
    const NodePtr node = parts_.tree.inodes.Find(change.directory);
    if (node != nullptr) node->KeepFirstTime(change.time, node->forgotten_first_times());
    const auto found = parts_.resolver.Find(Caller::Superuser(), change.directory);
    // What is gone needs no time, and one whose cell says the same none of its own.
    if (found.ok()) {
      const bool is_shown = found->version == change.time && !change.was_kept;
      const Status stored =
          parts_.attributes.StoreDirectoryTime(change.directory, change.time, is_shown);
      parts_.errors.Record("setattr", change.directory, stored);
      if (!stored.ok()) continue;
      if (node != nullptr && !is_shown) node->ForgetFirstTime();
    }
    parts_.tree.directory_times.Stored(change);
  }
}

Outcome FileSystem::CheckWritable(const Place& place) {
  if (parts_.options.read_only)
    return LogFailure("change", place, {EROFS, "the mount is read-only"});
  if (!place.IsReadOnly()) return {};
  return LogFailure(
      "change", place,
      {EROFS, "what .asof, .scan, .cellfs and the namespace hbase show is read-only"});
}

// ---- Names --------------------------------------------------------------------------------------

// Of the past the kernel knows the modes of then, and would let everybody through whom these let.
// Today's are asked at each step (CheckMayToday), so it keeps no names.
bool FileSystem::IsAskedAtEachStep(const Place& place) const {
  return parts_.options.allow_other && place.IsOfPast();
}

OutcomeOr<Entry> FileSystem::MakeEntry(const ResolvedEntry& found) {
  Entry entry;
  entry.node = parts_.tree.inodes.LookUp(found.place);
  const uint64_t growths = entry.node->kernel_size().growths();
  const auto pending = entry.node->pending();
  const auto shown = parts_.shown.StatOf(found, entry.node.get(), pending);
  if (!shown.ok()) {
    Forget(*entry.node, 1);
    return LogFailure("stat", found.place, shown.status());
  }
  NoticeOtherWriters(found, *entry.node);
  entry.attributes = *shown;
  const bool is_for_all = found.absent_for == 0 && !found.may_be_made;
  const double valid_seconds = is_for_all ? parts_.shown.ValiditySeconds(found) : 0;
  entry.name_valid_seconds = IsAskedAtEachStep(found.place) ? 0 : valid_seconds;
  entry.attributes_valid_seconds =
      valid_seconds == 0 ? 0 : AttributesValidSeconds(found, *entry.node, pending.has_value());
  entry.raced = IsRaced(found, *entry.node);
  if (!entry.raced) entry.node->kernel_size().IsTold(shown->st_size, growths);
  return entry;
}

// The column changed while we read it. The kernel would cache a stale size, so the caller retries.
bool FileSystem::IsRaced(const ResolvedEntry& found, const Node& node) {
  return found.looked_at < node.generation();
}

// While something is not put yet, its time and size are not the last word.
double FileSystem::AttributesValidSeconds(const ResolvedEntry& found, const Node& node,
                                          bool is_pending) {
  if (found.unstored && !found.place.IsDirectory()) return 0;
  if (!found.place.IsDirectory() && (is_pending || IsRaced(found, node))) return 0;
  // Where a view shows what is in force today, nobody is told of a change.
  const bool shows_today = found.place.view != nullptr && !parts_.attributes.ShowsThen(found.place);
  if (parts_.options.allow_other && shows_today) return 0;
  return parts_.shown.ValiditySeconds(found);
}

ReadOnce FileSystem::AskOnce(const Node& node) const {
  if (parts_.told_changes == nullptr) return ReadOnce(false);
  const Snapshot<Place> place = node.place();
  return ReadOnce(!place->family.empty());
}

OutcomeOr<Entry> FileSystem::LookUp(const Request& request, Node& directory,
                                    std::string_view name) {
  while (true) {
    auto entry = LookUpOnce(request, directory, name);
    if (!entry.ok() || !entry->raced) return entry;
    Forget(*entry->node, 1);
  }
}

OutcomeOr<Entry> FileSystem::LookUpOnce(const Request& request, Node& directory,
                                        std::string_view name) {
  const ReadOnce once(parts_.told_changes != nullptr);
  const auto place = directory.place();
  if (place->IsOfPast())
    CELLFS_RETURN_IF_FAILED(CheckMayToday(request, *place, kSearchPermission));
  CELLFS_RETURN_IF_FAILED(CheckStillReaches(request, *place, kSearchPermission));
  if (place->kind == PlaceKind::kVersionsDirectory) {
    const auto child = parts_.resolver.Child(*request.caller, *place, name, NameUse::kLookUp);
    if (child.ok()) PutClosedStartOf(*child);
  }
  auto found = parts_.resolver.LookUp(*request.caller, *place, name);
  const bool is_of_deleted =
      place->kind == PlaceKind::kDeletedDirectory || place->kind == PlaceKind::kDeletedFamily;
  if (!found.ok() && found.error() == ENOENT && is_of_deleted) {
    return LookUpRestored(request, *place, name);
  }
  if (!found.ok()) {
    // A missing name is no failure worth a line, but a query or a time that is not understood is.
    const bool is_any_name =
        place->kind != PlaceKind::kScanDirectory && place->kind != PlaceKind::kAsofDirectory;
    if (found.error() == ENOENT && is_any_name) return Outcome(ENOENT);
    return LogFailure("look-up", *place, found.status());
  }
  if (found->absent_for != 0 && found->absent_for == request.pid) return Outcome(ENOENT);
  if (found->may_be_made && MakesExclusively(request.pid)) return Outcome(ENOENT);
  if (place->kind == PlaceKind::kScanDirectory) KeepQuery(*place, name, found->place);
  if (place->kind == PlaceKind::kAsofDirectory) HintAtSeconds(*place, name);
  if (found->place.kind == PlaceKind::kTable && found->place.IsOfPast()) HintAtLosses(found->place);
  // A declared family with nothing in it is listed as soon as a cell comes to it, and the kernel
  // will not know.
  const bool is_bare_family =
      found->place.kind == PlaceKind::kFamily && found->version < 0 && !found->unstored;
  if (is_bare_family) directory.DoNotCacheListing();
  return MakeEntry(*found);
}

// By another thread: this one answers the kernel, which has locked .scan for it.
void FileSystem::KeepQuery(const Place& scan_directory, std::string_view name,
                           const Place& query) {
  if (parts_.tree.inodes.Find(query) != nullptr) return;
  if (const auto oldest = queries_.Add({scan_directory, std::string(name)}))
    parts_.tree.kernel.ForgetName(oldest->scan_directory, oldest->name);
}

// Ten digits are the seconds of today, and milliseconds of 1970.
void FileSystem::HintAtSeconds(const Place& asof_directory, std::string_view name) {
  const auto time = ReadTimestamp(name);
  if (!time || name.size() != 10) return;
  const std::string digits(name);
  parts_.errors.Hint("look-up", asof_directory,
                     digits + " are milliseconds, " + TimeText(*time) + "; for seconds: .asof/@" +
                         digits);
}

// A backup from there would lack something without a word.
void FileSystem::HintAtLosses(const Place& past_table) {
  const auto incomplete = past_table.view->TakeIncomplete(past_table.table);
  if (incomplete.empty()) return;
  std::string had;
  for (const std::string& family : incomplete) {
    if (family.empty()) continue;
    had += (had.empty() ? "family '" : ", '") + family + "'";
  }
  if (incomplete.front().empty()) had = "the table";
  const std::string time = std::to_string(past_table.view->Time());
  parts_.errors.Hint("look-up", past_table,
                     "this time was looked at too late: VERSIONS, deletes or a truncate have taken "
                     "some of what " + had + " had; 'cellfs restore --dry-run --at " + time +
                     "' says of what it is not known");
}

// What the asking process has just copied out of .deleted.
OutcomeOr<Entry> FileSystem::LookUpRestored(const Request& request, const Place& directory,
                                            std::string_view name) {
  CELLFS_ASSIGN_OR_RETURN(
      const Place place, parts_.resolver.Child(*request.caller, directory, name, NameUse::kLookUp));
  const auto shown = restoring_readers_.Find(place, request.pid);
  if (!shown) return Outcome(ENOENT);
  Entry entry;
  entry.node = parts_.tree.inodes.LookUp(place);
  entry.attributes = *shown;
  return entry;
}

OutcomeOr<std::string> FileSystem::ReadLink(const Request& /*request*/, Node& node) {
  const auto place = node.place();
  if (place->kind != PlaceKind::kAsofLink) return Outcome(EINVAL);
  const Timestamp now =
      place->name == "now" ? AwaitPresent(*parts_.clock, parts_.mutations) : parts_.clock->Now();
  const auto time = ParseTime(place->name, now);
  if (!time.ok()) return Outcome(ENOENT);
  if (!place->name.starts_with('-')) return std::to_string(*time);
  // So long ago, to a hundredth of it: who walks a tree by such a path resolves it again and again,
  // and is to find the same moment there, not to hold one more each time.
  const Timestamp step = std::max<Timestamp>(1000, (now - *time) / 100);
  return std::to_string(*time - *time % step);
}

OutcomeOr<Entry> FileSystem::MakeDirectory(const Request& request, Node& directory,
                                           std::string_view name, mode_t mode) {
  const auto place = directory.place();
  CELLFS_RETURN_IF_FAILED(CheckWritable(*place));
  const uint64_t looked_at = Node::NewestGeneration();
  auto made = fs::MakeDirectory(parts_.directories, request, *place, name, mode);
  if (!made.ok()) {
    // It may be there all the same.
    if (made.status().is_unknown()) parts_.tree.kernel.Changed(directory.shared_from_this(), false);
    return LogFailure("mkdir", *place, WithName(name, made.status()));
  }
  EntriesChanged(directory);
  ResolvedEntry found{*made};
  found.looked_at = looked_at;
  found.unstored = parts_.tree.unstored.Find(*made);
  const bool is_stored = made->kind == PlaceKind::kNamespace || made->kind == PlaceKind::kTable;
  if (!found.unstored && !is_stored) {  // somebody has put to it by now
    CELLFS_ASSIGN_OR_RETURN(found, parts_.resolver.Find(*request.caller, *made));
  }
  return MakeEntry(found);
}

Outcome FileSystem::Unlink(const Request& request, Node& directory, std::string_view name) {
  const ReadOnce once = AskOnce(directory);
  const auto place = directory.place();
  CELLFS_RETURN_IF_FAILED(CheckWritable(*place));
  return FinishChange("unlink", directory,
                      WithName(name, fs::Unlink(parts_.unlinking, request, *place, name)));
}

Outcome FileSystem::RemoveDirectory(const Request& request, Node& directory,
                                    std::string_view name) {
  const auto place = directory.place();
  CELLFS_RETURN_IF_FAILED(CheckWritable(*place));
  return FinishChange(
      "rmdir", directory,
      WithName(name, fs::RemoveDirectory(parts_.directories, request, *place, name)));
}

Outcome FileSystem::Rename(const Request& request, Node& directory, std::string_view name,
                           Node& new_directory, std::string_view new_name, unsigned flags) {
  const ReadOnce once = AskOnce(new_directory);
  const auto from = directory.place();
  const auto to = new_directory.place();
  CELLFS_RETURN_IF_FAILED(CheckWritable(*from));
  CELLFS_RETURN_IF_FAILED(CheckWritable(*to));
  Outcome renamed = fs::Rename(parts_.renaming, request, *from, name, *to, new_name, flags);
  if (renamed.ok() && &directory != &new_directory) EntriesChanged(directory);
  return FinishChange("rename", new_directory, WithName(new_name, renamed));
}

// ---- Attributes ---------------------------------------------------------------------------------

// A file that has lost its name is described by who has it open. The lock, for an unlink or a
// rename changes the store first and then the node, which must not be shown the size of another
// file. What is in a view has its name for ever. What is of the history is looked for without the
// lock, and once more where its name was changed meanwhile.
OutcomeOr<ResolvedEntry> FileSystem::FindNode(const Request& request, Node& node) {
  while (true) {
    auto place = node.place();
    const bool may_move = !place->IsDirectory() && place->view == nullptr;
    ColumnLock lock;
    if (may_move && (!IsOfHistory(*place) || node.unlinked())) {
      lock = ColumnLock::Of(node);
      place = node.place();
    }
    if (node.unlinked()) return FindOrphan(node, *place);
    if (!may_move || lock.owns_lock()) return parts_.resolver.Find(*request.caller, *place, &node);
    auto found = parts_.resolver.Find(*request.caller, *place, &node);
    lock = ColumnLock::Of(node);
    const Snapshot<Place> now = node.place();
    if (!node.unlinked() && *now == *place) return found;
  }
}

OutcomeOr<ResolvedEntry> FileSystem::FindOrphan(const Node& node, const Place& place) {
  // As a read of it does: an empty file would be a lie.
  const auto file = node.shared_file();
  if (file != nullptr && file->orphan() != nullptr)
    CELLFS_RETURN_IF_FAILED(file->orphan()->bytes().status());
  ResolvedEntry orphan{place};
  orphan.looked_at = Node::NewestGeneration();
  return orphan;
}

OutcomeOr<AttributesReply> FileSystem::GetAttributes(const Request& request, Node& node) {
  while (true) {
    auto reply = GetAttributesOnce(request, node);
    if (!reply.ok() || !reply->raced) return reply;
  }
}

OutcomeOr<AttributesReply> FileSystem::GetAttributesOnce(const Request& request, Node& node) {
  const ReadOnce once(parts_.told_changes != nullptr);
  auto found = FindNode(request, node);
  if (!found.ok()) {
    if (found.error() != ENOENT) return LogFailure("stat", node, found.status());
    const Snapshot<Place> place = node.place();
    if (const auto shown = restoring_readers_.Find(*place))
      return AttributesReply{*shown, 0};
    return Outcome(ENOENT);
  }
  NoticeOtherWriters(*found, node);
  return ReplyOf(*found, node);
}

// A version that is not the one seen before: what open files and the kernel's pages have is old.
void FileSystem::NoticeOtherWriters(const ResolvedEntry& found, Node& node) {
  if (parts_.freshness.is_exact()) return;
  if (found.place.kind != PlaceKind::kCell || found.version < 0) return;
  const ColumnPtr column = node.column();
  if (column == nullptr) return;  // in a view nothing of it is kept
  const Timestamp before = column->SeeVersion(found.version);
  if (before < 0 || before == found.version) return;
  ForgetOlder(found.place, before, found.version);
  const auto file = node.shared_file();
  if (file == nullptr || file->writers() == 0) {
    parts_.tree.kernel.Changed(node.shared_from_this(), false);
    return;
  }
  node.ContentChanged();
  node.PagesAreStale();  // no page may be dropped now: it may be the one that is being filled
}

// What was brought may be of before the version that was seen. Where an older one than before shows,
// one was removed, or this is of before what was brought.
void FileSystem::ForgetOlder(const Place& cell, Timestamp before, Timestamp version) {
  ReadAhead& ahead = parts_.told_changes->read_ahead();
  if (version < before) return ahead.Forget(cell.table, cell.row);
  ahead.ForgetWithout({cell.table, cell.row, cell.family, cell.qualifier, version});
}

OutcomeOr<AttributesReply> FileSystem::ReplyOf(const ResolvedEntry& found, Node& node) {
  const uint64_t growths = node.kernel_size().growths();
  const auto pending = node.pending();
  const auto shown = parts_.shown.StatOf(found, &node, pending);
  if (!shown.ok()) return LogFailure("stat", found.place, shown.status());
  const double valid_seconds = AttributesValidSeconds(found, node, pending.has_value());
  const bool is_raced = IsRaced(found, node);
  if (!is_raced) node.kernel_size().IsTold(shown->st_size, growths);
  return AttributesReply{*shown, valid_seconds, is_raced};
}

OutcomeOr<AttributesReply> FileSystem::SetAttributes(const Request& request, Node& node,
                                                     const AttributeChange& change,
                                                     FileHandle* handle) {
  const ReadOnce once = AskOnce(node);
  const auto place = node.place();
  CELLFS_RETURN_IF_FAILED(CheckWritable(*place));
  const auto changed = ChangeAttributes(parts_.changing, request, node, change, handle);
  if (!changed.ok()) return LogFailure("setattr", *place, changed.status());
  if (change.size) node.kernel_size().IsSet(static_cast<int64_t>(*change.size));
  if (change.mtime && place->IsDirectory()) {
    node.ForgetFirstTime();
    parts_.tree.directory_times.Forget(*place);
  }
  if (!*changed) return GetAttributes(request, node);
  auto reply = ReplyOf(**changed, node);
  return reply.ok() && reply->raced ? GetAttributes(request, node) : std::move(reply);
}

OutcomeOr<std::string> FileSystem::GetXattr(const Request& request, Node& node,
                                            const std::string& name) {
  const ReadOnce once = AskOnce(node);
  return fs::GetXattr(parts_.xattrs, request, node, name);
}

Outcome FileSystem::SetXattr(const Request& request, Node& node, const std::string& name,
                             std::string_view value, int /*flags*/) {
  const auto place = node.place();
  CELLFS_RETURN_IF_FAILED(CheckWritable(*place));
  return LogFailure("setxattr", *place, fs::SetXattr(parts_.xattrs, request, node, name, value));
}

// The space quota that applies to the place, if any, with what is used of it.
OutcomeOr<std::optional<FileSystem::QuotaUse>> FileSystem::QuotaOf(const Place& place) {
  if (place.table.namespace_name.empty()) return std::optional<QuotaUse>();
  std::optional<SpaceQuota> quota;
  if (!place.table.name.empty()) {
    CELLFS_ASSIGN_OR_RETURN(quota, parts_.reading.TableSpaceQuota(place));
  }
  const bool whole_namespace = !quota.has_value();
  if (whole_namespace) {
    CELLFS_ASSIGN_OR_RETURN(quota, parts_.reading.NamespaceSpaceQuota(place));
    if (!quota) return std::optional<QuotaUse>();
  }
  QuotaUse use;
  use.limit = quota->limit;
  const Statistics statistics = parts_.reading.GetStatistics();
  for (const TableStatistics& table : statistics.tables) {
    const bool counts = whole_namespace ? table.table.namespace_name == place.table.namespace_name
                                        : table.table == place.table;
    if (counts) use.used += static_cast<int64_t>(table.file_bytes);
  }
  if (whole_namespace) {
    use.used +=
        static_cast<int64_t>(BytesOfKeptIn(statistics, place.table.namespace_name));
  }
  return std::optional(use);
}

namespace {

// In units that show a quota of a few bytes: df passes over what has no blocks.
void ShowQuota(int64_t limit, int64_t left, struct statvfs& shown) {
  constexpr int64_t kUnit = 512;
  const uint64_t free_bytes = uint64_t{shown.f_bavail} * shown.f_frsize;
  shown.f_bsize = shown.f_frsize = kUnit;
  shown.f_blocks = static_cast<fsblkcnt_t>((limit + kUnit - 1) / kUnit);
  shown.f_bfree = shown.f_bavail =
      std::min<fsblkcnt_t>(free_bytes / kUnit, static_cast<fsblkcnt_t>(left / kUnit));
}

}  // namespace

OutcomeOr<struct statvfs> FileSystem::StatFs(const Request& /*request*/, Node& node) {
  struct statvfs shown {};
  const std::string& directory = parts_.options.store_directory;
  if (!directory.empty()) {
    if (statvfs(directory.c_str(), &shown) != 0) return Outcome(errno);
  } else {
    shown.f_bsize = shown.f_frsize = 4096;
    shown.f_blocks = shown.f_bfree = shown.f_bavail = 1 << 28;
    shown.f_files = shown.f_ffree = shown.f_favail = 1 << 28;
  }
  const auto place = node.place();
  const auto quota_of_place = QuotaOf(*place);
  // A table that was dropped while somebody was in it has no quota any more.
  if (!quota_of_place.ok() && quota_of_place.error() != ENOENT) {
    return LogFailure("statfs", *place, quota_of_place.status());
  }
  if (const auto quota = quota_of_place.ok() ? *quota_of_place : std::nullopt;
      quota && shown.f_frsize > 0) {
    ShowQuota(quota->limit, std::max<int64_t>(0, quota->limit - quota->used), shown);
  }
  shown.f_namemax = kMaxNameLength;
  return shown;
}

// ---- Directories --------------------------------------------------------------------------------

// The kernel shows a listing that it keeps only to those whose open says so: the others may not see
// all that is in it.
OutcomeOr<OpenDirectoryReply> FileSystem::OpenListing(const Request& request, Node& directory) {
  OpenDirectoryReply reply;
  std::shared_ptr<CachedListing> cached;
  const Snapshot<Place> place = directory.place();
  if (place->kind == PlaceKind::kDropped) return LogFailure("opendir", *place, OpenDropped());
  if (place->IsOfPast()) CELLFS_RETURN_IF_FAILED(CheckMayToday(request, *place, kReadPermission));
  PutClosedStartOf(*place);
  if (request.caller->is_superuser() && parts_.shown.MayCacheListing(*place)) {
    if (directory.HasOutgrownListing()) parts_.tree.kernel.DropListing(directory);
    cached = directory.cached_listing(parts_.tree.listing_bytes_left);
  }
  reply.cache_listing = cached != nullptr;
  reply.directory =
      std::make_unique<OpenDirectory>(parts_.listing, directory.shared_from_this(),
                                      std::move(cached), parts_.tree.open_file_memory, request.uid);
  return reply;
}

OutcomeOr<CachedListing::End> FileSystem::List(const Request& request, OpenDirectory& directory,
                                               uint64_t offset, const DirectoryStream::Take& take) {
  const ReadOnce once(parts_.told_changes != nullptr);
  const Snapshot<Place> place = directory.node->place();
  CELLFS_RETURN_IF_FAILED(CheckStillReaches(request, *place, kReadPermission));
  const auto lock = TakeLock(directory.mutex);
  if (!directory.share.Resize(kBytesOfListing)) {
    return LogFailure("readdir", *directory.node,
                      parts_.tree.open_file_memory.Full(ENOMEM));
  }
  if (RunningRequest* const running = RunningRequest::OfThisThread()) {
    running->SetDeadline(RunningRequest::Clock::now() + kLongestListing);
  }
  Outcome listed = directory.stream.Read(*request.caller, offset, take);
  // Most hold less than what was counted before; what a row of a query has is its maker's.
  if (!directory.share.Resize(std::max(kBytesOfListing, directory.stream.held_bytes()))) {
    directory.stream.LetGo();
    static_cast<void>(directory.share.Resize(kBytesOfListing));
  }
  const CachedListing::End end = directory.stream.BeforeReply();
  if (end == CachedListing::End::kDropsListing) parts_.tree.kernel.DropListing(*directory.node);
  if (!listed.ok()) return LogFailure("readdir", *directory.node, std::move(listed));
  return end;
}

OutcomeOr<Entry> FileSystem::EntryOf(const Request& request, const DirectoryEntry& listed) {
  auto entry = MakeEntry(*listed.found);
  while (entry.ok() && entry->raced) {
    auto found = parts_.resolver.Find(*request.caller, listed.found->place);
    Forget(*entry->node, 1);
    if (!found.ok()) return found.status();
    entry = MakeEntry(*found);
  }
  return entry;
}

uint64_t FileSystem::InodeNumberOf(const DirectoryEntry& listed) const {
  return parts_.shown.InodeNumberOf(listed.found->place);
}

Outcome FileSystem::SyncDirectory(Node& directory) {
  return LogFailure("fsync", directory, parts_.store.Sync());
}

}  // namespace cellfs::fs
