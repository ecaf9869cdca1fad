// SPDX-License-Identifier: MIT
#include "fs/nodes/unstored_entries.h"

#include <algorithm>
#include <cerrno>

#include "fs/requests/running_request.h"

namespace cellfs::fs {
namespace {

constexpr std::chrono::hours kLongestCopy{1};
constexpr size_t kMostFilled = 2048;  // for so long a row that mkdir made is just made

bool CanBeFilled(const Place& place) {
  return place.kind == PlaceKind::kRow || place.kind == PlaceKind::kFamily;
}

}  // namespace

std::string OrderKey(const Place& place) {
  const PlaceKey key = place.traits().key;
  if (key == PlaceKey::kVersion || key == PlaceKey::kTimestamp) {
    return place.qualifier + "@" + std::to_string(place.timestamp);
  }
  const std::string* const part = place.KeyPart();
  return part == nullptr ? std::string() : *part;
}

UnstoredEntries::Entries::const_iterator UnstoredEntries::FindLocked(const Place& place) const {
  return entries_.empty() ? entries_.end() : FindLocked(place, PlaceHash()(place));
}

UnstoredEntries::Entries::const_iterator UnstoredEntries::FindLocked(const Place& place,
                                                                     uint64_t hash) const {
  auto [entry, end] = entries_.equal_range(hash);
  while (entry != end && !(entry->second.entry->place == place)) ++entry;
  return entry == end ? entries_.end() : entry;
}

OutcomeOr<std::shared_ptr<MadeDirectory>> UnstoredEntries::CountMade(uid_t maker) const {
  auto made = std::make_shared<MadeDirectory>(made_, maker);
  if (made->Count()) return made;
  return Outcome(ENOSPC, std::to_string(made_->used()) + " of at most " +
                             std::to_string(made_->limit()) +
                             " directories that mkdir made have nothing in them, and a user has as "
                             "many as are left for others: put files into some, or remove them");
}

UnstoredEntries::Directories::iterator UnstoredEntries::FindDirectoryLocked(const Place& place,
                                                                            uint64_t hash) {
  auto [directory, end] = directories_.equal_range(hash);
  while (directory != end && !(directory->second.place == place)) ++directory;
  return directory == end ? directories_.end() : directory;
}

UnstoredEntries::Directories::const_iterator UnstoredEntries::FindDirectoryLocked(
    const Place& place) const {
  if (directories_.empty()) return directories_.end();
  auto [directory, end] = directories_.equal_range(PlaceHash()(place));
  while (directory != end && !(directory->second.place == place)) ++directory;
  return directory == end ? directories_.end() : directory;
}

UnstoredEntries::Directories::pointer UnstoredEntries::DirectoryLocked(Place&& place) {
  const uint64_t hash = PlaceHash()(place);
  auto directory = FindDirectoryLocked(place, hash);
  if (directory == directories_.end())
    directory = directories_.emplace(hash, Directory{std::move(place), {}});
  return &*directory;
}

void UnstoredEntries::EraseIfEmptyLocked(Directories::pointer directory) {
  if (!directory->second.children.empty()) return;
  auto it = directories_.equal_range(directory->first).first;
  while (&*it != directory) ++it;
  directories_.erase(it);
}

bool UnstoredEntries::Add(UnstoredPtr entry) {
  std::lock_guard lock(mutex_);
  return AddLocked(std::move(entry), false);
}

bool UnstoredEntries::AddLocked(UnstoredPtr entry, bool has_held_cells) {
  const uint64_t hash = PlaceHash()(entry->place);
  const bool is_emptied = entry->reason == UnstoredReason::kEmptied;
  Place directory = entry->place.Parent();
  std::string key = OrderKey(entry->place);
  if (const auto present = FindLocked(entry->place, hash); present != entries_.end()) {
    if (!is_emptied) return false;
    SetFilledLocked(present->second, false);
    present->second.has_held_cells = true;
    return false;
  }
  Children made;
  made.emplace(std::move(key), entry);
  ByAge aging;
  if (is_emptied) aging.push_back(entry);
  const uid_t user = entry->user;
  const bool held = has_held_cells || is_emptied;
  const auto known = entries_.emplace(hash, Known{std::move(entry), nullptr, {}, false, held, {}});
  Directories::pointer children = nullptr;
  ByAge* of_user = nullptr;
  try {
    if (is_emptied) of_user = &by_age_[user];
    children = DirectoryLocked(std::move(directory));
  } catch (...) {
    entries_.erase(known);
    throw;
  }
  const auto added =
      children->second.children.insert(made.extract(made.begin()));  // allocates nothing
  known->second.directory = children;
  known->second.child = added.position;
  if (!added.inserted) {
    entries_.erase(known);
    return false;
  }
  if (CanBeFilled(known->second.entry->place)) ++unfilled_;
  if (!known->second.entry->place.IsDirectory()) ++files_;
  if (is_emptied) {
    known->second.aging = aging.begin();
    of_user->splice(of_user->end(), aging);
    ++aging_;
  }
  return true;
}

std::optional<Place> UnstoredEntries::AddEmptied(const Place& directory, timespec now) {
  auto emptied = std::make_shared<UnstoredEntry>();
  emptied->place = directory;
  emptied->reason = UnstoredReason::kEmptied;
  emptied->made = now;
  emptied->user = RunningRequest::UserOfThisThread();
  Add(std::move(emptied));
  std::lock_guard lock(mutex_);
  return aging_ > most_emptied_ ? ForgetOldestLocked() : std::nullopt;
}

std::optional<Place> UnstoredEntries::ForgetOldestLocked() {
  const auto most = std::max_element(
      by_age_.begin(), by_age_.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  ByAge& aging = most->second;
  Place oldest = aging.front()->place;
  if (FindDirectoryLocked(oldest) != directories_.end()) {
    aging.splice(aging.end(), aging, aging.begin());
    return std::nullopt;
  }
  RemoveLocked(FindLocked(oldest));
  return oldest;
}

bool UnstoredEntries::Remove(const Place& place) noexcept {
  if (!MayHave(place)) return false;
  std::lock_guard lock(mutex_);
  const auto entry = FindLocked(place);
  if (entry == entries_.end()) return false;
  RemoveLocked(entry);
  return true;
}

void UnstoredEntries::SetFilledLocked(const Known& known, bool is_filled) {
  if (known.is_filled == is_filled || !CanBeFilled(known.entry->place)) return;
  known.is_filled = is_filled;
  is_filled ? --unfilled_ : ++unfilled_;
}

UnstoredEntries::Filled UnstoredEntries::Fill(const Place& row_or_family) {
  std::lock_guard lock(mutex_);
  const auto entry = FindLocked(row_or_family);
  if (entry == entries_.end()) return Filled::kIsNotHere;
  if (entry->second.is_filled) return Filled::kBefore;
  filled_.push_back(row_or_family);
  SetFilledLocked(entry->second, true);
  entry->second.has_held_cells = true;
  if (filled_.size() <= kMostFilled) return Filled::kNow;
  const auto oldest = FindLocked(filled_.front());
  if (oldest != entries_.end() && oldest->second.is_filled) {
    ++handed_over_;
    RemoveLocked(oldest);
  }
  filled_.pop_front();
  return Filled::kNow;
}

bool UnstoredEntries::HasHeldCells(const Place& row_or_family) const {
  std::lock_guard lock(mutex_);
  const auto entry = FindLocked(row_or_family);
  return entry != entries_.end() && entry->second.has_held_cells;
}

void UnstoredEntries::EraseLocked(Entries::const_iterator entry) {
  SetFilledLocked(entry->second, true);
  if (!entry->second.entry->place.IsDirectory()) --files_;
  if (entry->second.aging) {
    const auto of_user = by_age_.find(entry->second.entry->user);
    of_user->second.erase(*entry->second.aging);
    if (of_user->second.empty()) by_age_.erase(of_user);
    --aging_;
  }
  entries_.erase(entry);
}

void UnstoredEntries::RemoveLocked(Entries::const_iterator entry) {
  const Known known = entry->second;
  EraseLocked(entry);
  known.directory->second.children.erase(known.child);
  EraseIfEmptyLocked(known.directory);
}

UnstoredPtr UnstoredEntries::Find(const Place& place) const {
  if (!MayHave(place)) return nullptr;
  std::lock_guard lock(mutex_);
  const auto entry = FindLocked(place);
  if (entry != entries_.end()) return entry->second.entry;
  const Emptying* const emptying = EmptyingLocked(place);
  return emptying == nullptr ? nullptr : emptying->At(place.kind);
}

void UnstoredEntries::Move(const Place& from, const Place& to) {
  Place directory = to.Parent();
  std::string key = OrderKey(to);
  std::lock_guard lock(mutex_);
  const auto entry = FindLocked(from);
  if (entry == entries_.end()) return;
  UnstoredEntry at_target = *entry->second.entry;
  at_target.place = to;
  const auto moved = std::make_shared<const UnstoredEntry>(std::move(at_target));
  const Directories::pointer into = DirectoryLocked(std::move(directory));
  Children& children = into->second.children;
  // From here on nothing allocates.
  if (const auto replaced = FindLocked(to); replaced != entries_.end()) {
    children.erase(replaced->second.child);
    EraseLocked(replaced);
  }
  auto known = entries_.extract(entry);
  const Directories::pointer before = known.mapped().directory;
  auto child = before->second.children.extract(known.mapped().child);
  child.key() = std::move(key);
  child.mapped() = moved;
  known.key() = PlaceHash()(to);
  known.mapped() = {moved, into, children.insert(std::move(child)).position, false, false, {}};
  entries_.insert(std::move(known));
  EraseIfEmptyLocked(before);
}

// What mkdir made in it and was filled since shows itself by its cells.
void UnstoredEntries::MoveTable(const TableName& from, const TableName& to) {
  std::lock_guard lock(mutex_);
  std::vector<std::pair<UnstoredPtr, bool>> moving;  // with Known::has_held_cells
  for (auto it = entries_.begin(); it != entries_.end();) {
    const auto known = it++;
    if (known->second.entry->place.table != from) continue;
    if (!known->second.is_filled) {
      auto moved = std::make_shared<UnstoredEntry>(*known->second.entry);
      moved->place.table = to;
      moving.emplace_back(std::move(moved), known->second.has_held_cells);
    }
    RemoveLocked(known);
  }
  ++handed_over_;
  for (auto& [entry, has_held_cells] : moving) AddLocked(std::move(entry), has_held_cells);
  if (auto unwritten = unwritten_tomls_.extract(TablePlace(from))) {
    unwritten.key() = TablePlace(to);
    unwritten_tomls_.insert(std::move(unwritten));
  }
}

bool UnstoredEntries::HasChildren(const Place& directory) const {
  std::lock_guard lock(mutex_);
  return FindDirectoryLocked(directory) != directories_.end();
}

void UnstoredEntries::RemoveBelow(const Place& directory) {
  Children children;
  {
    std::lock_guard lock(mutex_);
    const auto it = FindDirectoryLocked(directory, PlaceHash()(directory));
    if (it == directories_.end()) return;
    children = std::move(it->second.children);
    directories_.erase(it);
    for (const auto& [key, child] : children) {
      EraseLocked(FindLocked(child->place));
    }
  }
  for (const auto& [key, child] : children) {
    if (child->place.IsDirectory()) RemoveBelow(child->place);
  }
}

void UnstoredEntries::RemoveFamily(const TableName& table, const std::string& family) {
  std::vector<Place> dropped;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [hash, directory] : directories_) {
      for (const auto& [key, child] : directory.children) {
        const Place& place = child->place;
        if (place.kind == PlaceKind::kFamily && place.table == table && place.family == family) {
          dropped.push_back(place);
        }
      }
    }
  }
  for (const Place& place : dropped) {
    RemoveBelow(place);
    Remove(place);
  }
}

