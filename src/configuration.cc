// SPDX-License-Identifier: MIT
#include "src/configuration.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>
#include <vector>

#include "engine/byte_size.h"
#include "fs/base/account_names.h"
#include "fs/base/closest_word.h"
#include "src/hbase_site.h"

namespace cellfs {
namespace {

struct Setting {
  std::string_view section;
  std::string_view key;
  std::string_view meaning;  // with unit and what is allowed
  std::function<Status(Configuration&, const std::string&)> set;
  std::function<std::string(Configuration&)> get;
  bool quoted = false;  // a string in TOML
  bool octal = false;   // its number is octal: 0o644 in TOML is "644"
  std::vector<std::string> choices = {};  // empty: it is none of a few words
};

Status Refuse(const std::string& value, const std::string& allowed) {
  return Status(StatusCode::kIllegalArgument, "'" + value + "' is not " + allowed);
}

Status WithContext(const std::string& where, const Status& status) {
  if (status.ok()) return status;
  return Status(status.code(), where + ": " + status.message());
}

StatusOr<int64_t> ParseNumber(const std::string& text, int64_t min, int64_t max, int base = 10) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  auto [stopped, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || stopped != end || number < min || number > max) {
    return Refuse(text, "a number from " + std::to_string(min) + " to " + std::to_string(max));
  }
  return number;
}

StatusOr<bool> ParseBool(const std::string& text) {
  if (text == "true" || text == "yes" || text == "on" || text == "1") return true;
  if (text == "false" || text == "no" || text == "off" || text == "0") return false;
  return Refuse(text, "true or false");
}

template <typename Field>
Setting Bool(std::string_view section, std::string_view key, std::string_view meaning,
             Field field) {
  return {section, key, meaning,
          [field](Configuration& c, const std::string& text) -> Status {
            CELLFS_ASSIGN_OR_RETURN(field(c), ParseBool(text));
            return {};
          },
          [field](Configuration& c) { return std::string(field(c) ? "true" : "false"); },
          /*quoted=*/false,
          /*octal=*/false,
          {"true", "false"}};
}

template <typename Field>
Setting Number(std::string_view section, std::string_view key, std::string_view meaning,
               int64_t min, int64_t max, Field field, int64_t unit = 1) {
  return {section, key, meaning,
          [=](Configuration& c, const std::string& text) -> Status {
            CELLFS_ASSIGN_OR_RETURN(const int64_t number, ParseNumber(text, min, max));
            field(c) = static_cast<std::decay_t<decltype(field(c))>>(number * unit);
            return {};
          },
          [=](Configuration& c) { return std::to_string(static_cast<int64_t>(field(c)) / unit); }};
}

// Shown as their number.
template <typename Field>
Setting Bytes(std::string_view section, std::string_view key, std::string_view meaning,
              int64_t min, int64_t max, Field field) {
  Setting setting = Number(section, key, meaning, min, max, field);
  setting.set = [=](Configuration& c, const std::string& text) -> Status {
    const auto bytes = ParseByteSize(text);
    if (!bytes || *bytes < min || *bytes > max) {
      return Refuse(text, "bytes, like 500M or 10G, from " + std::to_string(min) + " to " +
                              std::to_string(max));
    }
    field(c) = static_cast<std::decay_t<decltype(field(c))>>(*bytes);
    return {};
  };
  return setting;
}

// Shown as its number.
template <typename Find, typename Field>
Setting Account(std::string_view key, std::string_view meaning, Find find,
                const std::string& allowed, Field field) {
  constexpr int64_t kLast = 4294967294;
  Setting setting = Number("mount", key, meaning, 0, kLast, field);
  setting.set = [=](Configuration& c, const std::string& text) -> Status {
    const auto number = find(text);
    if (!number) return Refuse(text, allowed);
    field(c) = *number;
    return {};
  };
  return setting;
}

// By which servers know us.
template <typename Field>
Setting User(std::string_view section, std::string_view meaning, Field field) {
  return {section, "user", meaning,
          [field](Configuration& c, const std::string& text) -> Status {
            if (text.find_first_of(" \t\n") != std::string::npos)
              return Refuse(text, "a user's name");
            field(c) = text;
            return {};
          },
          [field](Configuration& c) { return field(c); }, /*quoted=*/true};
}

// Where owners, modes and times of a store of servers are kept.
template <typename Field>
Setting AttributesTable(std::string_view section, std::string_view meaning, Field field) {
  return {section,
          "attributes",
          meaning,
          [field](Configuration& c, const std::string& text) -> Status {
            field(c).reset();
            if (text.empty() || text == "off") return {};
            const TableName table = ParseTableName(text);
            if (!CheckTableName(table).ok() || table.IsSystemTable())
              return Refuse(text, "a table, as NAMESPACE:TABLE, or off");
            field(c) = table;
            return {};
          },
          [field](Configuration& c) {
            return field(c) ? field(c)->ToString() : std::string("off");
          },
          /*quoted=*/true};
}

template <typename Field>
Setting Milliseconds(std::string_view section, std::string_view key, std::string_view meaning,
                     Field field) {
  return {section, key, meaning,
          [=](Configuration& c, const std::string& text) -> Status {
            CELLFS_ASSIGN_OR_RETURN(const int64_t number, ParseNumber(text, 1, INT32_MAX));
            field(c) = std::chrono::milliseconds(number);
            return {};
          },
          [=](Configuration& c) { return std::to_string(field(c).count()); }};
}

template <typename Field>
Setting Octal(std::string_view key, std::string_view meaning, Field field) {
  return {"mount",
          key,
          meaning,
          [field](Configuration& c, const std::string& text) -> Status {
            const auto mode = ParseNumber(text, 0, 07777, 8);
            if (!mode.ok()) return Refuse(text, "an octal mode, such as 0640");
            field(c) = static_cast<mode_t>(*mode);
            return {};
          },
          [field](Configuration& c) {
            std::ostringstream text;
            text << "0" << std::oct << field(c);
            return text.str();
          },
          /*quoted=*/true,
          /*octal=*/true};
}

template <typename Field, typename Value>
Setting Choice(std::string_view section, std::string_view key, std::string_view meaning,
               std::vector<std::pair<std::string, Value>> choices, Field field) {
  std::vector<std::string> names;
  names.reserve(choices.size());
  for (const auto& choice : choices) names.push_back(choice.first);
  return {section,
          key,
          meaning,
          [=](Configuration& c, const std::string& text) -> Status {
            std::string allowed;
            for (const auto& [name, value] : choices) {
              if (name == text) {
                field(c) = value;
                return {};
              }
              allowed += (allowed.empty() ? "" : ", ") + name;
            }
            return Refuse(text, "one of " + allowed);
          },
          [=](Configuration& c) {
            for (const auto& [name, value] : choices) {
              if (field(c) == value) return name;
            }
            return std::string();
          },
          /*quoted=*/true,
          /*octal=*/false,
          names};
}

Status TakeHBaseSite(Configuration& configuration, const std::string& path);

const std::vector<Setting>& Settings() {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 1000;
  static const std::vector<Setting> settings = {
      Choice(
          "mount", "names",
          "How keys are spelled as file names: posix, or printable (also escapes "
          "control bytes and bytes that are no UTF-8).",
          std::vector<std::pair<std::string, fs::NameMode>>{
              {"posix", fs::NameMode::kPosix}, {"printable", fs::NameMode::kPrintable}},
          [](Configuration & c) -> auto& { return c.mount.names; }),
      Choice(
          "mount", "controls",
          "The names .versions, .counters, .deleted, .asof, .scan: off, hidden "
          "(found but not listed), or visible (.versions is listed, so that copies carry history).",
          std::vector<std::pair<std::string, fs::Controls>>{{"off", fs::Controls::kOff},
                                                            {"hidden", fs::Controls::kHidden},
                                                            {"visible", fs::Controls::kVisible}},
          [](Configuration & c) -> auto& { return c.mount.controls; }),
      Bool(
          "mount", "versions_by_name",
          "Whether x@17 is the version of x at that time; else it is a name like any other, and "
          "versions are in .versions alone.",
          [](Configuration & c) -> auto& { return c.mount.versions_by_name; }),
      Choice(
          "mount", "durability",
          "What close promises: SKIP_WAL, ASYNC_WAL (on disk within a second), "
          "SYNC_WAL (survives the daemon's death), FSYNC_WAL (survives power loss). A table's "
          "DURABILITY goes before USE_DEFAULT.",
          std::vector<std::pair<std::string, Durability>>{{"USE_DEFAULT", Durability::kUseDefault},
                                                          {"SKIP_WAL", Durability::kSkipWal},
                                                          {"ASYNC_WAL", Durability::kAsyncWal},
                                                          {"SYNC_WAL", Durability::kSyncWal},
                                                          {"FSYNC_WAL", Durability::kFsyncWal}},
          [](Configuration & c) -> auto& { return c.mount.durability; }),
      Bool(
          "mount", "read_only", "Refuse every change with EROFS. As -o also: ro.",
          [](Configuration & c) -> auto& { return c.mount.read_only; }),
      Bool(
          "mount", "xattr",
          "Answer extended attributes (user.cellfs.*); costs a request or two in "
          "each write.",
          [](Configuration & c) -> auto& { return c.mount.xattr; }),
      Bool(
          "mount", "allow_other", "Let every user in; the kernel then enforces owners and modes.",
          [](Configuration & c) -> auto& { return c.mount.allow_other; }),
      Bytes(
          "mount", "max_value_size",
          "Bytes; a larger file is EFBIG. HBase's own limit is the default.", 1, int64_t{1} << 31,
          [](Configuration & c) -> auto& { return c.mount.max_value_size; }),
      Bytes(
          "mount", "open_file_limit",
          "Bytes that open files keep in memory, at most; a user as much as is left. What is "
          "written to a file that replaces another is then ENOSPC.",
          4 << 20, kMost, [](Configuration & c) -> auto& { return c.mount.open_file_limit; }),
      Number(
          "mount", "asof_hold", "Seconds that a .asof keeps what it reads after its last use.", 0,
          kMost, [](Configuration & c) -> auto& { return c.mount.asof_hold_ms; }, 1000),
      Number(
          "mount", "temporary_age",
          "Seconds after its making until when a file that is renamed or "
          "removed leaves no trace of its old name.",
          0, kMost, [](Configuration & c) -> auto& { return c.mount.temporary_age_ms; }, 1000),
      Account(
          "uid", "Owner of what nobody has given another: a user's id or name.", fs::UserNamed,
          "a user's id, or the name of one",
          [](Configuration & c) -> auto& { return c.mount.uid; }),
      Account(
          "gid", "Group of the same: a group's id or name.", fs::GroupNamed,
          "a group's id, or the name of one",
          [](Configuration & c) -> auto& { return c.mount.gid; }),
      Octal(
          "file_mode", "Mode of the same, for files: octal.",
          [](Configuration & c) -> auto& { return c.mount.file_mode; }),
      Octal(
          "directory_mode", "Mode of the same, for directories: octal.",
          [](Configuration & c) -> auto& { return c.mount.directory_mode; }),
      Number(
          "mount", "threads", "Threads that serve requests, at most; those that wait do not count.",
          1, 64, [](Configuration & c) -> auto& { return c.threads; }),
      Choice(
          "mount", "transport",
          "How the kernel's requests come: fuse (by /dev/fuse), uring (by io_uring, which is faster: "
          "Linux 6.14 and later, where /sys/module/fuse/parameters/enable_uring is Y; the mount "
          "fails without), or best (uring where it can be had when the mount begins, else fuse).",
          std::vector<std::pair<std::string, fs::Transport>>{{"fuse", fs::Transport::kDevice},
                                                             {"uring", fs::Transport::kUring},
                                                             {"best", fs::Transport::kBest}},
          [](Configuration & c) -> auto& { return c.transport; }),
      Bytes(
          "store", "cache_size", "Bytes of blocks of store files that are kept, over all tables.",
          1 << 20, kMost, [](Configuration & c) -> auto& { return c.store.cache_bytes; }),
      Bytes(
          "store", "memstore_limit",
          "Bytes of memstores, over all tables: writers are slowed near it, and wait at it.",
          4 << 20, kMost, [](Configuration & c) -> auto& { return c.store.memstore_limit; }),
      Bytes(
          "store", "disk_reserve",
          "Bytes of the disk that are kept for deletes, a flush and a compaction when it is full; "
          "at most a 16th of the file system. 0: none.",
          0, kMost, [](Configuration & c) -> auto& { return c.store.disk_reserve; }),
      Bytes(
          "store", "compaction_rate",
          "Bytes a second that compactions write, all together; 0: as fast as they can. While "
          "others read what the cache does not have it is 50 MiB at most.",
          0, kMost, [](Configuration & c) -> auto& { return c.store.compaction_rate; }),
      Bytes(
          "store", "moment_limit",
          "Bytes of replaced files that are kept for times of .asof: beyond it no further one is "
          "held of a user whose times keep an even share of it.",
          1 << 20, kMost, [](Configuration & c) -> auto& { return c.store.moment_limit; }),
      Bytes(
          "store", "inline_value_limit", "Bytes; longer values lie in a table of their own.", 0,
          65536, [](Configuration & c) -> auto& { return c.store.inline_value_limit; }),
      Bool(
          "store", "background_maintenance", "Flush and compact by itself when it is worth it.",
          [](Configuration & c) -> auto& { return c.store.background_maintenance; }),
      Number(
          "scrub", "interval",
          "Seconds from one reading and checking of all files of the store to the next; 0: never. As "
          "-o: scrub_interval.",
          0, kMost, [](Configuration & c) -> auto& { return c.store.scrub_interval_ms; }, 1000),
      Bytes(
          "scrub", "rate",
          "Bytes a second that it reads, at the lowest priority; 0: as fast as it can. As -o: "
          "scrub_rate.",
          0, kMost, [](Configuration & c) -> auto& { return c.store.scrub_rate; }),
      User(
          "hbase",
          "Whom the cluster takes us for; empty: HADOOP_USER_NAME, or the daemon's user. As -o: "
          "hbase_user.",
          [](Configuration & c) -> auto& { return c.cluster.user; }),
      {"hbase", "site",
       "The path of an hbase-site.xml whose client keys count where this section is silent, but "
       "for hbase.client.operation.timeout; empty: none. As -o: hbase_site.",
       TakeHBaseSite, [](Configuration& c) { return c.hbase_site; }, /*quoted=*/true},
      AttributesTable(
          "hbase",
          "The table of the cluster that keeps owners, modes and times which are not what the tree "
          "shows by itself; empty or off: nothing is kept. As -o: hbase_attributes.",
          [](Configuration & c) -> auto& { return c.cluster_attributes; }),
      Number(
          "hbase", "cache_time",
          "Milliseconds for which names, attributes and schemas are shown as they were read.", 0,
          kMost, [](Configuration & c) -> auto& { return c.cluster.max_staleness_ms; }),
      Milliseconds(
          "hbase", "hbase.client.operation.timeout",
          "Milliseconds that a request may take, with all its tries; HBase's own default is "
          "1200000.",
          [](Configuration & c) -> auto& { return c.cluster.operation_timeout; }),
      Milliseconds(
          "hbase", "hbase.rpc.timeout", "Milliseconds that one try may take.",
          [](Configuration & c) -> auto& { return c.cluster.rpc_timeout; }),
      Milliseconds(
          "hbase", "hbase.ipc.client.socket.timeout.connect",
          "Milliseconds that connecting may take.",
          [](Configuration & c) -> auto& { return c.cluster.connect_timeout; }),
      Number(
          "hbase", "hbase.client.retries.number", "Tries after the first, at most.", 0, INT32_MAX,
          [](Configuration & c) -> auto& { return c.cluster.retries; }),
      Milliseconds(
          "hbase", "hbase.client.pause",
          "Milliseconds before the first of them; later ones wait longer.",
          [](Configuration & c) -> auto& { return c.cluster.pause; }),
      Number(
          "hbase", "hbase.client.scanner.caching", "Rows that one call of a scan brings, at most.",
          1, INT32_MAX, [](Configuration & c) -> auto& { return c.cluster.scanner_caching; }),
      User(
          "obkv",
          "Whom the database takes us for, where the name of the store does not say it; empty: the "
          "daemon's user. As -o: obkv_user.",
          [](Configuration & c) -> auto& { return c.database.user; }),
      {"obkv", "password_file",
       "The path of a file with his password in its first line, which nobody else may read; empty: "
       "he has none. As -o: obkv_password_file.",
       [](Configuration& c, const std::string& text) -> Status {
         if (!text.empty() && !text.starts_with('/')) return Refuse(text, "an absolute path");
         c.database_password_file = text;
         return {};
       },
       [](Configuration& c) { return c.database_password_file; }, /*quoted=*/true},
      AttributesTable(
          "obkv",
          "As in [hbase], of the database: cellfs:attributes is the table attributes in the "
          "database cellfs. As -o: obkv_attributes.",
          [](Configuration & c) -> auto& { return c.database_attributes; }),
      Number(
          "obkv", "cache_time",
          "Milliseconds for which names, attributes and schemas are shown as they were read. As "
          "-o: obkv_cache_time.",
          0, kMost, [](Configuration & c) -> auto& { return c.database.max_staleness_ms; }),
      Milliseconds(
          "obkv", "operation_timeout",
          "Milliseconds that a request may take. As -o: obkv_operation_timeout.",
          [](Configuration & c) -> auto& { return c.database.operation_timeout; }),
      Milliseconds(
          "obkv", "connect_timeout",
          "Milliseconds that connecting may take. As -o: obkv_connect_timeout.",
          [](Configuration & c) -> auto& { return c.database.connect_timeout; }),
      Number(
          "obkv", "connections", "Connections at a time, at most. As -o: obkv_connections.", 1,
          1024, [](Configuration & c) -> auto& { return c.database.connections; }),
      Number(
          "obkv", "partitions",
          "Partitions of the tables that are made. As -o: obkv_partitions.", 1, 8192,
          [](Configuration & c) -> auto& { return c.database.partitions; }),
      Choice(
          "log", "level",
          "What is logged: trace, debug, info, warn, error or off. As -o: log_level.",
          std::vector<std::pair<std::string, std::string>>{{"trace", "trace"},
                                                           {"debug", "debug"},
                                                           {"info", "info"},
                                                           {"warn", "warn"},
                                                           {"error", "error"},
                                                           {"off", "off"}},
          [](Configuration & c) -> auto& { return c.log_level; }),
      {"log", "target",
       "stderr (syslog once in the background), syslog, or the path of a file, whose directory "
       "must exist. As -o: log_target.",
       [](Configuration& c, const std::string& text) -> Status {
         if (text != "stderr" && text != "syslog" && text.rfind('/', 0) != 0) {
           return Refuse(text, "stderr, syslog or an absolute path");
         }
         c.log_target = text;
         return {};
       },
       [](Configuration& c) { return c.log_target; }, /*quoted=*/true},
  };
  return settings;
}

const Setting* FindSetting(std::string_view section, std::string_view key) {
  for (const Setting& setting : Settings()) {
    if (setting.section == section && setting.key == key) return &setting;
  }
  return nullptr;
}

// What it says of clients as [hbase] knows it; the rest is servers', or others'. How long a request
// may take is left to [hbase] itself: there it is meant for programs that wait for minutes.
Status TakeHBaseSite(Configuration& configuration, const std::string& path) {
  configuration.hbase_site = path;
  if (path.empty()) return {};
  if (!path.starts_with('/')) return Refuse(path, "an absolute path");
  CELLFS_ASSIGN_OR_RETURN(const auto properties, ReadHBaseSite(path));
  for (const auto& [key, value] : properties) {
    const Setting* setting = FindSetting("hbase", key);
    if (setting == nullptr || key.find('.') == std::string::npos ||
        key == "hbase.client.operation.timeout")
      continue;
    CELLFS_RETURN_IF_ERROR(WithContext(path + ": " + key, setting->set(configuration, value)));
  }
  return {};
}

// HBase's keys may be meant by their last words.
std::string HintFor(std::string_view option) {
  std::vector<std::string> known;
  for (const Setting& setting : Settings()) {
    if (setting.section != "log") known.emplace_back(setting.key);
  }
  std::string closest = fs::ClosestTo(option, known);
  for (const auto& [key, value] : SiteSettings().ToMap()) {
    if (key.ends_with("." + std::string(option))) closest = key;
  }
  return closest.empty() ? "'cellfs config' lists all of them" : "did you mean '" + closest + "'?";
}

// A scalar of the file as the text that a setting takes.
StatusOr<std::string> TextOf(const toml::node& node) {
  if (auto text = node.value_exact<std::string>()) return *text;
  if (auto number = node.value_exact<int64_t>()) return std::to_string(*number);
  if (auto boolean = node.value_exact<bool>()) return std::string(*boolean ? "true" : "false");
  return Status(StatusCode::kIllegalArgument, "a string, a number or true/false is wanted");
}

// The digits of a number that stands in octal, 0o644; nullopt: it is none, or stands otherwise.
std::optional<std::string> OctalDigitsOf(const toml::node& node) {
  const toml::value<int64_t>* const number = node.as_integer();
  if (number == nullptr || number->flags() != toml::value_flags::format_as_octal)
    return std::nullopt;
  std::ostringstream digits;
  digits << std::oct << number->get();
  return digits.str();
}

Status SetFamilyDefault(Configuration& configuration, const std::string& key,
                        const std::string& value) {
  FamilySchema probe("f");
  CELLFS_RETURN_IF_ERROR(probe.Set(key, value));
  // A schema may have metadata of any name; here one that nobody knows is a slip of the pen.
  for (const auto& [name, text] : probe.attributes()) {
    if (FamilyAttributeDefaults().contains(name)) continue;
    return Status(StatusCode::kIllegalArgument,
                  "a family has no attribute of this name; see Schema in the manual");
  }
  configuration.mount.family_defaults[key] = value;
  return {};
}

Status SetTemporaryNames(Configuration& configuration, const toml::node& node) {
  const toml::array* globs = node.as_array();
  if (globs == nullptr) {
    return Status(StatusCode::kIllegalArgument, "a list of strings is wanted");
  }
  configuration.mount.temporary_names.clear();
  for (const toml::node& glob : *globs) {
    CELLFS_ASSIGN_OR_RETURN(std::string text, TextOf(glob));
    configuration.mount.temporary_names.push_back(std::move(text));
  }
  return {};
}

Status SetFromFile(Configuration& configuration, const std::string& section, const std::string& key,
                   const toml::node& node) {
  if (section == "mount" && key == "temporary_names") return SetTemporaryNames(configuration, node);
  CELLFS_ASSIGN_OR_RETURN(const std::string value, TextOf(node));
  if (section == "site") return configuration.store.site.Set(key, value);
  if (section == "family_defaults") return SetFamilyDefault(configuration, key, value);
  if (const Setting* setting = FindSetting(section, key)) {
    const auto digits = setting->octal ? OctalDigitsOf(node) : std::nullopt;
    return setting->set(configuration, digits.value_or(value));
  }
  return Status(StatusCode::kIllegalArgument,
                "there is no such key; 'cellfs config' lists all of them");
}

std::string Quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

// "# " before each line, at most 100 columns wide.
std::string Comment(std::string_view meaning) {
  std::string text = "#";
  size_t width = 1;
  std::istringstream words{std::string(meaning)};
  for (std::string word; words >> word;) {
    if (width + word.size() + 1 > 98) {
      text += "\n#";
      width = 1;
    }
    text += " " + word;
    width += word.size() + 1;
  }
  return text + "\n";
}

// What an fstab line says to mount(8) and systemd, and not to a file system; what is about times of
// access, of which there are none here; and what mount.fuse says to every file system of root's,
// "suid,dev": a mount is nosuid,nodev all the same.
bool IsMountsOwn(std::string_view key) {
  static constexpr std::string_view kOwn[] = {
      "suid",        "dev",
      "rw",          "defaults",      "auto",     "noauto",     "nofail",   "_netdev",
      "user",        "nouser",        "users",    "nousers",    "owner",    "noowner",
      "group",       "nogroup",       "comment",  "helper",     "uhelper",  "loud",
      "silent",      "mand",          "nomand",   "iversion",   "diratime", "noiversion",
      "nodiratime",  "relatime",      "lazytime", "norelatime", "nolazytime",
      "strictatime", "nostrictatime"};
  return key.starts_with("x-") || key.starts_with("X-") ||
         std::find(std::begin(kOwn), std::end(kOwn), key) != std::end(kOwn);
}

std::string MeaningOf(std::string_view section) {
  if (section == "obkv") {
    return "Of mounts of a database in OBKV-HBase's layout, obkv://USER@HOST:PORT/ or "
           "obkv+unix:///PATH/OF/SOCKET. Of [site] the limits of cells and rows count.";
  }
  if (section == "scrub") {
    return "Of a store in a directory that background_maintenance is on of: damage is found before "
           "somebody needs what is damaged. 'cellfs status' tells what the last one has found.";
  }
  if (section != "hbase") return "";
  return "Of mounts of a cluster, hbase://HOST:PORT/. Names with dots are those of HBase's client. "
         "What [site] says is about stores in a directory alone.";
}

ConfigurationKey TemporaryNamesKey(const Configuration& configuration) {
  std::string list = "[";
  for (const std::string& glob : configuration.mount.temporary_names)
    list += "\n  " + Quoted(glob) + ",";
  return {.name = "temporary_names",
          .meaning = "Names (globs) of tools' temporary files, which leave no trace when they are "
                     "removed: a list of strings.",
          .value = list + "\n]",
          .choices = {}};
}

ConfigurationSection FamilyDefaultsSection(const Configuration& configuration) {
  ConfigurationSection section{
      .name = "family_defaults",
      .meaning = "Attributes of the families that mkdir declares, by HBase's names, with the "
                 "project's own DELETED_TTL in seconds. This section replaces the shipped one.",
      .keys = {}};
  for (const auto& [name, value] : configuration.mount.family_defaults)
    section.keys.push_back({.name = name, .meaning = "", .value = Quoted(value), .choices = {}});
  return section;
}

ConfigurationSection SiteSection(const Configuration& configuration) {
  ConfigurationSection section{
      .name = "site",
      .meaning = "HBase's site settings under their own names: bytes for sizes, milliseconds for "
                 "times, a negative number or 0 for \"off\" where HBase has that.",
      .keys = {}};
  for (const auto& [key, value] : configuration.store.site.ToMap()) {
    section.keys.push_back(
        {.name = Quoted(key), .meaning = "", .value = Quoted(value), .choices = {}});
  }
  return section;
}

}  // namespace

