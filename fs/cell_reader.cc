// SPDX-License-Identifier: MIT
#include "fs/cell_reader.h"

#include "fs/attributes.h"
#include "fs/cellfs_directory.h"
#include "fs/reading.h"
#include "fs/toml_files.h"

namespace cellfs::fs {

namespace {

// Once a file was read the kernel asks for its attributes again.
void Learn(MountContext& mount, const Place& file, const Cell& cell, uint64_t looked_at,
           Node& node) {
  if (node.known()) return;
  const auto schema = mount.store.DescribeTable(file.table);
  if (!schema.ok()) return;
  node.Know(KnownOf(cell, (*schema)->FindFamily(cell.family)), looked_at);
}

}  // namespace

OutcomeOr<std::string> WholeFile(MountContext& mount, const Caller& caller, const Place& file,
                                 Node* node) {
  switch (file.kind) {
    case PlaceKind::kSchemaFile:
    case PlaceKind::kNamespaceFile:
      return TomlText(mount, file);
    case PlaceKind::kSelfFile:
    case PlaceKind::kKeyFile:
      return CellfsDirectory(mount).Text(file);
    default:
      break;
  }
  const auto unstored = mount.unstored.Find(file);  // first: a claim goes once a value is stored
  if (file.IsColumn()) {
    const uint64_t looked_at = Node::NewestGeneration();
    CELLFS_ASSIGN_OR_RETURN(auto cell, ReadColumn(mount, caller, file, ReadDetail::kValues));
    if (cell && node != nullptr && MayBeKnown(caller, file))
      Learn(mount, file, *cell, looked_at, *node);
    if (cell) return FileBytes(file, *std::move(cell));
  }
  if (!unstored) return Outcome(ENOENT);
  if (unstored->file == nullptr) return std::string();  // between CREATE and the first put
  std::lock_guard lock(unstored->file->mutex);
  return unstored->file->bytes();
}

Outcome CellReader::Hold() {
  std::lock_guard lock(mutex_);
  CELLFS_RETURN_IF_FAILED(LoadLocked());
  held_ = bytes_ != nullptr;
  return {};
}

void CellReader::BeforeNameGoes(const std::shared_ptr<NamelessFile>& file) {
  nameless_.Keep(file, CheckMayRead(mount_, caller_, *node_->place()));
}

OutcomeOr<SharedBytes> CellReader::Read(uint64_t offset, size_t size) {
  std::lock_guard lock(mutex_);
  CELLFS_RETURN_IF_FAILED(LoadLocked());
  if (bytes_ == nullptr) return nameless_.Read(offset, size);
  if (held_ && offset >= bytes_->size()) CELLFS_RETURN_IF_FAILED(GoOnLocked());
  return SharedBytes::Slice(bytes_, offset, size);
}

Outcome CellReader::GoOnLocked() {
  if (is_late_) return {};
  const auto lock = mount_.column_locks.Take(*node_);
  OutcomeOr<std::string> newer = std::string();
  if (node_->unlinked()) {
    const auto file = nameless_.file();
    if (file != nullptr && file->shown().size > bytes_->size()) newer = nameless_.Bytes();
  } else if (const uint64_t generation = node_->generation(); generation != generation_) {
    newer = WholeFile(mount_, caller_, *lock.place, node_.get());
    if (!newer.ok() && newer.error() != ENOENT) return newer.status();
    generation_ = generation;
  }
  if (newer.ok() && newer->starts_with(*bytes_)) {
    bytes_ = std::make_shared<const std::string>(*std::move(newer));
  }
  return {};
}

// Under the column's lock: what is read is this file's, not that of whoever gets its name. A file
// without a name is not loaded.
Outcome CellReader::LoadLocked() {
  if (held_) return {};
  if (bytes_ != nullptr && generation_ == node_->generation() && !node_->unlinked()) return {};
  const auto lock = mount_.column_locks.Take(*node_);
  if (node_->unlinked() && !is_late_) {
    bytes_.reset();
    return nameless_.file() == nullptr ? Outcome(ESTALE) : Outcome();
  }
  generation_ = node_->generation();
  Node* const learns = is_late_ ? nullptr : node_.get();
  CELLFS_ASSIGN_OR_RETURN(auto bytes, WholeFile(mount_, caller_, *lock.place, learns));
  bytes_ = std::make_shared<const std::string>(std::move(bytes));
  return {};
}

// Only a file without a name has to be described by who has it open.
std::optional<PendingWrite> CellReader::pending() const {
  if (!node_->unlinked() || is_late_) return std::nullopt;
  const auto file = nameless_.file();
  return file == nullptr ? std::nullopt : std::optional(file->shown());
}

}  // namespace cellfs::fs
