// SPDX-License-Identifier: MIT
//
// grant, revoke, user_permission: HBase's rights, of users at scopes.
//
//     grant MOUNT USER RW                    everywhere
//     grant MOUNT USER RW @NAMESPACE         in a namespace; as grant MOUNT/NAMESPACE USER RW
//     grant MOUNT USER RW TABLE [FAMILY [QUALIFIER]]
#include <pwd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "src/commands/all.h"
#include "src/commands/schema_words.h"

namespace cellfs {
namespace {

using fs::PlaceKind;
using nlohmann::json;

// ---- Scopes -------------------------------------------------------------------------------------

// "FAMILY [QUALIFIER]", or "FAMILY:QUALIFIER".
Status NarrowScope(const std::vector<std::string>& words, GrantScope& scope) {
  if (words.empty()) return {};
  const size_t colon = words[0].find(':');
  scope.family = BytesOf(words[0].substr(0, colon));
  if (scope.family.empty()) return WrongCall("'" + words[0] + "' names no family");
  size_t taken = 1;
  if (colon != std::string::npos) {
    scope.qualifier = BytesOf(words[0].substr(colon + 1));
  } else if (words.size() > 1) {
    scope.qualifier = BytesOf(words[1]);
    taken = 2;
  }
  if (words.size() > taken) return WrongCall("'" + words[taken] + "' is one word too many");
  return {};
}

StatusOr<GrantScope> GrantScopeOf(const Session& session, const Arguments& arguments) {
  const auto words = arguments.Texts("words");
  CELLFS_ASSIGN_OR_RETURN(const fs::Place place, PlaceOf(session, arguments));
  const bool is_namespace = place.kind == PlaceKind::kNamespace;
  if (words.empty() && place.kind == PlaceKind::kRoot) return GrantScope{};
  if (words.empty() && is_namespace) return GrantScope{place.table.namespace_name, {}, "", {}};
  if (!words.empty() && words[0].starts_with('@')) {
    if (place.kind != PlaceKind::kRoot || words.size() > 1 || words[0].size() == 1)
      return WrongCall("'" + words[0] + "' stands alone, behind a store or a mount point");
    return GrantScope{words[0].substr(1), {}, "", {}};
  }
  const bool is_file =
      place.kind == PlaceKind::kSchemaFile || place.kind == PlaceKind::kNamespaceFile;
  if (place.kind != PlaceKind::kRoot && !is_namespace && place.kind != PlaceKind::kTable &&
      !is_file) {
    return WrongCall("rights are of a table, a family or a column, not of rows: name the table, "
                     "then FAMILY and QUALIFIER");
  }
  CELLFS_ASSIGN_OR_RETURN(const NamedTable named, NameTable(session, arguments));
  GrantScope scope{"", named.table, "", {}};
  CELLFS_RETURN_IF_ERROR(NarrowScope(named.words, scope));
  return scope;
}

json RecordOf(const std::string& user, const GrantScope& scope) {
  json record = {{"user", user}};
  if (scope.table) {
    record["table"] = scope.table->ToString();
    if (!scope.family.empty()) record["family"] = scope.family;
    if (scope.qualifier) record["qualifier"] = *scope.qualifier;
  } else if (!scope.namespace_name.empty()) {
    record["namespace"] = scope.namespace_name;
  }
  return record;
}

// As the words of grant say it.
std::string ShownScope(const json& record) {
  if (record.contains("namespace")) return "@" + record["namespace"].get<std::string>();
  if (!record.contains("table")) return "";
  std::string text = record["table"].get<std::string>();
  if (record.contains("family")) text += " " + ShownBytes(record["family"].get<std::string>());
  if (record.contains("qualifier"))
    text += " " + ShownBytes(record["qualifier"].get<std::string>());
  return text;
}

// ---- Users --------------------------------------------------------------------------------------

// The user as the mount names who asks: by name where he has one here.
StatusOr<std::string> UserOf(const Arguments& arguments) {
  const std::string word = arguments.Text("user");
  if (word.empty()) return WrongCall("name a user");
  if (word.starts_with('@'))
    return WrongCall("'" + word + "' is a group; rights are granted to users");
  uid_t uid = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), uid);
  if (error != std::errc() || end != word.data() + word.size()) return word;
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  return found == nullptr ? word : std::string(found->pw_name);
}

bool IsKnown(const std::string& user) {
  if (user.find_first_not_of("0123456789") == std::string::npos) return true;
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr;
}

std::string NoteOn(const Session& session, const std::string& user) {
  if (!session.mountpoint.empty() && !session.filesystem.options().authorization)
    return "this mount asks for no rights; '-o hbase.security.authorization=true' makes it";
  return IsKnown(user) ? "" : "nobody here is called '" + user + "' yet";
}

// ---- The commands -------------------------------------------------------------------------------

