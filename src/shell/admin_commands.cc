// SPDX-License-Identifier: MIT
//
// HBase's shell, groups tools, quotas and security: of the store as a whole.
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "src/shell/call.h"

namespace cellfs::shell {
namespace {

using nlohmann::json;

// ---- tools --------------------------------------------------------------------------------------

// A family or the kind of a compaction, which HBase takes besides, changes nothing: the table is
// done as a whole.
StatusOr<Value> RunOnStored(Call& call, const std::string& command, bool is_minor = false) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  json arguments = {{"words", {WordOf(table)}}};
  if (is_minor) arguments["minor"] = true;
  CELLFS_RETURN_IF_ERROR(call.Ask(command, arguments).status());
  return Value{};
}

StatusOr<Value> RunSplit(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const std::string key, call.Text(1, "key at which a region begins"));
  CELLFS_RETURN_IF_ERROR(
      call.Ask("split", {{"words", {WordOf(table), WordOf(key)}}}).status());
  return Value{};
}

StatusOr<Value> RunCompactionState(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_RETURN_IF_ERROR(call.AskOne("is_enabled", {{"words", {WordOf(table)}}}).status());
  call.output().Row("NONE");  // who asks for a compaction waits for it
  return Value{};
}

// ---- quotas -------------------------------------------------------------------------------------

std::string TextIn(const Hash& hash, std::string_view key) {
  for (const auto& [name, value] : hash)
    if (name == key) return value.Text();
  return "";
}

StatusOr<Value> RunSetQuota(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const Hash hash, call.HashAt(0, "quota"));
  const std::string type = TextIn(hash, "TYPE");
  if (type != "SPACE")
    return Refused("TYPE => SPACE is the only quota here: requests are not throttled");
  const std::string table = TextIn(hash, "TABLE");
  const std::string of_namespace = TextIn(hash, "NAMESPACE");
  if (table.empty() == of_namespace.empty()) return Refused("say TABLE or NAMESPACE");
  const std::string limit = TextIn(hash, "LIMIT");
  if (limit.empty()) return Refused("LIMIT is missing: a size like '10G', or NONE");
  json words = {table.empty() ? "@" + of_namespace : WordOf(table), limit};
  const std::string policy = TextIn(hash, "POLICY");
  if (!policy.empty()) words.push_back(policy);
  CELLFS_RETURN_IF_ERROR(call.Ask("set_quota", {{"words", std::move(words)}}).status());
  return Value{};
}

StatusOr<Value> RunListQuotas(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const Hash hash, call.HashAt(0, "filter"));
  const std::string of_tables = TextIn(hash, "TABLE");
  const std::string of_namespaces = TextIn(hash, "NAMESPACE");
  const bool is_any = of_tables.empty() && of_namespaces.empty();
  Status failed;
  call.output().Head("OWNER", "QUOTAS");
  CELLFS_RETURN_IF_ERROR(call.Ask("list_quotas", json::object(), [&](const json& record) {
                               const bool is_table = record.contains("table");
                               const std::string name =
                                   record[is_table ? "table" : "namespace"].get<std::string>();
                               const std::string& wanted = is_table ? of_tables : of_namespaces;
                               if (!is_any && wanted.empty()) return true;
                               const auto found = Matching({name}, is_any ? ".*" : wanted);
                               if (!found.ok()) failed = found.status();
                               if (!found.ok() || found->empty()) return found.ok();
                               const std::string owner =
                                   std::string(is_table ? "TABLE" : "NAMESPACE") + " => " + name;
                               const json& quota = record["space_quota"];
                               call.output().Row(
                                   owner, "TYPE => SPACE, " + owner + ", LIMIT => " +
                                              std::to_string(quota["limit"].get<int64_t>()) +
                                              ", VIOLATION_POLICY => " +
                                              quota["policy"].get<std::string>());
                               return call.output().ok();
                             }).status());
  CELLFS_RETURN_IF_ERROR(failed);
  call.output().Footer();
  return Value{};
}

// What tables take: of those that have a quota, and of all others nothing is asked.
StatusOr<Value> RunQuotaSizes(Call& call) {
  call.output().Head("TABLE", "SIZE");
  CELLFS_RETURN_IF_ERROR(call.Ask("list_quotas", json::object(), [&](const json& record) {
                               if (record.contains("table"))
                                 call.output().Row(record["table"].get<std::string>(),
                                                   std::to_string(record["used"].get<uint64_t>()));
                               return call.output().ok();
                             }).status());
  call.output().Footer();
  return Value{};
}

