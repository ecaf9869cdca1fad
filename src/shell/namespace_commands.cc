// SPDX-License-Identifier: MIT
//
// HBase's shell, group namespace.
#include <array>
#include <utility>

#include "src/shell/call.h"
#include "src/shell/schema.h"

namespace cellfs::shell {
namespace {

using nlohmann::json;

json NamespaceWords(const std::string& name) { return {{"words", {WordOf(name)}}}; }

void AddProperties(const Hash& hash, json& arguments) {
  for (const auto& [key, value] : hash) {
    if (key != "METHOD") arguments["set"].push_back(key + "=" + ShownBytes(value.Text()));
  }
}

StatusOr<Value> RunCreateNamespace(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string name, call.Text(0, "namespace"));
  CELLFS_ASSIGN_OR_RETURN(const Hash hash, call.HashAt(1, "second argument"));
  json arguments = NamespaceWords(name);
  AddProperties(hash, arguments);
  CELLFS_RETURN_IF_ERROR(call.Ask("create_namespace", arguments).status());
  return Value{};
}

// {METHOD => 'set', 'P' => 'V'} or {METHOD => 'unset', NAME => 'P'}
Status AddNamespaceChange(const Hash& hash, json& arguments) {
  std::string method;
  for (const auto& [key, value] : hash)
    if (key == "METHOD") method = value.Text();
  if (method == "set") {
    AddProperties(hash, arguments);
    return {};
  }
  if (method != "unset") return Refused("METHOD is 'set' or 'unset'");
  for (const auto& [key, value] : hash) {
    if (key == "METHOD") continue;
    if (key != "NAME") return Refused("unset takes NAME => 'PROPERTY', not '" + key + "'");
    arguments["unset"].push_back(value.Text());
  }
  return {};
}

StatusOr<Value> RunAlterNamespace(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string name, call.Text(0, "namespace"));
  json arguments = NamespaceWords(name);
  for (size_t i = 1; i < call.count(); ++i) {
    CELLFS_ASSIGN_OR_RETURN(const Hash hash, call.HashAt(i, "change"));
    CELLFS_RETURN_IF_ERROR(AddNamespaceChange(hash, arguments));
  }
  CELLFS_RETURN_IF_ERROR(call.Ask("alter_namespace", arguments).status());
  return Value{};
}

StatusOr<Value> RunDescribeNamespace(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string name, call.Text(0, "namespace"));
  CELLFS_ASSIGN_OR_RETURN(const json described,
                          call.AskOne("describe_namespace", NamespaceWords(name)));
  std::string text = "{NAME => '" + name + "'";
  for (const auto& [key, value] : described["properties"].items())
    text += ", " + key + " => '" + BinaryText(value.get<std::string>()) + "'";
  call.output().Head("DESCRIPTION");
  call.output().Row(text + "}");
  ShowQuota(call.output(), described["space_quota"]);
  return Value{};
}

StatusOr<Value> RunDropNamespace(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string name, call.Text(0, "namespace"));
  CELLFS_RETURN_IF_ERROR(call.Ask("drop_namespace", NamespaceWords(name)).status());
  return Value{};
}

StatusOr<Value> RunListNamespaces(Call& call) {
  std::vector<std::string> names;
  CELLFS_RETURN_IF_ERROR(call.Ask("list_namespaces", json::object(), [&](const json& record) {
                               names.push_back(record["namespace"].get<std::string>());
                               return true;
                             }).status());
  if (call.Has(0)) {
    CELLFS_ASSIGN_OR_RETURN(const std::string expression, call.Text(0, "regular expression"));
    CELLFS_ASSIGN_OR_RETURN(names, Matching(names, expression));
  }
  call.output().Head("NAMESPACE");
  for (const std::string& name : names) call.output().Row(name);
  call.output().Footer();
  return Value{};
}

StatusOr<Value> RunNamespaceTables(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string name, call.Text(0, "namespace"));
  call.output().Head("TABLE");
  List tables;
  CELLFS_RETURN_IF_ERROR(call.Ask("list", NamespaceWords(name), [&](const json& record) {
                               std::string table = record["table"].get<std::string>();
                               table.erase(0, table.find(':') + 1);
                               call.output().Row(table);
                               tables.push_back(Value{std::move(table)});
                               return call.output().ok();
                             }).status());
  call.output().Footer();
  return Value{std::move(tables)};
}

constexpr std::array kNamespace = {
    ShellCommand{"alter_namespace", 2, 64,
                 "Sets properties of a namespace, or takes one away.\n"
                 "alter_namespace 'ns1', {METHOD => 'set', 'PROPERTY_NAME' => 'PROPERTY_VALUE'}\n"
                 "alter_namespace 'ns1', {METHOD => 'unset', NAME => 'PROPERTY_NAME'}",
                 RunAlterNamespace},
    ShellCommand{"create_namespace", 1, 2,
                 "Makes a namespace.\n"
                 "create_namespace 'ns1'\n"
                 "create_namespace 'ns1', {'PROPERTY_NAME' => 'PROPERTY_VALUE'}",
                 RunCreateNamespace},
    ShellCommand{"describe_namespace", 1, 1,
                 "Shows the properties of a namespace.\n"
                 "describe_namespace 'ns1'",
                 RunDescribeNamespace},
    ShellCommand{"drop_namespace", 1, 1,
                 "Drops a namespace that has no tables.\n"
                 "drop_namespace 'ns1'",
                 RunDropNamespace},
    ShellCommand{"list_namespace", 0, 1,
                 "The namespaces, or those whose names match.\n"
                 "list_namespace\n"
                 "list_namespace 'abc.*'",
                 RunListNamespaces},
    ShellCommand{"list_namespace_tables", 1, 1,
                 "The tables of a namespace.\n"
                 "list_namespace_tables 'ns1'",
                 RunNamespaceTables},
};

}  // namespace

const std::span<const ShellCommand> kNamespaceCommands = kNamespace;

}  // namespace cellfs::shell
