// SPDX-License-Identifier: MIT
#include "fs/content/contents.h"

#include "fs/schema/schema_text.h"

namespace cellfs::fs {

// Once a file was read the kernel asks for its attributes again.
void Contents::Learn(const Place& file, const Cell& cell, uint64_t looked_at, Node& node) const {
  if (node.cached_cell()) return;
  const auto schema = reading_.DescribeTable(file);
  if (!schema.ok()) return;
  node.Cache(CachedCellOf(cell, (*schema)->FindFamily(cell.family)), looked_at);
}

OutcomeOr<std::string> Contents::WholeFile(const Caller& caller, const Place& file,
                                           Node* node) const {
  CELLFS_ASSIGN_OR_RETURN(Shown shown, Read(caller, file, node));
  return std::move(shown.bytes);
}

OutcomeOr<Contents::Shown> Contents::Read(const Caller& caller, const Place& file,
                                          Node* node) const {
  const auto text = [](OutcomeOr<std::string> read) -> OutcomeOr<Shown> {
    if (!read.ok()) return read.status();
    return Shown{*std::move(read)};
  };
  if (file.IsToml()) return text(TomlText(reading_, file));
  if (file.traits().content == PlaceContent::kText) return text(self_.Text(file));
  const auto unstored = unstored_.Find(file);  // first: a claim goes once a value is stored
  if (file.IsColumn()) {
    const uint64_t looked_at = Node::NewestGeneration();
    auto read = ReadColumn(reading_, caller, file, ReadDetail::kValues);
    if (!read.ok()) return read.status();
    std::optional<Cell>& cell = *read;
    if (cell && node != nullptr && MayBeCached(reading_, caller, file))
      Learn(file, *cell, looked_at, *node);
    if (cell) {
      const Timestamp version = cell->timestamp;
      CELLFS_ASSIGN_OR_RETURN(std::string bytes, FileBytes(file, *std::move(cell)));
      return Shown{std::move(bytes), version};
    }
  }
  if (!unstored) return Outcome(ENOENT);
  if (unstored->file == nullptr) return Shown();  // between CREATE and the first put
  std::lock_guard lock(unstored->file->mutex);
  return Shown{unstored->file->bytes()};
}

// Only columns have rights of their own in the store.
Outcome Contents::CheckMayRead(const Caller& caller, const Place& file) const {
  if (caller.is_superuser() || !file.IsColumn()) return {};
  return ReadColumn(reading_, caller, file, ReadDetail::kLengths).status();
}

}  // namespace cellfs::fs