StatusOr<Value> RunQuotaSnapshots(Call& call) {
  call.output().Head("TABLE", "USAGE/LIMIT  IN_VIOLATION  POLICY");
  CELLFS_RETURN_IF_ERROR(
      call.Ask("list_quotas", json::object(), [&](const json& record) {
            if (!record.contains("table")) return true;
            const json& quota = record["space_quota"];
            const auto used = record["used"].get<uint64_t>();
            const auto limit = quota["limit"].get<uint64_t>();
            call.output().Row(record["table"].get<std::string>(),
                              std::to_string(used) + "/" + std::to_string(limit) + "  " +
                                  (used > limit ? "true" : "false") + "  " +
                                  quota["policy"].get<std::string>());
            return call.output().ok();
          }).status());
  call.output().Footer();
  return Value{};
}

// ---- security -----------------------------------------------------------------------------------

// TABLE [FAMILY [QUALIFIER]] or @NAMESPACE, from the argument `first` on.
StatusOr<json> ScopeWords(const Call& call, size_t first) {
  json words = json::array();
  for (size_t i = first; i < call.count() && call.Has(i); ++i) {
    CELLFS_ASSIGN_OR_RETURN(const std::string word, call.Text(i, "scope"));
    words.push_back(WordOf(word));
  }
  return words;
}

StatusOr<Value> RunGrant(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string user, call.Text(0, "user"));
  CELLFS_ASSIGN_OR_RETURN(const std::string permissions, call.Text(1, "permissions"));
  CELLFS_ASSIGN_OR_RETURN(json words, ScopeWords(call, 2));
  CELLFS_RETURN_IF_ERROR(call.Ask("grant", {{"user", user},
                                            {"permissions", permissions},
                                            {"words", std::move(words)}})
                             .status());
  return Value{};
}

StatusOr<Value> RunRevoke(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string user, call.Text(0, "user"));
  CELLFS_ASSIGN_OR_RETURN(json words, ScopeWords(call, 1));
  CELLFS_RETURN_IF_ERROR(
      call.Ask("revoke", {{"user", user}, {"words", std::move(words)}}).status());
  return Value{};
}

std::string ActionsOf(const std::string& permissions) {
  static const std::map<char, const char*> kNames = {
      {'R', "READ"}, {'W', "WRITE"}, {'X', "EXEC"}, {'C', "CREATE"}, {'A', "ADMIN"}};
  std::string actions;
  for (const char letter : permissions) {
    const auto found = kNames.find(letter);
    if (found != kNames.end()) actions += (actions.empty() ? "" : ",") + std::string(found->second);
  }
  return "[Permission: actions=" + actions + "]";
}

// "ns,ns:t,f,q: [Permission: actions=READ]"
std::string PermissionText(const json& record) {
  const std::string table = record.value("table", "");
  const size_t colon = table.find(':');
  std::string of_namespace = record.value("namespace", "");
  if (!table.empty()) of_namespace = colon == table.npos ? "default" : table.substr(0, colon);
  return of_namespace + "," + table + "," + record.value("family", "") + "," +
         record.value("qualifier", "") + ": " +
         ActionsOf(record["permissions"].get<std::string>());
}

// Without an argument those for everything; '@ns' those of namespaces; else those of tables, which
// may be regular expressions.
bool IsAskedFor(const json& record, const std::optional<std::string>& scope, Status& failed) {
  const bool is_table = record.contains("table");
  const bool is_namespace = record.contains("namespace");
  if (!scope) return !is_table && !is_namespace;
  const bool asks_for_namespace = scope->starts_with('@');
  if (asks_for_namespace ? !is_namespace : !is_table) return false;
  const auto found = Matching(
      {record[asks_for_namespace ? "namespace" : "table"].get<std::string>()},
      asks_for_namespace ? scope->substr(1) : *scope);
  if (!found.ok()) failed = found.status();
  return found.ok() && !found->empty();
}

