// SPDX-License-Identifier: MIT
#include "src/configuration.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "fs/base/account_names.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

// Every key with a value that is not its default, and one that it refuses; both as TOML.
struct KeyCase {
  std::string section;
  std::string key;
  std::string other;
  std::string bad;
};

const KeyCase kKeys[] = {
    {"mount", "names", "\"printable\"", "\"raw\""},
    {"mount", "controls", "\"visible\"", "\"on\""},
    {"mount", "durability", "\"FSYNC_WAL\"", "\"FSYNC\""},
    {"mount", "versions_by_name", "false", "\"sometimes\""},
    {"mount", "read_only", "true", "\"never\""},
    {"mount", "xattr", "true", "2"},
    {"mount", "allow_other", "true", "\"all\""},
    {"mount", "max_value_size", "4096", "0"},
    {"mount", "open_file_limit", "8388608", "1"},
    {"mount", "asof_hold", "60", "-1"},
    {"mount", "temporary_age", "60", "\"1h\""},
    {"mount", "uid", "1000", "-1"},
    {"mount", "gid", "1000", "4294967295"},
    {"mount", "file_mode", "\"0600\"", "\"0800\""},
    {"mount", "directory_mode", "\"0700\"", "\"rwx\""},
    {"mount", "threads", "3", "0"},
    {"mount", "transport", "\"uring\"", "\"quick\""},
    {"mount", "temporary_names", "[]", "\"*.tmp\""},
    {"store", "cache_size", "1048576", "1048575"},
    {"store", "memstore_limit", "4194304", "4194303"},
    {"store", "disk_reserve", "0", "-1"},
    {"store", "compaction_rate", "1048576", "-1"},
    {"store", "moment_limit", "1048576", "1048575"},
    {"store", "inline_value_limit", "0", "65537"},
    {"store", "background_maintenance", "false", "\"maybe\""},
    {"scrub", "interval", "0", "-1"},
    {"scrub", "rate", "0", "-1"},
    {"hbase", "user", "\"ann\"", "\"a b\""},
    {"hbase", "site", "\"" CELLFS_SOURCE_ROOT "/tests/src/hbase-site.xml\"",
     "\"hbase-site.xml\""},
    {"hbase", "attributes", "\"shop:owners\"", "\"hbase:meta\""},
    {"hbase", "cache_time", "0", "-1"},
    {"hbase", "hbase.client.operation.timeout", "5000", "0"},
    {"hbase", "hbase.rpc.timeout", "5000", "\"5s\""},
    {"hbase", "hbase.ipc.client.socket.timeout.connect", "5000", "-1"},
    {"hbase", "hbase.client.retries.number", "0", "-1"},
    {"hbase", "hbase.client.pause", "5", "2147483648"},
    {"hbase", "hbase.client.scanner.caching", "100", "0"},
    {"obkv", "user", "\"root@tenant\"", "\"a b\""},
    {"obkv", "password_file", "\"/etc/cellfs/password\"", "\"password\""},
    {"obkv", "attributes", "\"shop:owners\"", "\"hbase:meta\""},
    {"obkv", "cache_time", "0", "-1"},
    {"obkv", "operation_timeout", "5000", "0"},
    {"obkv", "connect_timeout", "5000", "\"5s\""},
    {"obkv", "connections", "3", "0"},
    {"obkv", "partitions", "5", "8193"},
    {"log", "level", "\"debug\"", "\"loud\""},
    {"log", "target", "\"/tmp/cellfs.log\"", "\"cellfs.log\""},
    {"site", "hbase.hregion.memstore.flush.size", "\"65536\"", "\"0\""},
    {"site", "hbase.hstore.time.to.purge.deletes", "\"5\"", "\"-5\""},
    {"site", "hbase.hregion.keyvalue.timestamp.slop.millisecs", "\"5\"", "\"five\""},
    {"site", "hbase.client.keyvalue.maxsize", "\"5\"", "\"\""},
    {"site", "hbase.server.keyvalue.maxsize", "\"5\"", "\"5 XB\""},
    {"site", "hbase.table.max.rowsize", "\"5\"", "\"0\""},
    {"site", "hbase.hregion.majorcompaction", "\"0\"", "\"-1\""},
    {"site", "hbase.hregion.majorcompaction.jitter", "\"0.25\"", "\"1.5\""},
    {"site", "hbase.hstore.blockingStoreFiles", "\"20\"", "\"1\""},
    {"site", "hbase.hstore.compaction.max", "\"5\"", "\"1\""},
    {"site", "hbase.hstore.compaction.min", "\"2\"", "\"1\""},
    {"site", "hbase.hstore.compaction.ratio", "\"1.5\"", "\"x\""},
    {"site", "hbase.column.max.version", "\"3\"", "\"0\""},
    {"site", "hbase.security.authorization", "\"true\"", "\"kerberos\""},
};

