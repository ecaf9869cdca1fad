// SPDX-License-Identifier: MIT
//
// alter: what is named of a table's schema becomes what is said; all else stays.
#include <utility>

#include "fs/schema/schema_file.h"
#include "src/commands/all.h"
#include "src/commands/schema_words.h"

namespace cellfs {
namespace {

Status NoFamily(const TableSchema& schema, const std::string& family) {
  return {StatusCode::kNoSuchColumnFamily,
          "table '" + schema.name().ToString() + "' has no family '" + family + "'"};
}

// A family that is new in a table is as create and mkdir make it there.
Status ChangeFamily(const Session& session, const std::string& word, TableSchema& schema) {
  CELLFS_ASSIGN_OR_RETURN(const FamilyWord family, ParseFamilyWord(word));
  CELLFS_RETURN_IF_ERROR(CheckFamilyName(family.name));
  const auto [changed, is_new] = schema.families.emplace(family.name, FamilySchema(family.name));
  if (is_new && fs::IsOpen(schema)) {
    for (const auto& [name, value] : session.filesystem.parts().options.family_defaults)
      CELLFS_RETURN_IF_ERROR(changed->second.Set(name, value));
  }
  return SetAttributes(family, changed->second);
}

// "READONLY", "f:TTL"
Status UnsetOne(const std::string& name, TableSchema& schema) {
  const size_t colon = name.find(':');
  if (colon == std::string::npos) {
    CELLFS_RETURN_IF_ERROR(CheckTableAttribute(name));
    schema.Unset(name);
    return {};
  }
  const std::string family = BytesOf(name.substr(0, colon));
  const auto found = schema.families.find(family);
  if (found == schema.families.end()) return NoFamily(schema, family);
  CELLFS_RETURN_IF_ERROR(CheckFamilyAttribute(name.substr(colon + 1)));
  found->second.Unset(name.substr(colon + 1));
  return {};
}

Status ChangeTable(const Session& session, const NamedTable& named, const Arguments& arguments,
                   TableSchema& schema) {
  if (arguments.Flag("open")) CELLFS_RETURN_IF_ERROR(schema.Set(fs::kOpenAttribute, "true"));
  if (arguments.Flag("closed")) schema.Unset(fs::kOpenAttribute);
  for (const std::string& word : arguments.Texts("set")) {
    CELLFS_ASSIGN_OR_RETURN(const AttributeWord attribute, ParseAttributeWord(word));
    CELLFS_RETURN_IF_ERROR(SetAttribute(attribute, schema));
  }
  for (const std::string& name : arguments.Texts("unset"))
    CELLFS_RETURN_IF_ERROR(UnsetOne(name, schema));
  for (const std::string& word : named.words)
    CELLFS_RETURN_IF_ERROR(ChangeFamily(session, word, schema));
  for (const std::string& shown : arguments.Texts("drop_family")) {
    const std::string family = BytesOf(shown);
    if (schema.families.erase(family) == 0) return NoFamily(schema, family);
  }
  return {};
}

Status CheckSaidOnce(const NamedTable& named, const Arguments& arguments) {
  SaidOnce said;
  CELLFS_RETURN_IF_ERROR(said.AddOptions(arguments));
  for (const std::string& word : named.words) {
    CELLFS_ASSIGN_OR_RETURN(const FamilyWord family, ParseFamilyWord(word));
    CELLFS_RETURN_IF_ERROR(said.AddFamily(family));
  }
  for (const std::string& shown : arguments.Texts("drop_family"))
    CELLFS_RETURN_IF_ERROR(said.AddDropped(BytesOf(shown)));
  return {};
}

bool SaysAnything(const NamedTable& named, const Arguments& arguments) {
  return !named.words.empty() || arguments.Has("set") || arguments.Has("unset") ||
         arguments.Has("drop_family") || arguments.Flag("open") || arguments.Flag("closed");
}

StatusOr<Answer> Serve(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const NamedTable named, NameTable(session, arguments));
  if (!SaysAnything(named, arguments)) {
    return WrongCall("say what of table '" + named.table.ToString() +
                     "' is to change: FAMILY:NAME=VALUE, --set, --unset or --drop-family");
  }
  if (arguments.Flag("open") && arguments.Flag("closed"))
    return WrongCall("say --open or --closed, not both");
  CELLFS_RETURN_IF_ERROR(CheckSaidOnce(named, arguments));
  const Status altered = session.store.ChangeTable(
      session.caller, named.table,
      [&](TableSchema& schema) { return ChangeTable(session, named, arguments, schema); });
  if (altered.code() == StatusCode::kStoreFull) {
    return Status(altered.code(),
                  "table '" + named.table.ToString() + "' could not be altered: " + altered.message());
  }
  CELLFS_RETURN_IF_ERROR(AsWrongCall(altered));
  TakeDone(session, "table", named.table.ToString(), "altered");
  return Answer::kDone;
}

}  // namespace

const Command kAlterCommand{
    .name = "alter",
    .group = Group::kSchema,
    .summary = "change a table's families and attributes; what is not named stays",
    .example = "alter ~/m notes text:VERSIONS=20,TTL='365 DAYS'\n"
               "alter ~/m notes attachments --set READONLY=false\n"
               "alter ~/m/default/notes --unset text:TTL --drop-family old",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("WORD",
                       "TABLE as far as the path does not say it; FAMILY:NAME=VALUE,... changes "
                       "a family, or adds it; NAME= is the default again");
          syntax.Options("--set", "set", "NAME=VALUE",
                         "an attribute of the table; NAME= is as --unset NAME");
          syntax.Options("--unset", "unset", "NAME",
                         "the default again; NAME of the table, FAMILY:NAME of a family");
          syntax.Options("--drop-family", "drop_family", "FAMILY", "drop it, with its cells");
          syntax.Flag("--open", "open", "mkdir in a row makes families");
          syntax.Flag("--closed", "closed", "it does not");
        },
    .serve = Serve,
    .print = PrintDone,
};

}  // namespace cellfs