StatusOr<Value> RunUserPermission(Call& call) {
  std::optional<std::string> scope;
  if (call.Has(0)) {
    CELLFS_ASSIGN_OR_RETURN(scope, call.Text(0, "table"));
  }
  Status failed;
  call.output().Head("User", "Namespace,Table,Family,Qualifier:Permission");
  CELLFS_RETURN_IF_ERROR(call.Ask("user_permission", json::object(), [&](const json& record) {
                               if (IsAskedFor(record, scope, failed))
                                 call.output().Row(record["user"].get<std::string>(),
                                                   PermissionText(record));
                               return failed.ok() && call.output().ok();
                             }).status());
  CELLFS_RETURN_IF_ERROR(failed);
  call.output().Footer();
  return Value{};
}

StatusOr<Value> RunCapabilities(Call& call) {
  for (const char* name : {"SIMPLE_AUTHENTICATION", "AUTHORIZATION"}) call.output().Line(name);
  return Value{};
}

// ---- The pages ----------------------------------------------------------------------------------

constexpr std::array kTools = {
    ShellCommand{"compact", 1, 3,
                 "Merges store files that the background would take.\n"
                 "compact 't1'",
                 [](Call& call) { return RunOnStored(call, "compact", /*is_minor=*/true); }},
    ShellCommand{"compaction_state", 1, 1,
                 "Whether a table is compacted: who asks for it waits until it is done.\n"
                 "compaction_state 't1'",
                 RunCompactionState},
    ShellCommand{"flush", 1, 2,
                 "Moves what is in memory into store files.\n"
                 "flush 't1'",
                 [](Call& call) { return RunOnStored(call, "flush"); }},
    ShellCommand{"major_compact", 1, 3,
                 "Rewrites a table without what no read can see.\n"
                 "major_compact 't1'",
                 [](Call& call) { return RunOnStored(call, "compact"); }},
    ShellCommand{"split", 2, 2,
                 "Cuts a region of a table at a key.\n"
                 "split 't1', 'm'",
                 RunSplit},
};

constexpr std::array kQuotas = {
    ShellCommand{"list_quota_snapshots", 0, 1,
                 "How much of their quotas tables take.", RunQuotaSnapshots},
    ShellCommand{"list_quota_table_sizes", 0, 0,
                 "How many bytes tables with a quota take.", RunQuotaSizes},
    ShellCommand{"list_quotas", 0, 1,
                 "The quotas of tables and namespaces.\n"
                 "list_quotas\n"
                 "list_quotas TABLE => 't1'\n"
                 "list_quotas NAMESPACE => 'ns.*'",
                 RunListQuotas},
    ShellCommand{"set_quota", 1, 1,
                 "Limits the space of a table or a namespace; LIMIT => NONE takes it away.\n"
                 "set_quota TYPE => SPACE, TABLE => 't1', LIMIT => '1G', POLICY => NO_INSERTS\n"
                 "set_quota TYPE => SPACE, NAMESPACE => 'ns1', LIMIT => '50T', POLICY => NO_WRITES\n"
                 "set_quota TYPE => SPACE, TABLE => 't1', LIMIT => NONE",
                 RunSetQuota},
};

constexpr std::array kSecurity = {
    ShellCommand{"grant", 2, 5,
                 "Gives a user rights: R, W, X, C, A; everywhere, in a namespace, or of a table, a "
                 "family or a column.\n"
                 "grant 'anna', 'RWXCA'\n"
                 "grant 'anna', 'RWXCA', '@ns1'\n"
                 "grant 'anna', 'RW', 't1', 'f1', 'q1'",
                 RunGrant},
    ShellCommand{"list_security_capabilities", 0, 0, "What of security there is.", RunCapabilities},
    ShellCommand{"revoke", 1, 4,
                 "Takes a user's rights away again.\n"
                 "revoke 'anna'\n"
                 "revoke 'anna', '@ns1'\n"
                 "revoke 'anna', 't1', 'f1', 'q1'",
                 RunRevoke},
    ShellCommand{"user_permission", 0, 1,
                 "Who has which rights: everywhere, in namespaces, or of tables.\n"
                 "user_permission\n"
                 "user_permission '@ns1'\n"
                 "user_permission 't1'\n"
                 "user_permission '.*'",
                 RunUserPermission},
};

}  // namespace

const std::span<const ShellCommand> kToolCommands = kTools;
const std::span<const ShellCommand> kQuotaCommands = kQuotas;
const std::span<const ShellCommand> kSecurityCommands = kSecurity;

}  // namespace cellfs::shell
