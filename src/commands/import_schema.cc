// SPDX-License-Identifier: MIT
#include "src/commands/import_schema.h"

#include <functional>
#include <string>
#include <utility>

#include "src/commands/arguments.h"

namespace cellfs {
namespace {

using nlohmann::json;

Status SetAll(const json& attributes, const std::function<Status(const std::string&,
                                                                 const std::string&)>& set) {
  for (const auto& [name, value] : attributes.items()) {
    if (!value.is_string()) return WrongCall("\"" + name + "\" is no text");
    CELLFS_RETURN_IF_ERROR(set(name, value.get<std::string>()));
  }
  return {};
}

StatusOr<FamilySchema> FamilyIn(const std::string& name, const json& attributes) {
  FamilySchema family(name);
  CELLFS_RETURN_IF_ERROR(SetAll(attributes, [&](const auto& attribute, const auto& value) {
    return family.Set(attribute, value);
  }));
  return family;
}

// A table that is there stays as it is, and gets the families that it lacks.
Status AddFamiliesOf(Session& session, const TableName& table, const json& families) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, session.store.DescribeTable(table));
  for (const auto& [name, attributes] : families.items()) {
    if (schema->FindFamily(name) != nullptr) continue;
    CELLFS_ASSIGN_OR_RETURN(const FamilySchema family, FamilyIn(name, attributes));
    CELLFS_RETURN_IF_ERROR(session.store.AddFamily(session.caller, table, family));
  }
  return {};
}

// What a store has not is told, and is no reason to leave all else out.
Status MadeWithout(const char* what, const Status& refused) {
  return {refused.code(), "made without its " + std::string(what) + ": " + refused.message()};
}

Status MakeTable(Session& session, const TableName& table, const json& line) {
  const json families = line.value("families", json::object());
  TableSchema schema(table);
  CELLFS_RETURN_IF_ERROR(
      SetAll(line.value("attributes", json::object()),
             [&](const auto& name, const auto& value) { return schema.Set(name, value); }));
  for (const json& key : line.value("splits", json::array())) {
    if (!key.is_string()) return WrongCall("\"splits\" has what is no text");
    schema.split_keys.push_back(key.get<std::string>());
  }
  for (const auto& [name, attributes] : families.items()) {
    CELLFS_ASSIGN_OR_RETURN(FamilySchema family, FamilyIn(name, attributes));
    schema.families.emplace(name, std::move(family));
  }
  const bool has_splits = !schema.split_keys.empty();
  const Status made = session.store.CreateTable(session.caller, schema);
  if (made.code() == StatusCode::kTableExists) return AddFamiliesOf(session, table, families);
  if (made.code() != StatusCode::kUnsupportedOperation || !has_splits) return made;
  schema.split_keys.clear();
  CELLFS_RETURN_IF_ERROR(session.store.CreateTable(session.caller, schema));
  return MadeWithout("splits", made);
}

Status MakeNamespace(Session& session, const json& line) {
  NamespaceSchema schema{line.value("namespace", ""), {}};
  CELLFS_RETURN_IF_ERROR(SetAll(line.value("properties", json::object()),
                                [&](const auto& name, const auto& value) {
                                  schema.properties[name] = value;
                                  return Status();
                                }));
  const Status made = session.store.CreateNamespace(session.caller, schema);
  if (made.code() == StatusCode::kNamespaceExists) return {};
  if (made.code() != StatusCode::kUnsupportedOperation || schema.properties.empty()) return made;
  CELLFS_RETURN_IF_ERROR(session.store.CreateNamespace(session.caller, {schema.name, {}}));
  return MadeWithout("properties", made);
}

}  // namespace

Status MakeSchema(Session& session, const std::optional<TableName>& into, const json& line) {
  for (const char* name : {"namespace", "table"})
    if (line.contains(name) && !line[name].is_string())
      return WrongCall("\"" + std::string(name) + "\" is no text");
  if (line.contains("namespace")) return into ? Status() : MakeNamespace(session, line);
  CELLFS_ASSIGN_OR_RETURN(const TableName table, TableOfLine(into, line.value("table", "")));
  return MakeTable(session, table, line);
}

StatusOr<TableName> TableOfLine(const std::optional<TableName>& into, const std::string& table) {
  if (into) return *into;
  if (table.empty()) return WrongCall("\"table\" is missing, and the call names none");
  return ParseTableName(table);
}

}  // namespace cellfs
