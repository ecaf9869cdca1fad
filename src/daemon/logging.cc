// SPDX-License-Identifier: MIT
#include "src/daemon/logging.h"

#include <fcntl.h>
#include <spdlog/details/file_helper.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/status_or.h"

namespace cellfs {
namespace {

constexpr char kLoggerOfNames[] = "cellfs names";
constexpr size_t kRecentLines = 100;
constexpr std::string_view kLevels[] = {"trace", "debug", "info", "warn", "error", "off"};

// Appends to a file, which it holds open.
class FileSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FileSink(const std::string& path) { file_.open(path); }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    file_.write(line);
  }
  void flush_() override { file_.flush(); }

  spdlog::details::file_helper file_;  // guarded by mutex_
};

spdlog::sink_ptr MakePlainSink(const std::string& target) {
  if (target == "stderr") return std::make_shared<spdlog::sinks::stderr_sink_mt>();
  if (target == "syslog") {
    return std::make_shared<spdlog::sinks::syslog_sink_mt>("cellfs", LOG_PID, LOG_DAEMON, true);
  }
  return std::make_shared<FileSink>(target);
}

// Whether standard error is the journal of a service manager: that names device and inode of it,
// and who has led it elsewhere inherits the name.
bool GoesToJournal() {
  const char* const named = getenv("JOURNAL_STREAM");
  struct stat stream {};
  if (named == nullptr || fstat(STDERR_FILENO, &stream) != 0) return false;
  return named == std::to_string(stream.st_dev) + ":" + std::to_string(stream.st_ino);
}

// syslog's number in front, by which the journal takes it: it notes the time itself.
class JournalLevel final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& line) override {
    const char text[] = {'<', NumberOf(message.level), '>'};
    line.append(std::begin(text), std::end(text));
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JournalLevel>();
  }

 private:
  static char NumberOf(spdlog::level::level_enum level) {
    if (level >= spdlog::level::err) return '3';
    if (level == spdlog::level::warn) return '4';
    return level == spdlog::level::info ? '6' : '7';
  }
};

std::unique_ptr<spdlog::formatter> JournalFormatter() {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<JournalLevel>('*').set_pattern("%*%v");
  return formatter;
}

spdlog::sink_ptr MakeSink(const std::string& target) {
  auto sink = MakePlainSink(target);
  if (target == "stderr" && GoesToJournal()) {
    sink->set_formatter(JournalFormatter());
  } else {
    sink->set_pattern(target == "syslog" ? "%l: %v" : "%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  }
  return sink;
}

// Where the log goes at the moment; that may be changed while others log.
class ChangingSink final : public spdlog::sinks::sink {
 public:
  explicit ChangingSink(std::string target)
      : target_(std::move(target)), present_(MakeSink(target_)) {}

  void Change(const std::string& target) {
    auto next = MakeSink(target);
    const std::lock_guard lock(mutex_);
    target_ = target;
    present_ = std::move(next);
  }
  std::string target() const {
    const std::lock_guard lock(mutex_);
    return target_;
  }

  std::vector<LogLine> recent() const {
    const std::lock_guard lock(mutex_);
    return {recent_.begin(), recent_.end()};
  }

  void log(const spdlog::details::log_msg& message) override {
    Remember(message);
    Present()->log(message);
  }
  void flush() override { Present()->flush(); }
  void set_pattern(const std::string& /*pattern*/) override {}  // each target has its own
  void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}

 private:
  spdlog::sink_ptr Present() const {
    const std::lock_guard lock(mutex_);
    return present_;
  }

  void Remember(const spdlog::details::log_msg& message) {
    const auto level = spdlog::level::to_string_view(message.level);
    LogLine line{.time = message.time,
                 .level = std::string(level.data(), level.size()),
                 .text = std::string(message.payload.data(), message.payload.size()),
                 .may_have_names = message.logger_name == kLoggerOfNames};
    const std::lock_guard lock(mutex_);
    recent_.push_back(std::move(line));
    if (recent_.size() > kRecentLines) recent_.pop_front();
  }

  mutable std::mutex mutex_;  // guards the rest
  std::string target_;
  spdlog::sink_ptr present_;
  std::deque<LogLine> recent_;
};

// That of the daemon's log.
ChangingSink* FindSink() {
  const auto& sinks = spdlog::default_logger()->sinks();
  return sinks.empty() ? nullptr : dynamic_cast<ChangingSink*>(sinks.front().get());
}

StatusCode CodeOf(int error) {
  const bool is_forbidden = error == EACCES || error == EPERM || error == EROFS;
  if (is_forbidden) return StatusCode::kAccessDenied;
  return error == EISDIR ? StatusCode::kIllegalArgument : StatusCode::kIoError;
}

// spdlog would try again and again, and make directories, wherever a mistyped path leads.
Status CheckMayLogTo(const std::string& target) {
  if (target == "stderr" || target == "syslog") return {};
  const std::string directory = std::filesystem::path(target).parent_path().string();
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) {
    return {StatusCode::kIllegalArgument, "cannot log to '" + target + "': the directory '" +
                                              directory + "' is missing; make it with mkdir"};
  }
  constexpr mode_t kMode = 0666;  // less what the umask takes
  const int file = open(target.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kMode);
  if (file < 0) return {CodeOf(errno), "cannot log to '" + target + "': " + strerror(errno)};
  close(file);
  return {};
}

}  // namespace

Status SetUpLogging(const std::string& target, const std::string& level) {
  CELLFS_RETURN_IF_ERROR(CheckMayLogTo(target));
  try {
    auto logger =
        std::make_shared<spdlog::logger>("cellfs", std::make_shared<ChangingSink>(target));
    logger->flush_on(spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
  } catch (const spdlog::spdlog_ex& error) {
    return Status(StatusCode::kIoError, "cannot log to '" + target + "': " + error.what());
  }
  return SetLogLevel(level);
}

Status SetLogTarget(const std::string& target) {
  CELLFS_RETURN_IF_ERROR(CheckMayLogTo(target));
  ChangingSink* const sink = FindSink();
  if (sink == nullptr) return {};
  try {
    sink->Change(target);
  } catch (const spdlog::spdlog_ex& error) {
    return Status(StatusCode::kIoError, "cannot log to '" + target + "': " + error.what());
  }
  return {};
}

Status ReopenLog() {
  const ChangingSink* const sink = FindSink();
  if (sink == nullptr || !sink->target().starts_with("/")) return {};
  const Status opened = SetLogTarget(sink->target());
  if (opened.ok()) return {};
  return Status(opened.code(), "the log goes on in its old file: " + opened.message());
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

void WarnWithNames(const std::string& line) {
  const auto logger = spdlog::default_logger();
  const auto& sinks = logger->sinks();
  spdlog::logger named(kLoggerOfNames, sinks.begin(), sinks.end());
  named.set_level(logger->level());
  named.flush_on(spdlog::level::info);
  named.warn("{}", line);
}

std::vector<LogLine> RecentLog() {
  const ChangingSink* const sink = FindSink();
  return sink == nullptr ? std::vector<LogLine>() : sink->recent();
}

}  // namespace cellfs
