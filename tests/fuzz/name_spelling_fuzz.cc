// SPDX-License-Identifier: MIT
//
// The bytes as a key and as a file name: spelling and reading are exact inverses.
#include "fs/tree/name_spelling.h"
#include "tests/fuzz/target.h"

namespace {

using namespace cellfs::fs;

void TryKey(const NameSpelling& spelling, std::string_view key) {
  const std::string full = spelling.Spell(key);
  const std::string name = spelling.FileName(key);
  FUZZ_CHECK(name.size() <= kMaxNameLength);
  FUZZ_CHECK(name.find('/') == name.npos && name.find('\0') == name.npos && !name.empty());
  const ReadName read = spelling.Read(name);
  if (name == full) {
    FUZZ_CHECK(read.kind == ReadName::Kind::kKey && read.key == key && !read.timestamp);
  } else {
    FUZZ_CHECK(read.kind == ReadName::Kind::kLong && key.starts_with(read.key));
    FUZZ_CHECK(spelling.IsShortenedTo(name, key));
  }
}

void TryName(const NameSpelling& spelling, std::string_view name) {
  const ReadName read = spelling.Read(name);
  if (read.kind != ReadName::Kind::kKey) return;
  FUZZ_CHECK(name == (read.timestamp ? spelling.VersionFileName(read.key, *read.timestamp)
                                     : spelling.FileName(read.key)));
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = AsText(data, size);
  for (const NameLevel level : {NameLevel::kRow, NameLevel::kQualifier}) {
    for (const NameMode mode : {NameMode::kPosix, NameMode::kPrintable}) {
      for (const bool controls : {true, false}) {
        const NameSpelling spelling(level, mode, controls);
        TryKey(spelling, text);
        TryName(spelling, text);
      }
    }
  }
  return 0;
}
