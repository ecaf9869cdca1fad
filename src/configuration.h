// SPDX-License-Identifier: MIT
//
// Configuration: everything that the command line, `-o` options and the configuration file can say,
// in one value; later sayings win: file, then -o.
//
// Every key is in one table (configuration.cc) with its section, default, unit and meaning; from it
// come the parser, the errors, `cellfs config` and examples/config.toml.
#ifndef CELLFS_SRC_CONFIGURATION_H_
#define CELLFS_SRC_CONFIGURATION_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster_options.h"
#include "engine/obkv_options.h"
#include "engine/options.h"
#include "engine/status_or.h"
#include "fs/kernel/transport.h"
#include "fs/tree/options.h"

namespace cellfs {

struct Configuration {
  StoreOptions store{.disk_reserve = int64_t{64} << 20};
  ClusterOptions cluster;  // but for its servers, which its name says
  std::optional<TableName> cluster_attributes =
      fs::MountOptions().attributes_table;  // fs::MountOptions::attributes_table of a cluster
  ObkvOptions database;  // but for its server, which its name says, and the password
  std::string database_password_file;  // empty: no password
  std::optional<TableName> database_attributes =
      fs::MountOptions().attributes_table;  // likewise of a database
  std::string hbase_site;  // the hbase-site.xml that was read into it; empty: none
  fs::MountOptions mount;
  std::string log_level = "info";
  std::string log_target = "stderr";  // "stderr", "syslog" or a file's path
  int threads = 10;
  fs::Transport transport = fs::Transport::kBest;
  std::string kernel_options;  // comma-separated, for mount(2): nosuid, nodev, ...
};

// kIllegalArgument names file, key, value and what is allowed.
Status ReadConfigurationFile(const std::string& path, Configuration& configuration);

enum class UnknownOptions { kRefused, kPassedOver };

// "names=printable,ro,xattr": keys of [mount], [store] and [log] by their own names, a bare name of
// a yes-or-no key for "yes", and what mount(8) knows: what says who mounts and when (noauto, user,
// x-...) is passed over, what is the kernel's (nosuid, ...) is kept for it.
Status ApplyMountOptions(std::string_view options, Configuration& configuration,
                         UnknownOptions unknown = UnknownOptions::kRefused);

// A key of the file, as it stands there.
struct ConfigurationKey {
  std::string name;
  std::string meaning;  // with unit and what is allowed; empty: the section's says it
  std::string value;    // TOML
  std::vector<std::string> choices;  // empty: it is none of a few words
};

struct ConfigurationSection {
  std::string name;
  std::string meaning;  // empty: that of its keys says it
  std::vector<ConfigurationKey> keys;
};

// All of them, with their values.
std::vector<ConfigurationSection> ConfigurationSections(Configuration configuration);

// As TOML, each key with its meaning, default and unit in a comment.
std::string ConfigurationText(Configuration configuration);

}  // namespace cellfs

#endif  // CELLFS_SRC_CONFIGURATION_H_
