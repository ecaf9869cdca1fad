// SPDX-License-Identifier: MIT
#include "fs/resolve/attributes.h"

#include <algorithm>

#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

constexpr blksize_t kBlockSize = 4096;

// What is not stored shows the attributes it was made with.
void ShowMemoryFile(MemoryFile& file, struct stat& shown) {
  std::lock_guard lock(file.mutex);
  shown.st_uid = file.uid;
  shown.st_gid = file.gid;
  shown.st_mode = (shown.st_mode & S_IFMT) | (file.mode & 07777);
  shown.st_mtim = file.mtime;
  shown.st_ctim = file.ctime;
}

void ShowPending(const PendingWrite& pending, struct stat& shown) {
  if (!pending.follows_stored) shown.st_size = 0;
  shown.st_size += static_cast<off_t>(pending.size);
  shown.st_mtim = pending.mtime.value_or(pending.written);
  shown.st_ctim = pending.written;
}

bool IsLater(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

// These change without a notification.
bool ChangesUnseen(const Place& place) {
  return place.traits().Is(place_flag::kChangesUnseen) || place.table.IsSystemTable();
}

// When an entry of the directory last came or went, as stored, unless it was made anew or its time
// was set since then.
std::optional<timespec> StoredChange(const ResolvedEntry& found, const ShownAttributes& stored) {
  if (!stored.changed) return std::nullopt;
  if (stored.mtime && stored.ctime && !IsLater(*stored.changed, *stored.ctime)) return std::nullopt;
  const auto& made = found.unstored;
  if (made && made->reason == UnstoredReason::kMade && !IsLater(*stored.changed, made->made))
    return std::nullopt;
  return stored.changed;
}

// A row or family whose time nothing tells but the first cell in it.
bool ShowsFirstCell(const ResolvedEntry& found, const ShownAttributes& stored) {
  const Place& place = found.place;
  const bool is_in_table = place.kind == PlaceKind::kRow || place.kind == PlaceKind::kFamily;
  return is_in_table && place.view == nullptr && found.version >= 0 && !stored.mtime;
}

// A file in a view, which has the mode that a copy of it is to have. Writing it is refused whatever
// its mode.
bool IsCopiedBack(const Place& place) { return place.view != nullptr && place.HasAttributes(); }

bool IsLink(const Place& place) { return place.traits().content == PlaceContent::kTarget; }

// The names in what failed may lie in directories that others may not look into.
bool NamesWhatIsHidden(const Place& place) {
  return place.kind == PlaceKind::kSelfFile && place.name == "errors";
}

}  // namespace

timespec FromMilliseconds(Timestamp time) {
  return {static_cast<time_t>(time / 1000), static_cast<long>(time % 1000) * 1000000};
}

mode_t TypeOf(const Place& place) {
  if (IsLink(place)) return S_IFLNK;
  return place.IsDirectory() ? S_IFDIR : S_IFREG;
}

// When an entry of the directory last came or went, where that is not stored yet. It is of the
// present, and no business of an .asof.
std::optional<timespec> EntryAttributes::Noted(const Place& place) const {
  if (!place.IsDirectory() || place.view != nullptr) return std::nullopt;
  const auto time = directory_times_.Find(place);
  return time ? std::optional(FromMilliseconds(*time)) : std::nullopt;
}

timespec EntryAttributes::MadeAt(const ResolvedEntry& found) const {
  if (found.unstored) return found.unstored->made;
  if (found.version >= 0) return FromMilliseconds(found.version);
  const bool is_live_text = found.place.kind == PlaceKind::kSelfFile;
  return FromMilliseconds(is_live_text ? reading_.clock().Now() : made_at_);
}

uint64_t EntryAttributes::InodeNumberOf(const Place& place) const {
  const uint64_t number = place.InodeNumber();
  if (place.table.name.empty()) return number;
  const auto schema = reading_.DescribeTable(place);
  return schema.ok() ? place.InodeNumberIn((*schema)->id(), number) : number;
}

