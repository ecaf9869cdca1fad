// SPDX-License-Identifier: MIT
#include "fs/content/view_reader.h"

#include <utility>

#include "engine/waiting.h"

namespace cellfs::fs {

ViewReader::ViewReader(OpenFileMemory& memory, const Contents& contents, const Request& request,
                       NodePtr node)
    : contents_(contents),
      caller_(*request.caller),
      node_(std::move(node)),
      share_(memory, request.uid) {
  user = request.uid;
}

OutcomeOr<SharedBytes> ViewReader::Read(uint64_t offset, size_t size, ReadFor /*what*/) {
  const auto lock = TakeLock(mutex_);
  std::shared_ptr<const std::string> bytes = bytes_;
  if (bytes == nullptr || generation_ != node_->generation()) {
    generation_ = node_->generation();
    const Snapshot<Place> place = node_->place();
    CELLFS_ASSIGN_OR_RETURN(auto value, contents_.WholeFile(caller_, *place));
    bytes = std::make_shared<const std::string>(std::move(value));
    // Without room for it it is read again for each piece.
    bytes_ = share_.Resize(bytes->size()) ? bytes : nullptr;
    if (bytes_ == nullptr) static_cast<void>(share_.Resize(0));
  }
  return SharedBytes::Slice(bytes, offset, size);
}

}  // namespace cellfs::fs