StatusOr<Answer> ServeGrant(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const std::string user, UserOf(arguments));
  CELLFS_ASSIGN_OR_RETURN(const GrantScope scope, GrantScopeOf(session, arguments));
  Grant grant{user, scope, arguments.Text("permissions")};
  for (char& letter : grant.permissions)
    letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  CELLFS_RETURN_IF_ERROR(session.store.GrantPermissions(session.caller, grant,
                                                        /*merge=*/!arguments.Flag("replace")));
  json record = RecordOf(user, scope);
  record["done"] = "granted";
  if (const std::string note = NoteOn(session, user); !note.empty()) record["note"] = note;
  session.take(std::move(record));
  return Answer::kDone;
}

// A name that is not there has no grants, and may be mistyped.
Status CheckScopeIsThere(Session& session, const GrantScope& scope) {
  if (!scope.namespace_name.empty())
    return session.store.DescribeNamespace(scope.namespace_name).status();
  if (!scope.table) return {};
  CELLFS_ASSIGN_OR_RETURN(const auto schema, session.store.DescribeTable(*scope.table));
  if (scope.family.empty() || schema->FindFamily(scope.family) != nullptr) return {};
  return {StatusCode::kNoSuchColumnFamily, "table '" + scope.table->ToString() +
                                               "' has no family '" + ShownBytes(scope.family) + "'"};
}

StatusOr<Answer> ServeRevoke(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const std::string user, UserOf(arguments));
  CELLFS_ASSIGN_OR_RETURN(const GrantScope scope, GrantScopeOf(session, arguments));
  CELLFS_ASSIGN_OR_RETURN(const auto grants, session.store.ListGrants());
  const bool was_there = std::any_of(grants.begin(), grants.end(), [&](const Grant& grant) {
    return grant.user == user && grant.scope == scope;
  });
  CELLFS_RETURN_IF_ERROR(session.store.RevokePermissions(session.caller, user, scope));
  if (!was_there) CELLFS_RETURN_IF_ERROR(CheckScopeIsThere(session, scope));
  json record = RecordOf(user, scope);
  record["done"] = was_there ? "revoked" : "nothing";
  if (!was_there) record["note"] = "'" + user + "' has no grant at exactly that scope";
  session.take(std::move(record));
  return was_there ? Answer::kDone : Answer::kNo;
}

StatusOr<Answer> ServeUserPermission(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const GrantScope scope, GrantScopeOf(session, arguments));
  CELLFS_RETURN_IF_ERROR(CheckScopeIsThere(session, scope));
  std::string user;
  if (arguments.Has("user")) {
    CELLFS_ASSIGN_OR_RETURN(user, UserOf(arguments));
  }
  CELLFS_ASSIGN_OR_RETURN(const auto grants, session.store.ListGrants());
  for (const Grant& grant : grants) {
    if (!Covers(scope, grant.scope) || (!user.empty() && grant.user != user)) continue;
    json record = RecordOf(grant.user, grant.scope);
    record["permissions"] = grant.permissions;
    if (!session.take(std::move(record))) break;
  }
  return Answer::kDone;
}

void PrintPermission(Printer& printer, const json& record) {
  const std::string scope = ShownScope(record);
  std::vector<std::string> fields = {record["user"].get<std::string>(),
                                     record["permissions"].get<std::string>()};
  if (!scope.empty()) fields.push_back(scope);
  printer.Row(std::move(fields));
}

constexpr char kScope[] =
    "where: nothing more (in all the path is), @NAMESPACE, or TABLE [FAMILY [QUALIFIER]]";

}  // namespace

const Command kGrantCommand{
    .name = "grant",
    .group = Group::kRights,
    .summary = "give a user rights (R, W, X, C, A) besides those he has",
    .example = "grant ~/m anna RW notes\ngrant ~/m bob R notes text list\n"
               "grant ~/m anna RWXCA @log\ngrant ~/m/default/notes anna RW",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the scope goes on");
          syntax.Word("user", "USER", "by name");
          syntax.Word("permissions", "PERMISSIONS",
                      "letters: R read, W write, X endpoints, C create, A administer");
          syntax.Words("SCOPE", kScope);
          syntax.Flag("--replace", "replace", "instead of what he has there");
        },
    .serve = ServeGrant,
    .print = PrintDone,
};

const Command kRevokeCommand{
    .name = "revoke",
    .group = Group::kRights,
    .summary = "take a user's rights at a scope away; 1: he has none there",
    .example = "revoke ~/m anna notes",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the scope goes on");
          syntax.Word("user", "USER", "by name");
          syntax.Words("SCOPE", kScope);
        },
    .serve = ServeRevoke,
    .print = PrintDone,
};

const Command kUserPermissionCommand{
    .name = "user_permission",
    .group = Group::kRights,
    .summary = "list who has which rights; of others' only where you may grant",
    .example = "user_permission ~/m\nuser_permission ~/m notes --user anna",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the scope goes on");
          syntax.Words("SCOPE", kScope);
          syntax.Option("--user", "user", "USER", "his alone");
        },
    .only_reads = true,
    .serve = ServeUserPermission,
    .print = PrintPermission,
};

}  // namespace cellfs
