// SPDX-License-Identifier: MIT
//
// create_namespace, alter_namespace, drop_namespace.
#include <limits>
#include <utility>

#include "src/commands/all.h"
#include "src/commands/schema_words.h"

namespace cellfs {
namespace {

constexpr char kMaxTables[] = "hbase.namespace.quota.maxtables";
constexpr char kMaxRegions[] = "hbase.namespace.quota.maxregions";

// "none" takes the property away.
Status SetMaximum(const Arguments& arguments, const char* option, const char* property,
                  NamespaceSchema& schema) {
  if (!arguments.Has(option)) return {};
  if (arguments.Text(option) == "none") {
    schema.properties.erase(property);
    return {};
  }
  CELLFS_ASSIGN_OR_RETURN(
      const auto number,
      arguments.NumberOr(option, 1, std::numeric_limits<int32_t>::max(), 1));
  schema.properties[property] = std::to_string(number);
  return {};
}

Status ChangeNamespace(const Arguments& arguments, NamespaceSchema& schema) {
  SaidOnce said;
  CELLFS_RETURN_IF_ERROR(said.AddOptions(arguments));
  if (arguments.Has("max_tables")) CELLFS_RETURN_IF_ERROR(said.Add(kMaxTables));
  if (arguments.Has("max_regions")) CELLFS_RETURN_IF_ERROR(said.Add(kMaxRegions));
  for (const std::string& word : arguments.Texts("set")) {
    CELLFS_ASSIGN_OR_RETURN(const AttributeWord attribute, ParseAttributeWord(word));
    CELLFS_RETURN_IF_ERROR(SetProperty(attribute, schema));
  }
  for (const std::string& name : arguments.Texts("unset")) {
    CELLFS_RETURN_IF_ERROR(CheckNamespaceProperty(name));
    schema.properties.erase(name);
  }
  CELLFS_RETURN_IF_ERROR(SetMaximum(arguments, "max_tables", kMaxTables, schema));
  return SetMaximum(arguments, "max_regions", kMaxRegions, schema);
}

StatusOr<Answer> ServeCreate(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const std::string name, NameNamespace(session, arguments));
  NamespaceSchema schema{name, {}};
  CELLFS_RETURN_IF_ERROR(ChangeNamespace(arguments, schema));
  CELLFS_RETURN_IF_ERROR(AsWrongCall(session.store.CreateNamespace(session.caller, schema)));
  TakeDone(session, "namespace", name, "created");
  return Answer::kDone;
}

StatusOr<Answer> ServeAlter(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const std::string name, NameNamespace(session, arguments));
  const bool says_anything = arguments.Has("set") || arguments.Has("unset") ||
                             arguments.Has("max_tables") || arguments.Has("max_regions");
  if (!says_anything) {
    return Status(StatusCode::kIllegalArgument,
                  "say what of namespace '" + name +
                      "' is to change: --set, --unset, --max-tables or --max-regions");
  }
  CELLFS_RETURN_IF_ERROR(AsWrongCall(session.store.ChangeNamespace(
      session.caller, name,
      [&](NamespaceSchema& schema) { return ChangeNamespace(arguments, schema); })));
  TakeDone(session, "namespace", name, "altered");
  return Answer::kDone;
}

StatusOr<Answer> ServeDrop(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const std::string name, NameNamespace(session, arguments));
  CELLFS_RETURN_IF_ERROR(session.store.DropNamespace(session.caller, name));
  TakeDone(session, "namespace", name, "dropped");
  return Answer::kDone;
}

void AddNamespace(Syntax& syntax) {
  syntax.Target("a path, from which the word goes on");
  syntax.Words("NAMESPACE", "if the path is not one's");
}

void AddProperties(Syntax& syntax) {
  AddNamespace(syntax);
  syntax.Options("--set", "set", "NAME=VALUE", "a property; NAME= takes it away");
  syntax.Option("--max-tables", "max_tables", "N|none", "so many tables are allowed in it");
  syntax.Option("--max-regions", "max_regions", "N|none", "so many regions of all its tables");
}

}  // namespace

const Command kCreateNamespaceCommand{
    .name = "create_namespace",
    .group = Group::kSchema,
    .summary = "create a namespace; 1: it is there already",
    .example = "create_namespace ~/m log\ncreate_namespace ~/m log --max-tables 10",
    .syntax = AddProperties,
    .serve = ServeCreate,
    .print = PrintDone,
};

const Command kAlterNamespaceCommand{
    .name = "alter_namespace",
    .group = Group::kSchema,
    .summary = "change properties and maxima of a namespace",
    .example = "alter_namespace ~/m log --max-tables none --set team=storage",
    .syntax =
        [](Syntax& syntax) {
          AddProperties(syntax);
          syntax.Options("--unset", "unset", "NAME", "take a property away");
        },
    .serve = ServeAlter,
    .print = PrintDone,
};

const Command kDropNamespaceCommand{
    .name = "drop_namespace",
    .group = Group::kSchema,
    .summary = "drop a namespace that has no tables",
    .example = "drop_namespace ~/m log",
    .syntax = AddNamespace,
    .serve = ServeDrop,
    .print = PrintDone,
};

}  // namespace cellfs
