// SPDX-License-Identifier: MIT
//
// fill: makes a store with one table, whatever its size, faster than files could be written.
//
//     fill STORE [--rows R] [--columns C] [--versions V] [--size B] [--files F]
//
// With F the rows are spread over so many store files, each with some of every part of the table.
// The table is default:t with one family, f0; rows and columns have the names that mbench gives
// them, so mbench works on MOUNTPOINT/default/t. Prints one line of JSON.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "engine/open.h"

namespace cellfs {
namespace {

constexpr int64_t kCellsOfBatch = 1000;
constexpr Timestamp kFirstTimestamp = 1'600'000'000'000;

struct Shape {
  std::string store;
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t versions = 1;
  int64_t size = 100;
  int64_t files = 1;
};

[[noreturn]] void Die(const Status& status) {
  std::cerr << "fill: " << status.ToString() << '\n';
  std::exit(1);
}
void Check(const Status& status) {
  if (!status.ok()) Die(status);
}

std::string NameOf(const char* format, int64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, format, static_cast<long long>(number));
  return text;
}

const TableName kTable{"default", "t"};
const Caller& kCaller = Caller::Superuser();

// Rows of many columns come in several mutations.
class Filler {
 public:
  Filler(Store& store, const Shape& shape)
      : store_(store), shape_(shape), value_(static_cast<size_t>(shape.size), 'v') {}

  void Run() {
    for (int64_t file = 0; file < shape_.files; ++file) {
      for (int64_t row = file; row < shape_.rows; row += shape_.files) AddRow(row);
      Write();
      Check(store_.Flush(kCaller, kTable));
    }
  }

 private:
  void AddRow(int64_t row) {
    for (int64_t column = 0; column < shape_.columns; column += kCellsOfBatch) {
      for (int64_t version = 0; version < shape_.versions; ++version) Add(row, column, version);
    }
  }

  void Add(int64_t row, int64_t first, int64_t version) {
    Put put{.row = NameOf("r%06lld", row)};
    const int64_t end = std::min(first + kCellsOfBatch, shape_.columns);
    for (int64_t column = first; column < end; ++column) {
      put.cells.push_back({.family = "f0",
                           .qualifier = NameOf("q%04lld", column),
                           .timestamp = kFirstTimestamp + version,
                           .value = value_});
    }
    cells_ += end - first;
    batch_.push_back(RowMutations::Of(std::move(put)));
    if (cells_ >= kCellsOfBatch) Write();
  }

  void Write() {
    for (auto& result : store_.Batch(kCaller, kTable, batch_)) Check(result.status());
    batch_.clear();
    cells_ = 0;
  }

  Store& store_;
  const Shape shape_;
  const std::string value_;
  std::vector<RowMutations> batch_;
  int64_t cells_ = 0;
};

uint64_t FileBytes(Store& store) {
  for (const TableStatistics& table : store.GetStatistics().tables) {
    if (table.table == kTable) return table.file_bytes;
  }
  return 0;
}

TableSchema SchemaOf(const Shape& shape) {
  TableSchema schema(kTable);
  FamilySchema family("f0");
  Check(family.Set("VERSIONS", std::to_string(shape.versions)));
  schema.families.emplace("f0", family);
  return schema;
}

Shape ParseShape(int argc, char** argv) {
  Shape shape;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (!flag.starts_with("--")) {
      shape.store = flag;
      continue;
    }
    const int64_t number = i + 1 < argc ? std::atoll(argv[++i]) : 0;
    if (flag == "--rows") shape.rows = number;
    if (flag == "--columns") shape.columns = number;
    if (flag == "--versions") shape.versions = number;
    if (flag == "--size") shape.size = number;
    if (flag == "--files") shape.files = number;
  }
  return shape;
}

int Main(int argc, char** argv) {
  const Shape shape = ParseShape(argc, argv);
  if (shape.store.empty()) {
    std::cerr << "fill STORE [--rows R] [--columns C] [--versions V] [--size B] [--files F]\n";
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  StoreOptions options;
  options.background_maintenance = shape.files == 1;
  options.site.client_max_cell_size = options.site.server_max_cell_size = 0;
  auto store = OpenLocalStore(shape.store, options);
  Check(store.status());
  Check((*store)->CreateTable(kCaller, SchemaOf(shape)));
  Filler(**store, shape).Run();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("{\"seconds\": %.3f, \"file_bytes\": %llu}\n", seconds.count(),
              static_cast<unsigned long long>(FileBytes(**store)));
  return 0;
}

}  // namespace
}  // namespace cellfs

int main(int argc, char** argv) { return cellfs::Main(argc, argv); }
