// SPDX-License-Identifier: MIT
#include "src/daemon/reloading.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include "src/daemon/logging.h"

namespace cellfs {
namespace {

// By section and key; of a list the lines that follow it belong to its value.
std::map<std::string, std::string> KeysOf(const Configuration& configuration) {
  std::map<std::string, std::string> keys;
  std::string section;
  std::string key;
  std::istringstream lines(ConfigurationText(configuration));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      section = line;
    } else if (const size_t equals = line.find(" = ");
               equals != std::string::npos && line[0] != ' ') {
      key = section + " " + line.substr(0, equals);
      keys[key] = line.substr(equals);
    } else {
      keys[key] += line;
    }
  }
  return keys;
}

bool IsReloadable(const std::string& key) {
  static constexpr std::string_view kReloadable[] = {"[log] level", "[log] target",
                                                     "[store] cache_size"};
  return std::find(std::begin(kReloadable), std::end(kReloadable), key) != std::end(kReloadable);
}

void LogWhereFailed(const Status& status) {
  if (!status.ok()) spdlog::error("{}", status.message());
}

}  // namespace

std::string LogTargetOf(const Configuration& configuration, bool foreground) {
  const std::string& target = configuration.log_target;
  return target == "stderr" && !foreground ? "syslog" : target;
}

std::vector<std::string> DifferingKeys(const Configuration& one, const Configuration& other) {
  std::map<std::string, std::string> before = KeysOf(one);
  std::vector<std::string> differing;
  for (const auto& [key, value] : KeysOf(other)) {
    const auto known = before.find(key);
    if (known == before.end() || known->second != value) differing.push_back(key);
    if (known != before.end()) before.erase(known);
  }
  for (const auto& [key, value] : before) differing.push_back(key);
  return differing;
}

Reloading::Reloading(Configuration in_force, Read read, StoreControls* controls, bool foreground)
    : begun_(std::move(in_force)),
      in_force_(begun_),
      log_target_(begun_.log_target),
      read_(std::move(read)),
      controls_(controls),
      foreground_(foreground) {}

void Reloading::Reload() {
  LogWhereFailed(ReopenLog());
  const StatusOr<Configuration> configuration = read_();
  const Status done = configuration.ok() ? PutInForce(*configuration) : configuration.status();
  if (done.ok()) {
    spdlog::info("the log is opened anew, the configuration is read again");
  } else {
    spdlog::error("the configuration stays as it was: {}", done.message());
  }
}

Status Reloading::PutLogInForce(const Configuration& configuration) const {
  const bool has_new_target = configuration.log_target != in_force_.log_target;
  if (has_new_target)
    CELLFS_RETURN_IF_ERROR(SetLogTarget(LogTargetOf(configuration, foreground_)));
  if (configuration.log_level == in_force_.log_level) return {};
  Status set = SetLogLevel(configuration.log_level);
  if (!set.ok() && has_new_target)
    LogWhereFailed(SetLogTarget(LogTargetOf(in_force_, foreground_)));
  return set;
}

Status Reloading::PutInForce(const Configuration& configuration) {
  CELLFS_RETURN_IF_ERROR(PutLogInForce(configuration));
  const bool has_new_size = configuration.store.cache_bytes != in_force_.store.cache_bytes;
  if (controls_ != nullptr && has_new_size)
    controls_->SetCacheBytes(configuration.store.cache_bytes);
  for (const std::string& key : DifferingKeys(in_force_, configuration)) {
    if (IsReloadable(key)) {
      spdlog::info("{} is in force", key);
    } else {
      spdlog::warn("{} has changed, which the next mount heeds", key);
    }
  }
  in_force_ = configuration;
  const std::lock_guard lock(mutex_);
  log_target_ = configuration.log_target;
  return {};
}

Configuration Reloading::InForce() const {
  Configuration configuration = begun_;
  configuration.log_level = LogLevel();
  const std::lock_guard lock(mutex_);
  configuration.log_target = log_target_;
  return configuration;
}

}  // namespace cellfs
