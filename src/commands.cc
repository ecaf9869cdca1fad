// SPDX-License-Identifier: MIT
#include "src/commands.h"

#include <nlohmann/json.hpp>

#include "fs/tree/hidden_namespace.h"
#include "src/configuration.h"
#include "src/logging.h"

namespace cellfs {
namespace {

using nlohmann::json;

std::string ArgumentOf(const Arguments& arguments, const std::string& name) {
  auto found = arguments.find(name);
  return found == arguments.end() ? std::string() : found->second;
}

Status SetCacheSize(LocalControls& controls, const std::string& value) {
  // As the key of the configuration is checked.
  Configuration configuration;
  CELLFS_RETURN_IF_ERROR(ApplyMountOptions("cache_size=" + value, configuration));
  controls.SetCacheBytes(configuration.store.cache_bytes);
  return {};
}

// Namespaces and tables are UTF-8, since HBase lets nothing else in; paths need not be.
std::string TextOf(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// A disabled table was flushed when it was disabled and is not compacted; a dropped one has gone.
bool IsOutOfService(const Status& status) {
  return status.code() == StatusCode::kTableNotEnabled ||
         status.code() == StatusCode::kTableNotFound;
}

// Both messages, in one line; the first one's code.
Status WithAnother(const Status& first, const Status& second) {
  if (first.ok() || second.ok()) return first.ok() ? second : first;
  return Status(first.code(), first.message() + "; " + second.message());
}

}  // namespace

StatusOr<std::string> Commands::Run(const std::string& command, const Arguments& arguments) {
  if (command == "ping") return std::string("{}");
  if (command == "status") return ShowStatus();
  if (command == "flush") return Flush(arguments);
  if (command == "compact") return Compact(arguments);
  if (command == "release") return Release(arguments);
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
                      {"compactions", table.compactions},
                      {"error", table.error},
                      {"damage", table.damage}});
  }
  json held = json::array();
  if (mount_.asof != nullptr) {
    for (const fs::AsofRegistry::Held& time : mount_.asof->ListHeld()) {
      held.push_back({{"time", time.time}, {"last_use", time.last_use}, {"in_use", time.in_use}});
    }
  }
  return TextOf({{"mountpoint", mount_.mountpoint},
                 {"pid", mount_.pid},
                 {"log_level", mount_.pid == 0 ? "" : LogLevel()},
                 {"log_bytes", statistics.log_bytes},
                 {"log_syncs", statistics.log_syncs},
                 {"mutations", statistics.mutations},
                 {"last_sequence_id", statistics.last_sequence_id},
                 {"maintenance", statistics.maintenance},
                 {"puts_refused", statistics.puts_refused.message()},
                 {"memstore_bytes", statistics.memstore_bytes},
                 {"lost_tables", statistics.lost_tables},
                 {"pinned_moments", statistics.pinned_moments},
                 {"disk_reserve", statistics.disk_reserve},
                 {"disk_reserve_wanted", statistics.disk_reserve_wanted},
                 {"moment_bytes", statistics.moment_bytes},
                 {"moment_limit", statistics.moment_limit},
                 {"asof", held},
                 {"oldest_moment_age_ms", statistics.oldest_moment_age_ms},
                 {"tables", tables}});
}

StatusOr<std::vector<TableName>> Commands::AllTables() {
  CELLFS_ASSIGN_OR_RETURN(const std::vector<std::string> namespaces, store_.ListNamespaces());
  std::vector<TableName> all;
  for (const std::string& name : namespaces) {
    if (name == kSystemNamespace) continue;
    const StatusOr<std::vector<TableName>> tables = store_.ListTables(name);
    if (tables.status().code() == StatusCode::kNamespaceNotFound) continue;  // dropped meanwhile
    CELLFS_RETURN_IF_ERROR(tables.status());
    all.insert(all.end(), tables->begin(), tables->end());
  }
  return all;
}

