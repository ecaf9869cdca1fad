// SPDX-License-Identifier: MIT
//
// Printer: what people and programs see of a command, on standard output. On a terminal tables are
// aligned and have a head, and colour where that is wanted; elsewhere each row is a line with tabs
// between its fields; with --json each record is a line of JSON.
#ifndef CELLFS_SRC_COMMANDS_PRINTER_H_
#define CELLFS_SRC_COMMANDS_PRINTER_H_

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cell.h"

namespace cellfs {

enum class Colour { kNone, kRed, kGreen, kYellow, kCyan, kBold };

// Bytes as HBase's shell writes them (Bytes.toStringBinary): what cannot be printed is \xNN, and so
// is a backslash; but UTF-8 stays as it is.
std::string ShownBytes(std::string_view bytes);
// The other way: \xNN is a byte, everything else itself.
std::string BytesOf(std::string_view shown);
std::string ShownSize(uint64_t bytes);    // "1.5 KiB"
std::string ShownTime(Timestamp time);    // "2026-11-22 18:00:00.123", of this zone
std::string ShownColumn(std::string_view family, std::string_view qualifier);  // "f:q"

// Of one thread.
class Printer {
 public:
  struct Style {
    bool json = false;
    bool terminal = false;
    bool colour = false;
  };

  Printer(std::FILE* output, const Style& style) : output_(output), style_(style) {}
  ~Printer() { Finish(); }
  Printer(const Printer&) = delete;
  Printer& operator=(const Printer&) = delete;

  const Style& style() const { return style_; }
  // Whether somebody may still read.
  bool ok() const { return failure_ == 0; }
  // The errno of what could not be written; EPIPE: who reads has enough.
  int failure() const { return failure_; }

  // A line of JSON, as src/daemon/json_text.h has it.
  void Json(const nlohmann::json& value);
  // What the rows below it are; for terminals.
  void Head(std::vector<std::string> names);
  // The widths of columns are those of the first rows.
  void Row(std::vector<std::string> fields);
  // Text of its own, between tables; what is not told by it ends the line.
  void Line(std::string_view text);
  // As it is.
  void Bytes(std::string_view bytes);
  std::string In(Colour colour, std::string_view text) const;
  // Writes what was kept back.
  void Finish();

 private:
  void NoteFailure();
  void WriteRow(const std::vector<std::string>& fields, bool is_head);
  void Measure(const std::vector<std::string>& fields);

  std::FILE* const output_;
  const Style style_;
  int failure_ = 0;
  std::vector<std::string> head_;
  std::vector<std::vector<std::string>> kept_;  // the first rows
  std::vector<size_t> widths_;
  bool has_measured_ = false;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_PRINTER_H_
