// SPDX-License-Identifier: MIT
#include "engine/local/table_version.h"

#include <algorithm>

namespace cellfs {

TableFiles::TableFiles(const StoreFiles& files) {
  for (const auto& file : files) {
    families_[file->facts().family].push_back(file);
    newest_ = std::max(newest_, file->facts().newest);
  }
  for (auto& [family, of_family] : families_) {
    std::sort(of_family.begin(), of_family.end(),
              [](const auto& a, const auto& b) { return a->facts().highest < b->facts().highest; });
    runs_.emplace(family, cellfs::RunsOf(of_family));
  }
}

const StoreFiles& TableFiles::Of(std::string_view family) const {
  static const StoreFiles kNone;
  const auto found = families_.find(family);
  return found == families_.end() ? kNone : found->second;
}

const std::vector<FileRun>& TableFiles::RunsOf(std::string_view family) const {
  static const std::vector<FileRun> kNone;
  const auto found = runs_.find(family);
  return found == runs_.end() ? kNone : found->second;
}

StoreFiles TableFiles::All() const {
  StoreFiles all;
  for (const auto& [family, files] : families_) all.insert(all.end(), files.begin(), files.end());
  return all;
}

uint64_t TableFiles::bytes() const {
  uint64_t bytes = 0;
  for (const auto& [family, files] : families_)
    for (const auto& file : files) bytes += file->facts().bytes;
  return bytes;
}

bool TableVersion::HasUnflushed() const {
  return frozen != nullptr || active->memstore().cells() > 0;
}

uint64_t TableVersion::UnflushedBytes() const {
  return active->memstore().bytes() + (frozen == nullptr ? 0 : frozen->memstore().bytes());
}

Timestamp TableVersion::newest() const {
  const Timestamp stored = std::max(files->newest(), active->memstore().newest());
  return frozen == nullptr ? stored : std::max(stored, frozen->memstore().newest());
}

}  // namespace cellfs
