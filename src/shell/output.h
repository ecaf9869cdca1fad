// SPDX-License-Identifier: MIT
//
// Output: what HBase's shell prints, in its forms: a head, rows of one or two columns, how many there
// were. On a terminal the first column has a quarter of the width and both go on in further lines;
// elsewhere each row is one line.
#ifndef CELLFS_SRC_SHELL_OUTPUT_H_
#define CELLFS_SRC_SHELL_OUTPUT_H_

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "engine/cell.h"

namespace cellfs::shell {

// Not thread-safe.
class Output {
 public:
  explicit Output(std::FILE* file) : file_(file) {}

  // Heads begin the count of rows anew. The width of a terminal is asked for here.
  void Head(std::string_view only);
  void Head(std::string_view first, std::string_view second);
  void Row(std::string_view only);
  void Row(std::string_view first, std::string_view second);
  void Footer() { Footer(rows_); }
  void Footer(uint64_t rows);  // "3 row(s)"
  void Line(std::string_view text);

  void Flush() { std::fflush(file_); }

  // Whether somebody reads on: false too where he has pressed ^C since the command began.
  bool ok() const { return std::ferror(file_) == 0 && !is_interrupted; }
  // ^C was pressed; true: it was already. May be called by a signal's handler.
  static bool Interrupt() {
    const bool was = is_interrupted != 0;
    is_interrupted = 1;
    return was;
  }
  static bool IsInterrupted() { return is_interrupted != 0; }
  // What comes now is a new command. What an interrupt has ended may be a write amid it.
  void Begin() {
    if (is_interrupted != 0) std::clearerr(file_);
    is_interrupted = 0;
  }

 private:
  void Columns(std::string_view first, std::string_view second, bool is_row);
  void Padded(std::string_view text, size_t width);
  void MeasureWidth();

  inline static volatile std::sig_atomic_t is_interrupted = 0;

  std::FILE* const file_;
  size_t width_ = 0;  // 0: no terminal
  uint64_t rows_ = 0;
};

// As HBase's Bytes.toStringBinary: what is no printable ASCII is \xNN, and so is a backslash.
std::string BinaryText(std::string_view bytes);
// The time of a cell as the shell shows it, of this zone: 2026-11-22T18:00:05.123; what is zero from
// the seconds on is left out.
std::string TimestampText(Timestamp timestamp);

}  // namespace cellfs::shell

#endif  // CELLFS_SRC_SHELL_OUTPUT_H_
