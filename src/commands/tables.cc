// SPDX-License-Identifier: MIT
//
// The life of a table: disable, enable, drop, truncate, split.
#include <algorithm>
#include <utility>

#include "src/commands/all.h"
#include "src/commands/schema_words.h"

namespace cellfs {
namespace {

using nlohmann::json;

Status AfterDisable(const Status& status) {
  if (status.code() != StatusCode::kTableNotDisabled) return status;
  return WithRemedy(status, "'cellfs disable' it first, or say --force");
}

// What is so already is a no.
StatusOr<Answer> Switch(Session& session, const Arguments& arguments, bool enable) {
  CELLFS_ASSIGN_OR_RETURN(const TableName table, NameTableAlone(session, arguments));
  const Status done = enable ? session.store.EnableTable(session.caller, table)
                             : session.store.DisableTable(session.caller, table);
  const char* const state = enable ? "enabled" : "disabled";
  if (done.code() == (enable ? StatusCode::kTableNotDisabled : StatusCode::kTableNotEnabled)) {
    TakeDone(session, "table", table.ToString(), "nothing",
             "table '" + table.ToString() + "' is " + state + " already");
    return Answer::kNo;
  }
  CELLFS_RETURN_IF_ERROR(done);
  TakeDone(session, "table", table.ToString(), state);
  return Answer::kDone;
}

StatusOr<Answer> ServeDropTable(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const TableName table, NameTableAlone(session, arguments));
  CELLFS_RETURN_IF_ERROR(
      arguments.Flag("force")
          ? session.store.DisableAndDropTable(session.caller, table)
          : AfterDisable(session.store.DropTable(session.caller, table)));
  TakeDone(session, "table", table.ToString(), "dropped");
  return Answer::kDone;
}

// As HBase's shell, which disables it for that.
StatusOr<Answer> ServeTruncate(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const TableName table, NameTableAlone(session, arguments));
  CELLFS_RETURN_IF_ERROR(session.store.DisableAndTruncateTable(session.caller, table));
  TakeDone(session, "table", table.ToString(), "truncated");
  return Answer::kDone;
}

StatusOr<Answer> ServeRename(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const NamedPlace named,
                          NamePlace(session, arguments, Depth::kTable, Depth::kTable));
  if (named.words.size() != 1) return WrongCall("say the new name: NEW, or NAMESPACE:NEW");
  const TableName& table = named.place.table;
  const std::string& word = named.words.front();
  const bool stays = word.find(':') == std::string::npos;
  const TableName renamed = stays ? TableName{table.namespace_name, word} : ParseTableName(word);
  CELLFS_RETURN_IF_ERROR(session.store.RenameTable(session.caller, table, renamed));
  TakeDone(session, "table", renamed.ToString(), "renamed");
  return Answer::kDone;
}

StatusOr<Answer> ServeSplit(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const NamedPlace named,
                          NamePlace(session, arguments, Depth::kTable, Depth::kRow));
  const bool is_row = named.place.kind == fs::PlaceKind::kRow;
  if (!is_row || !named.words.empty()) {
    return Status(StatusCode::kIllegalArgument,
                  is_row ? "'" + named.words.front() + "' is one word too many"
                         : "name the key at which a region is to begin");
  }
  const TableName& table = named.place.table;
  const Status split = session.store.SplitTable(session.caller, table, named.place.row);
  CELLFS_ASSIGN_OR_RETURN(const auto schema, session.store.DescribeTable(table));
  const auto& keys = schema->split_keys;
  const bool was_there = split.code() == StatusCode::kDoNotRetry &&
                         std::find(keys.begin(), keys.end(), named.place.row) != keys.end();
  if (was_there) {
    TakeDone(session, "table", table.ToString(), "nothing",
             "table '" + table.ToString() + "' has a region that begins at that key already");
    return Answer::kNo;
  }
  CELLFS_RETURN_IF_ERROR(AsWrongCall(split));
  session.take({{"table", table.ToString()},
                {"done", "split"},
                {"regions", schema->split_keys.size() + 1}});
  return Answer::kDone;
}

void AddTable(Syntax& syntax) {
  syntax.Target("a path, from which the word goes on");
  syntax.Words("TABLE", "if the path is not one's");
}

}  // namespace

const Command kDisableCommand{
    .name = "disable",
    .group = Group::kSchema,
    .summary = "take a table out of service; 1: it is already",
    .example = "disable ~/m notes",
    .syntax = AddTable,
    .serve = [](Session& session,
                const Arguments& arguments) { return Switch(session, arguments, false); },
    .print = PrintDone,
};

const Command kEnableCommand{
    .name = "enable",
    .group = Group::kSchema,
    .summary = "put a table into service again; 1: it is already",
    .example = "enable ~/m notes",
    .syntax = AddTable,
    .serve = [](Session& session,
                const Arguments& arguments) { return Switch(session, arguments, true); },
    .print = PrintDone,
};

const Command kDropCommand{
    .name = "drop",
    .group = Group::kSchema,
    .summary = "drop a disabled table, with its cells",
    .example = "drop ~/m notes\ndrop --force ~/m/default/notes",
    .syntax =
        [](Syntax& syntax) {
          AddTable(syntax);
          syntax.Flag("--force", "force", "an enabled one too");
        },
    .serve = ServeDropTable,
    .print = PrintDone,
};

const Command kTruncateCommand{
    .name = "truncate",
    .group = Group::kSchema,
    .summary = "remove all cells of a table; it is enabled then",
    .example = "truncate ~/m notes",
    .syntax = AddTable,
    .serve = ServeTruncate,
    .print = PrintDone,
};

const Command kRenameCommand{
    .name = "rename",
    .group = Group::kSchema,
    .summary = "give a table another name, also in another namespace",
    .description =
        "It keeps its history, owners, grants and quota. A cluster's tables keep their names.",
    .example = "rename ~/m notes diary\nrename ~/m/default/notes archive:notes",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("WORD", "TABLE as far as the path does not say it; NEW or NAMESPACE:NEW");
        },
    .serve = ServeRename,
    .print = PrintDone,
};

const Command kSplitCommand{
    .name = "split",
    .group = Group::kSchema,
    .summary = "cut a region of a table at a key; 1: one begins there already",
    .example = "split ~/m notes m\nsplit ~/m log:events '\\x80'",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("WORD", "TABLE as far as the path does not say it; KEY");
        },
    .serve = ServeSplit,
    .print = PrintDone,
};

}  // namespace cellfs
