// SPDX-License-Identifier: MIT
#include "src/commands/importer.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <utility>

#include "src/commands/import_lines.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr size_t kMostLinesSent = 2000;
constexpr size_t kMostBytesSent = size_t{1} << 20;
// Of a row that is longer the order of what has the same time may be lost.
constexpr size_t kMostBytesOfRow = size_t{16} << 20;

bool IsSame(const json& a, const json& b, const char* member) {
  const auto of_a = a.find(member);
  const auto of_b = b.find(member);
  if (of_a == a.end() || of_b == b.end()) return of_a == a.end() && of_b == b.end();
  return *of_a == *of_b;
}

}  // namespace

StatusOr<int64_t> ImportState::Read() const {
  if (path_.empty()) return int64_t{0};
  std::ifstream file(path_);
  if (!file && errno == ENOENT) return int64_t{0};
  int64_t line = 0;
  if (file >> line && line >= 0) return line;
  return WrongCall("'" + path_ + "' is no state of an import; remove it to begin anew");
}

Status ImportState::Write(int64_t line) const {
  if (path_.empty()) return {};
  const std::string next = path_ + ".new";
  std::ofstream file(next, std::ios::trunc);
  file << line << "\n";
  file.close();
  if (file && std::rename(next.c_str(), path_.c_str()) == 0) return {};
  return {StatusCode::kIoError, "'" + path_ + "' cannot be written: " + std::strerror(errno)};
}

Importer::Importer(StoreAccess& access, json options, const ImportState& state, Progress& progress)
    : access_(access), options_(std::move(options)), state_(state), progress_(progress) {}

Status Importer::AddCell(json line, int64_t number, size_t bytes) {
  const bool is_same_row = !row_.empty() && IsSame(row_.back().line, line, "row") &&
                           IsSame(row_.back().line, line, "table");
  if (!is_same_row || bytes_of_row_ > kMostBytesOfRow) CELLFS_RETURN_IF_ERROR(EndRow());
  row_.push_back({std::move(line), number});
  bytes_of_row_ += bytes;
  ++cells_;
  return {};
}

Status Importer::AddSchema(json line, int64_t number) {
  CELLFS_RETURN_IF_ERROR(Finish());
  json arguments = options_;
  arguments["schema"] = std::move(line);
  const Status made =
      access_.Call("import", arguments, [](const json&) { return true; }).status();
  if (!made.ok() && IsOfLine(made)) {
    Refuse(number, made.message());
    return {};
  }
  return made;
}

void Importer::Refuse(int64_t number, const std::string& why) {
  progress_.Clear();
  std::cerr << "cellfs: line " << number << ": " << why << "\n";
  ++refused_;
}

Status Importer::Finish() {
  CELLFS_RETURN_IF_ERROR(EndRow());
  return Send();
}

// In the order in which it was written, where that is told: what has the same time counts by it.
Status Importer::EndRow() {
  std::stable_sort(row_.begin(), row_.end(), [](const Added& a, const Added& b) {
    return SequenceOf(a.line) < SequenceOf(b.line);
  });
  for (Added& added : row_) {
    last_ = std::max(last_, added.number);
    numbers_.push_back(added.number);
    lines_.push_back(std::move(added.line));
  }
  bytes_ += bytes_of_row_;
  row_.clear();
  bytes_of_row_ = 0;
  return lines_.size() >= kMostLinesSent || bytes_ >= kMostBytesSent ? Send() : Status();
}

Status Importer::Send() {
  if (lines_.empty()) return {};
  json arguments = options_;
  arguments["lines"] = std::exchange(lines_, json::array());
  arguments["numbers"] = std::exchange(numbers_, json::array());
  bytes_ = 0;
  const auto take = [&](const json& record) {
    if (record.contains("refused"))
      Refuse(record["line"].get<int64_t>(), record["refused"].get<std::string>());
    return true;
  };
  CELLFS_RETURN_IF_ERROR(access_.Call("import", arguments, take).status());
  return state_.Write(last_);
}

}  // namespace cellfs
