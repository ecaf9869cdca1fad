// SPDX-License-Identifier: MIT
//
// Entries lie in leaves and between them: an inner page has an entry behind each of its children
// but the last. So an inner page of which `at` is a child stands before its entry `at`.
#include "engine/file/cell_tree.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cellfs {
namespace {

constexpr size_t kMostDepth = 20;  // as SQLite has it

}  // namespace

class CellTree::Place {
 public:
  Place(std::string_view row, std::string_view qualifier, int64_t t)
      : row_(row), qualifier_(qualifier), t_(t) {}

  // Whether the entry comes before. False: the record is cut short before that can be told.
  bool IsBehind(std::string_view record, bool* is_behind) const {
    RecordReader reader;
    std::string_view bytes;
    if (!reader.Begin(record) || !reader.Blob(&bytes)) return false;
    if (const int order = bytes.compare(row_); order != 0) return *is_behind = order < 0, true;
    if (!reader.Blob(&bytes)) return false;
    if (const int order = bytes.compare(qualifier_); order != 0)
      return *is_behind = order < 0, true;
    int64_t t = 0;
    if (!reader.Integer(&t)) return false;
    return *is_behind = t < t_, true;
  }

 private:
  const std::string_view row_;
  const std::string_view qualifier_;
  const int64_t t_;
};

Status CellTree::Seek(std::string_view row, std::string_view qualifier, int64_t t) {
  const Place place(row, qualifier, t);
  depth_ = 0;
  CELLFS_RETURN_IF_ERROR(Load(root_));
  for (;;) {
    Page& page = *path_[depth_ - 1];
    CELLFS_RETURN_IF_ERROR(SeekIn(page, place));
    if (page.is_leaf) break;
    uint32_t child = 0;
    CELLFS_RETURN_IF_ERROR(ChildOf(page, &child));
    CELLFS_RETURN_IF_ERROR(Load(child));
  }
  if (path_[depth_ - 1]->at == path_[depth_ - 1]->entries) GoUp();
  return {};
}

Status CellTree::Next() {
  Page& page = *path_[depth_ - 1];
  ++page.at;
  if (!page.is_leaf) return GoDown();
  if (page.at == page.entries) GoUp();
  return {};
}

// To the next entry above, if there is one.
void CellTree::GoUp() {
  do {
    --depth_;
  } while (depth_ > 0 && path_[depth_ - 1]->at == path_[depth_ - 1]->entries);
}

Status CellTree::GoDown() {
  for (;;) {
    uint32_t child = 0;
    CELLFS_RETURN_IF_ERROR(ChildOf(*path_[depth_ - 1], &child));
    CELLFS_RETURN_IF_ERROR(Load(child));
    Page& page = *path_[depth_ - 1];
    page.at = 0;
    if (!page.is_leaf) continue;
    if (page.entries > 0) return {};
    return NoSuchTree(page);
  }
}

// Below the present page. After an error the tree is at no entry.
Status CellTree::Load(uint32_t number) {
  const size_t above = std::exchange(depth_, 0);
  if (above == kMostDepth) return NoSuchTree(*path_.back());
  if (above == path_.size()) path_.push_back(std::make_unique<Page>());
  Page& page = *path_[above];
  if (page.number != number) {
    page.number = 0;
    CELLFS_RETURN_IF_ERROR(database_.ReadPage(number, page.bytes));
    page.is_leaf = page.bytes[0] == static_cast<char>(PageKind::kIndexLeaf);
    page.entries = ShortAt(page.bytes + 3);
    const bool is_known =
        page.is_leaf || page.bytes[0] == static_cast<char>(PageKind::kIndexNode);
    const size_t header = page.is_leaf ? kLeafHeader : kNodeHeader;
    if (!is_known || header + 2 * page.entries > kUsablePage) return NoSuchTree(page);
    page.number = number;
  }
  depth_ = above + 1;
  return {};
}

Status CellTree::SeekIn(Page& page, const Place& place) {
  size_t begin = 0;
  size_t end = page.entries;
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    Entry entry;
    bool is_behind = false;
    if (!EntryAt(page, middle, &entry)) return NoSuchTree(page);
    if (!place.IsBehind(entry.local, &is_behind)) {
      if (entry.rest == 0) return NoSuchTree(page);
      CELLFS_RETURN_IF_ERROR(Whole(page, entry, &sought_));
      if (!place.IsBehind(sought_, &is_behind)) return NoSuchTree(page);
    }
    (is_behind ? begin : end) = is_behind ? middle + 1 : middle;
  }
  page.at = begin;
  return {};
}

Status CellTree::ChildOf(const Page& page, uint32_t* number) const {
  if (page.at == page.entries) {
    *number = PageNumberAt(page.bytes + kLeafHeader);
    return {};
  }
  const size_t begin = ShortAt(page.bytes + kNodeHeader + 2 * page.at);
  if (begin + 4 > kUsablePage) return NoSuchTree(page);
  *number = PageNumberAt(page.bytes + begin);
  return {};
}

bool CellTree::EntryAt(const Page& page, size_t at, Entry* entry) {
  const size_t header = page.is_leaf ? kLeafHeader : kNodeHeader;
  const size_t begin = ShortAt(page.bytes + header + 2 * at) + (page.is_leaf ? 0 : 4);
  if (begin > kUsablePage) return false;
  std::string_view rest(page.bytes + begin, kUsablePage - begin);
  if (!TakeVarint(rest, &entry->size)) return false;
  const size_t local = LocalBytes(PageKind::kIndexLeaf, entry->size);
  const bool goes_on = local < entry->size;
  if (rest.size() < local + (goes_on ? 4 : 0)) return false;
  entry->local = rest.substr(0, local);
  if (goes_on) entry->rest = PageNumberAt(rest.data() + local);
  return true;
}

Status CellTree::Record(std::string_view* record) {
  const Page& page = *path_[depth_ - 1];
  Entry entry;
  if (!EntryAt(page, page.at, &entry)) return NoSuchTree(page);
  *record = entry.local;
  if (entry.size == entry.local.size()) return {};
  CELLFS_RETURN_IF_ERROR(Whole(page, entry, &record_));
  *record = record_;
  return {};
}

Status CellTree::Whole(const Page& page, const Entry& entry, std::string* record) {
  // Pages that lead to each other would have no end.
  if (entry.size > database_.FileBytes()) return NoSuchTree(page);
  *record = entry.local;
  char bytes[kDatabasePageSize];
  for (uint32_t next = entry.rest; record->size() < entry.size; next = PageNumberAt(bytes)) {
    CELLFS_RETURN_IF_ERROR(database_.ReadPage(next, bytes));
    record->append(bytes + 4, std::min<uint64_t>(kOverflowBytes, entry.size - record->size()));
  }
  return {};
}

Status CellTree::NoSuchTree(const Page& page) const {
  return {StatusCode::kCorruption, database_.path() + ": it is not what was written (page " +
                                       std::to_string(page.number) + " of its cells)"};
}

}  // namespace cellfs
