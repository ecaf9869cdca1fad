// SPDX-License-Identifier: MIT
//
// ReaderPool: connections to store files that nobody uses at the moment. A store has one, so that
// descriptors and memory have a bound however many files there are: the connection that was not
// used for the longest time is closed.
#ifndef CELLFS_ENGINE_LOCAL_READER_POOL_H_
#define CELLFS_ENGINE_LOCAL_READER_POOL_H_

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "engine/local/store_file_reader.h"

namespace cellfs {

class StoreFile;

// Thread-safe. A connection is opened and closed without the lock.
class ReaderPool {
 public:
  explicit ReaderPool(size_t most_idle) : most_idle_(most_idle) {}

  // Null: there is none of the file.
  std::unique_ptr<StoreFileReader> Take(const StoreFile* file);
  void Give(const StoreFile* file, std::unique_ptr<StoreFileReader> reader);
  // The file goes.
  void Forget(const StoreFile* file);
  // For who lacks descriptors. False: there was nothing to close.
  bool CloseIdle();

 private:
  struct Idle {
    const StoreFile* file;
    std::unique_ptr<StoreFileReader> reader;
  };
  using Order = std::list<Idle>;  // given back last: first

  const size_t most_idle_;
  std::mutex mutex_;
  Order order_;
  std::unordered_map<const StoreFile*, std::vector<Order::iterator>> of_file_;  // oldest first
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_READER_POOL_H_