StatusOr<std::string> Commands::ForTables(const Arguments& arguments,
                                          const std::function<Status(const TableName&)>& act) {
  json done = json::array();
  if (const std::string table = ArgumentOf(arguments, "table"); !table.empty()) {
    CELLFS_RETURN_IF_ERROR(act(ParseTableName(table)));
    done.push_back(ParseTableName(table).ToString());
    return TextOf(done);
  }
  CELLFS_ASSIGN_OR_RETURN(std::vector<TableName> tables, AllTables());
  Status failed;
  while (!tables.empty()) {
    const size_t done_before = done.size();
    std::vector<TableName> without_room;
    Status full;
    for (const TableName& table : tables) {
      const Status status = act(table);
      const Status named(status.code(), table.ToString() + ": " + status.message());
      if (status.ok()) {
        done.push_back(table.ToString());
      } else if (status.code() == StatusCode::kStoreFull) {
        without_room.push_back(table);
        full = WithAnother(full, named);
      } else if (!IsOutOfService(status)) {
        failed = WithAnother(failed, named);
      }
    }
    // What was done may have given room back.
    if (done.size() > done_before) {
      tables = std::move(without_room);
    } else {
      tables.clear();
      failed = WithAnother(failed, full);
    }
  }
  CELLFS_RETURN_IF_ERROR(failed);
  return TextOf(done);
}

StatusOr<std::string> Commands::Flush(const Arguments& arguments) {
  auto flushed = ForTables(arguments, [this](const TableName& table) {
    return store_.Flush(Caller::Superuser(), table);
  });
  Status synced = store_.Sync();
  CELLFS_RETURN_IF_ERROR(flushed.ok() ? synced : WithAnother(flushed.status(), synced));
  return "{\"flushed\":" + *flushed + "}";
}

StatusOr<std::string> Commands::Compact(const Arguments& arguments) {
  const std::string kind = ArgumentOf(arguments, "kind");
  if (!kind.empty() && kind != "minor" && kind != "major") {
    return Status(StatusCode::kIllegalArgument,
                  "a compaction is minor or major, not '" + kind + "'");
  }
  CELLFS_ASSIGN_OR_RETURN(
      const std::string compacted,
      ForTables(arguments, [&](const TableName& table) { return CompactTable(table, kind); }));
  return "{\"compacted\":" + compacted + "}";
}

// Which files a cluster takes is its own business.
Status Commands::CompactTable(const TableName& table, const std::string& kind) {
  const Caller& caller = Caller::Superuser();
  if (kind != "minor") return store_.Compact(caller, table, CompactionKind::kMajor);
  if (controls_ == nullptr) return store_.Compact(caller, table, CompactionKind::kMinor);
  return controls_->CompactSelected(caller, table);
}

StatusOr<std::string> Commands::Release(const Arguments& arguments) {
  const std::string what = ArgumentOf(arguments, "time");
  if (mount_.asof == nullptr)
    return Status(StatusCode::kUnsupportedOperation, "a store that is not mounted holds no times");
  json released = json::array();
  for (const fs::AsofRegistry::Held& held : mount_.asof->ListHeld()) {
    if (what != "all" && what != std::to_string(held.time)) continue;
    const fs::Outcome outcome = mount_.asof->LetGo(held.time);
    if (outcome.ok()) released.push_back(held.time);
    if (!outcome.ok() && what != "all")
      return Status(StatusCode::kUnavailable, what + ": " + outcome.reason());
  }
  if (released.empty() && what != "all") {
    return Status(StatusCode::kIllegalArgument,
                  "'" + what + "' is not a time that is held; 'cellfs status' lists them");
  }
  return "{\"released\":" + TextOf(released) + "}";
}

StatusOr<std::string> Commands::Set(const Arguments& arguments) {
  const std::string name = ArgumentOf(arguments, "name");
  const std::string value = ArgumentOf(arguments, "value");
  if (name == "log_level") {
    CELLFS_RETURN_IF_ERROR(SetLogLevel(value));
  } else if (name == "cache_size" ||
             (name == "maintenance" && (value == "paused" || value == "running"))) {
    CELLFS_RETURN_IF_ERROR(SetControl(name, value));
  } else {
    return Status(StatusCode::kIllegalArgument,
                  "'" + name + "=" + value +
                      "' cannot be set; there are log_level=LEVEL, cache_size=BYTES and "
                      "maintenance=paused|running");
  }
  return TextOf({{name, value}});
}

Status Commands::SetControl(const std::string& name, const std::string& value) {
  if (controls_ == nullptr) {
    return {StatusCode::kUnsupportedOperation,
            "'" + name + "' can be set for a store in this process only"};
  }
  if (name == "cache_size") return SetCacheSize(*controls_, value);
  controls_->SetMaintenancePaused(value == "paused");
  return {};
}

}  // namespace cellfs