bool UnstoredEntries::HasFamilyBeside(const Place& family) const {
  std::lock_guard lock(mutex_);
  return std::any_of(directories_.begin(), directories_.end(), [&](const auto& known) {
    const Directory& directory = known.second;
    if (directory.place.table != family.table || directory.place.row == family.row) return false;
    if (directory.place.family == family.family) return true;
    const auto child = directory.children.find(family.family);
    return child != directory.children.end() && child->second->place.kind == PlaceKind::kFamily;
  });
}

std::vector<UnstoredPtr> UnstoredEntries::ChildrenAfter(const Place& directory,
                                                        const std::optional<std::string>& after,
                                                        size_t limit) const {
  std::vector<UnstoredPtr> found;
  std::lock_guard lock(mutex_);
  if (const auto it = FindDirectoryLocked(directory); it != directories_.end()) {
    const Children& children = it->second.children;
    auto child = after ? children.upper_bound(*after) : children.begin();
    for (; child != children.end() && found.size() < limit; ++child)
      found.push_back(child->second);
  }
  if (!emptying_.empty()) AddEmptyingLocked(directory, after, limit, found);
  return found;
}

// ---- Directories whose last cell may be about to go
// ----------------------------------------------

UnstoredEntries::Emptying::Emptying(UnstoredEntries& entries, const Place& column, timespec now)
    : entries_(entries), column_(column), now_(now) {
  const std::lock_guard lock(entries_.mutex_);
  entries_.emptying_.push_back(this);
  ++entries_.emptied_;
}

