// SPDX-License-Identifier: MIT
//
// Descriptors: what a namespace, a table and a column family are told to be. Attributes keep HBase
// 2.6's names (ColumnFamilyDescriptorBuilder, TableDescriptorBuilder) and their text form; those
// that the engine acts on can be read as typed members, which are derived from the text.
#ifndef CELLFS_ENGINE_SCHEMA_H_
#define CELLFS_ENGINE_SCHEMA_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/attribute_rules.h"
#include "engine/mutation.h"
#include "engine/names.h"
#include "engine/status_or.h"

namespace cellfs {

enum class KeepDeletedCells { kFalse, kTrue, kTtl };
enum class Compression { kNone, kZstandard, kLz4, kSnappy };
// Which keys of a store file its Bloom filter knows (BLOOMFILTER).
enum class BloomFilter { kNone, kRow, kRowAndColumn };

// Set through Set/Unset only, so that members and attributes agree. A copyable value.
class FamilySchema {
 public:
  FamilySchema() = default;
  explicit FamilySchema(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }

  // Sets an attribute of HBase ("VERSIONS", "TTL", ...; any case of letters for known ones), of
  // ours (DELETED_TTL) or free metadata. TTL takes seconds, "FOREVER" or HBase's "1 DAYS 2 HOURS"
  // form. kIllegalArgument, or kDoNotRetry for a limit that HBase's master checks
  // (TableDescriptorChecker), names family, attribute, value and what is allowed.
  Status Set(std::string_view attribute, std::string_view value);
  void Unset(std::string_view attribute);
  // As another store has it: a value that Set refuses is kept as it is, and acted on as the default.
  void Keep(std::string_view attribute, std::string_view value);
  // What was set, in canonical form, known attributes and metadata alike. Defaults do not appear.
  const Attributes& attributes() const { return attributes_; }
  // The value in force, default included; empty for unknown metadata.
  std::string Get(std::string_view attribute) const;
  // Rules between attributes: MIN_VERSIONS <= VERSIONS. kIllegalArgument, as HBase's builder has
  // it.
  Status Check() const;

  int32_t max_versions() const { return max_versions_; }
  int32_t min_versions() const { return min_versions_; }
  int32_t time_to_live() const { return time_to_live_; }  // seconds; kForever
  KeepDeletedCells keep_deleted_cells() const { return keep_deleted_cells_; }
  bool new_version_behavior() const { return new_version_behavior_; }
  Compression compression() const { return compression_; }
  BloomFilter bloom_filter() const { return bloom_filter_; }
  bool in_memory() const { return in_memory_; }
  int32_t block_size() const { return block_size_; }
  std::optional<int64_t> deleted_ttl() const { return deleted_ttl_; }  // seconds; ours

  friend bool operator==(const FamilySchema& a, const FamilySchema& b) {
    return a.name_ == b.name_ && a.attributes_ == b.attributes_;
  }

 private:
  std::string name_;
  Attributes attributes_;
  int32_t max_versions_ = 1;
  int32_t min_versions_ = 0;
  int32_t time_to_live_ = kForever;
  KeepDeletedCells keep_deleted_cells_ = KeepDeletedCells::kFalse;
  bool new_version_behavior_ = false;
  Compression compression_ = Compression::kNone;
  BloomFilter bloom_filter_ = BloomFilter::kRow;
  bool in_memory_ = false;
  int32_t block_size_ = 65536;
  std::optional<int64_t> deleted_ttl_;
};

// Never given twice in a store, so that what is left of a dropped table is never taken for a newer
// one's of the same name.
using TableId = uint64_t;

// What tells a table from another that was there under its name before, where the store gives no
// ids. A drop, and a truncation, make both stamps new; a split or a merge those of its regions
// alone, to disable or enable it its state's alone.
struct TableIncarnation {
  static constexpr size_t kMostRegions = 16;

  std::vector<int64_t> regions;  // when its regions were made: the first of these times, ascending
  int64_t state = 0;             // when it was enabled or disabled last

  bool IsSameTable(const TableIncarnation& earlier) const;
  // Whether it was seen after `other`: what is asked for at once may come in any order.
  bool IsLaterThan(const TableIncarnation& other) const;
  friend bool operator==(const TableIncarnation&, const TableIncarnation&) = default;
};

// Whether something of old versions, of expired or of deleted cells stays by the one that goes by the
// other.
bool KeepsMore(const FamilySchema& one, const FamilySchema& other);

class TableSchema {
 public:
  TableSchema() = default;
  explicit TableSchema(TableName name) : name_(std::move(name)) {}

  const TableName& name() const { return name_; }

  TableSchema Renamed(TableName name) const {
    TableSchema renamed = *this;
    renamed.name_ = std::move(name);
    return renamed;
  }

  // Which table it is, whatever it is called: the store sets it in what it tells, and passes over
  // it in what it is given. 0: the store gives none, and the name says which. Schemas that say the
  // same are equal whatever their ids.
  TableId id() const { return id_; }
  void set_id(TableId id) { id_ = id; }
  // Likewise, where there are no ids; else nullopt.
  const std::optional<TableIncarnation>& incarnation() const { return incarnation_; }
  void set_incarnation(TableIncarnation incarnation) { incarnation_ = std::move(incarnation); }

  // As FamilySchema::Set: READONLY, DURABILITY, MEMSTORE_FLUSHSIZE, MAX_FILESIZE, OWNER, ..., and
  // ours, DROPPED_TTL: how long it is kept when it was dropped.
  Status Set(std::string_view attribute, std::string_view value);
  void Unset(std::string_view attribute);
  void Keep(std::string_view attribute, std::string_view value);  // as FamilySchema::Keep
  const Attributes& attributes() const { return attributes_; }
  std::string Get(std::string_view attribute) const;

  bool read_only() const { return read_only_; }
  int64_t dropped_ttl() const { return dropped_ttl_; }  // seconds; ours
  bool compaction_enabled() const { return compaction_enabled_; }
  Durability durability() const { return durability_; }
  std::optional<int64_t> memstore_flush_size() const { return memstore_flush_size_; }

  std::map<std::string, FamilySchema, std::less<>> families;  // by name, in byte order
  std::vector<std::string> split_keys;           // ascending; regions = split_keys.size() + 1

  const FamilySchema* FindFamily(std::string_view family) const;

  friend bool operator==(const TableSchema& a, const TableSchema& b) {
    return a.name_ == b.name_ && a.attributes_ == b.attributes_ && a.families == b.families &&
           a.split_keys == b.split_keys;
  }

 private:
  TableName name_;
  TableId id_ = 0;
  std::optional<TableIncarnation> incarnation_;
  Attributes attributes_;
  bool read_only_ = false;
  int64_t dropped_ttl_ = 0;
  bool compaction_enabled_ = true;  // by itself
  Durability durability_ = Durability::kUseDefault;
  std::optional<int64_t> memstore_flush_size_;
};

struct NamespaceSchema {
  std::string name;
  Attributes properties;  // `hbase.namespace.quota.maxtables`, ... and free ones
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_SCHEMA_H_
