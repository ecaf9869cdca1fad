// SPDX-License-Identifier: MIT
//
// CounterWriter: .counters/q opened for writing. Each write(2) that ends a line adds what the lines
// in it say and fails where that cannot be added, because shells hear of a failed write and not of
// a failed close. What follows the last line's end is added when a descriptor is closed.
#ifndef CELLFS_FS_CONTENT_COUNTER_WRITER_H_
#define CELLFS_FS_CONTENT_COUNTER_WRITER_H_

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/caller.h"
#include "fs/content/counters.h"
#include "fs/files/file_handle.h"
#include "fs/nodes/node.h"
#include "fs/nodes/unstored_entries.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// A stream: bytes are taken in the order in which they come, whatever their offsets.
class CounterWriter final : public FileHandle {
 public:
  // `claim`: the counter's place, as which it stands in `unstored` while it is being made.
  CounterWriter(const Counters& counters, UnstoredEntries& unstored, Caller caller, NodePtr node,
                Place claim)
      : counters_(counters),
        unstored_(unstored),
        caller_(std::move(caller)),
        node_(std::move(node)),
        claim_(std::move(claim)) {}

  OutcomeOr<SharedBytes> Read(uint64_t offset, size_t size, ReadFor what) override;
  Outcome Write(std::string_view bytes, uint64_t offset, WriteFrom from) override;
  Outcome Truncate(uint64_t size) override;
  Outcome Flush() override;
  // A claim that nothing was added to goes.
  void Release() override { unstored_.Remove(claim_); }

 private:
  Outcome Take(std::string_view bytes);
  Outcome Add(std::string_view lines);

  const Counters& counters_;
  UnstoredEntries& unstored_;
  const Caller caller_;
  const NodePtr node_;
  const Place claim_;
  std::mutex mutex_;  // guards the rest
  std::string rest_;  // that no line's end has followed yet
  bool has_added_ = false;
  std::optional<Outcome> failed_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_COUNTER_WRITER_H_
