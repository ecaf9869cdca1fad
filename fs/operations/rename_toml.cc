// SPDX-License-Identifier: MIT
#include "fs/operations/rename_toml.h"

#include <mutex>
#include <string>
#include <utility>

#include "fs/schema/schema_text.h"

namespace cellfs::fs {
namespace {

std::string BytesOf(MemoryFile& file) {
  std::lock_guard lock(file.mutex);
  return file.bytes();
}

// A .toml stays whose it is, whoever may write it. A copy or an editor of its owner's brings the
// group and the mode as well, one of root's all three.
AttributeUpdate CarriedToToml(const Renaming& with, const Request& request, MemoryFile& file,
                              const OwnerAndMode& toml) {
  const bool is_root = request.uid == 0 || !with.reading.AreModesEnforced();
  AttributeUpdate update;
  const std::lock_guard lock(file.mutex);
  update.mtime = file.mtime;
  if (is_root) update.uid = file.uid;
  if (!is_root && (request.uid != toml.uid || file.uid != toml.uid)) return update;
  update.gid = file.gid;
  update.mode = file.mode;
  return update;
}

}  // namespace

Outcome ApplyMemory(const Renaming& with, const SchemaChanges::Turn& turn, const Request& request,
                    const ResolvedEntry& from, const Place& to) {
  MemoryFile& file = *from.unstored->file;
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode toml, with.attributes.FindOwner(to));
  CELLFS_RETURN_IF_FAILED(with.schemas.Apply(turn, *request.caller, to, BytesOf(file)));
  with.tree.unstored.Remove(from.place);
  const AttributeUpdate update = CarriedToToml(with, request, file, toml);
  with.errors.Record("rename", to, with.attributes.Update(to, update));
  return {};
}

Outcome PutTomlAside(const Renaming& with, const Place& from, const Place& to) {
  CELLFS_ASSIGN_OR_RETURN(std::string text, TomlText(with.reading, from));
  CELLFS_ASSIGN_OR_RETURN(const ShownAttributes shown, with.attributes.Find(from, -1));
  CELLFS_ASSIGN_OR_RETURN(auto file, with.tree.memory_files.Make(shown.uid));
  CELLFS_RETURN_IF_FAILED(file->Write(text, 0));
  UnstoredEntry entry{to, UnstoredReason::kMemory, ToTimespec(with.tree.clock.Now()),
                      std::move(file)};
  entry.file->uid = shown.uid;
  entry.file->gid = shown.gid;
  entry.file->mode = shown.mode;
  entry.file->mtime = entry.file->ctime = entry.made;
  with.tree.unstored.Remove(to);
  with.tree.unstored.Add(std::make_shared<const UnstoredEntry>(std::move(entry)));
  with.tree.unstored.HideToml(from.Parent());
  return {};
}

}  // namespace cellfs::fs