UnstoredEntries::Emptying::~Emptying() {
  const std::lock_guard lock(entries_.mutex_);
  std::erase(entries_.emptying_, this);
}

UnstoredPtr UnstoredEntries::Emptying::At(PlaceKind kind) const {
  Place place = kind == PlaceKind::kRow ? RowPlace(column_.table, column_.row)
                                        : FamilyPlace(column_.table, column_.row, column_.family);
  return std::make_shared<const UnstoredEntry>(
      UnstoredEntry{std::move(place), UnstoredReason::kEmptied, now_, nullptr});
}

const UnstoredEntries::Emptying* UnstoredEntries::EmptyingLocked(const Place& place) const {
  if (place.view != nullptr) return nullptr;
  if (place.kind != PlaceKind::kRow && place.kind != PlaceKind::kFamily) return nullptr;
  for (const Emptying* const emptying : emptying_) {
    const Place& column = emptying->column_;
    if (column.row != place.row || column.table != place.table) continue;
    if (place.kind == PlaceKind::kRow || column.family == place.family) return emptying;
  }
  return nullptr;
}

bool UnstoredEntries::IsEmptying(const Place& row_or_family) const {
  const std::lock_guard lock(mutex_);
  return EmptyingLocked(row_or_family) != nullptr;
}

void UnstoredEntries::AddEmptyingLocked(const Place& directory,
                                        const std::optional<std::string>& after, size_t limit,
                                        std::vector<UnstoredPtr>& children) const {
  const bool is_table = directory.kind == PlaceKind::kTable;
  if (directory.view != nullptr || (!is_table && directory.kind != PlaceKind::kRow)) return;
  for (const Emptying* const emptying : emptying_) {
    const Place& column = emptying->column_;
    if (column.table != directory.table || (!is_table && column.row != directory.row)) continue;
    const std::string& key = is_table ? column.row : column.family;
    if (after && key <= *after) continue;
    const auto behind =
        std::find_if(children.begin(), children.end(),
                     [&](const UnstoredPtr& child) { return OrderKey(child->place) >= key; });
    if (behind != children.end() && OrderKey((*behind)->place) == key) continue;
    children.insert(behind, emptying->At(is_table ? PlaceKind::kRow : PlaceKind::kFamily));
    if (children.size() > limit) children.pop_back();
  }
}