class ConfigurationTest : public ::testing::Test {
 protected:
  Status Read(const std::string& text, Configuration& configuration) {
    std::ofstream(path()) << text;
    return ReadConfigurationFile(path(), configuration);
  }
  std::string RefusalOf(const std::string& text) {
    Configuration configuration;
    const Status status = Read(text, configuration);
    EXPECT_FALSE(status.ok()) << text;
    EXPECT_EQ(status.code(), StatusCode::kIllegalArgument);
    return status.message();
  }
  std::string path() const { return directory_.path() + "/cellfs.toml"; }

 private:
  TemporaryDirectory directory_;
};

std::string FileText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// "[section] key = value" of each line that says one; the lines of a list are left out.
std::set<std::string> Lines(const std::string& text) {
  std::set<std::string> lines;
  std::string section;
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[')
      section = line;
    else if (line.find(" = ") != std::string::npos)
      lines.insert(section + " " + line);
  }
  return lines;
}

std::string KeyOf(const std::string& line) {
  std::string key = line.substr(0, line.find(" = "));
  std::erase_if(key, [](char c) { return c == '"' || c == '\''; });
  return key;
}

std::string FileOf(const KeyCase& key, const std::string& value) {
  return "[" + key.section + "]\n\"" + key.key + "\" = " + value + "\n";
}

// The value alone, however TOML quotes it.
std::string Bare(std::string value) {
  std::erase_if(value, [](char c) { return c == '"' || c == '\''; });
  return value;
}

TEST_F(ConfigurationTest, TheCasesHereNameEveryKey) {
  std::set<std::string> tested, known;
  for (const KeyCase& key : kKeys) tested.insert("[" + key.section + "] " + key.key);
  for (const std::string& line : Lines(ConfigurationText({}))) {
    if (line.rfind("[family_defaults]", 0) != 0) known.insert(KeyOf(line));
  }
  EXPECT_EQ(tested, known);
}

TEST_F(ConfigurationTest, AModeIsOctalHoweverItIsWritten) {
  for (const char* mode : {"\"0640\"", "\"640\"", "640", "0o640"}) {
    Configuration configuration;
    ASSERT_TRUE(Read("[mount]\nfile_mode = " + std::string(mode) + "\n", configuration).ok());
    EXPECT_EQ(configuration.mount.file_mode, 0640u) << mode;
  }
  Configuration configuration;
  ASSERT_TRUE(Read("[mount]\nthreads = 0o12\n", configuration).ok());
  EXPECT_EQ(configuration.threads, 10);
}

TEST_F(ConfigurationTest, EveryKeyChangesItsOwnLineAndNothingElse) {
  const std::set<std::string> defaults = Lines(ConfigurationText({}));
  for (const KeyCase& key : kKeys) {
    Configuration configuration;
    ASSERT_TRUE(Read(FileOf(key, key.other), configuration).ok()) << key.key;
    std::set<std::string> changed;
    for (const std::string& line : Lines(ConfigurationText(configuration))) {
      if (!defaults.contains(line)) changed.insert(Bare(line));
    }
    // An emptied list still spans two lines.
    const std::string expected = key.other == "[]" ? "[" : Bare(key.other);
    EXPECT_EQ(changed.size(), key.other == "[]" ? 0u : 1u) << key.key;
    if (key.other == "[]") {
      EXPECT_TRUE(configuration.mount.temporary_names.empty());
    } else {
      EXPECT_TRUE(changed.contains("[" + key.section + "] " + key.key + " = " + expected))
          << key.key;
    }
  }
}

