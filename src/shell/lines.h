// SPDX-License-Identifier: MIT
//
// Lines: where a shell's lines come from: a terminal, with history and completion (libedit), or a
// script.
#ifndef CELLFS_SRC_SHELL_LINES_H_
#define CELLFS_SRC_SHELL_LINES_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/status_or.h"

namespace cellfs::shell {

class Lines {
 public:
  enum class End { kLine, kInterrupt, kNoMore };

  virtual ~Lines() = default;
  // Without its end. kInterrupt: who types has changed his mind.
  virtual StatusOr<End> Next(const std::string& prompt, std::string* line) = 0;
};

// The words that begin so, for the tabulator key.
using Complete = std::function<std::vector<std::string>(const std::string& begin)>;

// Keeps what was typed in a file of the user's, for the next time.
std::unique_ptr<Lines> TerminalLines(Complete complete);
std::unique_ptr<Lines> StandardInputLines();
// kIllegalArgument: it cannot be read.
StatusOr<std::unique_ptr<Lines>> FileLines(const std::string& path);

}  // namespace cellfs::shell

#endif  // CELLFS_SRC_SHELL_LINES_H_
