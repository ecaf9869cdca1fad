// SPDX-License-Identifier: MIT
#include "src/commands/importer.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <utility>

namespace cellfs {
namespace {

using nlohmann::json;

constexpr size_t kBytesSent = size_t{8} << 20;
// Of a row that is longer the order of what has the same time may be lost.
constexpr size_t kMostBytesOfRow = size_t{16} << 20;
constexpr char kIsExport[] = "export";

}  // namespace

StatusOr<ImportState::Done> ImportState::Read() const {
  Done done;
  if (path_.empty()) return done;
  std::ifstream file(path_);
  if (!file && errno == ENOENT) return done;
  std::string word;
  const bool has_lines = static_cast<bool>(file >> done.lines) && done.lines >= 0;
  done.is_open_export = static_cast<bool>(file >> word);
  if (has_lines && (!done.is_open_export || word == kIsExport)) return done;
  return WrongCall("'" + path_ + "' is no state of an import; remove it to begin anew");
}

Status ImportState::Write(const Done& done) const {
  if (path_.empty()) return {};
  const std::string next = path_ + ".new";
  std::ofstream file(next, std::ios::trunc);
  file << done.lines << (done.is_open_export ? std::string(" ") + kIsExport : "") << "\n";
  file.close();
  if (file && std::rename(next.c_str(), path_.c_str()) == 0) return {};
  return {StatusCode::kIoError, "'" + path_ + "' cannot be written: " + std::strerror(errno)};
}

Status Importer::SkipDone(LineInput& input) {
  for (int64_t line = 0; line < done_.lines; ++line) {
    CELLFS_ASSIGN_OR_RETURN(const auto skipped, input.NextLine());
    if (!skipped) return {};
    bytes_ += skipped->size() + 1;
  }
  return {};
}

// What is left of a text comes again with what is read behind it. A row that has no end in it makes it
// longer, up to a bound; a line does so without one.
Status Importer::Import(LineInput& input, const ImportState::Done& done) {
  done_ = done;
  CELLFS_RETURN_IF_ERROR(SkipDone(input));
  size_t most = kBytesSent;
  for (std::string text;;) {
    CELLFS_ASSIGN_OR_RETURN(const bool is_end, input.Fill(text, most));
    CELLFS_ASSIGN_OR_RETURN(const size_t taken, Send(text, is_end));
    if (is_end) break;
    if (taken == 0) {
      most *= 2;
      if (most <= kMostBytesOfRow) continue;
      // Whole lines, of which more belong to the row.
      const size_t end = text.rfind('\n');
      if (end == text.npos) continue;
      CELLFS_RETURN_IF_ERROR(Send(text.substr(0, end + 1), /*is_whole=*/true).status());
      text.erase(0, end + 1);
    }
    most = kBytesSent;
    text.erase(0, taken);
  }
  if (!done_.is_open_export) return {};
  return {StatusCode::kUnavailable,
          "the export was cut short: it has no end; what it has is imported"};
}

StatusOr<size_t> Importer::Send(const std::string& text, bool is_whole) {
  json arguments = options_;
  arguments["text"] = text;
  arguments["line"] = static_cast<uint64_t>(done_.lines) + 1;
  if (is_whole) arguments["whole"] = true;
  size_t taken = 0;
  const auto take = [&](const json& record) {
    if (record.contains("refused")) {
      Refuse(record["line"].get<int64_t>(), record["refused"].get<std::string>());
      return true;
    }
    taken = record.value("bytes", size_t{0});
    done_.lines += record.value("lines", int64_t{0});
    done_.is_open_export |= record.value("begins", false);
    if (record.value("ends", false)) done_.is_open_export = false;
    cells_ += record.value("cells", uint64_t{0});
    return true;
  };
  CELLFS_RETURN_IF_ERROR(access_.Call("import", arguments, take).status());
  bytes_ += taken;
  progress_.Show(cells_, bytes_);
  if (taken > 0) CELLFS_RETURN_IF_ERROR(state_.Write(done_));
  return taken;
}

// Tells why, on standard error.
void Importer::Refuse(int64_t number, const std::string& why) {
  progress_.Clear();
  std::cerr << "cellfs: line " << number << ": " << why << "\n";
  ++refused_;
}

}  // namespace cellfs