// Whose it was. The kernel wants W on a directory for its rename; who may bring it back is asked
// when he does (CheckMayHandleDropped), and nothing can be read in it.
OutcomeOr<ShownAttributes> EntryAttributes::OfDropped(const Place& place) const {
  CELLFS_ASSIGN_OR_RETURN(const auto found, reading_.FindDropped(place));
  if (!found) return Outcome(ENOENT);
  ShownAttributes shown;
  CELLFS_ASSIGN_OR_RETURN(static_cast<OwnerAndMode&>(shown), reading_.FindOwner(*found));
  shown.mode |= 0222;
  return shown;
}

OutcomeOr<struct stat> EntryAttributes::StatOf(const ResolvedEntry& found, Node* node,
                                               const std::optional<PendingWrite>& pending) const {
  const Place& place = found.place;
  const uint64_t forgotten = node != nullptr ? node->forgotten_first_times() : 0;
  const auto noted = Noted(place);  // first: it goes once it is stored
  ShownAttributes stored;
  if (place.kind == PlaceKind::kDropped) {
    CELLFS_ASSIGN_OR_RETURN(stored, OfDropped(place));
  } else if (found.attributes) {
    stored = *found.attributes;
  } else {
    CELLFS_ASSIGN_OR_RETURN(stored,
                            attributes_.Find(place, place.IsDirectory() ? -1 : found.version));
  }
  struct stat shown {};
  const uint64_t number = node != nullptr ? node->inode_number() : place.InodeNumber();
  shown.st_ino = place.InodeNumberIn(stored.table, number);
  shown.st_nlink = node != nullptr && node->unlinked() ? 0 : 1;
  shown.st_blksize = kBlockSize;
  shown.st_uid = stored.uid;
  shown.st_gid = stored.gid;
  shown.st_mode = TypeOf(place) | stored.mode;
  if (IsLink(place)) shown.st_mode = S_IFLNK | 0777;
  if (place.IsReadOnly() && !place.IsDirectory() && !IsCopiedBack(place))
    shown.st_mode &= ~mode_t{0222};
  if (NamesWhatIsHidden(place)) shown.st_mode &= ~mode_t{0077};
  shown.st_size = static_cast<off_t>(found.size);
  const auto changed = noted ? noted : StoredChange(found, stored);
  timespec made = MadeAt(found);
  if (node != nullptr && !changed && ShowsFirstCell(found, stored))
    made = FromMilliseconds(node->KeepFirstTime(found.version, forgotten));
  shown.st_mtim = stored.mtime.value_or(made);
  shown.st_ctim = stored.ctime.value_or(made);
  if (changed) {
    shown.st_mtim = *changed;
    shown.st_ctim = stored.ctime && IsLater(*stored.ctime, *changed) ? *stored.ctime : *changed;
  }
  if (found.unstored && found.unstored->file) ShowMemoryFile(*found.unstored->file, shown);
  if (pending) ShowPending(*pending, shown);
  shown.st_atim = shown.st_mtim;
  shown.st_blocks = (shown.st_size + 511) / 512;
  return shown;
}

double EntryAttributes::ValiditySeconds(const ResolvedEntry& found) const {
  const Place& place = found.place;
  // The kernel would show everybody what one who may read has looked up.
  if (options_.authorization && !place.row.empty()) return 0;
  if (place.view != nullptr) {
    return place.view->IsFixed() ? static_cast<double>(options_.asof_hold_ms) / 1000 : 0;
  }
  if (ChangesUnseen(place)) return 0;
  const double fresh = reading_.freshness().ValidSeconds();
  if (!found.expires) return fresh;
  const Timestamp left = *found.expires - reading_.clock().Now();
  return std::clamp(static_cast<double>(left) / 1000, 0.0, fresh);
}

bool EntryAttributes::MayCacheListing(const Place& directory) const {
  if (directory.view != nullptr) return directory.view->IsFixed();
  if (!reading_.freshness().is_exact()) return false;
  if (!directory.traits().Is(place_flag::kListingIsKept)) return false;
  if (directory.table.IsSystemTable()) return false;
  if (directory.table.name.empty()) return true;
  const auto schema = reading_.DescribeTable(directory);
  return schema.ok() &&
         std::none_of((*schema)->families.begin(), (*schema)->families.end(),
                      [](const auto& family) { return family.second.time_to_live() != kForever; });
}

}  // namespace cellfs::fs
