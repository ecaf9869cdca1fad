// SPDX-License-Identifier: MIT
#include "src/commands/line_input.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace cellfs {

Status LineInput::ReadPiece() {
  char piece[size_t{64} << 10];
  ssize_t length = 0;
  do {
    length = read(descriptor_, piece, sizeof piece);
  } while (length < 0 && errno == EINTR);
  if (length < 0) {
    return {StatusCode::kUnavailable,
            std::string(descriptor_ == STDIN_FILENO ? "standard input" : "the file") +
                " cannot be read: " + strerror(errno)};
  }
  at_end_ = length == 0;
  read_.append(piece, static_cast<size_t>(length));
  return {};
}

StatusOr<std::optional<std::string>> LineInput::NextLine() {
  size_t searched = taken_;
  while (true) {
    const size_t end = read_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = read_.substr(taken_, end - taken_);
      taken_ = end + 1;
      return std::optional(std::move(line));
    }
    if (at_end_) break;
    read_.erase(0, std::exchange(taken_, 0));
    searched = read_.size();
    CELLFS_RETURN_IF_ERROR(ReadPiece());
  }
  if (taken_ == read_.size()) return std::optional<std::string>();
  return std::optional(read_.substr(std::exchange(taken_, read_.size())));
}

StatusOr<std::string> LineInput::All() {
  while (!at_end_) CELLFS_RETURN_IF_ERROR(ReadPiece());
  return read_.substr(std::exchange(taken_, read_.size()));
}

StatusOr<bool> LineInput::Fill(std::string& text, size_t most) {
  while (text.size() < most) {
    const size_t found = std::min(most - text.size(), read_.size() - taken_);
    text.append(read_, taken_, found);
    taken_ += found;
    if (found > 0) continue;
    if (at_end_) return true;
    read_.clear();
    taken_ = 0;
    CELLFS_RETURN_IF_ERROR(ReadPiece());
  }
  return at_end_ && taken_ == read_.size();
}

StatusOr<int> CallWithInput(const Front& front, const Command& command, const Arguments& arguments,
                            bool wanted) {
  nlohmann::json sent = arguments.values();
  if (wanted) {
    CELLFS_ASSIGN_OR_RETURN(sent["input"], LineInput().All());
  }
  CELLFS_ASSIGN_OR_RETURN(
      const Answer answer,
      CallAndPrint(front, command, arguments.Text("target"), std::move(sent)));
  return ExitCodeOf(answer);
}

}  // namespace cellfs