Status ReadConfigurationFile(const std::string& path, Configuration& configuration) {
  // The parser takes it for a file without a line.
  if (std::error_code error; std::filesystem::is_directory(path, error)) {
    return Status(StatusCode::kIllegalArgument,
                  path + " is a directory; a configuration file is wanted");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    return Status(StatusCode::kIllegalArgument,
                  path + ": " + std::generic_category().message(errno));
  }
  toml::table file;
  try {
    file = toml::parse(stream, path);
  } catch (const toml::parse_error& error) {
    return Status(StatusCode::kIllegalArgument, path + ":" +
                                                    std::to_string(error.source().begin.line) +
                                                    ": " + std::string(error.description()));
  }
  for (const auto& [section, node] : file) {
    const std::string section_name(section.str());
    const toml::table* keys = node.as_table();
    if (keys == nullptr) {
      return Status(StatusCode::kIllegalArgument,
                    path + ": '" + section_name + "' stands outside a section such as [mount]");
    }
    if (section_name == "family_defaults") configuration.mount.family_defaults.clear();
    const auto set = [&](const std::string& name, const toml::node& value) {
      return WithContext(path + ": [" + section_name + "] " + name,
                         SetFromFile(configuration, section_name, name, value));
    };
    // First, wherever it stands: what stands beside it is said of this mount.
    const toml::node* const site = section_name == "hbase" ? keys->get("site") : nullptr;
    if (site != nullptr) CELLFS_RETURN_IF_ERROR(set("site", *site));
    for (const auto& [key, value] : *keys) {
      if (&value != site) CELLFS_RETURN_IF_ERROR(set(std::string(key.str()), value));
    }
  }
  return {};
}

