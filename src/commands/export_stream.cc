// SPDX-License-Identifier: MIT
#include "src/commands/export_stream.h"

#include <fcntl.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/descriptor.h"
#include "src/commands/export_format.h"
#include "src/commands/line_input.h"
#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr size_t kMostAhead = 256;

class StoreStream : public ExportStream {
 public:
  StoreStream(std::unique_ptr<StoreAccess> access, json arguments)
      : access_(std::move(access)), thread_([this, arguments = std::move(arguments)] {
          Fetch(arguments);
        }) {}
  ~StoreStream() override {
    {
      const std::lock_guard lock(mutex_);
      is_left_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  StoreStream(const StoreStream&) = delete;
  StoreStream& operator=(const StoreStream&) = delete;

  StatusOr<std::optional<json>> Next() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !lines_.empty() || has_ended_; });
    if (lines_.empty()) {
      if (!ended_.ok()) return ended_;
      return std::optional<json>();
    }
    std::optional<json> line(std::move(lines_.front()));
    lines_.pop_front();
    changed_.notify_all();
    return line;
  }

 private:
  void Fetch(const json& arguments) {
    const auto take = [&](json record) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return lines_.size() < kMostAhead || is_left_; });
      if (is_left_) return false;
      lines_.push_back(std::move(record));
      changed_.notify_all();
      return true;
    };
    const Status ended = access_->Call("export", arguments, take).status();
    const std::lock_guard lock(mutex_);
    ended_ = ended;
    has_ended_ = true;
    changed_.notify_all();
  }

  const std::unique_ptr<StoreAccess> access_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<json> lines_;
  bool is_left_ = false;  // nobody takes any more
  bool has_ended_ = false;
  Status ended_;
  std::thread thread_;  // the last: it uses what is above
};

class FileStream : public ExportStream {
 public:
  FileStream(std::string path, Descriptor file)
      : path_(std::move(path)), file_(std::move(file)), input_(file_.get()) {}

  StatusOr<std::optional<json>> Next() override {
    CELLFS_ASSIGN_OR_RETURN(const auto text, input_.NextLine());
    if (!text) {
      if (has_ended_) return std::optional<json>();
      return Status(StatusCode::kUnavailable, path_ + ": the export was cut short: it has no end");
    }
    ++number_;
    auto line = FromJsonText(*text);
    if (!line || !line->is_object() || (number_ == 1 && !line->contains(kExportMember)))
      return Status(StatusCode::kIllegalArgument,
                    path_ + ": line " + std::to_string(number_) + " is none of an export");
    has_ended_ = line->contains(kEndMember);
    return std::optional(*std::move(line));
  }

 private:
  const std::string path_;
  const Descriptor file_;
  LineInput input_;
  int64_t number_ = 0;
  bool has_ended_ = false;
};

}  // namespace

StatusOr<std::unique_ptr<ExportStream>> ExportStream::OfStore(const Front& front,
                                                              const std::string& target,
                                                              json arguments) {
  CELLFS_ASSIGN_OR_RETURN(auto access, front.Open(target, arguments, /*only_reads=*/true));
  return std::unique_ptr<ExportStream>(
      std::make_unique<StoreStream>(std::move(access), std::move(arguments)));
}

StatusOr<std::unique_ptr<ExportStream>> ExportStream::OfFile(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0)
    return Status(StatusCode::kIllegalArgument,
                  "'" + path + "' cannot be read: " + std::strerror(errno));
  return std::unique_ptr<ExportStream>(std::make_unique<FileStream>(path, std::move(file)));
}

}  // namespace cellfs
