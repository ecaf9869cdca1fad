// SPDX-License-Identifier: MIT
#include "engine/local/compaction_output.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace cellfs {

CompactionOutput::CompactionOutput(TableServices& services, VersionSet& versions,
                                   const FamilySchema& family, const BuilderOptions& options,
                                   OutputLimits limits, SequenceId lowest, SequenceId highest)
    : services_(services),
      versions_(versions),
      family_(family),
      options_(options),
      limits_(std::move(limits)),
      lowest_(lowest),
      highest_(highest) {
  options_.cells_at_most = std::min(options_.cells_at_most, limits_.cells_of_file);
}

CompactionOutput::~CompactionOutput() { versions_.Discard(finished_); }

Status CompactionOutput::Put(CellCursor& cells) {
  if (builder_ != nullptr && EndsBefore(cells.cell().row)) CELLFS_RETURN_IF_ERROR(EndFile(true));
  if (builder_ == nullptr) CELLFS_RETURN_IF_ERROR(BeginFile());
  CELLFS_RETURN_IF_ERROR(cells.LoadValue());
  return builder_->Put(cells.cell());
}

bool CompactionOutput::EndsBefore(std::string_view row) const {
  const std::string& last = builder_->last_row();
  if (row == last) return false;
  const auto end = std::upper_bound(limits_.ends.begin(), limits_.ends.end(), last);
  const bool has_end = end != limits_.ends.end();
  if (has_end && *end <= row) return true;
  // One that ends somewhat later ends where others do.
  const uint64_t most = limits_.bytes_of_file + (has_end ? limits_.bytes_of_file / 2 : 0);
  return builder_->bytes() >= most || builder_->cells() >= limits_.cells_of_file;
}

Status CompactionOutput::BeginFile() {
  options_.number = versions_.NewFileNumber();
  CELLFS_ASSIGN_OR_RETURN(
      builder_, StoreFileBuilder::Begin(services_.files, versions_.folder(), family_, options_));
  return {};
}

Status CompactionOutput::EndFile(bool is_followed) {
  CELLFS_ASSIGN_OR_RETURN(std::optional<FileFacts> facts,
                          builder_->Finish(lowest_, highest_, is_followed));
  builder_.reset();
  if (!facts) return {};
  options_.follows = facts->number;
  bytes_of_finished_ += facts->bytes + kBytesOfEmptyFile;
  finished_.push_back(*std::move(facts));
  return {};
}

uint64_t CompactionOutput::bytes_on_disk() const {
  return bytes_of_finished_ + (builder_ == nullptr ? 0 : builder_->bytes_on_disk());
}

StatusOr<std::vector<FileFacts>> CompactionOutput::Finish() {
  if (builder_ != nullptr) CELLFS_RETURN_IF_ERROR(EndFile(false));
  return std::exchange(finished_, {});
}

void CompactionOutput::Leave() {
  if (builder_ != nullptr && builder_->bytes_on_disk() >= kBytesOfLargeFile)
    services_.leftovers.Add(builder_->Leave());
  std::erase_if(finished_, [this](const FileFacts& facts) {
    if (facts.bytes < kBytesOfLargeFile) return false;
    services_.leftovers.Add(versions_.folder()->path + "/" + StoreFileName(facts.number));
    return true;
  });
}

}  // namespace cellfs
