// SPDX-License-Identifier: MIT
#include "engine/file/stored_facts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>
#include <vector>

#include "engine/disk/file_layer.h"
#include "engine/file/block_cache.h"
#include "engine/file/page_checksums.h"

namespace cellfs {
namespace {

// The schema, and the roots of tables and indexes of format 3, less one: what is not counted.
constexpr int64_t kFixedPages = 6;

StatusOr<int64_t> MeasureBytes(Database& database) {
  CELLFS_ASSIGN_OR_RETURN(const int64_t pages, database.QueryInteger("PRAGMA page_count"));
  return std::max<int64_t>(pages - kFixedPages, 1) * kDatabasePageSize;
}

template <typename Value>
Status PutFact(Database& database, const std::string& name, Value value) {
  CELLFS_ASSIGN_OR_RETURN(
      Statement statement,
      database.Prepare("INSERT OR REPLACE INTO facts VALUES ('" + name + "', ?1)"));
  statement.Bind(1, value);
  return statement.Run();
}

// The numbers of a file, each with its name. `bytes` comes by itself.
std::vector<std::pair<const char*, int64_t>> NumbersOf(const StoredFacts& stored) {
  const FileFacts& facts = stored.facts;
  std::vector<std::pair<const char*, int64_t>> numbers = {
      {"store", static_cast<int64_t>(stored.store_id)},
      {"table", static_cast<int64_t>(stored.table)},
      {"number", static_cast<int64_t>(facts.number)},
      {"oldest", facts.oldest},
      {"newest", facts.newest},
      {"oldest_put", facts.oldest_put},
      {"lowest", static_cast<int64_t>(facts.lowest)},
      {"highest", static_cast<int64_t>(facts.highest)},
      {"cells", facts.cells},
      {"tombstones", facts.tombstones},
      {"family_tombstones", facts.family_tombstones},
      {"withdrawals", facts.withdrawals},
      {"surplus", facts.surplus},
      {"written", facts.written},
      {"filter_blocks", facts.filter_blocks},
      {"filter_has_columns", facts.filter_has_columns ? 1 : 0},
      {"is_major", facts.is_major ? 1 : 0}};
  if (facts.follows != 0) numbers.emplace_back("follows", static_cast<int64_t>(facts.follows));
  if (facts.is_followed) numbers.emplace_back("is_followed", 1);
  if (facts.room.old_versions != 0) numbers.emplace_back("room_old", facts.room.old_versions);
  if (facts.room.deleted != 0) numbers.emplace_back("room_deleted", facts.room.deleted);
  if (facts.hidden.cells != 0) {
    numbers.emplace_back("hidden_cells", facts.hidden.cells);
    numbers.emplace_back("newest_hidden_tombstone", facts.hidden.newest_tombstone);
  }
  return numbers;
}

// The rows of `facts`. Once one that must be there is missing, it stays bad.
class FactRows {
 public:
  static StatusOr<FactRows> Load(Database& database) {
    FactRows rows;
    CELLFS_ASSIGN_OR_RETURN(Statement statement, database.Prepare("SELECT name, value FROM facts"));
    for (;;) {
      CELLFS_ASSIGN_OR_RETURN(const bool row, statement.Step());
      if (!row) return rows;
      const std::string name(statement.Bytes(0));
      if (name == "family" || name == "first_row" || name == "last_row") {
        rows.texts_[name] = statement.Bytes(1);
      } else {
        rows.numbers_[name] = statement.Integer(1);
      }
    }
  }

  template <typename Number>
  void Take(const std::string& name, Number& number) {
    const auto found = numbers_.find(name);
    if (found == numbers_.end()) return NoteMissing(name);
    number = static_cast<Number>(found->second);
  }
  template <typename Number>
  void TakeIfThere(const std::string& name, Number& number) {
    if (numbers_.contains(name)) Take(name, number);
  }
  void Take(const std::string& name, std::string& text) {
    const auto found = texts_.find(name);
    if (found == texts_.end()) return NoteMissing(name);
    text = found->second;
  }
  const std::string& missing() const { return missing_; }

 private:
  void NoteMissing(const std::string& name) { missing_ = name; }

