// SPDX-License-Identifier: MIT
//
// ReaderPool: connections to store files that nobody uses at the moment. A store has one, so that
// descriptors and memory have a bound however many files there are: the connection that was not
// used for the longest time is closed.
#ifndef CELLFS_ENGINE_FILE_READER_POOL_H_
#define CELLFS_ENGINE_FILE_READER_POOL_H_

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/file/store_file_reader.h"

namespace cellfs {

// Thread-safe. A connection is opened and closed without the lock. Taking and giving allocate
// nothing: a connection keeps its nodes of both lists.
class ReaderPool {
 public:
  struct Entry;
  using Entries = std::list<Entry>;
  // Of one file, its idle ones; guarded by the pool's lock.
  using OfFile = std::list<Entries::iterator>;
  struct Entry {
    Entry(OfFile& file_in, std::unique_ptr<StoreFileReader> reader_in)
        : file(&file_in), reader(std::move(reader_in)), place(1) {}

    OfFile* file;
    std::unique_ptr<StoreFileReader> reader;
    OfFile place;  // its node in the list of its file, while it is in use
  };

  explicit ReaderPool(size_t most_idle) : most_idle_(most_idle) {}

  // One entry; none: there is no idle one of the file.
  Entries Take(OfFile& file);
  void Give(Entries entry);
  // The file goes.
  void Forget(OfFile& file);
  // For who lacks descriptors. False: there was nothing to close.
  bool CloseIdle();

 private:
  const size_t most_idle_;
  std::mutex mutex_;
  Entries order_;  // given back last: first
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_READER_POOL_H_
