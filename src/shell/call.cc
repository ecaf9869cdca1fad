// SPDX-License-Identifier: MIT
#include "src/shell/call.h"

#include <algorithm>
#include <array>
#include <regex>
#include <utility>

namespace cellfs::shell {
namespace {

using nlohmann::json;

// HBase's commands that move regions, servers and logs, or ask how these do: on one machine all is
// as if they had been done.
constexpr std::string_view kOfServers[] = {
    "alter_rsgroup_config", "add_rsgroup", "assign", "balance_rsgroup", "balance_switch",
    "balancer", "balancer_enabled", "catalogjanitor_enabled", "catalogjanitor_run",
    "catalogjanitor_switch", "cleaner_chore_enabled", "cleaner_chore_run", "cleaner_chore_switch",
    "clear_block_cache", "clear_compaction_queues", "clear_deadservers", "clear_slowlog_responses",
    "compact_rs", "disable_exceed_throttle_quota", "disable_rpc_throttle",
    "enable_exceed_throttle_quota", "enable_rpc_throttle", "flush_master_store",
    "get_balancer_decisions", "get_balancer_rejections", "get_largelog_responses",
    "get_namespace_rsgroup", "get_peer_config", "get_rsgroup", "get_server_rsgroup",
    "get_slowlog_responses", "get_table_rsgroup", "hbck_chore_run", "is_in_maintenance_mode",
    "list_deadservers", "list_decommissioned_regionservers", "list_liveservers", "list_locks",
    "list_peer_configs", "list_peers", "list_procedures", "list_replicated_tables", "list_rsgroups",
    "list_unknownservers", "move", "move_namespaces_rsgroup", "move_servers_namespaces_rsgroup",
    "move_servers_rsgroup", "move_servers_tables_rsgroup", "move_tables_rsgroup", "normalize",
    "normalizer_enabled", "normalizer_switch", "processlist", "peer_modification_enabled",
    "peer_modification_switch", "recommission_regionserver", "regioninfo", "reload_quota",
    "remove_rsgroup", "remove_servers_rsgroup", "rename_rsgroup", "rit", "show_peer_tableCFs",
    "show_rsgroup_config", "snapshot_cleanup_enabled", "snapshot_cleanup_switch",
    "splitormerge_enabled", "splitormerge_switch", "trace", "update_rsgroup_config", "wal_roll",
    "wal_roll_all", "zk_dump"};

// And those that change or keep what cellfs has otherwise, or not at all: to go on as if they had
// done it would lose what a script relies on.
struct Otherwise {
  std::string_view name;
  std::string_view instead;
};
constexpr char kSnapshots[] =
    "there are no snapshots; what a table was can be read below .asof and brought back by 'cellfs "
    "restore --at TIME', as long as it is kept; 'cellfs export' makes a copy";
constexpr char kLabels[] =
    "visibility labels are not kept; 'grant' gives rights to tables, families and columns";
constexpr char kReplication[] =
    "nothing is replicated; 'cellfs export' and 'cellfs import' copy tables with their history";
constexpr char kOffline[] = "a region cannot be taken offline; 'disable' does so to a table";
constexpr char kRunning[] = "the store runs as long as it is mounted; 'cellfs umount' ends it";
constexpr char kConfiguration[] = "'cellfs config' has the configuration";
constexpr Otherwise kOtherwise[] = {
    {"snapshot", kSnapshots},
    {"clone_snapshot", kSnapshots},
    {"restore_snapshot", kSnapshots},
    {"delete_snapshot", kSnapshots},
    {"delete_all_snapshot", kSnapshots},
    {"delete_table_snapshots", kSnapshots},
    {"list_snapshots", kSnapshots},
    {"list_table_snapshots", kSnapshots},
    {"list_snapshot_sizes", kSnapshots},
    {"add_labels", kLabels},
    {"list_labels", kLabels},
    {"set_auths", kLabels},
    {"get_auths", kLabels},
    {"clear_auths", kLabels},
    {"set_visibility", kLabels},
    {"add_peer", kReplication},
    {"append_peer_exclude_namespaces", kReplication},
    {"append_peer_exclude_tableCFs", kReplication},
    {"append_peer_namespaces", kReplication},
    {"append_peer_tableCFs", kReplication},
    {"disable_peer", kReplication},
    {"disable_table_replication", kReplication},
    {"enable_peer", kReplication},
    {"enable_table_replication", kReplication},
    {"remove_peer", kReplication},
    {"remove_peer_exclude_namespaces", kReplication},
    {"remove_peer_exclude_tableCFs", kReplication},
    {"remove_peer_namespaces", kReplication},
    {"remove_peer_tableCFs", kReplication},
    {"set_peer_bandwidth", kReplication},
    {"set_peer_exclude_namespaces", kReplication},
    {"set_peer_exclude_tableCFs", kReplication},
    {"set_peer_namespaces", kReplication},
    {"set_peer_replicate_all", kReplication},
    {"set_peer_serial", kReplication},
    {"set_peer_tableCFs", kReplication},
    {"transit_peer_sync_replication_state", kReplication},
    {"update_peer_config", kReplication},
    {"close_region", kOffline},
    {"unassign", kOffline},
    {"merge_region", "regions are not merged here, and need not be"},
    {"truncate_region", "a region alone is not truncated; 'deleteall' deletes rows"},
    {"compaction_switch", "compactions cannot be switched off"},
    {"decommission_regionservers", kRunning},
    {"stop_master", kRunning},
    {"stop_regionserver", kRunning},
    {"update_all_config", kConfiguration},
    {"update_config", kConfiguration}};

const Otherwise* FindOtherwise(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kOtherwise), std::end(kOtherwise),
                                         [&](const Otherwise& one) { return one.name == name; });
  return found == std::end(kOtherwise) ? nullptr : found;
}

