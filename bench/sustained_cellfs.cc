// SPDX-License-Identifier: MIT
#include <utility>
#include <vector>

#include "bench/sustained.h"
#include "engine/open.h"

namespace cellfs::bench {
namespace {

void Check(const Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

class CellfsTarget : public Target {
 public:
  CellfsTarget(const std::string& directory, uint64_t write_buffer) {
    StoreOptions options;
    // Its defaults, were the buffer the default one: a smaller run is then like a larger one.
    options.site.memstore_flush_size = static_cast<int64_t>(write_buffer);
    options.memstore_limit = static_cast<int64_t>(write_buffer) * 4;
    options.cache_bytes = static_cast<int64_t>(write_buffer) / 2;
    auto store = OpenLocalStore(directory, options);
    Check(store.status());
    store_ = *std::move(store);
    TableSchema schema(table_);
    schema.families.emplace("f", FamilySchema("f"));
    Check(store_->CreateTable(caller_, schema));
  }

  void Add(std::string row, std::string qualifier, std::string value, int64_t timestamp) override {
    Put put{std::move(row), {{"f", std::move(qualifier), timestamp, std::move(value), {}}}};
    batch_.push_back(RowMutations::Of(std::move(put)));
  }
  void Write() override {
    for (const auto& result : store_->Batch(caller_, table_, batch_)) Check(result.status());
    batch_.clear();
  }
  void Flush() override { Check(store_->Flush(caller_, table_)); }
  bool Get(const std::string& row, const std::string& qualifier) override {
    cellfs::Get get;
    get.row = row;
    get.columns["f"].insert(qualifier);
    const auto cells = store_->Read(caller_, table_, get);
    Check(cells.status());
    return cells->size() == 1 && !cells->front().value.empty();
  }
  int64_t Scan(int64_t cells) override {
    const auto scanner = store_->OpenScanner(caller_, table_, {});
    Check(scanner.status());
    int64_t seen = 0;
    while (seen < cells && !(*scanner)->at_end()) {
      const auto rows = (*scanner)->Next({});
      Check(rows.status());
      for (const RowCells& row : *rows) seen += std::ssize(row);
    }
    return seen;
  }

 private:
  const Caller& caller_ = Caller::Superuser();
  const TableName table_{"default", "t"};
  std::unique_ptr<Store> store_;
  std::vector<RowMutations> batch_;
};

}  // namespace

std::unique_ptr<Target> Target::Open(const std::string& directory, uint64_t write_buffer) {
  return std::make_unique<CellfsTarget>(directory, write_buffer);
}

}  // namespace cellfs::bench
