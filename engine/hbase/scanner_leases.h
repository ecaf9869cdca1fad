// SPDX-License-Identifier: MIT
//
// ScannerLeases: a server forgets a scanner that nobody has read for its lease's time, usually a
// minute. Leases are renewed here for a while after a scanner was last read: a slow reader's scanner
// is not opened anew, and its filter goes on counting. After that the server may forget the scanner.
//
// One thread, which waits for no answer. Thread-safe.
#ifndef CELLFS_ENGINE_HBASE_SCANNER_LEASES_H_
#define CELLFS_ENGINE_HBASE_SCANNER_LEASES_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/remote/patience.h"
#include "engine/hbase/region.h"

namespace cellfs::hbase {

class ScannerLeases {
 public:
  struct Scanner {
    Region region;
    uint64_t id = 0;
  };
  // Asks the server to keep the scanner. Called by the thread.
  using Renew = std::function<void(const Scanner& scanner)>;

  ScannerLeases(Renew renew, SteadyClock::duration longest_rest)
      : renew_(std::move(renew)), longest_rest_(longest_rest) {}
  ~ScannerLeases();
  ScannerLeases(const ScannerLeases&) = delete;
  ScannerLeases& operator=(const ScannerLeases&) = delete;

 private:
  struct Entry {
    Scanner scanner;
    SteadyClock::duration time;  // of the lease
    SteadyClock::time_point used;
    SteadyClock::time_point renewed;
  };

 public:
  // Of one scanner, from when it was opened at a server until it is closed.
  class Lease {
   public:
    // `time`: how long the server keeps it.
    Lease(ScannerLeases& leases, Scanner scanner, SteadyClock::duration time);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    // It was answered for just now.
    void Use();

   private:
    ScannerLeases& leases_;
    std::list<Entry>::iterator entry_;
  };

 private:
  bool IsKept(const Entry& entry, SteadyClock::time_point now) const {
    return now - entry.used < longest_rest_;
  }
  void Run();
  // Renews what is due; when to look again.
  SteadyClock::time_point RenewDue(std::unique_lock<std::mutex>& lock);

  const Renew renew_;
  const SteadyClock::duration longest_rest_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::list<Entry> entries_;
  std::thread thread_;  // from the first lease on
};

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_SCANNER_LEASES_H_
