// SPDX-License-Identifier: MIT
#include "engine/schema.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "engine/byte_size.h"

namespace cellfs {
namespace {

constexpr int64_t kKibi = 1024;
constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxLong = std::numeric_limits<int64_t>::max();

enum class ValueKind {
  kText,      // anything
  kBoolean,   // true, false
  kWord,      // one of `words`
  kInteger,   // min..max
  kBytes,     // min..max, or with units: "64 KB"
  kDuration,  // seconds, or "FOREVER", or with units: "1 DAYS 2 HOURS"
};

struct Rule {
  std::string_view name;
  std::string_view default_text;
  ValueKind kind = ValueKind::kText;
  std::string_view words = {};  // each between blanks
  int64_t min = 0;
  int64_t max = kMaxLong;
  // Most limits are the master's, which looks at a descriptor only when a table is made or altered;
  // a few are the builder's.
  StatusCode out_of_range = StatusCode::kDoNotRetry;
};

constexpr std::string_view kCompressions = " NONE GZ SNAPPY LZ4 LZO ZSTD BZIP2 LZMA BROTLI ";
constexpr std::string_view kForeverText = "FOREVER";

constexpr Rule kFamilyRules[] = {
    {"BLOCKCACHE", "true", ValueKind::kBoolean},
    {"BLOCKSIZE", "65536", ValueKind::kBytes, {}, kKibi, 16 * kKibi* kKibi},
    {"BLOOMFILTER", "ROW", ValueKind::kWord, " NONE ROW ROWCOL ROWPREFIX_FIXED_LENGTH "},
    {"CACHE_BLOOMS_ON_WRITE", "false", ValueKind::kBoolean},
    {"CACHE_DATA_ON_WRITE", "false", ValueKind::kBoolean},
    {"CACHE_INDEX_ON_WRITE", "false", ValueKind::kBoolean},
    {"COMPRESSION", "NONE", ValueKind::kWord, kCompressions},
    {"COMPRESSION_COMPACT", "", ValueKind::kWord, kCompressions},
    {"COMPRESSION_COMPACT_MAJOR", "", ValueKind::kWord, kCompressions},
    {"COMPRESSION_COMPACT_MINOR", "", ValueKind::kWord, kCompressions},
    {"COMPRESS_TAGS", "true", ValueKind::kBoolean},
    {"DATA_BLOCK_ENCODING", "NONE", ValueKind::kWord, " NONE PREFIX DIFF FAST_DIFF ROW_INDEX_V1 "},
    {"DELETED_TTL", kForeverText, ValueKind::kDuration, {}, 0, kMaxLong / 1000},  // ours
    {"DFS_REPLICATION", "0", ValueKind::kInteger, {}, 0, 32767},
    {"ENCRYPTION", ""},
    {"ENCRYPTION_KEY", ""},
    {"EVICT_BLOCKS_ON_CLOSE", "false", ValueKind::kBoolean},
    {"IN_MEMORY", "false", ValueKind::kBoolean},
    {"IN_MEMORY_COMPACTION", "", ValueKind::kWord, " NONE BASIC EAGER ADAPTIVE "},
    {"IS_MOB", "false", ValueKind::kBoolean},
    {"KEEP_DELETED_CELLS", "FALSE", ValueKind::kWord, " FALSE TRUE TTL "},
    {"MIN_VERSIONS", "0", ValueKind::kInteger, {}, 0, kMaxInt},
    {"MOB_COMPACT_PARTITION_POLICY", "DAILY", ValueKind::kWord, " DAILY WEEKLY MONTHLY "},
    {"MOB_THRESHOLD", "102400", ValueKind::kBytes},
    {"NEW_VERSION_BEHAVIOR", "false", ValueKind::kBoolean},
    {"PREFETCH_BLOCKS_ON_OPEN", "false", ValueKind::kBoolean},
    {"REPLICATION_SCOPE", "0", ValueKind::kInteger, {}, 0, 1},
    {"STORAGE_POLICY", ""},
    {"TTL", kForeverText, ValueKind::kDuration, {}, 1, kForever},
    {"VERSIONS", "1", ValueKind::kInteger, {}, 1, kMaxInt, StatusCode::kIllegalArgument},
};

constexpr Rule kTableRules[] = {
    {"COMPACTION_ENABLED", "true", ValueKind::kBoolean},
    {"DURABILITY", "USE_DEFAULT", ValueKind::kWord,
     " USE_DEFAULT SKIP_WAL ASYNC_WAL SYNC_WAL FSYNC_WAL "},
    {"DROPPED_TTL", "0", ValueKind::kDuration, {}, 0, kMaxLong / 1000},  // ours
    {"ERASURE_CODING_POLICY", ""},
    {"FLUSH_POLICY", ""},
    {"IS_META", "false", ValueKind::kBoolean},
    {"MAX_FILESIZE", "10737418240", ValueKind::kBytes, {}, 2 * kKibi* kKibi},
    {"MEMSTORE_FLUSHSIZE", "134217728", ValueKind::kBytes, {}, kKibi* kKibi},
    {"MERGE_ENABLED", "true", ValueKind::kBoolean},
    {"NORMALIZATION_ENABLED", "false", ValueKind::kBoolean},
    {"NORMALIZER_TARGET_REGION_COUNT", "-1", ValueKind::kInteger, {}, -1, kMaxInt},
    {"NORMALIZER_TARGET_REGION_SIZE_MB", "-1", ValueKind::kInteger, {}, -1},
    {"OWNER", ""},
    {"PRIORITY", "0", ValueKind::kInteger, {}, -kMaxInt, kMaxInt},
    {"READONLY", "false", ValueKind::kBoolean},
    {"REGION_MEMSTORE_REPLICATION", "true", ValueKind::kBoolean},
    {"REGION_REPLICATION", "1", ValueKind::kInteger, {}, 1, kMaxInt},
    {"SPLIT_ENABLED", "true", ValueKind::kBoolean},
    {"SPLIT_POLICY", ""},
    {"hbase.rsgroup.name", ""},
};

std::string Upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper;
}

const Rule* FindRule(std::span<const Rule> rules, std::string_view attribute) {
  const std::string upper = Upper(attribute);
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const Rule& rule) { return Upper(rule.name) == upper; });
  return found == rules.end() ? nullptr : &*found;
}

