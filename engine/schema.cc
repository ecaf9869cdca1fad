// SPDX-License-Identifier: MIT
#include "engine/schema.h"

#include <algorithm>
#include <limits>

#include "engine/find_name.h"

namespace cellfs {
namespace {

KeepDeletedCells KeepDeletedCellsOf(std::string_view text) {
  if (text == "TRUE") return KeepDeletedCells::kTrue;
  return text == "TTL" ? KeepDeletedCells::kTtl : KeepDeletedCells::kFalse;
}

// A prefix of rows is looked for in a filter of whole rows: nothing reads by prefix alone.
BloomFilter BloomFilterOf(std::string_view text) {
  if (text == "NONE") return BloomFilter::kNone;
  return text == "ROWCOL" ? BloomFilter::kRowAndColumn : BloomFilter::kRow;
}

// The algorithms that HBase has and we do not are kept by name only; cells are then not compressed.
Compression CompressionOf(std::string_view text) {
  if (text == "ZSTD") return Compression::kZstandard;
  if (text == "LZ4") return Compression::kLz4;
  return text == "SNAPPY" ? Compression::kSnappy : Compression::kNone;
}

Durability DurabilityOf(std::string_view text) {
  if (text == "SKIP_WAL") return Durability::kSkipWal;
  if (text == "ASYNC_WAL") return Durability::kAsyncWal;
  if (text == "SYNC_WAL") return Durability::kSyncWal;
  return text == "FSYNC_WAL" ? Durability::kFsyncWal : Durability::kUseDefault;
}

}  // namespace

Status FamilySchema::Set(std::string_view attribute, std::string_view value) {
  CELLFS_ASSIGN_OR_RETURN(AttributeEntry entry,
                          CanonicalAttribute(DescriptorKind::kFamily, "family '" + name_ + "'",
                                             attribute, value));
  const auto& [name, text] = entry;
  if (name == "VERSIONS") max_versions_ = static_cast<int32_t>(AttributeNumber(text));
  if (name == "MIN_VERSIONS") min_versions_ = static_cast<int32_t>(AttributeNumber(text));
  if (name == "TTL") time_to_live_ = static_cast<int32_t>(AttributeNumber(text));
  if (name == "KEEP_DELETED_CELLS") keep_deleted_cells_ = KeepDeletedCellsOf(text);
  if (name == "NEW_VERSION_BEHAVIOR") new_version_behavior_ = text == "true";
  if (name == "BLOOMFILTER") bloom_filter_ = BloomFilterOf(text);
  if (name == "COMPRESSION") compression_ = CompressionOf(text);
  if (name == "IN_MEMORY") in_memory_ = text == "true";
  if (name == "BLOCKSIZE") block_size_ = static_cast<int32_t>(AttributeNumber(text));
  if (name == "DELETED_TTL") {
    deleted_ttl_ = text == kForeverText ? std::nullopt : std::optional(AttributeNumber(text));
  }
  attributes_.insert_or_assign(std::move(entry.name), std::move(entry.value));
  return {};
}

void FamilySchema::Unset(std::string_view attribute) {
  const std::string name = AttributeName(DescriptorKind::kFamily, attribute);
  const auto known = FamilyAttributeDefaults().find(name);
  // Sets the members back; a default is never refused.
  if (known != FamilyAttributeDefaults().end()) static_cast<void>(Set(name, known->second));
  attributes_.erase(name);
}

void FamilySchema::Keep(std::string_view attribute, std::string_view value) {
  if (attribute.empty() || Set(attribute, value).ok()) return;
  Unset(attribute);
  attributes_[AttributeName(DescriptorKind::kFamily, attribute)] = value;
}

std::string FamilySchema::Get(std::string_view attribute) const {
  return AttributeInForce(DescriptorKind::kFamily, attributes_, attribute);
}

Status FamilySchema::Check() const {
  if (min_versions_ <= max_versions_) return {};
  return {StatusCode::kIllegalArgument, "family '" + name_ + "': MIN_VERSIONS is " +
                                            std::to_string(min_versions_) + "; at most VERSIONS, " +
                                            std::to_string(max_versions_) + ", is allowed"};
}

Status TableSchema::Set(std::string_view attribute, std::string_view value) {
  CELLFS_ASSIGN_OR_RETURN(AttributeEntry entry,
                          CanonicalAttribute(DescriptorKind::kTable,
                                             "table '" + name_.ToString() + "'", attribute, value));
  const auto& [name, text] = entry;
  if (name == "READONLY") read_only_ = text == "true";
  if (name == "DROPPED_TTL") dropped_ttl_ = AttributeNumber(text);
  if (name == "COMPACTION_ENABLED") compaction_enabled_ = text == "true";
  if (name == "DURABILITY") durability_ = DurabilityOf(text);
  if (name == "MEMSTORE_FLUSHSIZE") memstore_flush_size_ = AttributeNumber(text);
  attributes_.insert_or_assign(std::move(entry.name), std::move(entry.value));
  return {};
}

void TableSchema::Unset(std::string_view attribute) {
  const std::string name = AttributeName(DescriptorKind::kTable, attribute);
  const auto known = TableAttributeDefaults().find(name);
  if (known != TableAttributeDefaults().end()) static_cast<void>(Set(name, known->second));
  if (name == "MEMSTORE_FLUSHSIZE") memstore_flush_size_.reset();  // the site's then
  attributes_.erase(name);
}

void TableSchema::Keep(std::string_view attribute, std::string_view value) {
  if (attribute.empty() || Set(attribute, value).ok()) return;
  Unset(attribute);
  attributes_[AttributeName(DescriptorKind::kTable, attribute)] = value;
}

std::string TableSchema::Get(std::string_view attribute) const {
  return AttributeInForce(DescriptorKind::kTable, attributes_, attribute);
}

const FamilySchema* TableSchema::FindFamily(std::string_view family) const {
  const auto found = FindName(families, family);
  return found == families.end() ? nullptr : &found->second;
}

bool TableIncarnation::IsSameTable(const TableIncarnation& earlier) const {
  return (state != 0 && state == earlier.state) ||
         std::ranges::any_of(regions, [&](int64_t made) {
           return std::ranges::binary_search(earlier.regions, made);
         });
}

bool TableIncarnation::IsLaterThan(const TableIncarnation& other) const {
  if (state == 0 || regions.empty()) return false;  // it is just being made, or dropped
  if (state != other.state) return state > other.state;
  return other.regions.empty() || regions.back() > other.regions.back();
}

namespace {

// The later ones keep more.
int Rank(KeepDeletedCells keeping) {
  if (keeping == KeepDeletedCells::kTrue) return 2;
  return keeping == KeepDeletedCells::kTtl ? 1 : 0;
}

}  // namespace

bool KeepsMore(const FamilySchema& one, const FamilySchema& other) {
  constexpr int64_t kEver = std::numeric_limits<int64_t>::max();
  return one.max_versions() > other.max_versions() || one.min_versions() > other.min_versions() ||
         one.time_to_live() > other.time_to_live() ||
         Rank(one.keep_deleted_cells()) > Rank(other.keep_deleted_cells()) ||
         one.deleted_ttl().value_or(kEver) > other.deleted_ttl().value_or(kEver) ||
         one.new_version_behavior() != other.new_version_behavior();
}

}  // namespace cellfs