Status ApplyMountOptions(std::string_view options, Configuration& configuration,
                         UnknownOptions unknown) {
  static constexpr std::string_view kKernelOptions[] = {
      "nosuid", "nodev", "noexec", "exec", "noatime", "atime", "sync", "async", "dirsync"};
  while (!options.empty()) {
    const std::string_view option = options.substr(0, options.find(','));
    options.remove_prefix(std::min(options.size(), option.size() + 1));
    if (option.empty()) continue;
    const size_t equals = option.find('=');
    std::string key(option.substr(0, equals));
    const std::string value =
        equals == std::string_view::npos ? "true" : std::string(option.substr(equals + 1));
    if (IsMountsOwn(key)) continue;
    if (key == "ro") key = "read_only";
    const Setting* setting = FindSetting("mount", key);
    for (const char* section : {"store", "hbase"}) {
      if (setting == nullptr) setting = FindSetting(section, key);
    }
    for (const std::string section : {"log", "scrub", "hbase", "obkv"}) {
      if (setting == nullptr && key.starts_with(section + "_"))
        setting = FindSetting(section, key.substr(section.size() + 1));
    }
    Status status;
    if (setting != nullptr) {
      status = setting->set(configuration, value);
    } else if (key.rfind("hbase.", 0) == 0) {
      status = configuration.store.site.Set(key, value);
    } else if (std::find(std::begin(kKernelOptions), std::end(kKernelOptions), key) !=
               std::end(kKernelOptions)) {
      configuration.kernel_options += (configuration.kernel_options.empty() ? "" : ",") + key;
    } else if (key == "remount") {
      status = Status(StatusCode::kUnsupportedOperation,
                      "a mount takes other options when it is mounted anew; unmount it first");
    } else if (unknown == UnknownOptions::kRefused) {
      status = Status(StatusCode::kIllegalArgument, "there is no such option; " + HintFor(key));
    }
    CELLFS_RETURN_IF_ERROR(WithContext("-o " + std::string(option), status));
  }
  return {};
}

