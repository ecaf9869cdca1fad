// SPDX-License-Identifier: MIT
//
// The bytes as the newest segment of a log: opening it gives records or says what is wrong, and a
// log that was opened opens again with the same records and takes more.
#include <map>

#include "engine/log/wal.h"
#include "tests/fuzz/target.h"

namespace {

using namespace cellfs;

// The files of a log, in memory.
class MemoryFiles : public FileLayer {
 public:
  StatusOr<std::unique_ptr<AppendFile>> OpenForAppend(const std::string& path) override {
    return std::unique_ptr<AppendFile>(std::make_unique<File>(files_[path]));
  }
  StatusOr<std::string> Read(const std::string& path) override { return files_[path]; }
  StatusOr<bool> Exists(const std::string& path) override { return files_.contains(path); }
  Status Rename(const std::string& from, const std::string& to) override {
    files_[to] = files_[from];
    return Remove(from);
  }
  Status Remove(const std::string& path) override {
    files_.erase(path);
    return {};
  }
  StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    std::vector<std::string> names;
    for (const auto& [path, bytes] : files_) names.push_back(path.substr(directory.size() + 1));
    return names;
  }
  Status MakeDirectory(const std::string&) override { return {}; }
  void StartSync(const std::string&) override {}
  Status SyncDirectory(const std::string&) override { return {}; }
  void RemoveTree(const std::string&) override {}
  uint64_t Hold(const std::string&, uint64_t bytes) override { return bytes; }
  StatusOr<StoreLock> Lock(const std::string&) override { return StoreLock(); }
  std::string& operator[](const std::string& path) { return files_[path]; }

 private:
  class File : public AppendFile {
   public:
    explicit File(std::string& bytes) : bytes_(bytes) {}
    Status Append(std::string_view bytes) override {
      bytes_ += bytes;
      return {};
    }
    Status Sync() override { return {}; }
    Status Truncate(uint64_t size) override {
      bytes_.resize(size);
      return {};
    }
    Status Reserve(uint64_t) override { return {}; }

   private:
    std::string& bytes_;
  };
  std::map<std::string, std::string> files_;
};

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  MemoryFiles files;
  files["wal/" + SegmentName(1)] = AsText(data, size);
  int records = 0;
  size_t bytes = 0;
  const LogVisitor count = [&](const LogRecord& record, LogPosition) {
    ++records;
    bytes += record.row.size();
    for (const CellView& cell : record.cells) bytes += cell.value.size() + cell.qualifier.size();
    return Status();
  };
  auto wal = Wal::Open(files, "wal", {}, count);
  if (!wal.ok()) return 0;
  FUZZ_CHECK(bytes <= size);
  const int before = records;
  const CellView cell{.row = "r", .family = "f", .qualifier = "q", .value = "v"};
  const LogRecord record{1, 1, "r", {&cell, 1}};
  FUZZ_CHECK((*wal)->Append({&record, 1}).ok());
  wal = std::unique_ptr<Wal>();
  records = 0;
  FUZZ_CHECK(Wal::Open(files, "wal", {}, count).ok());
  FUZZ_CHECK(records == before + 1);
  return 0;
}
