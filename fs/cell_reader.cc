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
  const auto expires = ExpiryOf(cell, (*schema)->FindFamily(cell.family));
  node.Know({cell.timestamp, cell.value_length, expires}, looked_at);
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
  return unstored->file->bytes;
}

Outcome CellReader::Hold() {
  std::lock_guard lock(mutex_);
  if (held_) return {};
  CELLFS_RETURN_IF_FAILED(LoadLocked());
  held_ = true;
  return {};
}

void CellReader::BeforeNameGoes() {
  if (!node_->unlinked()) (void)Hold();
}

OutcomeOr<SharedBytes> CellReader::Read(uint64_t offset, size_t size) {
  std::lock_guard lock(mutex_);
  CELLFS_RETURN_IF_FAILED(LoadLocked());
  if (held_ && offset >= bytes_->size()) CELLFS_RETURN_IF_FAILED(GoOnLocked());
  return SharedBytes::Slice(bytes_, offset, size);
}

Outcome CellReader::GoOnLocked() {
  const uint64_t generation = node_->generation();
  if (generation == generation_ || node_->unlinked()) return {};
  generation_ = generation;
  auto newer = WholeFile(mount_, caller_, *node_->place(), node_.get());
  if (newer.ok() && newer->starts_with(*bytes_)) {
    bytes_ = std::make_shared<const std::string>(*std::move(newer));
  }
  return {};
}

Outcome CellReader::LoadLocked() {
  const uint64_t generation = node_->generation();
  if (held_ || (bytes_ != nullptr && (generation == generation_ || node_->unlinked()))) return {};
  CELLFS_ASSIGN_OR_RETURN(std::string bytes,
                          WholeFile(mount_, caller_, *node_->place(), node_.get()));
  bytes_ = std::make_shared<const std::string>(std::move(bytes));
  generation_ = generation;
  return {};
}

// Only a file without a name has to be described by who has it open.
std::optional<PendingWrite> CellReader::pending() const {
  if (!node_->unlinked() || is_late_) return std::nullopt;
  std::lock_guard lock(mutex_);
  PendingWrite shown;
  shown.size = bytes_ == nullptr ? 0 : bytes_->size();
  shown.written = FromMilliseconds(mount_.clock->Now());
  return shown;
}

}  // namespace cellfs::fs
