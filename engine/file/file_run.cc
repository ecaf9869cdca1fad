// SPDX-License-Identifier: MIT
#include "engine/file/file_run.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "engine/file/store_file_cursor.h"

namespace cellfs {
namespace {

// The first that begins behind the row.
StoreFiles::const_iterator FirstBehind(const StoreFiles& files, std::string_view row) {
  return std::upper_bound(
      files.begin(), files.end(), row,
      [](std::string_view at, const auto& file) { return at < file->facts().first_row; });
}

// False: it has rows in common with one of the run.
bool AddTo(FileRun& run, const std::shared_ptr<StoreFile>& file) {
  const FileFacts& facts = file->facts();
  const auto behind = FirstBehind(run.files, facts.first_row);
  if (behind != run.files.end() && (*behind)->facts().first_row <= facts.last_row) return false;
  if (behind != run.files.begin() && (*(behind - 1))->facts().last_row >= facts.first_row)
    return false;
  run.files.insert(behind, file);
  return true;
}

class RunCursor : public CellCursor {
 public:
  RunCursor(FileRun run, CellSet set, SequenceId read_point, bool lengths_only)
      : files_(std::move(run.files)),
        set_(set),
        read_point_(read_point),
        lengths_only_(lengths_only) {
    for (const auto& file : files_) newest_ = std::max(newest_, file->facts().newest);
  }

  Status Seek(const CellPlace& place) override {
    size_t at = static_cast<size_t>(FirstBehind(files_, place.row) - files_.begin());
    if (at > 0 && files_[at - 1]->facts().last_row >= place.row) --at;
    if (at == files_.size()) {
      cursor_.reset();
      return {};
    }
    if (IsOpen(at)) {
      CELLFS_RETURN_IF_ERROR(cursor_->Seek(place));
    } else {
      // The place may lie in the cell of the file that is closed.
      const std::string row(place.row);
      const std::string qualifier(place.qualifier);
      CELLFS_RETURN_IF_ERROR(Open(at));
      CELLFS_RETURN_IF_ERROR(cursor_->Seek({row, qualifier, place.timestamp}));
    }
    return GoOn();
  }

  Status SeekToRowBefore(std::string_view row) override {
    std::string bound(row);
    size_t at = files_.size();
    if (!row.empty()) {
      const auto behind = std::lower_bound(
          files_.begin(), files_.end(), row,
          [](const auto& file, std::string_view of) { return file->facts().first_row < of; });
      at = static_cast<size_t>(behind - files_.begin());
    }
    for (; at > 0; --at, bound.clear()) {
      if (!IsOpen(at - 1)) CELLFS_RETURN_IF_ERROR(Open(at - 1));
      CELLFS_RETURN_IF_ERROR(cursor_->SeekToRowBefore(bound));
      if (cursor_->valid()) return {};
    }
    cursor_.reset();
    return {};
  }

  Status Next() override {
    CELLFS_RETURN_IF_ERROR(cursor_->Next());
    return GoOn();
  }

  bool valid() const override { return cursor_ != nullptr && cursor_->valid(); }
  const CellView& cell() const override { return cursor_->cell(); }
  Status LoadValue() override { return cursor_->LoadValue(); }
  void TakeValue(std::string* value) override { cursor_->TakeValue(value); }
  Timestamp newest() const override { return newest_; }

  StatusOr<bool> MayHaveFamilyTombstones(std::string_view row) override {
    const auto behind = FirstBehind(files_, row);
    if (behind == files_.begin()) return false;
    const std::shared_ptr<StoreFile>& file = *(behind - 1);
    if (file->facts().last_row < row || file->facts().family_tombstones == 0) return false;
    if (IsOpen(static_cast<size_t>(behind - files_.begin()) - 1))
      return cursor_->MayHaveFamilyTombstones(row);
    CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, file->Open());
    return lease.MayHaveTombstones(set_, row, {});
  }

 private:
  bool IsOpen(size_t at) const { return cursor_ != nullptr && at_ == at; }

  Status Open(size_t at) {
    cursor_.reset();
    CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, files_[at]->Open());
    cursor_ = std::make_unique<StoreFileCursor>(std::move(lease), set_, read_point_, lengths_only_);
    at_ = at;
    return {};
  }

  // At a file's end into the next one.
  Status GoOn() {
    while (!cursor_->valid() && at_ + 1 < files_.size()) {
      CELLFS_RETURN_IF_ERROR(Open(at_ + 1));
      CELLFS_RETURN_IF_ERROR(cursor_->Seek({}));
    }
    return {};
  }

  const StoreFiles files_;
  const CellSet set_;
  const SequenceId read_point_;
  const bool lengths_only_;
  Timestamp newest_ = 0;
  std::unique_ptr<StoreFileCursor> cursor_;  // null: at no cell
  size_t at_ = 0;                            // the file that it reads
};

}  // namespace

const std::shared_ptr<StoreFile>* FileRun::FindFileOf(std::string_view row) const {
  const auto behind = FirstBehind(files, row);
  if (behind == files.begin()) return nullptr;
  const std::shared_ptr<StoreFile>& file = *(behind - 1);
  return file->facts().last_row < row ? nullptr : &file;
}

std::vector<FileRun> RunsOf(const StoreFiles& files) {
  std::vector<FileRun> runs;
  for (const auto& file : files) {
    if (runs.empty() || !AddTo(runs.back(), file)) runs.push_back({{file}});
  }
  return runs;
}

std::unique_ptr<CellCursor> OpenRun(FileRun run, CellSet set, SequenceId read_point,
                                    bool lengths_only) {
  return std::make_unique<RunCursor>(std::move(run), set, read_point, lengths_only);
}

}  // namespace cellfs
