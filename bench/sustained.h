// SPDX-License-Identifier: MIT
//
// What `sustained` writes to and reads from: cellfs's engine, or RocksDB with keys that say the same.
#ifndef CELLFS_BENCH_SUSTAINED_H_
#define CELLFS_BENCH_SUSTAINED_H_

#include <cstdint>
#include <memory>
#include <string>

namespace cellfs::bench {

// Ends the program where anything fails. Not thread-safe.
class Target {
 public:
  // In a directory that is made. `write_buffer`: bytes of a memstore or memtable.
  static std::unique_ptr<Target> Open(const std::string& directory, uint64_t write_buffer);
  virtual ~Target() = default;

  // To the batch, which Write writes.
  virtual void Add(std::string row, std::string qualifier, std::string value,
                   int64_t timestamp) = 0;
  virtual void Write() = 0;
  virtual void Flush() = 0;
  // Whether the newest version is there.
  virtual bool Get(const std::string& row, const std::string& qualifier) = 0;
  // How many of at most so many there were, with their values, from the first on.
  virtual int64_t Scan(int64_t cells) = 0;
};

[[noreturn]] void Fail(const std::string& why);

}  // namespace cellfs::bench

#endif  // CELLFS_BENCH_SUSTAINED_H_
