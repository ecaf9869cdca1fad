// SPDX-License-Identifier: MIT
//
// Importer: lines on their way into a store: rows are gathered, put into the order in which they were
// written, and sent some at a time.
#ifndef CELLFS_SRC_COMMANDS_IMPORTER_H_
#define CELLFS_SRC_COMMANDS_IMPORTER_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/commands/command.h"
#include "src/commands/progress.h"

namespace cellfs {

// How far an import has come, in a file: the line up to which all is done. No path: nowhere.
class ImportState {
 public:
  explicit ImportState(std::string path) : path_(std::move(path)) {}

  // 0: nothing is done. kIllegalArgument: the file is something else.
  StatusOr<int64_t> Read() const;
  Status Write(int64_t line) const;

 private:
  const std::string path_;
};

// All outlive it. One thread.
class Importer {
 public:
  // `options` go with each call of `import`.
  Importer(StoreAccess& access, nlohmann::json options, const ImportState& state,
           Progress& progress);

  // A line about a cell.
  Status AddCell(nlohmann::json line, int64_t number, size_t bytes);
  // A line about a namespace or a table.
  Status AddSchema(nlohmann::json line, int64_t number);
  // Tells why, on standard error.
  void Refuse(int64_t number, const std::string& why);
  // All that was added is done.
  Status Finish();

  uint64_t cells() const { return cells_; }
  uint64_t refused() const { return refused_; }

 private:
  struct Added {
    nlohmann::json line;
    int64_t number;
  };

  Status EndRow();
  Status Send();

  StoreAccess& access_;
  const nlohmann::json options_;
  const ImportState& state_;
  Progress& progress_;
  std::vector<Added> row_;  // the one that is read
  size_t bytes_of_row_ = 0;
  nlohmann::json lines_ = nlohmann::json::array();  // of whole rows, to be sent
  nlohmann::json numbers_ = nlohmann::json::array();
  size_t bytes_ = 0;
  int64_t last_ = 0;  // the last line of these
  uint64_t cells_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_IMPORTER_H_