// "nope" in "namespace 'nope' does not exist"; empty: nothing is quoted.
std::string QuotedIn(const std::string& message) {
  const size_t begin = message.find('\'');
  const size_t end = begin == message.npos ? message.npos : message.find('\'', begin + 1);
  return end == message.npos ? "" : message.substr(begin + 1, end - begin - 1);
}

// In the words of HBase's shell, which names the first argument. That may be a user.
Status InShellWords(const Status& status, const List& arguments) {
  const bool is_named = !arguments.empty() && arguments.front().As<Hash>() == nullptr;
  std::string first = is_named ? arguments.front().Text() : "";
  const std::string meant = QuotedIn(status.message());
  if (first.find(meant) == first.npos) first = meant;
  const auto with = [&](std::string message) { return Status(status.code(), std::move(message)); };
  switch (status.code()) {
    case StatusCode::kTableNotFound:
      return with("Unknown table " + first + "!");
    case StatusCode::kTableExists:
      return with("Table already exists: " + first + "!");
    case StatusCode::kTableNotEnabled:
      return with("Table " + first + " is disabled!");
    case StatusCode::kTableNotDisabled:
      return with("Table " + first + " should be disabled!");
    case StatusCode::kNamespaceNotFound:
      return with("Unknown namespace " + first + "!");
    case StatusCode::kNamespaceExists:
      return with("Namespace already exists: " + first + "!");
    case StatusCode::kCancelled:
      return with("interrupted");
    default:
      return status;
  }
}

}  // namespace

StatusOr<std::string> Call::Text(size_t place, const std::string& what) const {
  if (!Has(place)) return Refused("the " + what + " is missing");
  const Value& value = arguments_[place];
  if (value.As<List>() != nullptr || value.As<Hash>() != nullptr)
    return Refused("the " + what + " is a text, not " + value.Inspect());
  return value.Text();
}

StatusOr<Hash> Call::HashAt(size_t place, const std::string& what) const {
  if (!Has(place)) return Hash();
  const auto* const hash = arguments_[place].As<Hash>();
  if (hash == nullptr)
    return Refused("the " + what + " is a hash ({NAME => VALUE}), not " + arguments_[place].Inspect());
  return *hash;
}

StatusOr<Answer> Call::Ask(const std::string& command, const json& arguments,
                             const TakeRecord& take) {
  auto answer = surroundings_.store.Call(command, arguments, take);
  if (!answer.ok()) return InShellWords(answer.status(), arguments_);
  return answer;
}

StatusOr<json> Call::AskOne(const std::string& command, const json& arguments) {
  json only;
  CELLFS_RETURN_IF_ERROR(Ask(command, arguments, [&](json record) {
                           only = std::move(record);
                           return true;
                         }).status());
  return only;
}

std::span<const CommandGroup> CommandGroups() {
  static const std::array groups = {
      CommandGroup{"general", kGeneralCommands},     CommandGroup{"ddl", kDdlCommands},
      CommandGroup{"namespace", kNamespaceCommands}, CommandGroup{"dml", kDmlCommands},
      CommandGroup{"tools", kToolCommands},          CommandGroup{"quotas", kQuotaCommands},
      CommandGroup{"security", kSecurityCommands}};
  return groups;
}

const ShellCommand* FindShellCommand(std::string_view name) {
  if (name == "desc") name = "describe";
  for (const CommandGroup& group : CommandGroups())
    for (const ShellCommand& command : group.commands)
      if (command.name == name) return &command;
  return nullptr;
}

std::string WhyNotHere(std::string_view name, bool is_cluster) {
  const Otherwise* const otherwise = FindOtherwise(name);
  if (otherwise == nullptr &&
      std::find(std::begin(kOfServers), std::end(kOfServers), name) == std::end(kOfServers))
    return "";
  if (is_cluster) return "nothing was done: that is for the cluster's own shell";
  return otherwise != nullptr
             ? "nothing was done: " + std::string(otherwise->instead)
             : "one machine has no servers, peers or regions to look after: nothing to do";
}

bool IsAsIfDone(std::string_view name, bool is_cluster) {
  return !is_cluster && FindOtherwise(name) == nullptr;
}

std::string WordOf(std::string_view bytes) {
  std::string word = ShownBytes(bytes);
  return word == "-" ? "\\x2D" : word;  // which would be standard input
}

std::string ColumnWordOf(std::string_view bytes) {
  std::string word;
  for (const char c : WordOf(bytes)) word += c == '=' ? std::string("\\x3D") : std::string(1, c);
  return word;
}

StatusOr<std::vector<std::string>> Matching(const std::vector<std::string>& texts,
                                            const std::string& expression) {
  std::vector<std::string> found;
  try {
    const std::regex regex(expression);
    for (const std::string& text : texts)
      if (std::regex_match(text, regex)) found.push_back(text);
  } catch (const std::regex_error&) {
    return Refused("'" + expression + "' is no regular expression");
  }
  return found;
}

}  // namespace cellfs::shell
