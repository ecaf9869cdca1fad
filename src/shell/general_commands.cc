// SPDX-License-Identifier: MIT
//
// HBase's shell, group general: what is there, and who asks.
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "src/shell/call.h"

namespace cellfs::shell {
namespace {

using nlohmann::json;

// By table.
StatusOr<std::map<std::string, uint64_t>> CountRegions(Call& call) {
  std::map<std::string, uint64_t> regions;
  CELLFS_RETURN_IF_ERROR(call.Ask("list", json::object(), [&](const json& record) {
                               regions[record["table"].get<std::string>()] = 0;
                               return true;
                             }).status());
  for (auto& [table, count] : regions) {
    CELLFS_ASSIGN_OR_RETURN(const json described,
                            call.AskOne("describe", {{"words", {WordOf(table)}}}));
    count = described["regions"].get<uint64_t>();
  }
  return regions;
}

std::string SizesText(uint64_t regions, uint64_t memstore_bytes, uint64_t file_bytes) {
  return "numberOfOnlineRegions=" + std::to_string(regions) + ", memstoreSize=" +
         ShownSize(memstore_bytes) + ", storefileSize=" + ShownSize(file_bytes);
}

// One server has all regions here.
Status ShowServer(Call& call, const std::map<std::string, uint64_t>& regions, bool is_detailed) {
  CELLFS_ASSIGN_OR_RETURN(const json status, call.AskOne("status", json::object()));
  uint64_t all_regions = 0;
  uint64_t file_bytes = 0;
  std::vector<std::string> lines;
  for (const json& table : status["tables"]) {
    const auto known = regions.find(table["table"].get<std::string>());
    file_bytes += table["file_bytes"].get<uint64_t>();
    if (known == regions.end()) continue;  // of the file system's own
    all_regions += known->second;
    lines.push_back("        \"" + known->first + "\"");
    lines.push_back("            " + SizesText(known->second, table["memstore_bytes"], table["file_bytes"]) +
                    ", flushes=" + table["flushes"].dump() + ", compactions=" +
                    table["compactions"].dump());
  }
  Output& output = call.output();
  output.Line("active master:  localhost\n0 backup masters\n1 live servers\n    localhost");
  output.Line("        " + SizesText(all_regions, status["memstore_bytes"], file_bytes) +
              ", log=" + ShownSize(status["log_bytes"]) + ", maintenance=" +
              status["maintenance"].get<std::string>());
  if (is_detailed)
    for (const std::string& line : lines) output.Line(line);
  output.Line("0 dead servers\nAggregate load: 0, regions: " + std::to_string(all_regions));
  return {};
}

// Those of a cluster are counted by its own shell.
StatusOr<Value> RunStatus(Call& call) {
  if (call.is_cluster()) return Refused("how the servers of a cluster do is told by HBase's own shell");
  std::string how = "summary";
  if (call.Has(0)) {
    CELLFS_ASSIGN_OR_RETURN(how, call.Text(0, "form"));
  }
  if (how != "summary" && how != "simple" && how != "detailed")
    return Refused("there are status 'summary', 'simple' and 'detailed', and no '" + how + "'");
  CELLFS_ASSIGN_OR_RETURN(const auto regions, CountRegions(call));
  if (how != "summary") {
    CELLFS_RETURN_IF_ERROR(ShowServer(call, regions, how == "detailed"));
    return Value{};
  }
  uint64_t all_regions = 0;
  for (const auto& [table, count] : regions) all_regions += count;
  call.output().Line("1 active master, 0 backup masters, 1 servers, 0 dead, " +
                     std::to_string(all_regions) + ".0000 average load");
  return Value{};
}

StatusOr<Value> RunVersion(Call& call) {
  call.output().Line(std::string("cellfs ") + CELLFS_VERSION + ", as HBase 2.6");
  return Value{};
}

StatusOr<Value> RunWhoami(Call& call) {
  const passwd* const user = getpwuid(geteuid());
  call.output().Line((user == nullptr ? std::to_string(geteuid()) : std::string(user->pw_name)) +
                     " (auth:SIMPLE)");
  std::vector<gid_t> groups(static_cast<size_t>(std::max(getgroups(0, nullptr), 0)));
  const int count = getgroups(static_cast<int>(groups.size()), groups.data());
  std::string names;
  for (int i = 0; i < count; ++i) {
    const group* const found = getgrgid(groups[static_cast<size_t>(i)]);
    if (found != nullptr) names += (names.empty() ? "" : ", ") + std::string(found->gr_name);
  }
  if (!names.empty()) call.output().Line("    groups: " + names);
  return Value{};
}

StatusOr<Value> RunTableHelp(Call& call) {
  call.output().Line(
      "A table can be kept under a name, and its commands called on it without the table's name:\n\n"
      "    t = create 't1', 'f1'\n"
      "    t = get_table 't1'\n"
      "    t.put 'r1', 'f1:q', 'value'\n"
      "    t.get 'r1'\n"
      "    t.scan\n"
      "    t.describe\n"
      "    t.disable\n"
      "    t.drop");
  return Value{};
}

constexpr std::array kGeneral = {
    ShellCommand{"status", 0, 2,
                 "How many servers there are: one; what it holds, and what each table does.\n"
                 "status\n"
                 "status 'simple'\n"
                 "status 'detailed'",
                 RunStatus},
    ShellCommand{"table_help", 0, 0, "How tables are kept under names.", RunTableHelp},
    ShellCommand{"version", 0, 0, "The version of cellfs, and of HBase that it is like.", RunVersion},
    ShellCommand{"whoami", 0, 0, "Who you are.", RunWhoami},
};

}  // namespace

const std::span<const ShellCommand> kGeneralCommands = kGeneral;

}  // namespace cellfs::shell
