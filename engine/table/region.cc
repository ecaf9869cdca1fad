// SPDX-License-Identifier: MIT
#include "engine/table/region.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "engine/table/condition.h"
#include "engine/table/request_check.h"
#include "engine/waiting.h"

namespace cellfs {
namespace {

// How many rows of a Batch are locked and written at a time: few enough that others do not notice.
constexpr size_t kMaxPlainRows = 128;

// Who asks for a table by its id may name families that it had once: nullopt where there are none
// of these.
template <typename Q>
std::optional<Q> WithoutGoneFamilies(const TableSchema& schema, const Q& query) {
  const auto is_gone = [&](const auto& family) {
    return schema.FindFamily(family.first) == nullptr;
  };
  if (query.table_id == 0 || std::none_of(query.columns.begin(), query.columns.end(), is_gone))
    return std::nullopt;
  std::optional<Q> narrowed = query;
  std::erase_if(narrowed->columns, is_gone);
  if (narrowed->columns.empty()) {  // which asks for all that are there
    narrowed->time_range = {0, 0};
    narrowed->family_time_ranges.clear();
  }
  return narrowed;
}

// About: what an append or increment goes over is not known yet.
uint64_t BytesOf(const RowMutations& mutations) {
  uint64_t bytes = 0;
  for (const Mutation& mutation : mutations.mutations) {
    if (const auto* put = std::get_if<Put>(&mutation)) {
      for (const PutCell& cell : put->cells) bytes += cell.qualifier.size() + cell.value.size();
    } else if (const auto* append = std::get_if<Append>(&mutation)) {
      for (const auto& cell : append->cells) bytes += cell.qualifier.size() + cell.value.size();
    }
  }
  return bytes;
}

Status NoRoomYet() { return {StatusCode::kUnavailable, "there is no room yet"}; }

}  // namespace

Region::Region(std::shared_ptr<CellStorage> storage, std::shared_ptr<const TableSchema> schema,
               const StoreOptions& options)
    : storage_(std::move(storage)), options_(options), schema_(std::move(schema)) {}

std::shared_lock<FairSharedMutex> Region::LockToUse() const {
  std::shared_lock lock(schema_mutex_, std::defer_lock);
  LockOrWait(lock);
  return lock;
}

std::unique_lock<FairSharedMutex> Region::LockToReplace() {
  return TakeLock(schema_mutex_);
}

Snapshot<TableSchema> Region::schema() const {
  const auto schema_lock = LockToUse();
  return schema_;
}

StatusOr<RowCells> Region::Read(const Get& get) {
  CELLFS_RETURN_IF_ERROR(CheckRequest(get));
  const auto schema_lock = LockToUse();
  const auto narrowed = WithoutGoneFamilies(*schema_, get);
  const Get& read = narrowed ? *narrowed : get;
  CELLFS_RETURN_IF_ERROR(CheckFamilies(*schema_, read));
  return storage_->Read(read, options_.clock->Now());
}

StatusOr<std::unique_ptr<Scanner>> Region::OpenScanner(const Scan& scan) {
  CELLFS_RETURN_IF_ERROR(CheckRequest(scan));
  const auto schema_lock = LockToUse();
  const auto narrowed = WithoutGoneFamilies(*schema_, scan);
  const Scan& read = narrowed ? *narrowed : scan;
  CELLFS_RETURN_IF_ERROR(CheckFamilies(*schema_, read));
  return storage_->OpenScanner(read);
}

template <typename Act>
auto Region::AwaitingRoom(Wait& wait, uint64_t bytes, const Act& act) -> decltype(act()) {
  RoomToAwait* const callers = RoomToAwait::OfThisThread();
  if (callers != nullptr) wait.room = callers->Take(storage_.get());
  if (wait.room == nullptr) {
    wait.room = storage_->RoomAhead(bytes);
    wait.for_room = wait.room != nullptr && !wait.room->Take();
  }
  for (;;) {
    if (std::exchange(wait.for_room, false)) {
      if (callers != nullptr) {
        callers->Lack(storage_, std::move(wait.room));
        return NoRoomYet();
      }
      CELLFS_RETURN_IF_ERROR(wait.room->Await());
    }
    auto done = act();
    if (wait.for_room) continue;
    wait.room.reset();
    if (wait.pause.count() == 0) return done;
    const Waiting waiting(cellfs::Wait::kMayBeShort);
    std::this_thread::sleep_for(std::exchange(wait.pause, {}));
    return done;
  }
}

StatusOr<MutationResult> Region::Mutate(const RowMutations& mutations) {
  Wait wait;
  StatusOr<MutationResult> result = MutateRow(mutations, wait);
  if (result.ok()) CELLFS_RETURN_IF_ERROR(WaitForDisk(wait));
  return result;
}

Status Region::CheckMayMutate(const RowMutations& mutations) {
  CELLFS_RETURN_IF_ERROR(CheckRequest(mutations, options_.site));
  const auto schema_lock = LockToUse();
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  CELLFS_ASSIGN_OR_RETURN(const LockedRow row, LockRow(mutations.row));
  return Prepare(mutations, ContextAt(options_.clock->Now(), row.storage)).status();
}

StatusOr<CheckAndMutateResult> Region::CheckAndMutate(const cellfs::CheckAndMutate& check,
                                                      const std::function<Status()>& action_guard) {
  CELLFS_RETURN_IF_ERROR(CheckRequest(check, options_.site));
  Wait wait;
  StatusOr<CheckAndMutateResult> result =
      AwaitingRoom(wait, BytesOf(check.action),
                   [&] { return TryCheckAndMutate(check, action_guard, wait); });
  if (result.ok()) CELLFS_RETURN_IF_ERROR(WaitForDisk(wait));
  return result;
}

std::vector<StatusOr<MutationResult>> Region::Batch(std::span<const RowMutations> rows) {
  const RoomToAwait::Within waits_here(nullptr);  // it would be of one row, and others are written
  std::vector<StatusOr<MutationResult>> answers;
  answers.reserve(rows.size());
  const Timestamp now = options_.clock->Now();
  Wait wait;
  while (answers.size() < rows.size()) {
    auto rest = rows.subspan(answers.size(), std::min(kMaxPlainRows, rows.size() - answers.size()));
    auto end_of_plain = std::find_if_not(rest.begin(), rest.end(), IsPlain);
    size_t plain = static_cast<size_t>(end_of_plain - rest.begin());
    if (plain > 0) {
      const size_t first = answers.size();
      uint64_t bytes = 0;
      for (const RowMutations& row : rest.first(plain)) bytes += BytesOf(row);
      const Status written = AwaitingRoom(wait, bytes, [&] {
        answers.erase(answers.begin() + static_cast<ptrdiff_t>(first), answers.end());
        return TryPlainRows(rest.first(plain), now, wait, answers);
      });
      for (size_t i = first; i < answers.size() && !written.ok(); ++i)
        if (answers[i].ok()) answers[i] = written;
    } else {
      answers.push_back(MutateRow(rest.front(), wait));
    }
  }
  if (Status durable = WaitForDisk(wait); !durable.ok()) {
    for (StatusOr<MutationResult>& answer : answers)
      if (answer.ok()) answer = durable;
  }
  return answers;
}

Status Region::ReplaceSchema(std::shared_ptr<const TableSchema> schema) {
  const auto schema_lock = LockToReplace();
  const Status replaced = storage_->ReplaceSchema(schema);
  if (IsInForce(replaced)) schema_ = std::move(schema);
  return replaced;
}

Status Region::Truncate() {
  const auto schema_lock = LockToReplace();
  return storage_->Truncate();
}

namespace {

Scan ScanOfOneCell() {
  Scan scan;
  scan.limit = scan.store_limit = 1;
  scan.lengths_only = true;
  return scan;
}

}  // namespace

bool Region::HoldsCells(const std::optional<std::string>& family) {
  Scan scan = ScanOfOneCell();
  scan.raw = true;
  scan.max_versions = kAllVersions;
  if (family) scan.columns[*family] = {};
  const auto scanner = OpenScanner(scan);
  if (!scanner.ok()) return true;
  const auto rows = (*scanner)->Next({1, 1});
  return !rows.ok() || !rows->empty();
}

StatusOr<bool> Region::CloseIfEmpty() {
  const auto schema_lock = LockToReplace();
  CELLFS_ASSIGN_OR_RETURN(const auto scanner, storage_->OpenScanner(ScanOfOneCell()));
  CELLFS_ASSIGN_OR_RETURN(const auto rows, scanner->Next({1, 1}));
  closed_ = rows.empty();
  return closed_;
}

void Region::Close() {
  const auto schema_lock = LockToReplace();
  closed_ = true;
}

void Region::Reopen() {
  const auto schema_lock = LockToReplace();
  closed_ = false;
}

Status Region::CheckTimestampLeft(std::string_view row, std::string_view family,
                                  std::string_view qualifier) {
  if (storage_->NewestTimestamp() < kLatestTimestamp - 1) return {};
  const auto schema_lock = LockToUse();
  CELLFS_RETURN_IF_ERROR(CheckFamilyExists(*schema_, family));
  CELLFS_ASSIGN_OR_RETURN(const ColumnHead head,
                          storage_->ReadColumnHead(row, family, qualifier));
  return StampAbove(head, {}, *schema_->FindFamily(family), options_.clock->Now()).status();
}

TableStatistics Region::GetStatistics() {
  TableStatistics statistics = storage_->GetStatistics();
  const Snapshot<TableSchema> present = schema();
  statistics.table = present->name();
  return statistics;
}

StatusOr<MutationResult> Region::MutateRow(const RowMutations& mutations, Wait& wait) {
  CELLFS_RETURN_IF_ERROR(CheckRequest(mutations, options_.site));
  return AwaitingRoom(wait, BytesOf(mutations), [&] { return TryMutate(mutations, wait); });
}

StatusOr<MutationResult> Region::TryMutate(const RowMutations& mutations, Wait& wait) {
  const auto schema_lock = LockToUse();
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  CELLFS_ASSIGN_OR_RETURN(const LockedRow row, LockRow(mutations.row));
  return Write(mutations, ContextAt(options_.clock->Now(), row.storage), wait);
}

StatusOr<CheckAndMutateResult> Region::TryCheckAndMutate(
    const cellfs::CheckAndMutate& check, const std::function<Status()>& action_guard, Wait& wait) {
  const auto schema_lock = LockToUse();
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  if (const auto* column = std::get_if<ColumnCondition>(&check.condition))
    CELLFS_RETURN_IF_ERROR(CheckFamilyExists(*schema_, column->family));
  CELLFS_ASSIGN_OR_RETURN(const LockedRow row, LockRow(check.row));
  const Timestamp now = options_.clock->Now();
  CELLFS_ASSIGN_OR_RETURN(const Verdict verdict, Judge(check, row.storage, now));
  CheckAndMutateResult result;
  if (!verdict.holds) return result;
  if (action_guard) CELLFS_RETURN_IF_ERROR(action_guard());
  // A Put must not lie under the cell that let it through, should the clock have gone back.
  WriteContext context = ContextAt(now, row.storage);
  context.put_floor = std::max(now, verdict.cell_timestamp);
  if (verdict.head) {
    context.known = {&std::get<ColumnCondition>(check.condition), &*verdict.head};
  }
  CELLFS_ASSIGN_OR_RETURN(result.result, Write(check.action, context, wait));
  result.done = true;
  return result;
}

Status Region::TryPlainRows(std::span<const RowMutations> rows, Timestamp now, Wait& wait,
                            std::vector<StatusOr<MutationResult>>& answers) {
  const auto schema_lock = LockToUse();
  RowLocks::Stripes stripes;
  for (const RowMutations& row : rows) stripes.set(RowLocks::StripeOf(row.row));
  const std::vector<RowLocks::OneLock> row_locks = row_locks_.LockAll(stripes);
  std::vector<std::string_view> names;
  names.reserve(rows.size());
  for (const RowMutations& row : rows) names.push_back(row.row);
  const auto keeping = storage_->KeepRows(names);
  if (!keeping.ok()) {
    answers.insert(answers.end(), rows.size(), keeping.status());
    return keeping.status();
  }
  const auto& kept = *keeping;
  RowStorage& storage = kept != nullptr ? *kept : *storage_;
  // Who waited for others writes after them.
  if (kept != nullptr) now = options_.clock->Now();

  std::vector<RowBatch> batches;
  batches.reserve(rows.size());
  Durability durability = Durability::kSkipWal;
  for (const RowMutations& row : rows) {
    Status checked = CheckRequest(row, options_.site);
    if (checked.ok()) checked = CheckWritable();
    StatusOr<RowWrite> write = checked.ok() ? Prepare(row, ContextAt(now, storage)) : checked;
    if (!write.ok()) {
      answers.push_back(write.status());
      continue;
    }
    durability = std::max(durability, write->batch.durability);
    batches.push_back(std::move(write->batch));
    answers.push_back(std::move(write->result));
  }
  if (batches.empty()) return {};
  return Apply(storage, batches, durability, wait);
}

StatusOr<Region::LockedRow> Region::LockRow(const std::string& row) {
  RowLocks::OneLock lock = row_locks_.Lock(row);
  const std::string_view name = row;
  CELLFS_ASSIGN_OR_RETURN(auto kept, storage_->KeepRows(std::span(&name, 1)));
  RowStorage& storage = kept != nullptr ? *kept : *storage_;
  return LockedRow{std::move(lock), std::move(kept), storage};
}

StatusOr<RowWrite> Region::Prepare(const RowMutations& mutations, const WriteContext& context) {
  CELLFS_RETURN_IF_ERROR(CheckFamilies(*schema_, mutations));
  CELLFS_RETURN_IF_ERROR(
      CheckTimestampSlop(mutations, options_.site.timestamp_slop, context.now, context.put_floor));
  StatusOr<RowWrite> write = BuildRowWrite(mutations, context);
  if (write.ok()) write->batch.durability = Resolve(mutations.durability);
  return write;
}

StatusOr<MutationResult> Region::Write(const RowMutations& mutations, const WriteContext& context,
                                       Wait& wait) {
  StatusOr<RowWrite> write = Prepare(mutations, context);
  if (!write.ok()) return write.status();
  RowBatch& batch = write->batch;
  if (batch.cells.empty() && batch.withdrawn.empty()) return std::move(write->result);
  CELLFS_RETURN_IF_ERROR(Apply(context.storage, std::span(&batch, 1), batch.durability, wait));
  return std::move(write->result);
}

Status Region::Apply(RowStorage& storage, std::span<RowBatch> batches, Durability durability,
                     Wait& wait) {
  CELLFS_ASSIGN_OR_RETURN(Applied applied, storage.Apply(batches, wait.room.get()));
  wait.for_room = applied.lacks != nullptr;
  wait.room = std::move(applied.lacks);
  if (wait.for_room) return NoRoomYet();
  wait.position = std::max(wait.position, applied.position);
  wait.durability = std::max(wait.durability, durability);
  wait.needed = true;
  wait.pause += applied.pause;
  return {};
}

Status Region::CheckWritable() const {
  if (!closed_ && !schema_->read_only()) return {};
  const std::string name = "table '" + schema_->name().ToString() + "' ";
  if (closed_) return {StatusCode::kTableNotFound, name + "is being dropped"};
  return {StatusCode::kReadOnly, name + "is read-only"};
}

Durability Region::Resolve(Durability asked) const {
  if (asked != Durability::kUseDefault) return asked;
  if (schema_->durability() != Durability::kUseDefault) return schema_->durability();
  return options_.durability == Durability::kUseDefault ? Durability::kSyncWal
                                                        : options_.durability;
}

// The mutations are visible already, so a failure does not undo them: a crash may keep them or not.
Status Region::WaitForDisk(const Wait& wait) {
  if (!wait.needed) return {};
  const Status durable = storage_->MakeDurable(wait.position, wait.durability);
  if (durable.ok()) return {};
  const Snapshot<TableSchema> present = schema();
  return {StatusCode::kOutcomeUnknown,
          "a mutation of table '" + present->name().ToString() +
              "' is visible, but perhaps not on disk: " + durable.message()};
}

}  // namespace cellfs
