// SPDX-License-Identifier: MIT
//
// The bytes as a name in .scan: a query that is understood has a name that says the same.
#include "fs/tree/scan_query.h"
#include "tests/fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using cellfs::fs::ScanQuery;
  for (const auto mode : {cellfs::fs::NameMode::kPosix, cellfs::fs::NameMode::kPrintable}) {
    const auto query = ScanQuery::Read(AsText(data, size), mode);
    if (!query.ok()) continue;
    static_cast<void>(query->ToScan());
    const auto again = ScanQuery::Read(query->Name(mode), mode);
    FUZZ_CHECK(again.ok() && *again == *query);
  }
  return 0;
}
