// SPDX-License-Identifier: MIT
#include "fs/nodes/column_table.h"

#include <algorithm>

#include "engine/waiting.h"
#include "fs/nodes/column_lock.h"

namespace cellfs::fs {
namespace {

constexpr size_t kMostRecent = 65536;

std::shared_ptr<const Place> CellOf(const Place& in_column) {
  auto cell = std::make_shared<Place>(in_column);
  cell->kind = PlaceKind::kCell;
  cell->timestamp = 0;
  cell->view.reset();
  return cell;
}

}  // namespace

// One that is going waits for the mutex to leave the table: it is none any more.
ColumnPtr ColumnTable::FindLocked(const ColumnShard& shard, const Place& in_column, uint64_t number) {
  const auto [begin, end] = shard.columns.equal_range(number);
  for (auto it = begin; it != end; ++it) {
    if (!it->second->cell().IsOfSameColumn(in_column)) continue;
    if (ColumnPtr column = it->second->weak_from_this().lock()) return column;
  }
  return nullptr;
}

ColumnPtr ColumnTable::Find(const Place& in_column) const {
  const uint64_t number = in_column.ColumnNumber();
  ColumnShard& shard = ShardOf(number);
  std::lock_guard lock(shard.mutex);
  return FindLocked(shard, in_column, number);
}

ColumnPtr ColumnTable::Get(const Place& in_column, uint64_t number) {
  ColumnShard& shard = ShardOf(number);
  {
    std::lock_guard lock(shard.mutex);
    if (ColumnPtr column = FindLocked(shard, in_column, number)) return column;
  }
  // It takes itself out of the table, so it is none while that is locked.
  auto made = std::make_shared<Column>(*this, std::shared_ptr<ColumnShard>(shards_, &shard),
                                       CellOf(in_column), number);
  std::lock_guard lock(shard.mutex);
  if (ColumnPtr column = FindLocked(shard, in_column, number)) return column;
  made->generation_.RaiseTo(shard.newest_gone);
  shard.columns.emplace(number, made.get());
  return made;
}

ColumnPtr ColumnTable::Get(const Place& in_column) {
  return Get(in_column, in_column.ColumnNumber());
}

Timestamp ColumnTable::KeepForAWhile(ColumnPtr column) {
  const Timestamp now = clock_.Now();
  std::vector<ColumnPtr> let_go;  // before the lock: they go after it
  std::lock_guard lock(recent_mutex_);
  recent_.emplace_back(std::move(column), now);
  while (recent_.size() > kMostRecent || recent_.front().second + age_ms_ < now) {
    let_go.push_back(std::move(recent_.front().first));
    recent_.pop_front();
  }
  return now;
}

// ---- The last ones -----------------------------------------------------------------------------

void ColumnTable::NoteAbsent(const Place& cell, uint64_t number, uint64_t looked_at) {
  Absent absent{Get(cell, number), looked_at};  // before the lock: the one before goes after it
  std::lock_guard lock(last_mutex_);
  if (looked_at >= looks_forgotten_) std::swap(absent_[next_absent_++ % absent_.size()], absent);
}

bool ColumnTable::IsAbsent(const Column& column) const {
  std::lock_guard lock(last_mutex_);
  return std::any_of(absent_.begin(), absent_.end(), [&](const Absent& absent) {
    return absent.column.get() == &column && column.generation() <= absent.looked_at;
  });
}

void ColumnTable::NoteFilled(std::vector<ColumnPtr> columns, uint64_t looked_at) {
  Filled filled{std::move(columns), looked_at};  // before the lock: those before go after it
  std::lock_guard lock(last_mutex_);
  if (looked_at >= looks_forgotten_) std::swap(filled_, filled);
}

bool ColumnTable::IsFilledBeside(const Place& cell) const {
  std::lock_guard lock(last_mutex_);
  const auto& columns = filled_.columns;
  if (columns.empty()) return false;
  const Place& seen = columns.front()->cell();
  if (seen.family != cell.family || seen.row != cell.row || seen.table != cell.table) return false;
  return std::any_of(columns.begin(), columns.end(), [&](const ColumnPtr& column) {
    return column->generation() <= filled_.looked_at;
  });
}

void ColumnTable::ForgetLooks() {
  decltype(absent_) absent;  // before the lock: they go after it
  Filled filled;
  std::lock_guard lock(last_mutex_);
  absent_.swap(absent);
  std::swap(filled_, filled);
  looks_forgotten_ = Generation::Next();
}

void ColumnTable::KeepPut(ColumnPtr column, uint64_t generation, std::string bytes) {
  std::lock_guard lock(last_mutex_);
  put_.column.swap(column);  // the one before goes with the parameters, after the lock
  put_.generation = generation;
  put_.bytes.swap(bytes);
}

std::optional<Cell> ColumnTable::TakePut(const Column& column) {
  const auto shown = column.cached_cell();
  if (!shown || shown->expires) return std::nullopt;
  PutLast taken;
  std::lock_guard lock(last_mutex_);
  if (put_.column.get() != &column || put_.generation != column.generation()) return std::nullopt;
  std::swap(put_, taken);
  Cell cell;
  cell.timestamp = shown->version;
  cell.value = std::move(taken.bytes);
  cell.value_length = cell.value.size();
  return cell;
}

// ---- Columns that go together -------------------------------------------------------------------

ColumnTable::ClosedColumns::ClosedColumns(ColumnTable& columns, Part part)
    : columns_(columns), part_(std::move(part)) {
  {
    const Waiting waiting(Wait::kMayBeShort);
    std::unique_lock lock(columns_.closed_mutex_);
    columns_.opened_.wait(lock, [this] {
      return std::none_of(
          columns_.closed_.begin(), columns_.closed_.end(),
          [this](const ClosedColumns* other) { return other->part_.table == part_.table; });
    });
    columns_.closed_.push_back(this);
    columns_.closed_count_.fetch_add(1);
  }
  // Who has a lock now took it before, perhaps; who gets one from here on sees that it is closed.
  for (const ColumnPtr& column : columns_.FindAllOf(*this)) {
    const auto held = TakeLock(column->mutex_);
  }
}

ColumnTable::ClosedColumns::~ClosedColumns() {
  std::lock_guard lock(columns_.closed_mutex_);
  std::erase(columns_.closed_, this);
  columns_.closings_.fetch_add(1);  // before somebody gets a lock
  columns_.closed_count_.fetch_sub(1);
  columns_.opened_.notify_all();
}

void ColumnTable::ClosedColumns::Changed() const {
  for (const ColumnPtr& column : columns_.FindAllOf(*this)) column->Changed();
}

bool ColumnTable::ClosedColumns::Has(const Column& column) const {
  const Place& cell = column.cell();
  return (!part_.families || part_.families->contains(cell.family)) &&
         (!part_.row || *part_.row == cell.row) && part_.table == cell.table;
}

std::vector<ColumnPtr> ColumnTable::FindAllOf(const ClosedColumns& closed) const {
  std::vector<ColumnPtr> found;  // before the lock, with the next: what they hold last goes after it
  ColumnPtr held;
  for (ColumnShard& shard : *shards_) {
    std::lock_guard lock(shard.mutex);
    for (const auto& [number, column] : shard.columns) {
      if (!closed.Has(*column)) continue;
      if ((held = column->weak_from_this().lock()) != nullptr) found.push_back(std::move(held));
    }
  }
  return found;
}

bool ColumnTable::IsClosedNow(const Column& column) const {
  std::lock_guard lock(closed_mutex_);
  return std::any_of(closed_.begin(), closed_.end(),
                     [&](const ClosedColumns* closed) { return closed->Has(column); });
}

void ColumnTable::AwaitOpening(const Column& column) {
  const Waiting waiting(Wait::kMayBeShort);
  std::unique_lock lock(closed_mutex_);
  opened_.wait(lock, [&] {
    return std::none_of(closed_.begin(), closed_.end(),
                        [&](const ClosedColumns* closed) { return closed->Has(column); });
  });
}

}  // namespace cellfs::fs
