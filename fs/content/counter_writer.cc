// SPDX-License-Identifier: MIT
#include "fs/content/counter_writer.h"

#include <cerrno>

#include "engine/waiting.h"

namespace cellfs::fs {
namespace {

// More than any number needs; so little need not be counted as held (fs/files/open_file_memory.h).
constexpr size_t kLongestRest = 4096;
constexpr std::string_view kBlanks = " \t\n";

// How it has failed if an exception ends it: it may have been added.
Outcome NoMemory() { return Outcome::Unknown(ENOMEM, {}); }

}  // namespace

OutcomeOr<SharedBytes> CounterWriter::Read(uint64_t offset, size_t size, ReadFor /*what*/) {
  const auto lock = TakeLock(mutex_);
  return SharedBytes::Copy(rest_, offset, size);
}

// After one that failed nothing more is added: who wrote it may give up, or write it again.
Outcome CounterWriter::Write(std::string_view bytes, uint64_t /*offset*/, WriteFrom /*from*/) {
  const auto lock = TakeLock(mutex_);
  if (failed_) return *failed_;
  failed_ = NoMemory();
  Outcome taken = Take(bytes);
  failed_ = taken;
  if (taken.ok()) failed_.reset();
  return taken;
}

Outcome CounterWriter::Take(std::string_view bytes) {
  const size_t lines = bytes.rfind('\n') + 1;  // npos + 1 is 0
  if (rest_.size() + bytes.size() - lines > kLongestRest)
    return {EINVAL, "a counter takes +N or -N in lines, and this one is too long"};
  if (lines == 0) {
    rest_ += bytes;
    return {};
  }
  rest_ += bytes.substr(0, lines);
  CELLFS_RETURN_IF_FAILED(Add(rest_));
  rest_ = bytes.substr(lines);
  return {};
}

// Blank lines are nothing, but for who has said nothing else.
Outcome CounterWriter::Add(std::string_view lines) {
  if (has_added_ && lines.find_first_not_of(kBlanks) == std::string_view::npos) return {};
  CELLFS_RETURN_IF_FAILED(counters_.Add(caller_, node_, lines));
  has_added_ = true;
  return {};
}

Outcome CounterWriter::Truncate(uint64_t size) {
  const auto lock = TakeLock(mutex_);
  if (size == 0) rest_.clear();
  return {};
}

// What is no number yet may become one: more may come by another descriptor.
Outcome CounterWriter::Flush() {
  const auto lock = TakeLock(mutex_);
  if (failed_) return *failed_;
  if (rest_.empty()) return {};
  failed_ = NoMemory();
  Outcome added = Add(rest_);
  failed_ = added;
  if (!added.is_unknown()) failed_.reset();
  if (added.ok()) rest_.clear();
  return added;
}

}  // namespace cellfs::fs