// ---- Schemas that nobody has written ------------------------------------------------------------

void UnstoredEntries::HideToml(const Place& table_or_namespace) {
  std::lock_guard lock(mutex_);
  unwritten_tomls_[table_or_namespace] = {};
}

void UnstoredEntries::ShowToml(const Place& table_or_namespace) {
  std::lock_guard lock(mutex_);
  if (!unwritten_tomls_.empty()) unwritten_tomls_.erase(table_or_namespace);
}

void UnstoredEntries::ShowTomlUnwritten(const Place& name_space) {
  std::lock_guard lock(mutex_);
  unwritten_tomls_[name_space] = {.is_hidden = false};
}

void UnstoredEntries::SomethingIsMadeIn(const Place& table_or_namespace) {
  std::lock_guard lock(mutex_);
  if (unwritten_tomls_.empty()) return;
  const auto unwritten = unwritten_tomls_.find(table_or_namespace);
  if (unwritten != unwritten_tomls_.end()) unwritten->second.is_hidden = false;
}

bool UnstoredEntries::IsTomlHidden(const Place& table_or_namespace) const {
  std::lock_guard lock(mutex_);
  const auto unwritten = unwritten_tomls_.find(table_or_namespace);
  return unwritten != unwritten_tomls_.end() && unwritten->second.is_hidden;
}

bool UnstoredEntries::MayMakeToml(const Place& table_or_namespace) const {
  std::lock_guard lock(mutex_);
  const auto unwritten = unwritten_tomls_.find(table_or_namespace);
  if (unwritten == unwritten_tomls_.end() || unwritten->second.is_hidden) return false;
  return std::chrono::steady_clock::now() - unwritten->second.since < kLongestCopy;
}

}  // namespace cellfs::fs
