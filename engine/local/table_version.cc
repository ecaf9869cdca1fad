// SPDX-License-Identifier: MIT
#include "engine/local/table_version.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace cellfs {

TableFiles::TableFiles(const StoreFiles& files, TableRanges ranges) : ranges_(std::move(ranges)) {
  for (const auto& file : files) {
    families_[file->facts().family].by_age.push_back(file);
    newest_ = std::max(newest_, file->facts().newest);
    any_tombstones_ |= file->facts().tombstones > 0;
  }
  for (auto& [name, family] : families_) {
    std::sort(family.by_age.begin(), family.by_age.end(), [](const auto& a, const auto& b) {
      return std::tie(a->facts().highest, a->facts().first_row) <
             std::tie(b->facts().highest, b->facts().first_row);
    });
    family.ranges = KeyRanges(family.by_age, CutsOf(name));
    family.runs = family.ranges.Runs();
    for (const auto& file : family.by_age) {
      const FileFacts& facts = file->facts();
      if (facts.hidden.cells != 0)
        family.oldest_beside[facts.number] = OldestBeside(facts, family.by_age);
    }
  }
}

Timestamp TableFiles::OldestBeside(const FileFacts& facts, const StoreFiles& files) {
  Timestamp oldest = kLatestTimestamp;
  for (const auto& other : files) {
    if (other->facts().number != facts.number && HaveCommonRows(other->facts(), facts))
      oldest = std::min(oldest, OldestThatShows(other->facts()));
  }
  return oldest;
}

Timestamp TableFiles::OldestBeside(const StoreFile& file) const {
  return Find(file.facts().family).oldest_beside.at(file.facts().number);
}

const TableFiles::OfFamily& TableFiles::Find(std::string_view family) const {
  static const OfFamily kNone;
  const auto found = families_.find(family);
  return found == families_.end() ? kNone : found->second;
}

const StoreFiles& TableFiles::Of(std::string_view family) const { return Find(family).by_age; }

const KeyRanges& TableFiles::RangesOf(std::string_view family) const { return Find(family).ranges; }

const std::vector<FileRun>& TableFiles::RunsOf(std::string_view family) const {
  return Find(family).runs;
}

const std::vector<std::string>& TableFiles::CutsOf(std::string_view family) const {
  static const std::vector<std::string> kNone;
  const auto found = ranges_.find(family);
  return found == ranges_.end() ? kNone : found->second.cuts;
}

StoreFiles TableFiles::All() const {
  StoreFiles all;
  for (const auto& [name, family] : families_)
    all.insert(all.end(), family.by_age.begin(), family.by_age.end());
  return all;
}

uint64_t TableFiles::bytes() const {
  uint64_t bytes = 0;
  for (const auto& [name, family] : families_)
    for (const auto& file : family.by_age) bytes += file->facts().bytes;
  return bytes;
}

uint64_t TableFiles::BytesBeyond(size_t units) const {
  uint64_t most = 0;
  for (const auto& [name, family] : families_)
    most = std::max(most, family.ranges.BytesBeyond(units));
  return most;
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