TEST_F(ConfigurationTest, ABadValueIsNamedWithItsFileAndKey) {
  for (const KeyCase& key : kKeys) {
    const std::string refusal = RefusalOf(FileOf(key, key.bad));
    EXPECT_NE(refusal.find(path()), std::string::npos) << refusal;
    EXPECT_NE(refusal.find(key.key), std::string::npos) << refusal;
    if (key.key == "temporary_names") continue;  // the type is wrong, not the value
    EXPECT_NE(refusal.find(Bare(key.bad)), std::string::npos) << refusal;
  }
}

TEST_F(ConfigurationTest, WhatIsPrintedReadsBackAsItself) {
  Configuration configuration;
  for (const KeyCase& key : kKeys) ASSERT_TRUE(Read(FileOf(key, key.other), configuration).ok());
  configuration.mount.family_defaults = {{"TTL", "86400"}, {"VERSIONS", "2"}};
  configuration.mount.temporary_names = {"a\\b", "it's \"quoted\"", "[x]?*"};
  const std::string text = ConfigurationText(configuration);
  Configuration read;
  const Status status = Read(text, read);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(ConfigurationText(read), text);
  EXPECT_EQ(read.mount.temporary_names, configuration.mount.temporary_names);
}

TEST_F(ConfigurationTest, TheExampleIsTheDefault) {
  EXPECT_EQ(FileText(CELLFS_SOURCE_ROOT "/examples/config.toml"), ConfigurationText({}))
      << "write it anew: build/src/cellfs config >examples/config.toml (as root)";
}

TEST_F(ConfigurationTest, OwnersAreKeptInATableOfTheClusterOrNowhere) {
  Configuration configuration;
  EXPECT_EQ(configuration.cluster_attributes, fs::MountOptions().attributes_table);
  ASSERT_TRUE(Read("[hbase]\nattributes = 'shop:owners'\n", configuration).ok());
  EXPECT_EQ(configuration.cluster_attributes, (TableName{"shop", "owners"}));
  for (const char* off : {"hbase_attributes=off", "hbase_attributes="}) {
    ASSERT_TRUE(Read("[hbase]\nattributes = 'shop:owners'\n", configuration).ok());
    ASSERT_TRUE(ApplyMountOptions(off, configuration).ok());
    EXPECT_FALSE(configuration.cluster_attributes) << off;
    EXPECT_NE(ConfigurationText(configuration).find("attributes = 'off'"), std::string::npos);
  }
}

TEST_F(ConfigurationTest, ASiteOfHBaseCountsWhereItsSectionIsSilent) {
  const std::string site = path() + ".xml";
  std::ofstream(site) << R"(<configuration>
    <property><name>hbase.rpc.timeout</name><value>
      7000 </value><final>true</final></property>
    <property><name>hbase.rpc.timeout</name><value>8000</value></property>
    <property><name>hbase.client.pause</name><value>20</value></property>
    <property><name>hbase.client.pause</name><value>30</value></property>
    <property><name>hbase.client.retries.number</name><value>3</value></property>
    <property><name>hbase.client.operation.timeout</name><value>1200000</value></property>
  </configuration>)";
  Configuration configuration;
  ASSERT_TRUE(Read("[hbase]\n'hbase.client.retries.number' = 5\nsite = '" + site + "'\n",
                   configuration)
                  .ok());
  const ClusterOptions& cluster = configuration.cluster;
  EXPECT_EQ(cluster.rpc_timeout, std::chrono::milliseconds(7000)) << "the final one";
  EXPECT_EQ(cluster.pause, std::chrono::milliseconds(30)) << "the last one";
  EXPECT_EQ(cluster.retries, 5) << "said beside it";
  EXPECT_EQ(cluster.operation_timeout, ClusterOptions().operation_timeout);

  std::ofstream(site) << "<configuration>\n\n<property></configuration>";
  EXPECT_NE(RefusalOf("[hbase]\nsite = '" + site + "'\n").find(site + ":3: no XML"),
            std::string::npos);
  std::ofstream(site) << "<configuration><property><name>hbase.client.pause</name>"
                         "<value>${pause}</value></property></configuration>";
  EXPECT_NE(RefusalOf("[hbase]\nsite = '" + site + "'\n").find("hbase.client.pause: '${pause}'"),
            std::string::npos);
  std::ofstream(site) << "<properties/>";
  EXPECT_NE(RefusalOf("[hbase]\nsite = '" + site + "'\n").find("<configuration>"),
            std::string::npos);
}