  std::map<std::string, int64_t> numbers_;
  std::map<std::string, std::string> texts_;
  std::string missing_;
};

StatusOr<int64_t> FormatOf(Database& database) {
  const auto no_store_file = [&](const std::string& why) {
    return Status(StatusCode::kCorruption, database.path() + ": " + why);
  };
  CELLFS_ASSIGN_OR_RETURN(const int64_t id, database.QueryInteger("PRAGMA application_id"));
  if (id != kStoreFileApplicationId) return no_store_file("not a store file");
  CELLFS_ASSIGN_OR_RETURN(const int64_t format, database.QueryInteger("PRAGMA user_version"));
  if (format < kOldestStoreFileFormat || format > kStoreFileFormat)
    return no_store_file("format " + std::to_string(format) + " is not known to this version");
  return format;
}

}  // namespace

Status LookAtStoreFile(const std::string& path, const FileFacts& facts) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return ErrnoStatus("open", path, errno);
  struct stat found {};
  char page[kDatabasePageSize];
  const bool is_read = ::fstat(file, &found) == 0 && ::pread(file, page, sizeof page, 0) >= 0;
  const int error = errno;
  ::close(file);
  if (!is_read) return ErrnoStatus("read", path, error);
  const auto length = static_cast<uint64_t>(found.st_size);
  const uint64_t expected = facts.bytes + uint64_t{kFixedPages} * kDatabasePageSize;
  if (length != expected)
    return {StatusCode::kCorruption, path + ": it has " + std::to_string(length) +
                                         " bytes, and should have " + std::to_string(expected)};
  // A page that was never written is all zero, and no damage; this one was.
  if (IsIntactPage(page, 1) && page[0] != '\0') return {};
  return {StatusCode::kCorruption, path + ": page 1 does not match its checksum"};
}

Status PutStoredFacts(Database& database, StoredFacts& stored) {
  for (const auto& [name, value] : NumbersOf(stored))
    CELLFS_RETURN_IF_ERROR(PutFact(database, name, value));
  CELLFS_RETURN_IF_ERROR(PutFact(database, "family", std::string_view(stored.facts.family)));
  CELLFS_RETURN_IF_ERROR(PutFact(database, "first_row", std::string_view(stored.facts.first_row)));
  CELLFS_RETURN_IF_ERROR(PutFact(database, "last_row", std::string_view(stored.facts.last_row)));
  // Its own row may need a page: it is there, and as long as can be, before pages are counted.
  CELLFS_RETURN_IF_ERROR(PutFact(database, "bytes", int64_t{1} << 62));
  CELLFS_ASSIGN_OR_RETURN(const int64_t bytes, MeasureBytes(database));
  stored.facts.bytes = static_cast<uint64_t>(bytes);
  return PutFact(database, "bytes", bytes);
}

StatusOr<StoredFacts> ReadStoredFacts(Database& database) {
  StoredFacts stored;
  CELLFS_ASSIGN_OR_RETURN(stored.format, FormatOf(database));
  CELLFS_ASSIGN_OR_RETURN(FactRows rows, FactRows::Load(database));
  FileFacts& facts = stored.facts;
  rows.Take("store", stored.store_id);
  rows.Take("table", stored.table);
  rows.Take("number", facts.number);
  rows.Take("family", facts.family);
  rows.Take("first_row", facts.first_row);
  rows.Take("last_row", facts.last_row);
  rows.Take("oldest", facts.oldest);
  rows.Take("newest", facts.newest);
  rows.Take("oldest_put", facts.oldest_put);
  rows.Take("lowest", facts.lowest);
  rows.Take("highest", facts.highest);
  rows.Take("cells", facts.cells);
  rows.Take("tombstones", facts.tombstones);
  rows.Take("family_tombstones", facts.family_tombstones);
  rows.Take("withdrawals", facts.withdrawals);
  rows.Take("surplus", facts.surplus);
  rows.Take("written", facts.written);
  // Files of format 2 lack these. Without them the filter is not asked, and a compaction that was
  // major may be done again.
  rows.TakeIfThere("filter_blocks", facts.filter_blocks);
  rows.TakeIfThere("filter_has_columns", facts.filter_has_columns);
  rows.TakeIfThere("is_major", facts.is_major);
  // Only those with hidden cells have these.
  rows.TakeIfThere("hidden_cells", facts.hidden.cells);
  rows.TakeIfThere("newest_hidden_tombstone", facts.hidden.newest_tombstone);
  // Only those of several have these.
  rows.TakeIfThere("follows", facts.follows);
  rows.TakeIfThere("is_followed", facts.is_followed);
  rows.TakeIfThere("room_old", facts.room.old_versions);
  rows.TakeIfThere("room_deleted", facts.room.deleted);
  CELLFS_ASSIGN_OR_RETURN(const int64_t measured, MeasureBytes(database));
  facts.bytes = static_cast<uint64_t>(measured);
  rows.TakeIfThere("bytes", facts.bytes);
  if (rows.missing().empty()) return stored;
  return Status(StatusCode::kCorruption,
                database.path() + ": it does not say its " + rows.missing());
}

StatusOr<StoredFacts> ReadStoredFacts(const std::string& path) {
  BlockCache cache(/*bytes=*/int64_t{1} << 20);
  CELLFS_ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                          Database::OpenImmutable(path, cache, cache.NewOwner()));
  return ReadStoredFacts(*database);
}

}  // namespace cellfs
