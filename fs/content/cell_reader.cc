// SPDX-License-Identifier: MIT
#include "fs/content/cell_reader.h"

#include <cerrno>

#include "engine/waiting.h"
#include "fs/requests/running_request.h"

namespace cellfs::fs {

CellReader::CellReader(LiveTree& tree, const Contents& contents, const Request& request,
                       NodePtr node)
    : memory_(tree.open_file_memory),
      contents_(contents),
      caller_(*request.caller),
      node_(std::move(node)),
      file_(node_->ShareFile()),
      is_late_(node_->unlinked()),
      share_(tree.open_file_memory, request.uid) {
  user = request.uid;
}

Outcome CellReader::Hold() {
  const auto own_lock = TakeLock(mutex_);
  const auto lock = ColumnLock::Of(*node_);
  if (node_->unlinked() && !is_late_) return {};  // the orphan file is read
  CELLFS_RETURN_IF_FAILED(Load());
  if (!file_->tail().empty()) {
    std::string bytes = *bytes_;
    file_->AddShownTo(bytes);
    bytes_ = std::make_shared<const std::string>(std::move(bytes));
  }
  if (!share_.Resize(bytes_->size())) return memory_.Full(ENOMEM);  // the open fails
  held_ = true;
  return {};
}

OutcomeOr<Timestamp> CellReader::KeepToVersion() {
  const auto own_lock = TakeLock(mutex_);
  const Snapshot<Place> place = node_->place();
  generation_ = node_->generation();
  CELLFS_ASSIGN_OR_RETURN(Contents::Shown shown, contents_.Read(caller_, *place));
  version_ = shown.version;
  auto bytes = std::make_shared<const std::string>(std::move(shown.bytes));
  if (share_.Resize(bytes->size())) {
    bytes_ = std::move(bytes);
  } else {
    static_cast<void>(share_.Resize(0));
  }
  return *version_;
}

void CellReader::NameGoes() {
  const Snapshot<Place> place = node_->place();
  may_read_orphan_ = contents_.CheckMayRead(caller_, *place);
}

OutcomeOr<SharedBytes> CellReader::Read(uint64_t offset, size_t size, ReadFor what) {
  if (what == ReadFor::kPages) file_->dropped_pages().AreRead(RunningRequest::AskerOfThisThread());
  const auto own_lock = TakeLock(mutex_);
  if (held_) return what == ReadFor::kProgram ? ReadHeld(offset, size) : ReadForPages(offset, size);
  const uint64_t generation = node_->generation();
  OutcomeOr<SharedBytes> read = SharedBytes();
  if (IsCurrent()) {
    read = SharedBytes::Slice(bytes_, offset, size);
  } else {
    CELLFS_ASSIGN_OR_RETURN(const auto lock, LoadAndLock());
    if (node_->unlinked() && !is_late_) {
      bytes_.reset();
      static_cast<void>(share_.Resize(0));
      return ReadOrphan(offset, size);
    }
    read = file_->Read(bytes_, generation_, offset, size);
    static_cast<void>(file_->HoldEdits(memory_, user));
    // Without room for it the value is read again for each piece.
    if (!share_.Resize(bytes_->size())) {
      bytes_.reset();
      static_cast<void>(share_.Resize(0));
    }
  }
  WarnOfMixedPages(generation);
  return read;
}

// What is read is this file's, not that of whoever gets its name. Of what nobody writes now nothing
// is read under the lock, where that may take as long as there is history.
OutcomeOr<ColumnLock> CellReader::LoadAndLock() {
  while (true) {
    const auto place = node_->place();
    const bool is_history = IsOfHistory(*place) && file_->writers() == 0;
    Outcome loaded = is_history ? LoadAnew() : Outcome();
    auto lock = ColumnLock::Of(*node_);
    if (node_->unlinked() && !is_late_) return lock;
    if (!is_history) loaded = LoadAnew();
    if (loaded.ok()) return lock;
    const Snapshot<Place> now = node_->place();
    if (*now == *place) return loaded;
  }
}

// Where another client has removed the file, what was read of it before is read on.
Outcome CellReader::LoadAnew() {
  const uint64_t generation = node_->generation();
  if (bytes_ != nullptr && generation_ == generation) return {};
  const Outcome loaded = Load();
  if (loaded.error() != ENOENT) return loaded;
  if (bytes_ == nullptr) return ESTALE;
  generation_ = generation;
  return {};
}

// Without the lock. What is not put is looked for first: a put takes it away only when the
// generation says that the value is another.
bool CellReader::IsCurrent() const {
  return bytes_ != nullptr && !file_->has_tail() && !file_->has_edits() &&
         generation_ == node_->generation() && !node_->unlinked();
}

// While somebody writes, the kernel's page may get what was read here after what was written there.
void CellReader::WarnOfMixedPages(uint64_t generation_before) {
  const bool is_mixed = file_->is_replaced() && node_->handle_count() > 1;
  if (!is_mixed && node_->generation() == generation_before) return;
  const auto lock = ColumnLock::Of(*node_);
  if (is_mixed || !file_->OnlySharedPuts(generation_before, node_->generation()))
    node_->PagesAreStale();
}

OutcomeOr<SharedBytes> CellReader::ReadHeld(uint64_t offset, size_t size) {
  if (offset >= bytes_->size()) CELLFS_RETURN_IF_FAILED(GoOn());
  return SharedBytes::Slice(bytes_, offset, size);
}

// A mapping of a file that is being written: what it is given others see too, so it is the file that
// all share. The put of who replaces it drops it.
OutcomeOr<SharedBytes> CellReader::ReadForPages(uint64_t offset, size_t size) {
  const auto lock = ColumnLock::Of(*node_);
  if (node_->unlinked() && !is_late_) return ReadOrphan(offset, size);
  const Snapshot<Place> place = node_->place();
  auto newest = contents_.WholeFile(caller_, *place, is_late_ ? nullptr : node_.get());
  if (!newest.ok() && newest.error() != ENOENT) return newest.status();
  if (file_->is_replaced()) node_->PagesAreStale();
  if (!newest.ok()) newest = std::string();
  const auto stored = std::make_shared<const std::string>(*std::move(newest));
  SharedBytes read = file_->Read(stored, node_->generation(), offset, size);
  static_cast<void>(file_->HoldEdits(memory_, user));
  return read;
}

Outcome CellReader::GoOn() {
  if (is_late_) return {};
  const auto lock = ColumnLock::Of(*node_);
  OutcomeOr<std::string> newer = std::string();
  if (node_->unlinked()) {
    const OrphanFile* orphan = file_->orphan();
    if (orphan == nullptr || orphan->shown().size <= bytes_->size()) return {};
    CELLFS_RETURN_IF_FAILED(may_read_orphan_);
    newer = orphan->bytes();
  } else if (const uint64_t generation = node_->generation(); generation != generation_) {
    const Snapshot<Place> place = node_->place();
    newer = contents_.WholeFile(caller_, *place, node_.get());
    if (!newer.ok() && newer.error() != ENOENT) return newer.status();
    generation_ = generation;
  }
  if (newer.ok() && newer->starts_with(*bytes_)) {
    if (!share_.Resize(newer->size())) return memory_.Full(ENOMEM);
    bytes_ = std::make_shared<const std::string>(*std::move(newer));
  }
  return {};
}

OutcomeOr<SharedBytes> CellReader::ReadOrphan(uint64_t offset, size_t size) const {
  if (file_->orphan() == nullptr) return Outcome(ESTALE);
  CELLFS_RETURN_IF_FAILED(may_read_orphan_);
  return file_->orphan()->Read(offset, size);
}

Outcome CellReader::Load() {
  const Snapshot<Place> place = node_->place();
  generation_ = node_->generation();
  Node* const learns = is_late_ ? nullptr : node_.get();
  CELLFS_ASSIGN_OR_RETURN(Contents::Shown shown, contents_.Read(caller_, *place, learns));
  if (version_ && shown.version != *version_) return ENOENT;  // as if it had gone
  bytes_ = std::make_shared<const std::string>(std::move(shown.bytes));
  return {};
}

// Only a file without a name has to be described by who has it open.
std::optional<PendingWrite> CellReader::pending() const {
  if (!node_->unlinked() || is_late_) return std::nullopt;
  const auto lock = ColumnLock::Of(*node_);
  const OrphanFile* orphan = file_->orphan();
  return orphan == nullptr ? std::nullopt : std::optional(orphan->shown());
}

}  // namespace cellfs::fs
