// SPDX-License-Identifier: MIT
#include "src/daemon/logging.h"

#include <spdlog/details/file_helper.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/status_or.h"

namespace cellfs {
namespace {

constexpr std::string_view kLevels[] = {"trace", "debug", "info", "warn", "error", "off"};

// A file that can be opened anew while others log.
class FileSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FileSink(std::string path) : path_(std::move(path)), file_(Open()) {}

  void Reopen() {
    auto file = Open();
    const std::lock_guard lock(mutex_);
    file_ = std::move(file);
  }

 private:
  using File = spdlog::details::file_helper;

  std::unique_ptr<File> Open() const {
    auto file = std::make_unique<File>();
    file->open(path_);
    return file;
  }
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    file_->write(line);
  }
  void flush_() override { file_->flush(); }

  const std::string path_;
  std::unique_ptr<File> file_;  // guarded by mutex_
};

spdlog::sink_ptr MakeSink(const std::string& target) {
  if (target == "stderr") return std::make_shared<spdlog::sinks::stderr_sink_mt>();
  if (target == "syslog") {
    return std::make_shared<spdlog::sinks::syslog_sink_mt>("cellfs", LOG_PID, LOG_DAEMON, true);
  }
  return std::make_shared<FileSink>(target);
}

// spdlog would make one, wherever a mistyped path leads.
Status CheckHasDirectory(const std::string& target) {
  if (target == "stderr" || target == "syslog") return {};
  const std::string directory = std::filesystem::path(target).parent_path().string();
  std::error_code error;
  if (std::filesystem::is_directory(directory, error)) return {};
  return Status(StatusCode::kIllegalArgument, "cannot log to '" + target + "': the directory '" +
                                                  directory + "' is missing; make it with mkdir");
}

}  // namespace

Status SetUpLogging(const std::string& target, const std::string& level) {
  CELLFS_RETURN_IF_ERROR(CheckHasDirectory(target));
  try {
    auto logger = std::make_shared<spdlog::logger>("cellfs", MakeSink(target));
    logger->set_pattern(target == "syslog" ? "%l: %v" : "%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    logger->flush_on(spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
  } catch (const spdlog::spdlog_ex& error) {
    return Status(StatusCode::kIoError, "cannot log to '" + target + "': " + error.what());
  }
  return SetLogLevel(level);
}

Status ReopenLog() {
  for (const spdlog::sink_ptr& sink : spdlog::default_logger()->sinks()) {
    auto* const file = dynamic_cast<FileSink*>(sink.get());
    if (file == nullptr) continue;
    try {
      file->Reopen();
    } catch (const spdlog::spdlog_ex& error) {
      return Status(StatusCode::kIoError, std::string("the log goes on in its old file: ") +
                                              error.what());
    }
  }
  return {};
}

Status SetLogLevel(const std::string& level) {
  if (std::find(std::begin(kLevels), std::end(kLevels), level) == std::end(kLevels)) {
    return Status(
        StatusCode::kIllegalArgument,
        "'" + level + "' is no log level; there are trace, debug, info, warn, error, off");
  }
  spdlog::set_level(spdlog::level::from_str(level));
  return {};
}

std::string LogLevel() {
  const auto name = spdlog::level::to_string_view(spdlog::get_level());
  const std::string level(name.data(), name.size());
  return level == "warning" ? "warn" : level;
}

}  // namespace cellfs
