// SPDX-License-Identifier: MIT
#include "engine/memstore/memstore.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "engine/find_name.h"

namespace cellfs {
namespace {

constexpr int kMaxHeight = 12;  // with one node in four a level higher: 16 million cells
constexpr int kNearLevel = 4;   // one node in 256 is on it

std::string_view CopyInto(char*& target, std::string_view bytes) {
  if (bytes.empty()) return {};
  char* const begin = target;
  std::memcpy(begin, bytes.data(), bytes.size());
  target += bytes.size();
  return {begin, bytes.size()};
}

}  // namespace

// A cell, followed in memory by its links, one for each level that it is on, and by its qualifier.
struct Memstore::Node {
  CellView cell;
  int height = 0;

  std::atomic<Node*>* Links() { return reinterpret_cast<std::atomic<Node*>*>(this + 1); }
  Node* Next(int level = 0) { return Links()[level].load(std::memory_order_acquire); }

  static size_t SizeOf(int height) {
    return sizeof(Node) + static_cast<size_t>(height) * sizeof(std::atomic<Node*>);
  }
  static Node* MakeAt(char* memory, int height) {
    Node* const node = new (memory) Node;
    node->height = height;
    for (int level = 0; level < height; ++level)
      new (node->Links() + level) std::atomic<Node*>(nullptr);
    return node;
  }
};

// A skip list. A node is whole before a link to it is stored (release), and readers follow links
// with acquire, so they need no lock.
class Memstore::FamilyList {
 public:
  explicit FamilyList(Arena* arena)
      : head_(Node::MakeAt(arena->Allocate(Node::SizeOf(kMaxHeight)), kMaxHeight)) {
    path_.fill(head_);
  }

  // `row` and `family` are in the memstore already; null `values`: the value, too. Adds what the
  // cell takes of memory to `bytes`.
  Node* Make(const CellView& cell, std::string_view row, std::string_view family, Arena* arena,
             Arena* values, uint64_t* bytes) {
    const int height = RandomHeight();
    const size_t node_size = Node::SizeOf(height);
    char* const memory = arena->Allocate(node_size + cell.qualifier.size());
    Node* const node = Node::MakeAt(memory, height);
    char* target = memory + node_size;
    node->cell = cell;
    node->cell.row = row;
    node->cell.family = family;
    node->cell.qualifier = CopyInto(target, cell.qualifier);
    if (values != nullptr) {
      target = values->Allocate(cell.value.size());
      node->cell.value = CopyInto(target, cell.value);
    }
    node->cell.value_length = cell.value.size();
    *bytes += node_size + cell.qualifier.size() + cell.value.size();
    return node;
  }

  void Insert(Node* node) noexcept {
    Link(node);
    cells_.fetch_add(1, std::memory_order_relaxed);
    const CellView& cell = node->cell;
    if (IsFamilyTombstone(cell.type)) family_tombstones_.store(true, std::memory_order_relaxed);
    const bool shows = cell.type == CellType::kPut || cell.type == kWithdrawMarker;
    if (shows && cell.timestamp < oldest_that_shows())
      oldest_that_shows_.store(cell.timestamp, std::memory_order_relaxed);
  }

  Node* First(const CellPlace& place) const {
    Node* const before = LastWhere([&](const CellView& cell) { return IsBefore(cell, place); });
    looked_at_ = {id_, before};
    return before->Next();
  }
  // nullptr: there is none. An empty row is after every row.
  Node* LastBeforeRow(std::string_view row) const {
    Node* const node =
        LastWhere([row](const CellView& cell) { return row.empty() || cell.row < row; });
    return node == head_ ? nullptr : node;
  }

  bool any_family_tombstones() const { return family_tombstones_.load(std::memory_order_relaxed); }
  Timestamp oldest_that_shows() const { return oldest_that_shows_.load(std::memory_order_relaxed); }
  uint64_t cells() const { return cells_.load(std::memory_order_relaxed); }

 private:
  Node* PathAt(int level) const { return path_[static_cast<size_t>(level)]; }
  int top_level() const { return height_.load(std::memory_order_relaxed) - 1; }

  // The last node, or the head, for which `condition` holds; it holds for a prefix of the list.
  template <typename Condition>
  Node* LastWhere(Condition condition) const {
    return Descend(condition, head_, top_level(), nullptr);
  }

