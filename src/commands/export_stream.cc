// SPDX-License-Identifier: MIT
#include "src/commands/export_stream.h"

#include <fcntl.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "engine/descriptor.h"
#include "src/commands/cell_json.h"
#include "src/commands/export_format.h"
#include "src/commands/line_input.h"
#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr size_t kMostAhead = 16;  // pieces of text

// What a line is about.
enum class About { kCell, kTable, kBeginning, kEnd, kOther, kNothing };

class LineReader {
 public:
  About Read(std::string_view text, ExportLine& line) {
    line.is_cell = json_.Read(text, line.cell);
    if (line.is_cell) {
      line.table = line.cell.Text(CellLine::kTable);
      return About::kCell;
    }
    const auto object = FromJsonText(text);
    if (!object || !object->is_object()) return About::kNothing;
    if (object->contains(kExportMember)) return About::kBeginning;
    if (object->contains(kEndMember)) return About::kEnd;
    if (!object->contains("table") || !(*object)["table"].is_string()) return About::kOther;
    line.table = (*object)["table"].get<std::string>();
    return About::kTable;
  }

 private:
  CellJsonReader json_;
};

bool IsTold(About about) { return about == About::kCell || about == About::kTable; }

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

  StatusOr<bool> Next(ExportLine& line) override {
    for (;;) {
      if (taken_ == text_.size()) {
        CELLFS_ASSIGN_OR_RETURN(const bool is_more, NextText());
        if (!is_more) return false;
      }
      const size_t end = text_.find('\n', taken_);  // each piece is of whole lines
      const auto text = std::string_view(text_).substr(taken_, end - taken_);
      taken_ = end + 1;
      if (IsTold(reader_.Read(text, line))) return true;
    }
  }

 private:
  StatusOr<bool> NextText() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !texts_.empty() || has_ended_; });
    if (texts_.empty()) {
      if (!ended_.ok()) return ended_;
      return false;
    }
    text_ = std::move(texts_.front());
    taken_ = 0;
    texts_.pop_front();
    changed_.notify_all();
    return true;
  }
  void Fetch(const json& arguments) {
    const auto take = [&](json record) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return texts_.size() < kMostAhead || is_left_; });
      if (is_left_) return false;
      texts_.push_back(std::move(record["text"].get_ref<std::string&>()));
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
  LineReader reader_;
  std::string text_;  // that is read
  size_t taken_ = 0;  // of it
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> texts_;
  bool is_left_ = false;  // nobody takes any more
  bool has_ended_ = false;
  Status ended_;
  std::thread thread_;  // the last: it uses what is above
};

class FileStream : public ExportStream {
 public:
  FileStream(std::string path, Descriptor file)
      : path_(std::move(path)), file_(std::move(file)), input_(file_.get()) {}

  StatusOr<bool> Next(ExportLine& line) override {
    for (;;) {
      CELLFS_ASSIGN_OR_RETURN(const auto text, input_.NextLine());
      if (!text) {
        if (has_ended_) return false;
        return Status(StatusCode::kUnavailable, path_ + ": the export was cut short: it has no end");
      }
      ++number_;
      const About about = reader_.Read(*text, line);
      if (about == About::kNothing || (number_ == 1 && about != About::kBeginning))
        return Status(StatusCode::kIllegalArgument,
                      path_ + ": line " + std::to_string(number_) + " is none of an export");
      has_ended_ = about == About::kEnd;
      if (IsTold(about)) return true;
    }
  }

 private:
  const std::string path_;
  const Descriptor file_;
  LineInput input_;
  LineReader reader_;
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
