// SPDX-License-Identifier: MIT
//
// ScrubState: what the store keeps of its scrubs in SCRUB, a sealed file: what the last one has
// found, and how far the one under way has come, so that it goes on when the store is opened again.
#ifndef CELLFS_ENGINE_LOCAL_SCRUB_STATE_H_
#define CELLFS_ENGINE_LOCAL_SCRUB_STATE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/cell.h"
#include "engine/disk/file_layer.h"
#include "engine/schema.h"

namespace cellfs {

inline constexpr char kScrubFile[] = "SCRUB";
inline constexpr size_t kMostScrubFindings = 100;  // that are kept of a scrub

struct ScrubFinding {
  std::string file;        // in the store's directory
  std::string what;        // for people, without the names of rows
  bool was_there = false;  // the file was: once it has gone, so has what was found in it

  friend bool operator==(const ScrubFinding&, const ScrubFinding&) = default;
};

struct ScrubPass {
  Timestamp begun = 0;  // 0: there is none
  Timestamp ended = 0;
  uint64_t files = 0;  // store files and segments of the log that were read
  uint64_t bytes = 0;
  std::vector<ScrubFinding> found;  // the first kMostScrubFindings

  void Add(ScrubFinding finding);  // unless it has it already

  friend bool operator==(const ScrubPass&, const ScrubPass&) = default;
};

struct ScrubState {
  ScrubPass last;  // that came to its end
  ScrubPass now;   // that is under way
  std::map<TableId, std::set<uint64_t>> read;  // the store files that it has read, by their numbers

  friend bool operator==(const ScrubState&, const ScrubState&) = default;
};

// An empty one where there is no file, or none that can be read: nothing is lost but the past.
ScrubState ReadScrubState(FileLayer& files, const std::string& directory);
// As ReplaceFile.
Status SaveScrubState(FileLayer& files, const std::string& directory, const ScrubState& state);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_SCRUB_STATE_H_