  // The same from `node` on, for which it holds, and from `level` down. What was found not to
  // fulfil it, `beyond`, need not be asked again.
  template <typename Condition>
  Node* Descend(Condition condition, Node* node, int level, Node** path,
                const Node* beyond = nullptr) const {
    for (; level >= 0; --level) {
      Node* next = node->Next(level);
      for (; next != nullptr && next != beyond && condition(next->cell); next = node->Next(level))
        node = next;
      beyond = next;
      if (path != nullptr) path[level] = node;
    }
    return node;
  }

  // Finds the insertion point after the last node that satisfies the condition, and leaves it in
  // path_. Programs write row by row, so it is mostly near the last insertion point: the search
  // climbs only until a level encloses both. Ahead of that point all of the path satisfies the
  // condition; behind it nothing that follows the path does.
  template <typename Condition>
  void FindPath(Condition is_before) {
    const auto begins_behind = [&](const Node* node) {
      return node == head_ || is_before(node->cell);
    };
    const bool is_ahead = begins_behind(PathAt(0));
    for (int level = is_ahead ? 0 : 2; level < std::min(top_level(), kNearLevel + 1); level += 2) {
      Node* const node = PathAt(level);
      const Node* const next = node->Next(level);
      const bool is_enclosed =
          is_ahead ? next == nullptr || !is_before(next->cell) : begins_behind(node);
      if (!is_enclosed) continue;
      Descend(is_before, node, level - 1, path_.data(), next);
      return;
    }
    Descend(is_before, is_ahead ? PathAt(top_level()) : head_, top_level(), path_.data());
  }

  // The node behind which a cell belongs, if this thread has looked there last: who puts has mostly
  // looked just before for what lies on the column. Null: it has not. Each look serves once.
  template <typename Condition>
  Node* TakeLookedAt(Condition is_before) {
    const LookedAt looked_at = std::exchange(looked_at_, {});
    if (looked_at.list != id_) return nullptr;
    Node* const node = looked_at.before;
    const Node* const next = node->Next();
    const bool is_behind = node == head_ || is_before(node->cell);
    return is_behind && (next == nullptr || !is_before(next->cell)) ? node : nullptr;
  }

  static void LinkBehind(Node* before, Node* node, int level) {
    node->Links()[level].store(before->Next(level), std::memory_order_relaxed);
    before->Links()[level].store(node, std::memory_order_release);
  }

  void Link(Node* node) {
    const int height = node->height;
    const auto is_before = [node](const CellView& cell) { return IsBefore(cell, node->cell); };
    // On one level; so it does not lie in the path.
    Node* const looked_at = height == 1 ? TakeLookedAt(is_before) : nullptr;
    if (looked_at != nullptr) return LinkBehind(looked_at, node, 0);
    FindPath(is_before);
    assert(node->cell.type == kWithdrawMarker || path_[0]->Next() == nullptr ||
           IsBefore(node->cell, path_[0]->Next()->cell));
    // A reader that finds the new height early sees the head's null links, and goes down.
    if (height > height_.load(std::memory_order_relaxed))
      height_.store(height, std::memory_order_relaxed);
    for (int level = 0; level < height; ++level) LinkBehind(PathAt(level), node, level);
  }

  int RandomHeight() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    int height = 1;
    for (uint64_t bits = random_; height < kMaxHeight && bits % 4 == 0; bits /= 4) ++height;
    return height;
  }

  // Of a list by its id: another may come to lie at its address.
  struct LookedAt {
    uint64_t list;
    Node* before;
  };
  static inline constinit thread_local LookedAt looked_at_{};
  static inline constinit std::atomic<uint64_t> lists_ever_{0};

  const uint64_t id_ = ++lists_ever_;
  Node* const head_;
  // Of the node that was linked last by its path: on each level the last one before it, but for
  // those that came after. For who adds.
  std::array<Node*, kMaxHeight> path_;
  std::atomic<int> height_{1};
  uint64_t random_ = 0x9e3779b97f4a7c15;
  std::atomic<uint64_t> cells_{0};
  std::atomic<bool> family_tombstones_{false};
  std::atomic<Timestamp> oldest_that_shows_{kLatestTimestamp};
};

Memstore::Memstore(const std::vector<std::string>& families) {
  for (const std::string& family : families)
    families_.emplace(family, std::make_unique<FamilyList>(&arena_));
}

Memstore::~Memstore() = default;

void Memstore::Add(std::span<const CellView> cells) {
  Addition addition(*this);
  addition.Prepare(cells);
  addition.Finish();
}

Memstore::Addition::~Addition() {
  if (finished_) return;
  memstore_.arena_.ReturnTo(mark_);
  memstore_.values_.ReturnTo(values_mark_);
}