TEST_F(ConfigurationTest, UnitsAreSecondsInTheFile) {
  Configuration configuration;
  ASSERT_TRUE(Read("[mount]\nasof_hold = 60\ntemporary_age = 2\n", configuration).ok());
  EXPECT_EQ(configuration.mount.asof_hold_ms, 60'000);
  EXPECT_EQ(configuration.mount.temporary_age_ms, 2'000);
}

TEST_F(ConfigurationTest, FamilyDefaultsReplaceTheShippedOnes) {
  Configuration configuration;
  ASSERT_TRUE(Read("[family_defaults]\nVERSIONS = 3\n", configuration).ok());
  EXPECT_EQ(configuration.mount.family_defaults, (Attributes{{"VERSIONS", "3"}}));
  EXPECT_NE(RefusalOf("[family_defaults]\nVERSIONS = 0\n").find("VERSIONS"), std::string::npos);
  EXPECT_NE(RefusalOf("[family_defaults]\nVERSION = 3\n").find("VERSION"), std::string::npos);
}

TEST_F(ConfigurationTest, UnknownKeysAndSectionsAreRefused) {
  EXPECT_NE(RefusalOf("[mount]\nthread = 3\n").find("thread"), std::string::npos);
  EXPECT_NE(RefusalOf("[mounts]\nthreads = 3\n").find("mounts"), std::string::npos);
  EXPECT_NE(RefusalOf("[site]\nhbase.rootdir = \"x\"\n").find("hbase"), std::string::npos);
  EXPECT_NE(RefusalOf("threads = 3\n").find("threads"), std::string::npos);
}

TEST_F(ConfigurationTest, ADirectoryIsNoFile) {
  Configuration configuration;
  const std::string directory = std::filesystem::path(path()).parent_path();
  const Status status = ReadConfigurationFile(directory, configuration);
  EXPECT_EQ(status.code(), StatusCode::kIllegalArgument);
  EXPECT_NE(status.message().find(directory), std::string::npos);
}

TEST_F(ConfigurationTest, AModeThatIsNotOctalIsRefusedWithAnExample) {
  for (const char* mode : {"999", "0800", "10000", "rw"}) {
    Configuration configuration;
    const Status status = ApplyMountOptions(std::string("file_mode=") + mode, configuration);
    EXPECT_FALSE(status.ok()) << mode;
    EXPECT_NE(status.message().find("octal mode, such as 0640"), std::string::npos) << mode;
  }
}

TEST_F(ConfigurationTest, ABrokenFileIsNamedWithItsLine) {
  EXPECT_NE(RefusalOf("[mount]\nthreads = \n").find(path() + ":2"), std::string::npos);
  Configuration configuration;
  const Status missing = ReadConfigurationFile("/nonexistent/cellfs.toml", configuration);
  EXPECT_NE(missing.message().find("/nonexistent/cellfs.toml"), std::string::npos);
}

// ---- -o ----------------------------------------------------------------------------------------

TEST(MountOptionsTest, TakeKeysBareNamesSynonymsAndSiteSettings) {
  Configuration configuration;
  const Status status = ApplyMountOptions(
      "rw,defaults,names=printable,ro,xattr,,cache_size=2097152,log_level=debug,log_target=syslog,"
      "hbase.column.max.version=3,file_mode=600,allow_other=no",
      configuration);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(configuration.mount.names, fs::NameMode::kPrintable);
  EXPECT_TRUE(configuration.mount.read_only);
  EXPECT_TRUE(configuration.mount.xattr);
  EXPECT_FALSE(configuration.mount.allow_other);
  EXPECT_EQ(configuration.store.cache_bytes, 2097152);
  EXPECT_EQ(configuration.log_level, "debug");
  EXPECT_EQ(configuration.log_target, "syslog");
  EXPECT_EQ(configuration.store.site.default_max_versions, 3);
  EXPECT_EQ(configuration.mount.file_mode, 0600u);
}

TEST(MountOptionsTest, SizesHaveUnitsAndAccountsNames) {
  Configuration configuration;
  const Status status = ApplyMountOptions(
      "cache_size=500M,max_value_size=1.5g,uid=nobody,gid=root,versions_by_name=off",
      configuration);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(configuration.store.cache_bytes, 500 << 20);
  EXPECT_EQ(configuration.mount.max_value_size, uint64_t{3} << 29);
  EXPECT_EQ(configuration.mount.uid, fs::UserNamed("nobody"));
  EXPECT_GT(configuration.mount.uid, 0u);
  EXPECT_EQ(configuration.mount.gid, 0u);
  EXPECT_FALSE(configuration.mount.versions_by_name);
  const Status unknown = ApplyMountOptions("uid=nobody-has-this-name", configuration);
  EXPECT_NE(unknown.message().find("a user's id, or the name of one"), std::string::npos);
}

TEST(MountOptionsTest, WhatIsTheKernelsIsPassedOn) {
  Configuration configuration;
  ASSERT_TRUE(ApplyMountOptions("nosuid,xattr,nodev", configuration).ok());
  ASSERT_TRUE(ApplyMountOptions("noexec", configuration).ok());
  EXPECT_EQ(configuration.kernel_options, "nosuid,nodev,noexec");
}

TEST(MountOptionsTest, LaterSayingsWin) {
  Configuration configuration;
  ASSERT_TRUE(ApplyMountOptions("threads=3,threads=4", configuration).ok());
  EXPECT_EQ(configuration.threads, 4);
}

TEST(MountOptionsTest, ErrorsNameTheOption) {
  for (const char* option : {"fast", "names=raw", "threads=0", "threads", "names",
                             "log_target=", "hbase.rootdir=x", "temporary_names=*.tmp"}) {
    Configuration configuration;
    const Status status = ApplyMountOptions(std::string("xattr,") + option + ",ro", configuration);
    EXPECT_EQ(status.code(), StatusCode::kIllegalArgument) << option;
    EXPECT_EQ(status.message().rfind(std::string("-o ") + option + ":", 0), 0u) << status.message();
  }
}

TEST(MountOptions, WhatMountAndSystemdUnderstandIsPassedOver) {
  Configuration configuration;
  const Status applied = ApplyMountOptions(
      "rw,defaults,auto,noauto,nofail,_netdev,user,user=alice,users,nouser,owner,group,comment=x,"
      "x-systemd.automount,x-systemd.requires=a.service,X-mount.mkdir=0755,relatime,nosuid,dev",
      configuration);
  EXPECT_TRUE(applied.ok()) << applied.message();
  EXPECT_EQ(configuration.kernel_options, "nosuid");
}

TEST(MountOptions, WhatNobodyUnderstandsIsRefusedUnlessTheCallerIsSloppy) {
  Configuration configuration;
  EXPECT_FALSE(ApplyMountOptions("nosuch", configuration).ok());
  EXPECT_TRUE(ApplyMountOptions("nosuch=1,ro", configuration, UnknownOptions::kPassedOver).ok());
  EXPECT_TRUE(configuration.mount.read_only);
  EXPECT_FALSE(
      ApplyMountOptions("names=raw", configuration, UnknownOptions::kPassedOver).ok());
  EXPECT_FALSE(ApplyMountOptions("remount", configuration, UnknownOptions::kPassedOver).ok());
}

}  // namespace
}  // namespace cellfs
