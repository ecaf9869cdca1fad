// SPDX-License-Identifier: MIT
#include "fs/files/pending_edits.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "fs/files/file_bytes.h"

namespace cellfs::fs {

namespace {

constexpr size_t kManyPieces = 4096;
constexpr size_t kManyLayers = 64;

}  // namespace

// ---- One layer ----------------------------------------------------------------------------------

void PendingEdits::Layer::Write(std::string_view bytes, uint64_t offset) {
  const uint64_t end = offset + bytes.size();
  if (size) size = std::max(*size, end);
  // The piece that begins at or before the offset and reaches it takes the bytes, else a new one.
  auto piece = writes.upper_bound(offset);
  if (piece != writes.begin() &&
      offset <= std::prev(piece)->first + std::prev(piece)->second.size()) {
    --piece;
    in_writes -= piece->second.size();
    WriteInto(piece->second, bytes, offset - piece->first);
  } else {
    piece = writes.emplace_hint(piece, offset, bytes);
  }
  // Pieces behind it that it reaches by now become part of it.
  for (auto next = std::next(piece); next != writes.end() && next->first <= end;
       next = writes.erase(next)) {
    const uint64_t next_end = next->first + next->second.size();
    in_writes -= next->second.size();
    if (next_end > end) piece->second += std::string_view(next->second).substr(end - next->first);
  }
  in_writes += piece->second.size();
}

void PendingEdits::Layer::Truncate(uint64_t new_size) {
  kept = std::min(kept, new_size);
  size = new_size;
  for (auto beyond = writes.lower_bound(new_size); beyond != writes.end();
       beyond = writes.erase(beyond))
    in_writes -= beyond->second.size();
  if (writes.empty()) return;
  auto& [offset, bytes] = *std::prev(writes.end());
  if (offset + bytes.size() <= new_size) return;
  in_writes -= offset + bytes.size() - new_size;
  SetLength(bytes, new_size - offset);
}

void PendingEdits::Layer::ApplyTo(std::string& value) const {
  if (size) {
    value.resize(std::min<uint64_t>(value.size(), kept));
    value.resize(*size);
  }
  for (const auto& [offset, bytes] : writes) WriteInto(value, bytes, offset);
  value += appended;
}

uint64_t PendingEdits::Layer::SizeAfter(uint64_t size_below) const {
  if (size) return *size;
  const uint64_t written =
      writes.empty() ? 0 : std::prev(writes.end())->first + std::prev(writes.end())->second.size();
  return std::max(size_below, written) + appended.size();
}

// ---- All of them --------------------------------------------------------------------------------

PendingEdits::Layer& PendingEdits::TopForWriting() {
  if (layers_.empty() || !layers_.back().appended.empty()) layers_.emplace_back();
  return layers_.back();
}

void PendingEdits::Write(std::string_view bytes, uint64_t offset) {
  if (!bytes.empty()) TopForWriting().Write(bytes, offset);
}

void PendingEdits::Append(std::string_view bytes) {
  if (bytes.empty()) return;
  if (layers_.empty()) layers_.emplace_back();
  Layer& top = layers_.back();
  if (top.size) return top.Write(bytes, *top.size);
  top.appended += bytes;
}

void PendingEdits::Truncate(uint64_t size) {
  TopForWriting().Truncate(size);
  if (size == 0) layers_.erase(layers_.begin(), std::prev(layers_.end()));
}

void PendingEdits::ApplyTo(std::string& value) const {
  for (const Layer& layer : layers_) layer.ApplyTo(value);
}

uint64_t PendingEdits::SizeAfter(uint64_t size) const {
  for (const Layer& layer : layers_) size = layer.SizeAfter(size);
  return size;
}

uint64_t PendingEdits::bytes() const {
  uint64_t bytes = 0;
  for (const Layer& layer : layers_) bytes += layer.in_writes + layer.appended.size();
  return bytes;
}

bool PendingEdits::is_scattered() const {
  return layers_.size() > kManyLayers ||
         (!layers_.empty() && layers_.back().writes.size() > kManyPieces);
}

}  // namespace cellfs::fs