std::string_view Memstore::Addition::TakeValue(std::string&& value) {
  const std::string_view taken = memstore_.values_.Take(std::move(value));
  taken_.push_back(taken.data());
  return taken;
}

void Memstore::Addition::Prepare(std::span<const CellView> cells) {
  if (cells.empty()) return;
  Arena& arena = memstore_.arena_;
  Arena& values = memstore_.values_;
  char* target = arena.Allocate(cells.front().row.size());
  const std::string_view row = CopyInto(target, cells.front().row);
  if (nodes_.empty()) nodes_.reserve(cells.size());
  bytes_ += row.size();
  for (const CellView& cell : cells) {
    const auto family = FindName(memstore_.families_, cell.family);
    if (family == memstore_.families_.end()) continue;
    FamilyList* const list = family->second.get();
    const bool is_taken =
        std::find(taken_.begin(), taken_.end(), cell.value.data()) != taken_.end();
    nodes_.emplace_back(
        list, list->Make(cell, row, family->first, &arena, is_taken ? nullptr : &values, &bytes_));
  }
}

void Memstore::Addition::Finish() noexcept {
  finished_ = true;
  SequenceId highest = memstore_.highest_sequence_id();
  Timestamp newest = memstore_.newest();
  for (const auto& [list, node] : nodes_) {
    list->Insert(node);
    highest = std::max(highest, node->cell.sequence_id);
    newest = std::max(newest, node->cell.timestamp);
  }
  memstore_.bytes_.fetch_add(bytes_, std::memory_order_relaxed);
  memstore_.cells_.fetch_add(nodes_.size(), std::memory_order_relaxed);
  memstore_.highest_sequence_id_.store(highest, std::memory_order_relaxed);
  memstore_.newest_.store(newest, std::memory_order_relaxed);
}

const Memstore::FamilyList* Memstore::Find(std::string_view family) const {
  const auto found = FindName(families_, family);
  return found == families_.end() ? nullptr : found->second.get();
}

Memstore::FamilyFigures Memstore::FiguresOf(std::string_view family) const {
  const FamilyList* const list = Find(family);
  if (list == nullptr) return {};
  return {.cells = list->cells(), .oldest_that_shows = list->oldest_that_shows()};
}

class Memstore::Cursor : public CellCursor {
 public:
  Cursor(std::shared_ptr<const Memstore> memstore, const FamilyList* list, SequenceId read_point,
         bool lengths_only)
      : memstore_(std::move(memstore)),
        list_(list),
        read_point_(read_point),
        lengths_only_(lengths_only) {}

  Status Seek(const CellPlace& place) override {
    StandAt(list_ == nullptr ? nullptr : list_->First(place));
    return {};
  }

  Status SeekToRowBefore(std::string_view row) override {
    node_ = nullptr;
    if (list_ == nullptr) return {};
    while (Node* const last = list_->LastBeforeRow(row)) {
      row = last->cell.row;  // in the arena: good also where `row` was this cursor's own cell
      StandAt(list_->First({row}));
      if (node_ != nullptr && node_->cell.row == row) return {};
      node_ = nullptr;  // nothing of that row is visible yet
      if (row.empty()) return {};
    }
    return {};
  }

  Status Next() override {
    StandAt(node_->Next());
    return {};
  }

  StatusOr<bool> MayHaveFamilyTombstones(std::string_view /*row*/) override {
    return list_ != nullptr && list_->any_family_tombstones();
  }

  bool valid() const override { return node_ != nullptr; }
  const CellView& cell() const override { return lengths_only_ ? without_value_ : node_->cell; }

 private:
  void StandAt(Node* node) {
    while (node != nullptr && node->cell.sequence_id > read_point_) node = node->Next();
    node_ = node;
    if (!lengths_only_ || node == nullptr) return;
    without_value_ = node->cell;
    if (node->cell.type != kWithdrawMarker) without_value_.value = {};
  }

  const std::shared_ptr<const Memstore> memstore_;
  const FamilyList* const list_;  // nullptr: the memstore does not have the family
  const SequenceId read_point_;
  const bool lengths_only_;
  Node* node_ = nullptr;
  CellView without_value_;
};

std::unique_ptr<CellCursor> OpenMemstoreCursor(std::shared_ptr<const Memstore> memstore,
                                               std::string_view family, SequenceId read_point,
                                               bool lengths_only) {
  const Memstore::FamilyList* const list = memstore->Find(family);
  return std::make_unique<Memstore::Cursor>(std::move(memstore), list, read_point, lengths_only);
}

}  // namespace cellfs
