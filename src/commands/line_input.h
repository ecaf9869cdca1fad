// SPDX-License-Identifier: MIT
//
// LineInput: what comes on standard input, or from a file, for commands that put it. An error is no
// end: what was read before one is not all that was meant.
#ifndef CELLFS_SRC_COMMANDS_LINE_INPUT_H_
#define CELLFS_SRC_COMMANDS_LINE_INPUT_H_

#include <optional>
#include <string>

#include "engine/status_or.h"
#include "src/commands/arguments.h"
#include "src/commands/command.h"

namespace cellfs {

// Not thread-safe.
class LineInput {
 public:
  // The descriptor stays its owner's.
  explicit LineInput(int descriptor = 0) : descriptor_(descriptor) {}

  // Without its end; nullopt: there is none any more.
  StatusOr<std::optional<std::string>> NextLine();
  StatusOr<std::string> All();
  // Adds to the text what comes, until it has so many bytes. True: there is no more.
  StatusOr<bool> Fill(std::string& text, size_t most);

 private:
  Status ReadPiece();

  const int descriptor_;
  std::string read_;
  size_t taken_ = 0;  // of what was read
  bool at_end_ = false;
};

// A word of a value that stands for it.
inline constexpr char kStandardInputWord[] = "-";

// The command once, with what comes on standard input as "input" if it is `wanted`.
StatusOr<int> CallWithInput(const Front& front, const Command& command, const Arguments& arguments,
                            bool wanted);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_LINE_INPUT_H_
