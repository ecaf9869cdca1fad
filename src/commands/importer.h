// SPDX-License-Identifier: MIT
//
// Importer: a text on its way into a store, some of it at a time, however long it is.
#ifndef CELLFS_SRC_COMMANDS_IMPORTER_H_
#define CELLFS_SRC_COMMANDS_IMPORTER_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "src/commands/command.h"
#include "src/commands/line_input.h"
#include "src/commands/progress.h"

namespace cellfs {

// How far an import has come, in a file. No path: nowhere.
class ImportState {
 public:
  explicit ImportState(std::string path) : path_(std::move(path)) {}

  struct Done {
    int64_t lines = 0;            // all up to there
    bool is_open_export = false;  // whose last line is to come
  };
  // kIllegalArgument: the file is something else.
  StatusOr<Done> Read() const;
  Status Write(const Done& done) const;

 private:
  const std::string path_;
};

// All outlive it. One thread.
class Importer {
 public:
  // `options` go with each call of `import`.
  Importer(StoreAccess& access, nlohmann::json options, const ImportState& state,
           Progress& progress)
      : access_(access), options_(std::move(options)), state_(state), progress_(progress) {}

  // All of it, behind what was done. kUnavailable: an export that was cut short; what it has is
  // stored.
  Status Import(LineInput& input, const ImportState::Done& done);

  uint64_t cells() const { return cells_; }
  uint64_t refused() const { return refused_; }

 private:
  Status SkipDone(LineInput& input);
  // How much of the text was taken.
  StatusOr<size_t> Send(const std::string& text, bool is_whole);
  void Refuse(int64_t number, const std::string& why);

  StoreAccess& access_;
  const nlohmann::json options_;
  const ImportState& state_;
  Progress& progress_;
  ImportState::Done done_;
  uint64_t bytes_ = 0;      // read
  uint64_t cells_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_IMPORTER_H_
