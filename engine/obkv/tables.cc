// SPDX-License-Identifier: MIT
#include "engine/obkv/tables.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "engine/obkv/sql_text.h"

namespace cellfs::obkv {
namespace {

// Of the servers themselves.
constexpr std::array<std::string_view, 9> kOfServer = {
    "__public", "__recyclebin", "information_schema", "lbacsys", "mysql",
    "oceanbase", "oraauditor",  "performance_schema", "sys"};

// As OBKV-HBase's documents have them. What we keep for ourselves beside rows and columns of the
// greatest length has longer names; no other program reads it.
constexpr std::string_view kOwnDatabase = "cellfs";
const std::string kColumns =
    " (K VARBINARY(1024) NOT NULL, Q VARBINARY(256) NOT NULL, T BIGINT NOT NULL,";
const std::string kColumnsOfOurs =
    " (K VARBINARY(1280) NOT NULL, Q VARBINARY(512) NOT NULL, T BIGINT NOT NULL,";

// Is there as in HBase; its database is made with the first table in it.
const std::string kDefault(kDefaultNamespace);

bool IsOfServer(std::string_view database) {
  std::string small(database);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return std::ranges::find(kOfServer, small) != kOfServer.end();
}

Status NoTable(const TableName& table) {
  return {StatusCode::kTableNotFound, "table '" + table.ToString() + "' does not exist"};
}
Status NoNamespace(const std::string& name) {
  return {StatusCode::kNamespaceNotFound, "namespace '" + name + "' does not exist"};
}

// What begins with the text, by LIKE.
std::string PatternOf(std::string_view beginning) {
  std::string pattern;
  for (const char c : beginning) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + "%";
}

struct ColumnShape {
  std::string type;  // "varbinary"
  uint64_t bytes = 0;
  bool is_key = false;
  bool is_computed = false;  // of the others
};

// Of one table: nullopt where it is no family's.
std::optional<DescribedFamily> FamilyOf(const std::map<std::string, ColumnShape>& columns) {
  const auto is = [&](const char* name, std::initializer_list<std::string_view> types,
                      bool is_key) {
    const auto column = columns.find(name);
    return column != columns.end() && column->second.is_key == is_key &&
           std::ranges::find(types, column->second.type) != types.end();
  };
  const bool has_ttl = columns.contains("TTL");
  const auto written =
      std::ranges::count_if(columns, [](const auto& column) { return !column.second.is_computed; });
  const bool has_shape =
      is("K", {"varbinary"}, true) && is("Q", {"varbinary"}, true) && is("T", {"bigint"}, true) &&
      is("V", {"varbinary", "tinyblob", "blob", "mediumblob", "longblob"}, false) &&
      (!has_ttl || is("TTL", {"bigint"}, false)) && written == (has_ttl ? 5 : 4);
  if (!has_shape) return std::nullopt;
  DescribedFamily family;
  family.has_ttl = has_ttl;
  family.row_bytes = columns.at("K").bytes;
  family.qualifier_bytes = columns.at("Q").bytes;
  family.value_bytes = columns.at("V").bytes;
  return family;
}

}  // namespace

Status Tables::Open(const Patience& patience) {
  CELLFS_ASSIGN_OR_RETURN(const auto connection, pool_.Lend(patience));
  CELLFS_ASSIGN_OR_RETURN(
      const auto rows,
      connection->Query("SELECT @@lower_case_table_names, VERSION()", {}, patience));
  if (rows.empty()) return {StatusCode::kUnavailable, "the database does not say what it is"};
  keeps_case_ = NumberOf(rows.front()[0]) == 0;
  table_options_.SetVersion(BytesOf(rows.front()[1]));
  return {};
}

// One with other letters would be another's, or come back under another name.
Status Tables::CheckName(const std::string& name) const {
  const bool has_large =
      std::ranges::any_of(name, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (keeps_case_ || !has_large) return {};
  return {StatusCode::kIllegalArgument,
          "'" + name + "': this database keeps the names of tables in small letters; use these"};
}

// ---- Namespaces ---------------------------------------------------------------------------------

StatusOr<std::vector<std::string>> Tables::ListNamespaces(const Patience& patience) {
  CELLFS_ASSIGN_OR_RETURN(const auto connection, pool_.Lend(patience));
  CELLFS_ASSIGN_OR_RETURN(
      const auto rows,
      connection->Query("SELECT schema_name FROM information_schema.schemata", {}, patience));
  std::vector<std::string> names = {kDefault};
  for (const SqlRow& row : rows) {
    std::string name = BytesOf(row.front());
    const bool is_namespace = !IsOfServer(name) && CheckNamespaceName(name).ok();
    if (is_namespace && name != kDefault) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

Status Tables::CheckNamespace(const std::string& name, const Patience& patience) {
  CELLFS_ASSIGN_OR_RETURN(const auto names, ListNamespaces(patience));
  return std::ranges::binary_search(names, name) ? Status() : NoNamespace(name);
}

Status Tables::CreateNamespace(const NamespaceSchema& schema, const Patience& patience) {
  CELLFS_RETURN_IF_ERROR(CheckNamespaceName(schema.name));
  CELLFS_RETURN_IF_ERROR(CheckName(schema.name));
  if (!schema.properties.empty()) {
    return {StatusCode::kUnsupportedOperation, "a database has no properties to keep"};
  }
  if (IsOfServer(schema.name)) {
    return {StatusCode::kConstraint, "'" + schema.name + "' is a name of the server's own"};
  }
  if (schema.name == kDefault) {
    return {StatusCode::kNamespaceExists, "namespace '" + kDefault + "' exists"};
  }
  CELLFS_ASSIGN_OR_RETURN(const auto connection, pool_.Lend(patience));
  return connection->Define("CREATE DATABASE " + Identifier(schema.name), patience);
}

Status Tables::DropNamespace(const std::string& name, const Patience& patience) {
  if (name == kDefault) return {StatusCode::kConstraint, "namespace '" + name + "' stays"};
  CELLFS_RETURN_IF_ERROR(CheckNamespace(name, patience));
  CELLFS_ASSIGN_OR_RETURN(const auto connection, pool_.Lend(patience));
  CELLFS_ASSIGN_OR_RETURN(
      const auto rows,
      connection->Query("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ?",
                        {name}, patience));
  // Of whatever shape.
  if (NumberOf(rows.front().front()) > 0) {
    return {StatusCode::kConstraint, "namespace '" + name + "' has tables"};
  }
  return connection->Define("DROP DATABASE " + Identifier(name), patience);
}

// ---- Tables -------------------------------------------------------------------------------------

StatusOr<std::vector<TableName>> Tables::List(const std::string& namespace_name,
                                              const Patience& patience) {
  CELLFS_RETURN_IF_ERROR(CheckNamespace(namespace_name, patience));
  CELLFS_ASSIGN_OR_RETURN(const auto connection, pool_.Lend(patience));
  CELLFS_ASSIGN_OR_RETURN(const Families families,
                          DescribeFamilies(*connection, {namespace_name, ""}, patience));
  std::set<TableName> tables;
  for (const auto& [name, family] : families) {
    TableName table{namespace_name, name.substr(0, name.find('$'))};
    if (CheckTableName(table).ok()) tables.insert(std::move(table));
  }
  return std::vector<TableName>(tables.begin(), tables.end());
}

// By the whole names of their tables; of a table without a name, all of the namespace.
StatusOr<Tables::Families> Tables::DescribeFamilies(Connection& connection, const TableName& table,
                                                    const Patience& patience) {
  const std::string beginning = table.name.empty() ? "" : table.name + "$";
  const std::string pattern = table.name.empty() ? "%$%" : PatternOf(beginning);
  CELLFS_ASSIGN_OR_RETURN(
      const auto columns,
      connection.Query("SELECT table_name, column_name, data_type, character_octet_length,"
                       " column_key, extra FROM information_schema.columns"
                       " WHERE table_schema = ? AND table_name LIKE ?",
                       {table.namespace_name, pattern}, patience));
  std::map<std::string, std::map<std::string, ColumnShape>> shapes;
  for (const SqlRow& row : columns) {
    const std::string key = BytesOf(row[4]);
    const bool is_computed = BytesOf(row[5]).find("GENERATED") != std::string::npos;
    shapes[BytesOf(row[0])][BytesOf(row[1])] = {
        BytesOf(row[2]), static_cast<uint64_t>(NumberOf(row[3])), key == "PRI", is_computed};
  }
  CELLFS_ASSIGN_OR_RETURN(
      const auto comments,
      connection.Query("SELECT table_name, table_comment, UNIX_TIMESTAMP(create_time)"
                       " FROM information_schema.tables"
                       " WHERE table_schema = ? AND table_name LIKE ?",
                       {table.namespace_name, pattern}, patience));
  Families families;
  for (const SqlRow& row : comments) {
    const std::string name = BytesOf(row[0]);
    auto family = FamilyOf(shapes[name]);
    const std::string of_family = name.substr(name.find('$') + 1);
    if (!name.starts_with(beginning) || !family || !CheckFamilyName(of_family).ok()) continue;
    auto note = ReadNote(of_family, BytesOf(row[1]));
    family->has_note = note.has_value();
    family->note = note ? *std::move(note) : *ReadNote(of_family, "");
    family->made = NumberOf(row[2]) * 1000;
    families.emplace(table.name.empty() ? name : of_family, *std::move(family));
  }
  return families;
}

StatusOr<DescribedTable> Tables::Describe(const TableName& table, const Patience& patience) {
  if (IsOfServer(table.namespace_name) || !CheckTableName(table).ok()) return NoTable(table);
  CELLFS_ASSIGN_OR_RETURN(const auto connection, pool_.Lend(patience));
  DescribedTable described;
  CELLFS_ASSIGN_OR_RETURN(described.families, DescribeFamilies(*connection, table, patience));
  if (described.families.empty()) return NoTable(table);
  for (auto& [name, family] : described.families) {
    CELLFS_ASSIGN_OR_RETURN(
        family.attributes,
        table_options_.Attributes(*connection, TableOfFamily(table, name), patience));
    if (!family.attributes.empty()) ReadAttributes(family.attributes, family.note.family);
  }
  auto schema = std::make_shared<TableSchema>(table);
  TableIncarnation incarnation;
  for (const auto& [name, family] : described.families) {
    schema->families.emplace(name, family.note.family);
    for (const auto& [attribute, value] : family.note.table) schema->Keep(attribute, value);
    described.is_enabled &= !family.note.is_disabled;
    incarnation.state = std::max(incarnation.state, family.note.id);
    incarnation.regions.push_back(family.made);
  }
  std::ranges::sort(incarnation.regions);
  if (incarnation.state == 0) incarnation.state = incarnation.regions.front();
  incarnation.regions.resize(
      std::min(incarnation.regions.size(), TableIncarnation::kMostRegions));
  schema->set_incarnation(std::move(incarnation));
  described.schema = std::move(schema);
  return described;
}

Status Tables::CreateFamily(Connection& connection, const TableName& table, const TableNote& note,
                            const Patience& patience) {
  const std::string sql =
      "CREATE TABLE " + TableOfFamily(table, note.family.name()) +
      (table.namespace_name == kOwnDatabase ? kColumnsOfOurs : kColumns) + " V MEDIUMBLOB,"
      " PRIMARY KEY (K, Q, T)) COMMENT = " + Literal(WriteNote(note));
  return table_options_.Create(connection, table, sql, WriteAttributes(note.family, ""),
                               " PARTITION BY KEY(K) PARTITIONS " +
                                   std::to_string(options_.partitions),
                               patience);
}

Status Tables::Create(const TableSchema& schema, const Patience& patience) {
  const TableName& table = schema.name();
  CELLFS_RETURN_IF_ERROR(CheckTableName(table));
  CELLFS_RETURN_IF_ERROR(CheckName(table.name));
  if (schema.families.empty()) {
    return {StatusCode::kIllegalArgument, "a table needs a family here"};
  }
  if (!schema.split_keys.empty()) {
    return {StatusCode::kUnsupportedOperation,
            "a table in a database is partitioned by the hash of its rows, and has no split keys"};
  }
  for (const auto& [name, family] : schema.families) {
    CELLFS_RETURN_IF_ERROR(CheckFamilyName(name));
    CELLFS_RETURN_IF_ERROR(CheckName(name));
  }
  CELLFS_RETURN_IF_ERROR(CheckNamespace(table.namespace_name, patience));
  if (const auto there = Describe(table, patience); there.ok()) {
    return {StatusCode::kTableExists, "table '" + table.ToString() + "' exists"};
  } else if (there.status().code() != StatusCode::kTableNotFound) {
    return there.status();
  }
  CELLFS_ASSIGN_OR_RETURN(const auto connection, pool_.Lend(patience));
  if (table.namespace_name == kDefault) {
    CELLFS_RETURN_IF_ERROR(connection->Define(
        "CREATE DATABASE IF NOT EXISTS " + Identifier(kDefault), patience));
  }
  std::vector<std::string> made;
  for (const auto& [name, family] : schema.families) {
    const TableNote note{.family = family, .table = schema.attributes(), .id = clock_.Now()};
    const Status done = CreateFamily(*connection, table, note, patience);
    if (done.ok()) {
      made.push_back(name);
      continue;
    }
    for (const std::string& other : made)
      (void)connection->Define("DROP TABLE " + TableOfFamily(table, other), patience);
    return done;
  }
  return {};
}

Status Tables::WriteNoteOf(Connection& connection, const TableName& table,
                           const DescribedFamily& family, const TableNote& note,
                           const Patience& patience) {
  const std::string text = WriteNote(note);
  const bool is_as_it_was = text == WriteNote(family.note);
  const std::string name = TableOfFamily(table, note.family.name());
  const std::string attributes = WriteAttributes(note.family, family.attributes);
  if (!attributes.empty() && WriteAttributes(family.note.family, family.attributes) != attributes) {
    CELLFS_RETURN_IF_ERROR(
        table_options_.SetAttributes(connection, name, attributes, patience));
  }
  if (family.has_note && is_as_it_was) return {};
  if (!family.has_note) {
    return {StatusCode::kUnsupportedOperation,
            "the comment of " + name + " is somebody's, and attributes would stand there"};
  }
  return connection.Define("ALTER TABLE " + name + " COMMENT = " + Literal(text), patience);
}

Status Tables::Alter(const DescribedTable& described, const TableSchema& schema,
                     const Patience& patience) {
  const TableName& table = schema.name();
  if (!schema.split_keys.empty()) {
    return {StatusCode::kUnsupportedOperation, "a table in a database has no split keys"};
  }
  if (schema.families.empty()) {
    return {StatusCode::kInvalidFamilyOperation, "a table needs a family here"};
  }
  int64_t id = 0;
  for (const auto& [name, family] : described.families) id = std::max(id, family.note.id);
  for (const auto& [name, family] : schema.families) {
    CELLFS_RETURN_IF_ERROR(CheckFamilyName(name));
    if (!described.families.contains(name)) CELLFS_RETURN_IF_ERROR(CheckName(name));
  }
  CELLFS_ASSIGN_OR_RETURN(const auto connection, pool_.Lend(patience));
  for (const auto& [name, family] : schema.families) {
    const TableNote note{.family = family,
                         .table = schema.attributes(),
                         .id = id,
                         .is_disabled = !described.is_enabled};
    const auto present = described.families.find(name);
    CELLFS_RETURN_IF_ERROR(
        present == described.families.end()
            ? CreateFamily(*connection, table, note, patience)
            : WriteNoteOf(*connection, table, present->second, note, patience));
  }
  for (const auto& [name, family] : described.families) {
    if (schema.families.contains(name)) continue;
    CELLFS_RETURN_IF_ERROR(
        connection->Define("DROP TABLE " + TableOfFamily(table, name), patience));
  }
  return {};
}

Status Tables::SetEnabled(const DescribedTable& table, bool enabled, const Patience& patience) {
  CELLFS_ASSIGN_OR_RETURN(const auto connection, pool_.Lend(patience));
  for (const auto& [name, family] : table.families) {
    TableNote note = family.note;
    note.is_disabled = !enabled;
    CELLFS_RETURN_IF_ERROR(
        WriteNoteOf(*connection, table.schema->name(), family, note, patience));
  }
  return {};
}

Status Tables::Drop(const DescribedTable& table, const Patience& patience) {
  std::string names;
  for (const auto& [name, family] : table.families)
    names += (names.empty() ? "" : ", ") + TableOfFamily(table.schema->name(), name);
  CELLFS_ASSIGN_OR_RETURN(const auto connection, pool_.Lend(patience));
  CELLFS_RETURN_IF_ERROR(connection->Define("DROP TABLE " + names, patience));
  table_options_.DropGroup(*connection, table.schema->name(), patience);
  return {};
}

}  // namespace cellfs::obkv