Attributes Defaults(std::span<const Rule> rules) {
  Attributes defaults;
  for (const Rule& rule : rules) defaults.emplace(rule.name, rule.default_text);
  return defaults;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct Unit {
  std::string_view name;
  int64_t factor;
};
constexpr Unit kByteUnits[] = {{"B", 1},
                               {"KB", kKibi},
                               {"MB", kKibi* kKibi},
                               {"GB", kKibi* kKibi* kKibi},
                               {"TB", kKibi* kKibi* kKibi* kKibi}};
constexpr Unit kTimeUnits[] = {{"SECONDS", 1},  {"SECOND", 1},  {"MINUTES", 60}, {"MINUTE", 60},
                               {"HOURS", 3600}, {"HOUR", 3600}, {"DAYS", 86400}, {"DAY", 86400}};

std::optional<int64_t> TakeNumber(std::string_view& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// "1 DAYS 2 HOURS", "64KB", "300"; what the shell shows behind it in parentheses is passed over.
std::optional<int64_t> ParseSum(std::string_view value, std::span<const Unit> units) {
  const std::string upper = Upper(Trim(value.substr(0, value.find('('))));
  std::string_view rest = Trim(upper);
  int64_t sum = 0;
  do {
    std::optional<int64_t> number = TakeNumber(rest);
    if (!number) return std::nullopt;
    rest = Trim(rest);
    const std::string_view word =
        rest.substr(0, rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
    const auto unit = std::find_if(units.begin(), units.end(),
                                   [&](const Unit& candidate) { return candidate.name == word; });
    const bool bare = word.empty() && rest.empty();
    if (unit == units.end() && !bare) return std::nullopt;
    int64_t product = 0;
    if (__builtin_mul_overflow(*number, bare ? 1 : unit->factor, &product) ||
        __builtin_add_overflow(sum, product, &sum)) {
      return std::nullopt;
    }
    rest = Trim(rest.substr(word.size()));
  } while (!rest.empty());
  return sum;
}

std::optional<int64_t> ParseNumber(const Rule& rule, std::string_view value) {
  if (rule.kind == ValueKind::kBytes) {
    const auto sum = ParseSum(value, kByteUnits);
    return sum ? sum : ParseByteSize(Trim(value));
  }
  if (rule.kind == ValueKind::kDuration) {
    return Upper(Trim(value)) == kForeverText ? kForever : ParseSum(value, kTimeUnits);
  }
  return ParseSum(value, {});
}

std::string Allowed(const Rule& rule) {
  switch (rule.kind) {
    case ValueKind::kText:
      return "any text";
    case ValueKind::kBoolean:
      return "true, false";
    case ValueKind::kWord:
      return std::string(Trim(rule.words));
    case ValueKind::kInteger:
    case ValueKind::kBytes:
    case ValueKind::kDuration:
      break;
  }
  std::string text = std::to_string(rule.min) + " to " + std::to_string(rule.max);
  if (rule.kind == ValueKind::kBytes) text += " bytes, or with K, M, G, T";
  if (rule.kind == ValueKind::kDuration) text += " seconds, FOREVER, or like '1 DAYS 2 HOURS'";
  return text;
}

StatusOr<std::string> Canonical(const Rule& rule, const std::string& owner,
                                std::string_view value) {
  const auto refuse = [&](StatusCode code) {
    return Status(code, owner + ": " + std::string(rule.name) + " is '" + std::string(value) +
                            "'; allowed: " + Allowed(rule));
  };
  const std::string upper = Upper(Trim(value));
  switch (rule.kind) {
    case ValueKind::kText:
      return std::string(value);
    case ValueKind::kBoolean:
      if (upper == "TRUE") return std::string("true");
      if (upper == "FALSE") return std::string("false");
      return refuse(StatusCode::kIllegalArgument);
    case ValueKind::kWord:
      if (upper == rule.default_text) return upper;
      if (upper.empty() || upper.find(' ') != std::string::npos ||
          rule.words.find(" " + upper + " ") == std::string_view::npos) {
        return refuse(StatusCode::kIllegalArgument);
      }
      return upper;
    case ValueKind::kInteger:
    case ValueKind::kBytes:
    case ValueKind::kDuration:
      break;
  }
  const std::optional<int64_t> number = ParseNumber(rule, value);
  if (!number) return refuse(StatusCode::kIllegalArgument);
  if (*number < rule.min || *number > rule.max) return refuse(rule.out_of_range);
  const bool forever = rule.kind == ValueKind::kDuration && *number == kForever;
  return forever ? std::string(kForeverText) : std::to_string(*number);
}

// Of a canonical text.
int64_t NumberOf(std::string_view text) {
  if (text == kForeverText) return kForever;
  return TakeNumber(text).value_or(0);
}

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

struct Entry {
  std::string name;
  std::string value;
};

StatusOr<Entry> CanonicalEntry(std::span<const Rule> rules, const std::string& owner,
                               std::string_view attribute, std::string_view value) {
  if (attribute.empty()) {
    return Status(StatusCode::kIllegalArgument, owner + ": an attribute has no name");
  }
  const Rule* rule = FindRule(rules, attribute);
  if (rule == nullptr) return Entry{std::string(attribute), std::string(value)};
  CELLFS_ASSIGN_OR_RETURN(std::string text, Canonical(*rule, owner, value));
  return Entry{std::string(rule->name), std::move(text)};
}

std::string ValueInForce(std::span<const Rule> rules, const Attributes& attributes,
                         std::string_view attribute) {
  const Rule* rule = FindRule(rules, attribute);
  const auto found = attributes.find(std::string(rule != nullptr ? rule->name : attribute));
  if (found != attributes.end()) return found->second;
  return std::string(rule != nullptr ? rule->default_text : "");
}

std::string NameOf(std::span<const Rule> rules, std::string_view attribute) {
  const Rule* rule = FindRule(rules, attribute);
  return std::string(rule != nullptr ? rule->name : attribute);
}

}  // namespace

const Attributes& FamilyAttributeDefaults() {
  static const Attributes defaults = Defaults(kFamilyRules);
  return defaults;
}

const Attributes& TableAttributeDefaults() {
  static const Attributes defaults = Defaults(kTableRules);
  return defaults;
}

Status FamilySchema::Set(std::string_view attribute, std::string_view value) {
  CELLFS_ASSIGN_OR_RETURN(Entry entry,
                          CanonicalEntry(kFamilyRules, "family '" + name_ + "'", attribute, value));
  const auto& [name, text] = entry;
  if (name == "VERSIONS") max_versions_ = static_cast<int32_t>(NumberOf(text));
  if (name == "MIN_VERSIONS") min_versions_ = static_cast<int32_t>(NumberOf(text));
  if (name == "TTL") time_to_live_ = static_cast<int32_t>(NumberOf(text));
  if (name == "KEEP_DELETED_CELLS") keep_deleted_cells_ = KeepDeletedCellsOf(text);
  if (name == "NEW_VERSION_BEHAVIOR") new_version_behavior_ = text == "true";
  if (name == "BLOOMFILTER") bloom_filter_ = BloomFilterOf(text);
  if (name == "COMPRESSION") compression_ = CompressionOf(text);
  if (name == "IN_MEMORY") in_memory_ = text == "true";
  if (name == "BLOCKSIZE") block_size_ = static_cast<int32_t>(NumberOf(text));
  if (name == "DELETED_TTL") {
    deleted_ttl_ = text == kForeverText ? std::nullopt : std::optional(NumberOf(text));
  }
  attributes_.insert_or_assign(std::move(entry.name), std::move(entry.value));
  return {};
}

void FamilySchema::Unset(std::string_view attribute) {
  const std::string name = NameOf(kFamilyRules, attribute);
  const auto known = FamilyAttributeDefaults().find(name);
  // Sets the members back; a default is never refused.
  if (known != FamilyAttributeDefaults().end()) static_cast<void>(Set(name, known->second));
  attributes_.erase(name);
}

void FamilySchema::Keep(std::string_view attribute, std::string_view value) {
  if (attribute.empty() || Set(attribute, value).ok()) return;
  Unset(attribute);
  attributes_[NameOf(kFamilyRules, attribute)] = value;
}

std::string FamilySchema::Get(std::string_view attribute) const {
  return ValueInForce(kFamilyRules, attributes_, attribute);
}

Status FamilySchema::Check() const {
  if (min_versions_ <= max_versions_) return {};
  return {StatusCode::kIllegalArgument, "family '" + name_ + "': MIN_VERSIONS is " +
                                            std::to_string(min_versions_) + "; at most VERSIONS, " +
                                            std::to_string(max_versions_) + ", is allowed"};
}

Status TableSchema::Set(std::string_view attribute, std::string_view value) {
  CELLFS_ASSIGN_OR_RETURN(
      Entry entry,
      CanonicalEntry(kTableRules, "table '" + name_.ToString() + "'", attribute, value));
  const auto& [name, text] = entry;
  if (name == "READONLY") read_only_ = text == "true";
  if (name == "DROPPED_TTL") dropped_ttl_ = NumberOf(text);
  if (name == "COMPACTION_ENABLED") compaction_enabled_ = text == "true";
  if (name == "DURABILITY") durability_ = DurabilityOf(text);
  if (name == "MEMSTORE_FLUSHSIZE") memstore_flush_size_ = NumberOf(text);
  attributes_.insert_or_assign(std::move(entry.name), std::move(entry.value));
  return {};
}

void TableSchema::Unset(std::string_view attribute) {
  const std::string name = NameOf(kTableRules, attribute);
  const auto known = TableAttributeDefaults().find(name);
  if (known != TableAttributeDefaults().end()) static_cast<void>(Set(name, known->second));
  if (name == "MEMSTORE_FLUSHSIZE") memstore_flush_size_.reset();  // the site's then
  attributes_.erase(name);
}

void TableSchema::Keep(std::string_view attribute, std::string_view value) {
  if (attribute.empty() || Set(attribute, value).ok()) return;
  Unset(attribute);
  attributes_[NameOf(kTableRules, attribute)] = value;
}

std::string TableSchema::Get(std::string_view attribute) const {
  return ValueInForce(kTableRules, attributes_, attribute);
}

const FamilySchema* TableSchema::FindFamily(std::string_view family) const {
  const auto found = families.find(family);
  return found == families.end() ? nullptr : &found->second;
}

// ---- Split keys -------------------------------------------------------------------------------
//
// Both algorithms see their keys as numbers of a fixed count of digits, to the base 16 or 256, and
// put key i at start + i * floor((end - start + 1) / regions), so that the last region gets the
// rest.

namespace {

using Digits = std::vector<uint32_t>;  // the most significant first

constexpr int32_t kMaxRegionsAtFirst = 1 << 17;

// a + factor * b; all of one length; what leaves the front is dropped.
Digits AddProduct(const Digits& a, const Digits& b, uint64_t factor, uint64_t base) {
  Digits sum(a.size());
  uint64_t carry = 0;
  for (size_t i = a.size(); i-- > 0;) {
    carry += a[i] + b[i] * factor;
    sum[i] = static_cast<uint32_t>(carry % base);
    carry /= base;
  }
  return sum;
}

// (b - a + 1) / divisor, rounded down. REQUIRES: a < b.
Digits Interval(const Digits& a, const Digits& b, uint64_t divisor, uint64_t base) {
  Digits range(a.size() + 1, 0);  // one digit more for the + 1
  int64_t carry = 1;
  for (size_t i = a.size(); i-- > 0;) {
    carry += int64_t{b[i]} - int64_t{a[i]};
    const bool borrow = carry < 0;
    const int64_t digit = borrow ? carry + static_cast<int64_t>(base) : carry;
    range[i + 1] = static_cast<uint32_t>(digit % static_cast<int64_t>(base));
    carry = borrow ? -1 : digit / static_cast<int64_t>(base);
  }
  range[0] = static_cast<uint32_t>(carry);
  uint64_t remainder = 0;
  for (uint32_t& digit : range) {
    remainder = remainder * base + digit;
    digit = static_cast<uint32_t>(remainder / divisor);
    remainder %= divisor;
  }
  // A quotient that needs the extra digit is of one region, which has no keys.
  range.erase(range.begin());
  return range;
}

constexpr std::string_view kHexDigits = "0123456789abcdef";

std::optional<Digits> HexDigits(std::string_view text) {
  Digits digits;
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    const size_t digit = kHexDigits.find(lower);
    if (digit == std::string_view::npos) return std::nullopt;
    digits.push_back(static_cast<uint32_t>(digit));
  }
  return digits;
}

Digits ByteDigits(std::string_view text) {
  Digits digits;
  for (const char c : text) digits.push_back(static_cast<unsigned char>(c));
  return digits;
}

std::string SpellDigits(const Digits& digits, bool hex) {
  std::string text;
  for (const uint32_t digit : digits) {
    text.push_back(hex ? kHexDigits[digit] : static_cast<char>(digit));
  }
  return text;
}

Status SplitRefused(std::string_view algorithm, const std::string& why) {
  return {StatusCode::kIllegalArgument, "splits with '" + std::string(algorithm) + "': " + why};
}

}  // namespace

StatusOr<std::vector<std::string>> SplitKeys(std::string_view algorithm, std::string_view start,
                                             std::string_view end, int32_t regions) {
  const bool hex = algorithm == "hex";
  if (!hex && algorithm != "uniform") {
    return SplitRefused(algorithm, "no such algorithm; allowed: hex, uniform");
  }
  if (regions < 1 || regions > kMaxRegionsAtFirst) {
    return SplitRefused(algorithm, std::to_string(regions) + " regions; allowed: 1 to " +
                                       std::to_string(kMaxRegionsAtFirst));
  }
  const std::string last = !end.empty() ? std::string(end)
                           : hex        ? "FFFFFFFF"
                                        : std::string(8, '\xff');
  std::optional<Digits> a = hex ? HexDigits(start) : ByteDigits(start);
  std::optional<Digits> b = hex ? HexDigits(last) : ByteDigits(last);
  if (!a || !b) return SplitRefused(algorithm, "start or end has other than hexadecimal digits");
  // A number is filled up in front, a key of bytes behind.
  const size_t width = std::max(a->size(), b->size());
  for (Digits* digits : {&*a, &*b}) {
    digits->insert(hex ? digits->begin() : digits->end(), width - digits->size(), 0);
  }
  if (*a >= *b) return SplitRefused(algorithm, "start is not before end");

  const uint64_t base = hex ? 16 : 256;
  const auto divisor = static_cast<uint64_t>(regions);
  Digits interval = Interval(*a, *b, divisor, base);
  const auto too_narrow = [&] { return interval == Digits(interval.size(), 0) && regions > 1; };
  if (hex && too_narrow()) return SplitRefused(algorithm, "more regions than keys");
  while (too_narrow()) {  // further bytes make room between the keys
    a->push_back(0);
    b->push_back(0);
    interval = Interval(*a, *b, divisor, base);
  }
  std::vector<std::string> keys;
  for (uint64_t i = 1; i < divisor; ++i) {
    keys.push_back(SpellDigits(AddProduct(*a, interval, i, base), hex));
  }
  return keys;
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

}  // namespace cellfs
