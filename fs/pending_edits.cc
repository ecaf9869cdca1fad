// SPDX-License-Identifier: MIT
#include "fs/pending_edits.h"

#include <algorithm>

namespace cellfs::fs {

void WriteInto(std::string& value, std::string_view bytes, uint64_t offset) {
  if (bytes.empty()) return;
  if (value.size() < offset + bytes.size()) value.resize(offset + bytes.size());
  value.replace(offset, bytes.size(), bytes);
}

void PendingEdits::Write(std::string_view bytes, uint64_t offset) {
  if (bytes.empty()) return;
  // Writes one after another, and over one another, stay one edit.
  if (!edits_.empty() && edits_.back().kind == Kind::kWrite) {
    Edit& last = edits_.back();
    if (offset >= last.offset && offset <= last.offset + last.bytes.size()) {
      return WriteInto(last.bytes, bytes, offset - last.offset);
    }
  }
  edits_.push_back({Kind::kWrite, offset, std::string(bytes)});
}

void PendingEdits::Append(std::string_view bytes) {
  if (bytes.empty()) return;
  if (!edits_.empty() && edits_.back().kind == Kind::kAppend) {
    edits_.back().bytes += bytes;
  } else {
    edits_.push_back({Kind::kAppend, 0, std::string(bytes)});
  }
}

void PendingEdits::Truncate(uint64_t size) { edits_.push_back({Kind::kTruncate, size, {}}); }

void PendingEdits::ApplyTo(std::string& value) const {
  for (const Edit& edit : edits_) {
    if (edit.kind == Kind::kWrite) WriteInto(value, edit.bytes, edit.offset);
    if (edit.kind == Kind::kAppend) value += edit.bytes;
    if (edit.kind == Kind::kTruncate) value.resize(edit.offset);
  }
}

uint64_t PendingEdits::SizeAfter(uint64_t size) const {
  for (const Edit& edit : edits_) {
    if (edit.kind == Kind::kWrite) size = std::max(size, edit.offset + edit.bytes.size());
    if (edit.kind == Kind::kAppend) size += edit.bytes.size();
    if (edit.kind == Kind::kTruncate) size = edit.offset;
  }
  return size;
}

const std::string* PendingEdits::OnlyAppended() const {
  return edits_.size() == 1 && edits_[0].kind == Kind::kAppend ? &edits_[0].bytes : nullptr;
}

}  // namespace cellfs::fs
