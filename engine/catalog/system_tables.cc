// SPDX-License-Identifier: MIT
#include "engine/catalog/system_tables.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "engine/visibility/region_scanner.h"
#include "engine/visibility/vector_cursor.h"

namespace cellfs {
namespace {

using Families = std::map<std::string, std::vector<Cell>>;

std::shared_ptr<const TableSchema> Schema(std::string name, std::vector<std::string> families) {
  auto schema =
      std::make_shared<TableSchema>(TableName{std::string(kSystemNamespace), std::move(name)});
  static_cast<void>(schema->Set("READONLY", "true"));
  for (std::string& family : families) schema->families.emplace(family, FamilySchema(family));
  return schema;
}

void Add(Families& families, std::string row, const std::string& family, std::string qualifier,
         std::string value, Timestamp timestamp) {
  Cell cell{.row = std::move(row),
            .family = family,
            .qualifier = std::move(qualifier),
            .timestamp = timestamp,
            .value = std::move(value)};
  cell.value_length = cell.value.size();
  families[family].push_back(std::move(cell));
}

// 32 hexadecimal digits of a region's name, as long as HBase's (which are MD5's).
std::string EncodedName(const std::string& region) {
  const XXH128_hash_t hash = XXH3_128bits(region.data(), region.size());
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text;
}

Families MetaCells(const Catalog& catalog) {
  Families cells;
  for (const auto& [name, table] : catalog.tables) {
    const std::vector<std::string>& splits = table.schema->split_keys;
    for (size_t i = 0; i <= splits.size(); ++i) {
      const std::string start = i == 0 ? "" : splits[i - 1];
      const std::string end = i == splits.size() ? "" : splits[i];
      const std::string region =
          name.ToString() + "," + start + "," + std::to_string(table.created);
      const std::string encoded = EncodedName(region);
      const std::string row = region + "." + encoded + ".";
      Add(cells, row, "info", "regioninfo",
          "{ENCODED => " + encoded + ", NAME => '" + row + "', STARTKEY => '" + start +
              "', ENDKEY => '" + end + "'}",
          table.created);
      Add(cells, row, "info", "state", table.enabled ? "OPEN" : "CLOSED", table.created);
    }
    Add(cells, name.ToString(), "table", "state", table.enabled ? "ENABLED" : "DISABLED",
        table.created);
  }
  return cells;
}

Families NamespaceCells(const Catalog& catalog) {
  Families cells;
  for (const auto& [name, space] : catalog.namespaces) {
    std::string text = "{NAME => '" + name + "'";
    for (const auto& [key, value] : space.value.properties)
      text += ", " + key + " => '" + value + "'";
    Add(cells, name, "info", "d", text + "}", space.changed);
  }
  return cells;
}

std::string DescribeQuota(const SpaceQuota& quota) {
  return "{TYPE => SPACE, LIMIT => " + std::to_string(quota.limit) + ", VIOLATION_POLICY => " +
         std::string(PolicyName(quota.policy)) + "}";
}

Families QuotaCells(const Catalog& catalog) {
  Families cells;
  for (const auto& [name, quota] : catalog.table_quotas) {
    Add(cells, "t." + name.ToString(), "q", "s", DescribeQuota(quota.value), quota.changed);
  }
  for (const auto& [name, quota] : catalog.namespace_quotas) {
    Add(cells, "n." + name, "q", "s", DescribeQuota(quota.value), quota.changed);
  }
  for (const auto& [name, policy] : catalog.violations) {
    Add(cells, "t." + name.ToString(), "u", "p",
        "{IN_VIOLATION => " + std::string(PolicyName(policy)) + "}", 0);
  }
  return cells;
}

Families AclCells(const Catalog& catalog) {
  Families cells;
  for (const Stamped<Grant>& grant : catalog.grants) {
    const GrantScope& scope = grant.value.scope;
    const std::string row = scope.table                    ? scope.table->ToString()
                            : scope.namespace_name.empty() ? "hbase:acl"
                                                           : "@" + scope.namespace_name;
    std::string qualifier = grant.value.user;
    if (!scope.family.empty()) qualifier += "," + scope.family;
    if (scope.qualifier) qualifier += "," + *scope.qualifier;
    Add(cells, row, "l", std::move(qualifier), grant.value.permissions, grant.changed);
  }
  return cells;
}

Families UnorderedCells(const Catalog& catalog, const TableName& table) {
  if (table.name == "meta") return MetaCells(catalog);
  if (table.name == "namespace") return NamespaceCells(catalog);
  return table.name == "quota" ? QuotaCells(catalog) : AclCells(catalog);
}

using SharedCells = std::map<std::string, std::shared_ptr<const std::vector<Cell>>>;

// What reads see of one catalog.
CursorSource SourceOf(std::shared_ptr<const SharedCells> cells) {
  return [cells = std::move(cells)](const std::string& family,
                                    bool) -> StatusOr<std::unique_ptr<CellCursor>> {
    static const auto none = std::make_shared<const std::vector<Cell>>();
    const auto found = cells->find(family);
    return MakeVectorCursor(found == cells->end() ? none : found->second);
  };
}

// Keeps what was made of the catalog that was read last: a directory is listed in many pieces, and
// each of its files is looked for. Thread-safe.
class MadeCells {
 public:
  std::shared_ptr<const SharedCells> Of(const std::shared_ptr<const Catalog>& catalog,
                                        const TableName& table) {
    const std::lock_guard lock(mutex_);
    if (cells_ != nullptr && catalog_.lock() == catalog) return cells_;
    SharedCells made;
    for (auto& [family, cells] : SystemTableCells(*catalog, table))
      made.emplace(family, std::make_shared<const std::vector<Cell>>(std::move(cells)));
    cells_ = std::make_shared<const SharedCells>(std::move(made));
    catalog_ = catalog;
    return cells_;
  }

