// SPDX-License-Identifier: MIT
#include "fs/files/appended_tail.h"

#include <algorithm>

namespace cellfs::fs {
namespace {

bool IsBy(const AppendedTail::Run& run, const CellWriter* writer) {
  return std::find(run.writers.begin(), run.writers.end(), writer) != run.writers.end();
}

}  // namespace

void AppendedTail::Append(CellWriter* writer, std::string_view bytes, bool may_share,
                          bool continues) {
  const bool is_last = !runs_.empty() && runs_.back().writers.back() == writer;
  const bool may_join = is_last || (runs_.size() >= kManyRuns && may_share);
  const bool is_closed = !runs_.empty() && runs_.back().number < closed_below_;
  const bool joins = is_closed ? is_last && continues : may_join;
  if (!joins) runs_.emplace_back().number = next_number_++;
  Run& run = runs_.back();
  run.bytes += bytes;
  size_ += bytes.size();
  if (!IsBy(run, writer)) run.writers.push_back(writer);
}

bool AppendedTail::Has(const CellWriter* writer) const {
  return std::any_of(runs_.begin(), runs_.end(), [&](const Run& run) { return IsBy(run, writer); });
}

const CellWriter* AppendedTail::last_writer() const {
  return runs_.empty() ? nullptr : runs_.back().writers.back();
}

void AppendedTail::PopFront() {
  size_ -= runs_.front().bytes.size();
  runs_.erase(runs_.begin());
}

void AppendedTail::Remove(const CellWriter* writer) {
  for (Run& run : runs_) std::erase(run.writers, writer);
  std::erase_if(runs_, [&](const Run& run) {
    if (!run.writers.empty()) return false;
    size_ -= run.bytes.size();
    return true;
  });
}

uint64_t AppendedTail::size_below(uint64_t number) const {
  uint64_t size = 0;
  for (const Run& run : runs_) size += run.number < number ? run.bytes.size() : 0;
  return size;
}

void AppendedTail::CopyTo(std::string& bytes, uint64_t offset, size_t size) const {
  for (const Run& run : runs_) {
    if (size == 0) return;
    if (offset < run.bytes.size()) {
      const size_t taken = std::min<size_t>(size, run.bytes.size() - offset);
      bytes.append(run.bytes, offset, taken);
      size -= taken;
    }
    offset -= std::min<uint64_t>(offset, run.bytes.size());
  }
}

}  // namespace cellfs::fs
