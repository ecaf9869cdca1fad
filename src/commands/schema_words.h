// SPDX-License-Identifier: MIT
//
// Schemas as words say them, for the commands of the group "Schemas".
//
//     f                               a family as it is by default
//     f:VERSIONS=5,TTL='1 DAYS'       with attributes, by HBase's names; NAME= is the default again
//     "{NAME => 'f', VERSIONS => 5}"  the same as HBase's shell writes it
//     READONLY=true                   an attribute of a table, or a property of a namespace
//
// Bytes may be \xNN; a comma in a value is \x2C. A name that is none of HBase's is free metadata,
// unless it looks like a mistake.
#ifndef CELLFS_SRC_COMMANDS_SCHEMA_WORDS_H_
#define CELLFS_SRC_COMMANDS_SCHEMA_WORDS_H_

#include <set>
#include <string>
#include <vector>

#include "engine/schema.h"
#include "engine/status_or.h"
#include "src/commands/command.h"
#include "src/commands/target.h"

namespace cellfs {

struct AttributeWord {
  std::string name;
  std::string value;  // empty: the default
};
struct FamilyWord {
  std::string name;
  std::vector<AttributeWord> attributes;
};

// What a call says of a schema, by name; kIllegalArgument: that was said already, and one of the two
// would be lost.
class SaidOnce {
 public:
  // "READONLY", "f:TTL"
  Status Add(const std::string& name);
  // The names of --set and --unset.
  Status AddOptions(const Arguments& arguments);
  // A family's attributes, and whether the family itself is there afterwards.
  Status AddFamily(const FamilyWord& family);
  Status AddDropped(const std::string& family);

 private:
  std::set<std::string> names_;
  std::set<std::string> families_;
};

// All of these: kIllegalArgument says what would do.
StatusOr<FamilyWord> ParseFamilyWord(const std::string& word);
StatusOr<AttributeWord> ParseAttributeWord(const std::string& word);
Status SetAttributes(const FamilyWord& word, FamilySchema& family);
Status SetAttribute(const AttributeWord& word, TableSchema& schema);
Status SetProperty(const AttributeWord& word, NamespaceSchema& schema);
// Whether the name can be one: of a family, of a table, of a namespace.
Status CheckFamilyAttribute(const std::string& name);
Status CheckTableAttribute(const std::string& name);
Status CheckNamespaceProperty(const std::string& name);

// Bytes as a list in a word says them.
std::string EscapedValue(const std::string& value);
// The word that makes a family like it.
std::string FamilyText(const FamilySchema& family);

// The table that path and words name, and the words that are left.
struct NamedTable {
  TableName table;
  std::vector<std::string> words;
};
using Besides = std::initializer_list<fs::PlaceKind>;  // as of NamePlace
StatusOr<NamedTable> NameTable(const Session& session, const Arguments& arguments,
                               Besides besides = {});
// The same where no word may be left.
StatusOr<TableName> NameTableAlone(const Session& session, const Arguments& arguments,
                                   Besides besides = {});
// A namespace alone.
StatusOr<std::string> NameNamespace(const Session& session, const Arguments& arguments,
                                    Besides besides = {});

// What a limit of HBase's master refuses is a wrong call as well.
Status AsWrongCall(const Status& status);
// The same code; "message; remedy".
Status WithRemedy(const Status& status, const std::string& remedy);

// {"table" or "namespace", "done"}: what a command did. `note` is told to people.
void TakeDone(Session& session, const char* kind, const std::string& name, const char* done,
              const std::string& note = "");
void PrintDone(Printer& printer, const nlohmann::json& record);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_SCHEMA_WORDS_H_
