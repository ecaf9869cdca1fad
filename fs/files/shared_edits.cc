// SPDX-License-Identifier: MIT
#include "fs/files/shared_edits.h"

#include <algorithm>

namespace cellfs::fs {

bool SharedEdits::Has(const CellWriter* writer) const {
  return std::find(writers_.begin(), writers_.end(), writer) != writers_.end();
}

void SharedEdits::AddWriter(CellWriter* writer) {
  if (!Has(writer)) writers_.push_back(writer);
}

void SharedEdits::Begin(uint64_t size_below, uint64_t generation) {
  size_below_ = size_below;
  generation_ = generation;
}

// The writer comes first: without memory for it nothing is written.
void SharedEdits::Write(CellWriter* writer, std::string_view bytes, uint64_t offset) {
  AddWriter(writer);
  edits_.Write(bytes, offset);
}

void SharedEdits::Append(CellWriter* writer, std::string_view bytes) {
  AddWriter(writer);
  edits_.Append(bytes);
}

void SharedEdits::Truncate(CellWriter* writer, uint64_t size) {
  AddWriter(writer);
  edits_.Truncate(size);
}

void SharedEdits::Clear() {
  edits_.clear();
  writers_.clear();
}

void SharedEdits::Remove(const CellWriter* writer) {
  std::erase(writers_, writer);
  if (writers_.empty()) Clear();
}

}  // namespace cellfs::fs
