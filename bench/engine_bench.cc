// SPDX-License-Identifier: MIT
//
// engine_bench: what the operations of a Store cost without any FUSE.
//
//     engine_bench [--work DIR] [--only REGEX] [--rounds N] [--big] [--json FILE]
//
// REGEX names sections: write, read, maintenance, bulk, versions, growth.
// Every figure is the median over the rounds of the mean of one operation: microseconds of the
// wall, and of processor time, which other work on the machine disturbs less. The stores lie in
// DIR, which should be on the disk that is to be measured.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <random>
#include <regex>
#include <thread>

#include "engine/open.h"

namespace cellfs {
namespace {

constexpr int kColumns = 10;  // of every row but the wide ones

struct Settings {
  std::string work = "/tmp";
  std::regex only{".*"};
  int rounds = 3;
  bool big = false;
  std::ofstream json;
};
Settings settings;

const TableName kTable{"default", "t"};
const Caller& kCaller = Caller::Superuser();

[[noreturn]] void Die(const Status& status) {
  std::cerr << "engine_bench: " << status.ToString() << '\n';
  std::exit(1);
}
void Check(const Status& status) {
  if (!status.ok()) Die(status);
}
template <typename T>
T Take(StatusOr<T> result) {
  if (!result.ok()) Die(result.status());
  return *std::move(result);
}

std::string RowName(int64_t row) {
  char text[32];
  std::snprintf(text, sizeof text, "r%08lld", static_cast<long long>(row));
  return text;
}
std::string ColumnName(int64_t column) {
  char text[32];
  std::snprintf(text, sizeof text, "q%06lld", static_cast<long long>(column));
  return text;
}

// A store with one table of one family, removed with this object.
class BenchStore {
 public:
  explicit BenchStore(int32_t versions = 1, bool background = true)
      : directory_(settings.work + "/engine_bench." + std::to_string(getpid())) {
    std::filesystem::remove_all(directory_);
    StoreOptions options;
    options.background_maintenance = background;
    store_ = Take(OpenLocalStore(directory_, options));
    TableSchema schema(kTable);
    FamilySchema family("f");
    Check(family.Set("VERSIONS", std::to_string(versions)));
    schema.families.emplace("f", family);
    Check(store_->CreateTable(kCaller, schema));
  }
  ~BenchStore() {
    store_.reset();
    std::filesystem::remove_all(directory_);
  }

  void Put(int64_t row, int64_t column, const std::string& value,
           Durability durability = Durability::kUseDefault,
           Stamping stamping = Stamping::kAsGiven) {
    cellfs::Put put{.row = RowName(row), .stamping = stamping};
    put.cells.push_back({.family = "f", .qualifier = ColumnName(column), .value = value});
    Take(store_->Mutate(kCaller, kTable, RowMutations::Of(std::move(put), durability)));
  }

  // Whole rows in batches of `batch_rows`, the rows in the order given.
  void Load(const std::vector<int64_t>& rows, const std::string& value, size_t batch_rows = 100) {
    std::vector<RowMutations> batch;
    for (size_t i = 0; i < rows.size(); ++i) {
      cellfs::Put put{.row = RowName(rows[i])};
      for (int q = 0; q < kColumns; ++q) {
        put.cells.push_back({.family = "f", .qualifier = ColumnName(q), .value = value});
      }
      batch.push_back(RowMutations::Of(std::move(put)));
      if (batch.size() < batch_rows && i + 1 < rows.size()) continue;
      for (auto& result : store_->Batch(kCaller, kTable, batch)) Check(result.status());
      batch.clear();
    }
  }
  void LoadInOrder(int64_t rows, size_t value_size) {
    std::vector<int64_t> all(static_cast<size_t>(rows));
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    Load(all, std::string(value_size, 'v'));
  }

  size_t Read(int64_t row, int64_t column, bool lengths_only) {
    Get get;
    get.row = RowName(row);
    get.columns["f"].insert(ColumnName(column));
    get.lengths_only = lengths_only;
    return Take(store_->Read(kCaller, kTable, get)).size();
  }
  int64_t ScanAll(bool lengths_only) {
    Scan scan;
    scan.lengths_only = lengths_only;
    auto scanner = Take(store_->OpenScanner(kCaller, kTable, scan));
    int64_t cells = 0;
    while (true) {
      const auto rows = Take(scanner->Next({}));
      if (rows.empty()) return cells;
      for (const RowCells& row : rows) cells += static_cast<int64_t>(row.size());
    }
  }
  void Flush() { Check(store_->Flush(kCaller, kTable)); }

