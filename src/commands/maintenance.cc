// SPDX-License-Identifier: MIT
//
// flush, compact, set.
#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "fs/tree/hidden_namespace.h"
#include "src/commands/all.h"
#include "src/commands/target.h"
#include "src/configuration.h"
#include "src/daemon/logging.h"

namespace cellfs {
namespace {

using nlohmann::json;
using ActOnTable = std::function<Status(const TableName&)>;

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

// Those of the file system too; the system's are left out.
StatusOr<std::vector<TableName>> AllTables(Session& session) {
  Store& store = session.filesystem.parts().store;
  CELLFS_ASSIGN_OR_RETURN(const std::vector<std::string> namespaces, store.ListNamespaces());
  std::vector<TableName> all;
  for (const std::string& name : namespaces) {
    if (name == kSystemNamespace) continue;
    const StatusOr<std::vector<TableName>> tables = store.ListTables(name);
    if (tables.status().code() == StatusCode::kNamespaceNotFound) continue;  // dropped meanwhile
    CELLFS_RETURN_IF_ERROR(tables.status());
    all.insert(all.end(), tables->begin(), tables->end());
  }
  return all;
}

// Who has named a table is told that it is out of service.
enum class Choice { kAll, kNamed };

// Each on its own: the error names all that failed.
Status ForEach(Session& session, std::vector<TableName> tables, Choice choice,
               const ActOnTable& act) {
  Status failed;
  while (!tables.empty()) {
    size_t done = 0;
    std::vector<TableName> without_room;
    Status full;
    for (const TableName& table : tables) {
      const Status status = act(table);
      const Status named(status.code(), table.ToString() + ": " + status.message());
      if (status.ok()) {
        ++done;
        if (table.namespace_name != fs::kHiddenNamespace)
          session.take({{"table", table.ToString()}});
      } else if (status.code() == StatusCode::kStoreFull) {
        without_room.push_back(table);
        full = WithAnother(full, named);
      } else if (choice == Choice::kNamed || !IsOutOfService(status)) {
        failed = WithAnother(failed, named);
      }
    }
    if (done == 0) return WithAnother(failed, full);
    tables = std::move(without_room);  // what was done may have given room back
  }
  return failed;
}

// Each once, in the order in which they are named.
StatusOr<std::vector<TableName>> NamedTables(Session& session, const Arguments& arguments) {
  std::vector<json> words;
  for (const std::string& word : arguments.Texts("words")) words.push_back({word});
  if (words.empty()) words.push_back(json::array());  // the path names one
  std::vector<TableName> tables;
  for (const json& word : words) {
    json one = arguments.values();
    one["words"] = word;
    CELLFS_ASSIGN_OR_RETURN(
        const NamedPlace named,
        NamePlace(session, Arguments(std::move(one)), Depth::kTable, Depth::kTable));
    CELLFS_RETURN_IF_ERROR(CheckNoMore(named.words));
    if (named.place.kind != fs::PlaceKind::kTable) {
      return Status(StatusCode::kIllegalArgument,
                    ShownPath(arguments) + " is in a table; name the table itself");
    }
    if (std::find(tables.begin(), tables.end(), named.place.table) == tables.end())
      tables.push_back(named.place.table);
  }
  return tables;
}

// Without a table: all that are enabled.
Status ForTables(Session& session, const Arguments& arguments, const ActOnTable& act) {
  if (session.filesystem.options().read_only)
    return {StatusCode::kReadOnly, "the mount is read-only"};  // once, not of each table
  const bool is_all = arguments.Texts("words").empty() && arguments.Texts("path").empty();
  if (is_all) {
    CELLFS_ASSIGN_OR_RETURN(auto tables, AllTables(session));
    return ForEach(session, std::move(tables), Choice::kAll, act);
  }
  CELLFS_ASSIGN_OR_RETURN(std::vector<TableName> tables, NamedTables(session, arguments));
  if (tables.size() > 1) return ForEach(session, std::move(tables), Choice::kNamed, act);
  CELLFS_RETURN_IF_ERROR(act(tables.front()));
  session.take({{"table", tables.front().ToString()}});
  return {};
}

StatusOr<Answer> Flush(Session& session, const Arguments& arguments) {
  const Status flushed = ForTables(session, arguments, [&](const TableName& table) {
    return session.store.Flush(session.caller, table);
  });
  CELLFS_RETURN_IF_ERROR(WithAnother(flushed, session.store.Sync()));
  return Answer::kDone;
}

// Which files a cluster takes is its own business.
Status CompactTable(Session& session, const TableName& table, bool is_minor) {
  if (!is_minor || session.controls == nullptr) {
    return session.store.Compact(session.caller, table,
                                 is_minor ? CompactionKind::kMinor : CompactionKind::kMajor);
  }
  const Status done = session.controls->CompactSelected(session.caller, table);
  session.filesystem.AwaitKernel();
  return done;
}

StatusOr<Answer> Compact(Session& session, const Arguments& arguments) {
  CELLFS_RETURN_IF_ERROR(ForTables(session, arguments, [&](const TableName& table) {
    return CompactTable(session, table, arguments.Flag("minor"));
  }));
  return Answer::kDone;
}

Status SetControl(Session& session, const std::string& name, const std::string& value) {
  if (session.controls == nullptr) {
    return {StatusCode::kUnsupportedOperation,
            "'" + name + "' can be set for a store in this process only"};
  }
  if (name == "maintenance") {
    session.controls->SetMaintenancePaused(value == "paused");
    return {};
  }
  // As the key of the configuration is checked, which says it of an option.
  Configuration configuration;
  constexpr std::string_view kOption = "-o ";
  if (const Status wrong = ApplyMountOptions("cache_size=" + value, configuration); !wrong.ok()) {
    const bool says_option = wrong.message().starts_with(kOption);
    return {wrong.code(), wrong.message().substr(says_option ? kOption.size() : 0)};
  }
  session.controls->SetCacheBytes(configuration.store.cache_bytes);
  return {};
}

Status SetOne(Session& session, const std::string& name, const std::string& value) {
  if (name == "log_level") return SetLogLevel(value);
  const bool is_maintenance = name == "maintenance" && (value == "paused" || value == "running");
  if (name == "cache_size" || is_maintenance) return SetControl(session, name, value);
  return {StatusCode::kIllegalArgument,
          "'" + name + "=" + value +
              "' cannot be set; there are log_level=LEVEL, cache_size=BYTES and "
              "maintenance=paused|running"};
}

StatusOr<Answer> Set(Session& session, const Arguments& arguments) {
  if (session.mountpoint.empty())
    return NoMountOf(session.other_mounts,
                     "the store is not mounted, and a setting lasts as long as a mount");
  std::set<std::string> named;
  for (const std::string& setting : arguments.Texts("words")) {
    const std::string name = setting.substr(0, setting.find('='));
    if (!named.insert(name).second)
      return Status(StatusCode::kIllegalArgument, "'" + name + "' is said twice; nothing was set");
  }
  for (const std::string& setting : arguments.Texts("words")) {
    const size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
    CELLFS_RETURN_IF_ERROR(SetOne(session, name, value));
    session.take({{"name", name}, {"value", value}});
  }
  return Answer::kDone;
}

constexpr char kTables[] = "tables, as ns:table; all that are enabled if left out";

}  // namespace

const Command kFlushCommand{
    .name = "flush",
    .group = Group::kMaintenance,
    .summary = "move what is in memory into store files, onto the disk",
    .description =
        "sync(2) does not do that. Without a table: all that are enabled; one that fails does not "
        "keep the others from it.",
    .example = "flush ~/m\nflush ~/m notes work:todo",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a store, a mount point or a table");
          syntax.Words("TABLE", kTables);
        },
    .is_owners = true,
    .serve = Flush,
};

const Command kCompactCommand{
    .name = "compact",
    .group = Group::kMaintenance,
    .summary = "rewrite store files without what no read can see",
    .description =
        "Without a table: all that are enabled. What is deleted, replaced or expired, and is not "
        "kept by the schema, is gone afterwards.",
    .example = "compact ~/m notes work:todo\ncompact --minor ~/m",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a store, a mount point or a table");
          syntax.Words("TABLE", kTables);
          syntax.Flag("--minor", "minor", "only files that the background would take");
        },
    .is_owners = true,
    .serve = Compact,
};

const Command kSetCommand{
    .name = "set",
    .group = Group::kMaintenance,
    .summary = "change a setting of a mounted store until it is unmounted",
    .example = "set ~/m maintenance=paused",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a mount point or a store's directory");
          syntax.Words("SETTING=VALUE",
                       "log_level=LEVEL, cache_size=BYTES, maintenance=paused|running",
                       /*is_required=*/true);
        },
    .is_owners = true,
    .is_of_whole_store = true,
    .serve = Set,
};

}  // namespace cellfs