std::vector<ConfigurationSection> ConfigurationSections(Configuration configuration) {
  std::vector<ConfigurationSection> sections;
  for (const Setting& setting : Settings()) {
    if (sections.empty() || sections.back().name != setting.section)
      sections.push_back({.name = std::string(setting.section),
                          .meaning = MeaningOf(setting.section),
                          .keys = {}});
    const std::string value = setting.get(configuration);
    const bool has_dots = setting.key.find('.') != std::string_view::npos;
    const std::string key(setting.key);
    sections.back().keys.push_back({.name = has_dots ? Quoted(key) : key,
                                    .meaning = std::string(setting.meaning),
                                    .value = setting.quoted ? Quoted(value) : value,
                                    .choices = setting.choices});
    if (setting.key == "transport")
      sections.back().keys.push_back(TemporaryNamesKey(configuration));
  }
  sections.push_back(FamilyDefaultsSection(configuration));
  sections.push_back(SiteSection(configuration));
  return sections;
}

std::string ConfigurationText(Configuration configuration) {
  std::string text =
      "# The configuration of a cellfs mount: cellfs mount --config FILE STORE MOUNTPOINT.\n"
      "# As -o key=value may be given all but lists and [family_defaults].\n";
  for (const ConfigurationSection& section : ConfigurationSections(std::move(configuration))) {
    text += "\n" + (section.meaning.empty() ? "" : Comment(section.meaning)) + "[" + section.name +
            "]\n";
    for (const ConfigurationKey& key : section.keys) {
      if (!key.meaning.empty()) text += "\n" + Comment(key.meaning);
      text += key.name + " = " + key.value + "\n";
    }
  }
  return text;
}

}  // namespace cellfs
