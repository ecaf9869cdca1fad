// SPDX-License-Identifier: MIT
#include "fs/content/view_reader.h"

#include <cerrno>
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

OutcomeOr<Timestamp> ViewReader::Open() {
  const auto lock = TakeLock(mutex_);
  CELLFS_RETURN_IF_FAILED(Load().status());
  return *version_;
}

OutcomeOr<SharedBytes> ViewReader::Read(uint64_t offset, size_t size, ReadFor /*what*/) {
  const auto lock = TakeLock(mutex_);
  std::shared_ptr<const std::string> bytes = bytes_;
  if (bytes == nullptr) {
    CELLFS_ASSIGN_OR_RETURN(bytes, Load());
  }
  return SharedBytes::Slice(bytes, offset, size);
}

// Without room for it it is read again for each piece.
OutcomeOr<std::shared_ptr<const std::string>> ViewReader::Load() {
  const Snapshot<Place> place = node_->place();
  auto shown = contents_.Read(caller_, *place);
  const bool has_gone = shown.error() == ENOENT || (shown.ok() && shown->version != version_);
  if (version_ && has_gone) return Outcome(ESTALE, "what was opened has been replaced");
  if (!shown.ok()) return shown.status();
  version_ = shown->version;
  auto bytes = std::make_shared<const std::string>(std::move(shown->bytes));
  if (share_.Resize(bytes->size())) {
    bytes_ = bytes;
  } else {
    static_cast<void>(share_.Resize(0));
  }
  return bytes;
}

}  // namespace cellfs::fs
