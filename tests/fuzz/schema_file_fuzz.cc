// SPDX-License-Identifier: MIT
//
// The bytes as .schema.toml and .namespace.toml: what is read is written so that it is read the
// same.
#include "fs/schema/schema_file.h"
#include "tests/fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = AsText(data, size);
  if (const auto table = cellfs::fs::ReadTableFile(text, {.name = "t"}); table.ok()) {
    const std::string written = cellfs::fs::WriteTableFile(*table);
    const auto again = cellfs::fs::ReadTableFile(written, {.name = "t"});
    FUZZ_CHECK(again.ok());
    FUZZ_CHECK(cellfs::fs::WriteTableFile(*again) == written);
  }
  if (const auto space = cellfs::fs::ReadNamespaceFile(text, "n"); space.ok()) {
    const std::string written = cellfs::fs::WriteNamespaceFile(*space);
    const auto again = cellfs::fs::ReadNamespaceFile(written, "n");
    FUZZ_CHECK(again.ok());
    FUZZ_CHECK(cellfs::fs::WriteNamespaceFile(*again) == written);
  }
  return 0;
}
