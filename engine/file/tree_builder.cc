// SPDX-License-Identifier: MIT
//
// An entry that finds its page full waits until the next one comes: only then is it known that
// there is something behind it. In an index it goes up then, between the full page and the new one;
// in a table what goes up is the greatest id of the full page. Where nothing comes any more, the
// entry before it goes up in its place, for SQLite knows no page without entries.
#include "engine/file/tree_builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cellfs {

class TreeBuilder::Level {
 public:
  explicit Level(PageKind kind)
      : kind_(kind), is_leaf_(kind == PageKind::kIndexLeaf || kind == PageKind::kTableLeaf) {
    Clear();
  }

  // False: it is full. Nodes have a child left of each entry.
  bool Add(uint32_t left_child, std::string_view entry) {
    const size_t size = entry.size() + (is_leaf_ ? 0 : 4);
    if (header() + 2 * (entries_ + 1) + size > content_) return false;
    content_ -= size;
    char* to = page_ + content_;
    if (!is_leaf_) PutPageNumber(left_child, std::exchange(to, to + 4));
    std::memcpy(to, entry.data(), entry.size());
    PutShort(content_, page_ + header() + 2 * entries_++);
    return true;
  }

  // The last entry, with its child. REQUIRES: there is another before it.
  std::pair<uint32_t, std::string> TakeLast(size_t end) {
    const size_t children = is_leaf_ ? 0 : 4;
    const uint32_t child = is_leaf_ ? 0 : PageNumberAt(page_ + content_);
    std::string entry(page_ + content_ + children, end - content_ - children);
    content_ = end;
    --entries_;
    return {child, std::move(entry)};
  }
  // Where the entry before the last one begins.
  size_t EndOfLast() const { return ShortAt(page_ + header() + 2 * (entries_ - 2)); }

  char* Complete(uint32_t last_child) {
    page_[0] = static_cast<char>(kind_);
    PutShort(entries_, page_ + 3);
    PutShort(content_, page_ + 5);
    if (!is_leaf_) PutPageNumber(last_child, page_ + kLeafHeader);
    return page_;
  }
  void Clear() {
    std::memset(page_, 0, sizeof page_);
    entries_ = 0;
    content_ = kUsablePage;
  }

  bool waits = false;  // the entry that did not fit
  std::string waiting;
  uint32_t waiting_child = 0;

 private:
  size_t header() const { return is_leaf_ ? kLeafHeader : kNodeHeader; }
  static void PutShort(size_t number, char* to) {
    to[0] = static_cast<char>(number >> 8);
    to[1] = static_cast<char>(number);
  }

  const PageKind kind_;
  const bool is_leaf_;
  char page_[kDatabasePageSize];
  size_t entries_ = 0;
  size_t content_ = 0;  // where the entries begin; they lie from the page's end down
};

TreeBuilder::TreeBuilder(PageWriter& pages, Kind kind) : pages_(pages), kind_(kind) {}
TreeBuilder::~TreeBuilder() = default;

TreeBuilder::Level& TreeBuilder::LevelAt(size_t level) {
  if (level == levels_.size()) {
    const bool is_table = kind_ == Kind::kTable;
    const PageKind leaf = is_table ? PageKind::kTableLeaf : PageKind::kIndexLeaf;
    const PageKind node = is_table ? PageKind::kTableNode : PageKind::kIndexNode;
    levels_.push_back(std::make_unique<Level>(level == 0 ? leaf : node));
  }
  return *levels_[level];
}

Status TreeBuilder::Add(std::string_view record) {
  entry_.clear();
  AppendVarint(record.size(), entry_);
  CELLFS_RETURN_IF_ERROR(AppendPayload(record, {}));
  return AddTo(0, 0, entry_);
}

Status TreeBuilder::AddRow(int64_t id, std::string_view record, std::string_view tail) {
  entry_.clear();
  AppendVarint(record.size() + tail.size(), entry_);
  AppendVarint(static_cast<uint64_t>(id), entry_);
  CELLFS_RETURN_IF_ERROR(AppendPayload(record, tail));
  CELLFS_RETURN_IF_ERROR(AddToTableLeaf(entry_));
  last_id_ = id;
  return {};
}

Status TreeBuilder::AppendPayload(std::string_view record, std::string_view tail) {
  const PageKind kind = kind_ == Kind::kTable ? PageKind::kTableLeaf : PageKind::kIndexLeaf;
  const size_t local = LocalBytes(kind, record.size() + tail.size());
  const size_t of_record = std::min(local, record.size());
  entry_ += record.substr(0, of_record);
  entry_ += tail.substr(0, local - of_record);
  record.remove_prefix(of_record);
  tail.remove_prefix(local - of_record);
  return record.empty() && tail.empty() ? Status() : WriteChain(record, tail);
}

Status TreeBuilder::WriteChain(std::string_view record, std::string_view tail) {
  uint32_t number = pages_.Allocate();
  char page[kDatabasePageSize];
  PutPageNumber(number, page);
  entry_.append(page, 4);
  while (number != 0) {
    std::memset(page, 0, sizeof page);
    const size_t of_record = std::min(kOverflowBytes, record.size());
    const size_t of_tail = std::min(kOverflowBytes - of_record, tail.size());
    char* const behind = std::copy_n(record.data(), of_record, page + 4);
    std::copy_n(tail.data(), of_tail, behind);
    record.remove_prefix(of_record);
    tail.remove_prefix(of_tail);
    const uint32_t next = record.empty() && tail.empty() ? 0 : pages_.Allocate();
    PutPageNumber(next, page);
    CELLFS_RETURN_IF_ERROR(pages_.Write(std::exchange(number, next), page));
  }
  return {};
}

Status TreeBuilder::AddToTableLeaf(std::string_view entry) {
  Level& leaf = LevelAt(0);
  if (leaf.Add(0, entry)) return {};
  std::string greatest;
  AppendVarint(static_cast<uint64_t>(last_id_), greatest);
  CELLFS_RETURN_IF_ERROR(EndPage(0, 0, greatest));
  leaf.Add(0, entry);
  return {};
}

Status TreeBuilder::AddTo(size_t level, uint32_t left_child, std::string_view entry) {
  Level& at = LevelAt(level);
  if (at.waits) {
    CELLFS_RETURN_IF_ERROR(EndPage(level, at.waiting_child, at.waiting));
    at.waits = false;
  }
  if (at.Add(left_child, entry)) return {};
  at.waits = true;
  at.waiting = entry;
  at.waiting_child = left_child;
  return {};
}

Status TreeBuilder::EndPage(size_t level, uint32_t last_child, std::string_view divider) {
  Level& at = *levels_[level];
  const uint32_t number = pages_.Allocate();
  CELLFS_RETURN_IF_ERROR(pages_.Write(number, at.Complete(last_child)));
  at.Clear();
  return AddTo(level + 1, number, divider);
}

Status TreeBuilder::Finish(uint32_t root) {
  uint32_t last_child = 0;
  for (size_t level = 0; level < levels_.size(); ++level) {
    Level& at = *levels_[level];
    if (std::exchange(at.waits, false)) {
      const auto [child, divider] = at.TakeLast(at.EndOfLast());
      CELLFS_RETURN_IF_ERROR(EndPage(level, child, divider));
      at.Add(at.waiting_child, at.waiting);
    }
    const bool is_root = level + 1 == levels_.size();
    const uint32_t number = is_root ? root : pages_.Allocate();
    CELLFS_RETURN_IF_ERROR(pages_.Write(number, at.Complete(last_child)));
    last_child = number;
  }
  return {};
}

}  // namespace cellfs
