// SPDX-License-Identifier: MIT
#include "src/commands.h"

#include <nlohmann/json.hpp>

#include "fs/mount_context.h"
#include "src/configuration.h"
#include "src/logging.h"

namespace cellfs {
namespace {

using nlohmann::json;

std::string ArgumentOf(const Arguments& arguments, const std::string& name) {
  auto found = arguments.find(name);
  return found == arguments.end() ? std::string() : found->second;
}

Status SetCacheSize(Store& store, const std::string& value) {
  // As the key of the configuration is checked.
  Configuration configuration;
  CELLFS_RETURN_IF_ERROR(ApplyMountOptions("cache_size=" + value, configuration));
  store.SetCacheBytes(configuration.store.cache_bytes);
  return {};
}

// Namespaces and tables are UTF-8, since HBase lets nothing else in.
std::string TextOf(const json& value) { return value.dump(); }

}  // namespace

StatusOr<std::string> Commands::Run(const std::string& command, const Arguments& arguments) {
  if (command == "status") return ShowStatus();
  if (command == "flush") return Flush(arguments);
  if (command == "compact") return Compact(arguments);
  if (command == "set") return Set(arguments);
  return Status(StatusCode::kIllegalArgument, "there is no command '" + command + "'");
}

StatusOr<std::string> Commands::ShowStatus() {
  const Statistics statistics = store_.GetStatistics();
  json tables = json::array();
  for (const TableStatistics& table : statistics.tables) {
    if (table.table.namespace_name == fs::kHiddenNamespace) continue;
    tables.push_back({{"table", table.table.ToString()},
                      {"memstore_bytes", table.memstore_bytes},
                      {"memstore_cells", table.memstore_cells},
                      {"file_bytes", table.file_bytes},
                      {"flushes", table.flushes},
                      {"compactions", table.compactions}});
  }
  return TextOf({{"mountpoint", mount_.mountpoint},
                 {"pid", mount_.pid},
                 {"log_level", mount_.pid == 0 ? "" : LogLevel()},
                 {"log_bytes", statistics.log_bytes},
                 {"log_syncs", statistics.log_syncs},
                 {"mutations", statistics.mutations},
                 {"last_sequence_id", statistics.last_sequence_id},
                 {"maintenance", statistics.maintenance},
                 {"pinned_moments", statistics.pinned_moments},
                 {"oldest_moment_age_ms", statistics.oldest_moment_age_ms},
                 {"tables", tables}});
}

StatusOr<std::vector<TableName>> Commands::TablesOf(const Arguments& arguments) {
  if (const std::string table = ArgumentOf(arguments, "table"); !table.empty()) {
    return std::vector<TableName>{ParseTableName(table)};
  }
  CELLFS_ASSIGN_OR_RETURN(const std::vector<std::string> namespaces, store_.ListNamespaces());
  std::vector<TableName> all;
  for (const std::string& name : namespaces) {
    if (name == kSystemNamespace) continue;
    CELLFS_ASSIGN_OR_RETURN(std::vector<TableName> tables, store_.ListTables(name));
    all.insert(all.end(), tables.begin(), tables.end());
  }
  return all;
}

StatusOr<std::string> Commands::Flush(const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const std::vector<TableName> tables, TablesOf(arguments));
  json done = json::array();
  for (const TableName& table : tables) {
    CELLFS_RETURN_IF_ERROR(store_.Flush(Caller::Superuser(), table));
    done.push_back(table.ToString());
  }
  CELLFS_RETURN_IF_ERROR(store_.Sync());
  return TextOf({{"flushed", done}});
}

StatusOr<std::string> Commands::Compact(const Arguments& arguments) {
  const std::string kind = ArgumentOf(arguments, "kind");
  if (!kind.empty() && kind != "minor" && kind != "major") {
    return Status(StatusCode::kIllegalArgument,
                  "a compaction is minor or major, not '" + kind + "'");
  }
  CELLFS_ASSIGN_OR_RETURN(const std::vector<TableName> tables, TablesOf(arguments));
  json done = json::array();
  for (const TableName& table : tables) {
    CELLFS_RETURN_IF_ERROR(
        store_.Compact(Caller::Superuser(), table,
                       kind == "minor" ? CompactionKind::kMinor : CompactionKind::kMajor));
    done.push_back(table.ToString());
  }
  return TextOf({{"compacted", done}});
}

StatusOr<std::string> Commands::Set(const Arguments& arguments) {
  const std::string name = ArgumentOf(arguments, "name");
  const std::string value = ArgumentOf(arguments, "value");
  if (name == "log_level") {
    CELLFS_RETURN_IF_ERROR(SetLogLevel(value));
  } else if (name == "maintenance" && (value == "paused" || value == "running")) {
    store_.SetMaintenancePaused(value == "paused");
  } else if (name == "cache_size") {
    CELLFS_RETURN_IF_ERROR(SetCacheSize(store_, value));
  } else {
    return Status(StatusCode::kIllegalArgument,
                  "'" + name + "=" + value +
                      "' cannot be set; there are log_level=LEVEL, cache_size=BYTES and "
                      "maintenance=paused|running");
  }
  return TextOf({{name, value}});
}

}  // namespace cellfs
