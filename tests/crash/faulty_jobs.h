// SPDX-License-Identifier: MIT
//
// The jobs of a store that are to meet faults: how each becomes due, who asks for it, and what it
// leaves.
#ifndef CELLFS_TESTS_CRASH_FAULTY_JOBS_H_
#define CELLFS_TESTS_CRASH_FAULTY_JOBS_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/controlled_store.h"
#include "tests/crash/counted_writes.h"

namespace cellfs {

using OpenedStore = StatusOr<std::unique_ptr<ControlledStore>>;

// The job's own: of two families, and of one. Another that acts of administration are about, and
// one that is never due for anything.
inline const TableName kPair = ParseTableName("pair");
inline const TableName kLone = ParseTableName("lone");
inline const TableName kOther = ParseTableName("other");
inline const TableName kBeside = ParseTableName("beside");

inline constexpr int64_t kFlushSize = 32 << 10;
inline constexpr int kFewWrites = 20;   // too few to make a flush due
inline constexpr int kManyWrites = 90;  // enough for that

using Opens = std::function<OpenedStore()>;

struct Job {
  std::string name;
  TableName table;  // whose status tells of it
  // What has been written to it before, or for kOther to kLone: files of so many mutations each,
  // and what was not flushed.
  std::vector<int> files = {};
  int unflushed = 0;
  int rows = 7;
  bool is_ascending = false;
  int64_t flush_size = kFlushSize;
  // By whom it is asked for; null: the threads do it by themselves once they may, until it is done.
  std::function<Status(OpenedStore& store, const Opens& open)> run = nullptr;
  std::function<bool(const TableStatistics& table)> is_done = nullptr;
  bool is_opening = false;  // it is the first to open the store
  bool is_alone = false;    // nobody can write meanwhile
  // What kOther may have once the job has begun and once it is done.
  std::set<std::string> meanwhile = {};
  std::set<std::string> afterwards = {};
};

inline Writer OfOther(const std::string& families = "fg") {
  return {.name = 'o', .table = kOther, .families = families};
}
// A part is not flushed; with the further ones, another part of which is not, a compaction is due.
inline constexpr int kInOther = 40;
inline constexpr int kMoreInOther = 30;
inline const std::string kWhole = OfOther().Expected(kInOther + kMoreInOther);
inline const std::string kGone = Status(StatusCode::kTableNotFound, "").ToString();

inline TableSchema SchemaOf(const TableName& table, const std::string& families) {
  TableSchema schema(table);
  for (const char name : families) {
    const std::string family(1, name);
    schema.families.emplace(family, FamilySchema(family));
  }
  return schema;
}

inline Status Unless(StatusCode code, const Status& status) {
  return status.code() == code ? Status() : status;
}

inline Status Disable(Store& store) {
  return Unless(StatusCode::kTableNotEnabled, store.DisableTable(kCaller, kOther));
}

inline Status Compact(OpenedStore& store, const Opens&) {
  return (*store)->Compact(kCaller, kPair, CompactionKind::kMajor);
}

inline Status CompactLone(OpenedStore& store, const Opens&) {
  return (*store)->Compact(kCaller, kLone, CompactionKind::kMajor);
}

inline Status Alter(OpenedStore& store, const Opens&) {
  return (*store)->AlterTable(kCaller, SchemaOf(kOther, "fh"));
}

inline Status Truncate(OpenedStore& store, const Opens&) {
  CELLFS_RETURN_IF_ERROR(Disable(**store));
  CELLFS_RETURN_IF_ERROR((*store)->TruncateTable(kCaller, kOther));
  return Unless(StatusCode::kTableNotDisabled, (*store)->EnableTable(kCaller, kOther));
}

inline Status Drop(OpenedStore& store, const Opens&) {
  CELLFS_RETURN_IF_ERROR(Unless(StatusCode::kTableNotFound, Disable(**store)));
  return Unless(StatusCode::kTableNotFound, (*store)->DropTable(kCaller, kOther));
}

inline Status Reopen(OpenedStore& store, const Opens& open) {
  store = std::unique_ptr<ControlledStore>();  // closes it before the next one wants its lock
  store = open();
  CELLFS_RETURN_IF_ERROR(store.status());
  // A table that met the fault while it was opened stays closed until the store is opened again.
  for (const TableName& table : {kPair, kLone, kOther, kBeside})
    CELLFS_RETURN_IF_ERROR((*store)->Read(kCaller, table, {.row = "any"}).status());
  return {};
}

inline std::vector<Job> Jobs() {
  const auto has_flushed = [](const TableStatistics& table) {
    return table.memstore_bytes < uint64_t{kFlushSize};
  };
  const auto has_compacted = [](const TableStatistics& table) {
    return table.compaction_debt == 0;
  };
  const std::vector<int> three = {20, 20, 20};
  return {
      {.name = "flush", .table = kPair, .unflushed = kManyWrites, .is_done = has_flushed},
      {.name = "major", .table = kLone, .files = three, .is_done = has_compacted},
      {.name = "minor",
       .table = kLone,
       .files = {200, 20, 20, 20},  // more would make the log a reason for a flush
       .rows = 500,
       .is_done = has_compacted},
      {.name = "run",
       .table = kLone,
       .files = {10, 10, 10},
       .is_ascending = true,
       .is_done = has_compacted},
      {.name = "compact", .table = kPair, .files = {20, 20}, .run = Compact},
      {.name = "pieces",  // eight flush sizes are the length of a file
       .table = kLone,
       .files = {60, 60},
       .rows = 100,
       .flush_size = 512,
       .run = CompactLone},
      {.name = "alter",
       .table = kOther,
       .files = three,
       .run = Alter,
       .meanwhile = {kWhole, OfOther("f").Expected(kInOther + kMoreInOther)},
       .afterwards = {OfOther("f").Expected(kInOther + kMoreInOther)}},
      {.name = "truncate",
       .table = kOther,
       .files = three,
       .run = Truncate,
       .meanwhile = {kWhole, ""},
       .afterwards = {""}},
      {.name = "drop",
       .table = kOther,
       .files = three,
       .run = Drop,
       .meanwhile = {kWhole, kGone},
       .afterwards = {kGone}},
      {.name = "reopening", .table = kPair, .unflushed = 20, .run = Reopen, .is_alone = true},
      {.name = "recovery", .table = kPair, .run = Reopen, .is_opening = true, .is_alone = true},
  };
}

}  // namespace cellfs

#endif  // CELLFS_TESTS_CRASH_FAULTY_JOBS_H_
