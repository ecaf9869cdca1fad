// SPDX-License-Identifier: MIT
#include "engine/attribute_rules.h"

#include <algorithm>
#include <charconv>
#include <optional>
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
    {"INDEX_BLOCK_ENCODING", "NONE", ValueKind::kWord, " NONE PREFIX_TREE "},
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

std::span<const Rule> RulesOf(DescriptorKind kind) {
  if (kind == DescriptorKind::kFamily) return kFamilyRules;
  return kTableRules;
}

const Rule* FindRule(DescriptorKind kind, std::string_view attribute) {
  const std::span<const Rule> rules = RulesOf(kind);
  const std::string upper = Upper(attribute);
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const Rule& rule) { return Upper(rule.name) == upper; });
  return found == rules.end() ? nullptr : &*found;
}

Attributes Defaults(DescriptorKind kind) {
  Attributes defaults;
  for (const Rule& rule : RulesOf(kind)) defaults.emplace(rule.name, rule.default_text);
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

}  // namespace

const Attributes& FamilyAttributeDefaults() {
  static const Attributes defaults = Defaults(DescriptorKind::kFamily);
  return defaults;
}

const Attributes& TableAttributeDefaults() {
  static const Attributes defaults = Defaults(DescriptorKind::kTable);
  return defaults;
}

StatusOr<AttributeEntry> CanonicalAttribute(DescriptorKind kind, const std::string& owner,
                                            std::string_view attribute, std::string_view value) {
  if (attribute.empty()) {
    return Status(StatusCode::kIllegalArgument, owner + ": an attribute has no name");
  }
  const Rule* rule = FindRule(kind, attribute);
  if (rule == nullptr) return AttributeEntry{std::string(attribute), std::string(value)};
  CELLFS_ASSIGN_OR_RETURN(std::string text, Canonical(*rule, owner, value));
  return AttributeEntry{std::string(rule->name), std::move(text)};
}

std::string AttributeInForce(DescriptorKind kind, const Attributes& attributes,
                             std::string_view attribute) {
  const Rule* rule = FindRule(kind, attribute);
  const auto found = attributes.find(std::string(rule != nullptr ? rule->name : attribute));
  if (found != attributes.end()) return found->second;
  return std::string(rule != nullptr ? rule->default_text : "");
}

std::string AttributeName(DescriptorKind kind, std::string_view attribute) {
  const Rule* rule = FindRule(kind, attribute);
  return std::string(rule != nullptr ? rule->name : attribute);
}

int64_t AttributeNumber(std::string_view text) {
  if (text == kForeverText) return kForever;
  return TakeNumber(text).value_or(0);
}

}  // namespace cellfs