 private:
  std::mutex mutex_;
  std::weak_ptr<const Catalog> catalog_;
  std::shared_ptr<const SharedCells> cells_;  // of that catalog
};

// What the storage and its scanners share.
struct View {
  std::shared_ptr<const TableSchema> schema;
  CatalogSource catalog;
  std::shared_ptr<const Clock> clock;
  std::shared_ptr<MadeCells> made = std::make_shared<MadeCells>();

  CursorSource Source() const { return SourceOf(made->Of(catalog(), schema->name())); }
};

class SystemTableScanner : public Scanner {
 public:
  SystemTableScanner(std::unique_ptr<RegionScanner> scanner, View view)
      : scanner_(std::move(scanner)), view_(std::move(view)) {}

  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
    return scanner_->Next(batch, view_.Source(), view_.clock->Now());
  }
  bool at_end() const override { return scanner_->at_end(); }

 private:
  const std::unique_ptr<RegionScanner> scanner_;
  const View view_;
};

class SystemTableStorage : public CellStorage {
 public:
  explicit SystemTableStorage(View view) : view_(std::move(view)) {}

  StatusOr<RowCells> Read(const Get& get, Timestamp now) override {
    return RegionScanner::Read(get, {view_.schema}, view_.Source(), now);
  }
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Scan& scan) override {
    CELLFS_ASSIGN_OR_RETURN(auto scanner, RegionScanner::Open(scan, {view_.schema}));
    return std::unique_ptr<Scanner>(
        std::make_unique<SystemTableScanner>(std::move(scanner), view_));
  }
  StatusOr<ColumnHead> ReadColumnHead(std::string_view, std::string_view,
                                      std::string_view) override {
    return ReadOnly();
  }
  StatusOr<Applied> Apply(std::span<RowBatch>, WriteRoom*) override { return ReadOnly(); }
  Status Flush() override { return {}; }
  Status Compact(CompactionKind) override { return {}; }
  Status CompactSelected() override { return {}; }
  Status ReplaceSchema(std::shared_ptr<const TableSchema>) override { return ReadOnly(); }
  Status Truncate() override { return ReadOnly(); }
  TableStatistics GetStatistics() override { return {}; }

 private:
  Status ReadOnly() const {
    return {StatusCode::kReadOnly,
            "table '" + view_.schema->name().ToString() + "' is a system table and read-only"};
  }

  const View view_;
};

}  // namespace

const std::vector<std::shared_ptr<const TableSchema>>& SystemTableSchemas() {
  static const std::vector<std::shared_ptr<const TableSchema>> schemas = {
      Schema("acl", {"l"}), Schema("meta", {"info", "table"}), Schema("namespace", {"info"}),
      Schema("quota", {"q", "u"})};
  return schemas;
}

bool IsReadableByAll(const TableName& table) {
  return table.IsSystemTable() && (table.name == "meta" || table.name == "namespace");
}

std::map<std::string, std::vector<Cell>> SystemTableCells(const Catalog& catalog,
                                                          const TableName& table) {
  Families families = UnorderedCells(catalog, table);
  for (auto& [family, cells] : families) {
    std::sort(cells.begin(), cells.end(),
              [](const Cell& a, const Cell& b) { return CompareCells(ViewOf(a), ViewOf(b)) < 0; });
  }
  return families;
}

std::shared_ptr<CellStorage> MakeSystemTableStorage(std::shared_ptr<const TableSchema> schema,
                                                    CatalogSource catalog,
                                                    std::shared_ptr<const Clock> clock) {
  return std::make_shared<SystemTableStorage>(
      View{std::move(schema), std::move(catalog), std::move(clock)});
}

}  // namespace cellfs