  Store& operator*() { return *store_; }
  Store* operator->() { return store_.get(); }

 private:
  const std::string directory_;
  std::unique_ptr<Store> store_;
};

// Microseconds of the wall, and of processors that all threads used.
struct Times {
  double wall = 0;
  double cpu = 0;
};
Times Now() {
  timespec cpu{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  const auto wall = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration<double, std::micro>(wall).count(),
          static_cast<double>(cpu.tv_sec) * 1e6 + static_cast<double>(cpu.tv_nsec) / 1e3};
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Runs `work`, which answers how many operations it did, once to warm up and then for the rounds.
void Measure(const std::string& name, const std::function<int64_t()>& work, bool warm_up = true) {
  if (warm_up) work();
  std::vector<double> wall;
  std::vector<double> cpu;
  for (int i = 0; i < settings.rounds; ++i) {
    const Times start = Now();
    const double operations = static_cast<double>(std::max<int64_t>(1, work()));
    const Times end = Now();
    wall.push_back((end.wall - start.wall) / operations);
    cpu.push_back((end.cpu - start.cpu) / operations);
  }
  const double median = Median(wall);
  std::printf("| %-48s | %9.3f us | %9.3f us CPU | %10.0f /s |\n", name.c_str(), median,
              Median(cpu), 1e6 / median);
  std::fflush(stdout);
  if (settings.json.is_open()) {
    settings.json << "{\"name\": \"" << name << "\", \"us\": " << median
                  << ", \"cpu_us\": " << Median(cpu) << "}\n";
  }
}

void MeasureWrites() {
  std::mt19937_64 random(1);
  for (const int size : {100, 1000}) {
    BenchStore store;
    const std::string value(static_cast<size_t>(size), 'v');
    Measure("write " + std::to_string(size) + " B SYNC_WAL", [&] {
      for (int i = 0; i < 5000; ++i)
        store.Put(static_cast<int64_t>(random() % 10000), i % 10, value);
      return 5000;
    });
  }
  const std::string value(100, 'v');
  BenchStore flushed;
  flushed.LoadInOrder(10000, value.size());
  flushed.Flush();
  Measure("write 100 B above a column in the file", [&] {  // what a file's close does
    for (int i = 0; i < 5000; ++i) {
      flushed.Put(static_cast<int64_t>(random() % 10000), i % kColumns, value,
                  Durability::kUseDefault, Stamping::kAboveColumn);
    }
    return 5000;
  });
  for (const int writers : {1, 8}) {
    BenchStore store;
    Measure("write 100 B FSYNC_WAL, " + std::to_string(writers) + " writers", [&] {
      std::vector<std::thread> threads;
      for (int w = 0; w < writers; ++w) {
        threads.emplace_back([&, w] {
          for (int i = 0; i < 50; ++i) store.Put(w * 1000 + i, 0, value, Durability::kFsyncWal);
        });
      }
      for (std::thread& thread : threads) thread.join();
      return 50 * writers;
    });
  }
}

void MeasureReadsOf(BenchStore& store, const std::string& where, int64_t rows) {
  std::mt19937_64 random(2);
  auto row = [&] { return static_cast<int64_t>(random() % static_cast<uint64_t>(rows)); };
  Measure("get 100 B, " + where, [&] {
    for (int i = 0; i < 10000; ++i) store.Read(row(), i % kColumns, false);
    return 10000;
  });
  Measure("get length, " + where, [&] {
    for (int i = 0; i < 10000; ++i) store.Read(row(), i % kColumns, true);
    return 10000;
  });
  Measure("get absent column, " + where, [&] {
    for (int i = 0; i < 10000; ++i) store.Read(row(), 77, true);
    return 10000;
  });
  Measure("scan, per cell, " + where, [&] { return store.ScanAll(false); });
  Measure("scan of lengths, per cell, " + where, [&] { return store.ScanAll(true); });
}

void MeasureReads() {
  const int64_t rows = 10000;
  BenchStore store(1, false);
  store.LoadInOrder(rows, 100);
  MeasureReadsOf(store, "memstore", rows);
  store.Flush();
  MeasureReadsOf(store, "file", rows);
}

void MeasureMaintenance() {
  const int64_t rows = 20000;
  for (const int size : {100, 1000}) {
    const std::string suffix = std::to_string(size) + " B, per cell";
    BenchStore store(1, false);
    Measure(
        "load + flush " + suffix,
        [&] {
          store.LoadInOrder(rows, static_cast<size_t>(size));
          store.Flush();
          return rows * kColumns;
        },
        false);
    Measure(
        "compact major " + suffix,
        [&] {
          Check(store->Compact(kCaller, kTable, CompactionKind::kMajor));
          return rows * kColumns;
        },
        false);
  }
}

// Through the store's end: with the flushes that the load brings about.
void MeasureBulkLoad() {
  const int64_t rows = settings.big ? 100000 : 30000;
  std::vector<int64_t> order(static_cast<size_t>(rows));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  const std::string value(100, 'v');
  auto load = [&] {
    BenchStore store;
    store.Load(order, value);
    store.Flush();
    return rows * kColumns;
  };
  auto log_only = [&] {
    BenchStore store(1, false);
    store.Load(order, value);
    return rows * kColumns;
  };
  Measure("bulk load, key order, to the memstore", log_only, false);
  Measure("bulk load, key order, flushed", load, false);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(3));
  Measure("bulk load, random rows, to the memstore", log_only, false);
  Measure("bulk load, random rows, flushed", load, false);
}

void MeasureVersions() {
  for (const int versions : {1, 100, 10000}) {
    BenchStore store(versions, false);
    for (int i = 0; i < versions; ++i) store.Put(0, 5, "value");
    for (int q = 0; q < kColumns; ++q) store.Put(0, q, "value");
    auto measure = [&](const std::string& where) {
      const std::string suffix = " of " + std::to_string(versions) + " versions, " + where;
      Measure("versions: get newest" + suffix, [&] {
        for (int i = 0; i < 2000; ++i) store.Read(0, 5, false);
        return 2000;
      });
      Measure("versions: scan row" + suffix, [&] {
        for (int i = 0; i < 500; ++i) store.ScanAll(true);
        return 500 * kColumns;
      });
    };
    measure("memstore");
    store.Flush();
    measure("file");
  }
}

void MeasureGrowth() {
  std::vector<int64_t> sizes{1000, 10000, 100000};
  if (settings.big) sizes.push_back(500000);
  for (const int64_t rows : sizes) {
    BenchStore store;
    store.LoadInOrder(rows, 100);
    store.Flush();
    std::mt19937_64 random(4);
    auto row = [&] { return static_cast<int64_t>(random() % static_cast<uint64_t>(rows)); };
    const std::string suffix = ", " + std::to_string(rows * kColumns) + " cells";
    const std::string value(100, 'v');
    Measure("growth: get random" + suffix, [&] {
      for (int i = 0; i < 5000; ++i) store.Read(row(), i % kColumns, false);
      return 5000;
    });
    Measure("growth: put random" + suffix, [&] {
      for (int i = 0; i < 5000; ++i) store.Put(row(), i % kColumns, value);
      return 5000;
    });
    double bytes = 0;
    for (const TableStatistics& table : store->GetStatistics().tables) {
      if (table.table == kTable) bytes = static_cast<double>(table.file_bytes);
    }
    const double overhead = bytes / static_cast<double>(rows * kColumns) - 100;
    std::printf("| %-48s | %8.1f B over the value |\n", ("growth: space a cell" + suffix).c_str(),
                overhead);
  }
}

int Main(int argc, char** argv) {
  if (const char* work = std::getenv("CELLFS_BENCH_DIR"); work != nullptr) settings.work = work;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--big") {
      settings.big = true;
    } else if (i + 1 == argc) {
      std::cerr << "engine_bench [--work DIR] [--only REGEX] [--rounds N] [--big] [--json FILE]\n";
      return 2;
    } else if (flag == "--work") {
      settings.work = argv[++i];
    } else if (flag == "--only") {
      settings.only = argv[++i];
    } else if (flag == "--rounds") {
      settings.rounds = std::max(1, std::atoi(argv[++i]));
    } else if (flag == "--json") {
      settings.json.open(argv[++i], std::ios::app);
    }
  }
  const std::pair<const char*, void (*)()> sections[] = {
      {"write", MeasureWrites},  {"read", MeasureReads},        {"maintenance", MeasureMaintenance},
      {"bulk", MeasureBulkLoad}, {"versions", MeasureVersions}, {"growth", MeasureGrowth}};
  for (const auto& [name, measure] : sections) {
    if (std::regex_search(name, settings.only)) measure();
  }
  return 0;
}

}  // namespace
}  // namespace cellfs

int main(int argc, char** argv) { return cellfs::Main(argc, argv); }
