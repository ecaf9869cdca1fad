// SPDX-License-Identifier: MIT
//
// TextOut: the text of an export on its way out, some at a time: records {"text", "count"}, of so many
// cells or rows.
#ifndef CELLFS_SRC_COMMANDS_TEXT_OUT_H_
#define CELLFS_SRC_COMMANDS_TEXT_OUT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "src/commands/command.h"

namespace cellfs {

class TextOut {
 public:
  // The session outlives it.
  explicit TextOut(Session& session) : session_(session) {}

  // What is added to it goes out whole.
  std::string& text() { return text_; }
  // Behind a cell or row. Whether somebody still listens.
  bool Count() {
    ++count_;
    if (text_.size() >= kBytesOfRecord) Send();
    return is_listened_to_;
  }
  void Send() {
    if (text_.empty()) return;
    is_listened_to_ = session_.take({{"text", std::exchange(text_, {})}, {"count", count_}});
    sent_ += std::exchange(count_, 0);
  }
  uint64_t count() const { return sent_ + count_; }
  bool is_listened_to() const { return is_listened_to_; }

 private:
  static constexpr size_t kBytesOfRecord = size_t{64} << 10;

  Session& session_;
  std::string text_;
  uint64_t count_ = 0;  // in it
  uint64_t sent_ = 0;
  bool is_listened_to_ = true;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_TEXT_OUT_H_
