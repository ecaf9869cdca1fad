// SPDX-License-Identifier: MIT
//
// The bytes as a filter in HBase's language, tried on a few rows of the memory store.
#include <memory>

#include "engine/filters.h"
#include "engine/open.h"
#include "tests/fuzz/target.h"

namespace {

using namespace cellfs;

std::unique_ptr<Store> MakeStore() {
  StoreOptions options;
  options.background_maintenance = false;
  std::unique_ptr<Store> store = OpenMemoryStore(options);
  TableSchema schema(ParseTableName("t"));
  schema.families.emplace("f", FamilySchema("f"));
  FUZZ_CHECK(store->CreateTable(Caller::Superuser(), schema).ok());
  for (const char* row : {"a", "row1", "row2"}) {
    const Put put{.row = row,
                  .cells = {{"f", "q", 1, "value", std::nullopt},
                            {"f", "", 2, std::string(8, '\0'), std::nullopt}}};
    FUZZ_CHECK(store->Mutate(Caller::Superuser(), ParseTableName("t"), RowMutations::Of(put)).ok());
  }
  return store;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::unique_ptr<Store> store = MakeStore();
  auto filter = ParseFilter(AsText(data, size));
  if (!filter.ok()) return 0;
  Scan scan;
  scan.filter = *filter;
  auto scanner = store->OpenScanner(Caller::Superuser(), ParseTableName("t"), scan);
  if (!scanner.ok()) return 0;
  size_t cells = 0;
  for (;;) {
    const auto rows = (*scanner)->Next({});
    if (!rows.ok() || rows->empty()) break;
    for (const RowCells& row : *rows) cells += row.size();
  }
  FUZZ_CHECK(cells <= 6);
  return 0;
}
