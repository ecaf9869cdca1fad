// SPDX-License-Identifier: MIT
//
// Calls to regions, wherever they are now: a region is found in hbase:meta once, then remembered,
// and looked up again where its server does not have it, stops or is silent. What may be asked again
// is, with pauses, until there is an answer or the caller's patience ends. Thread-safe.
#ifndef CELLFS_ENGINE_HBASE_REGIONS_H_
#define CELLFS_ENGINE_HBASE_REGIONS_H_

#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/hbase/attempts.h"
#include "engine/hbase/connection_pool.h"
#include "engine/hbase/region_cache.h"
#include "engine/hbase/registry.h"
#include "engine/hbase/scanner_leases.h"

namespace cellfs::hbase {

// What a call does to the data, and so whether it may be made again where there was no answer. Of
// one that changes something and is not answered in the end the outcome is unknown.
enum class Repeat {
  kReads,          // freely
  kDoesTheSame,    // freely, for the data are the same when it is done twice
  kAtSameServer,   // it has a nonce, which the server knows that may have done it, and no other
  kOnlyIfNotDone,  // not at all
};

class Regions {
 public:
  struct Options {
    Attempts::Options attempts;
    // For one try. A server that stands still is left for the next after it.
    SteadyClock::duration call_timeout = std::chrono::seconds(10);
    int32_t scanner_caching = std::numeric_limits<int32_t>::max();  // rows that a call brings
    // For how long a scanner that nobody reads on is kept open at its server.
    SteadyClock::duration longest_scanner_rest = std::chrono::minutes(10);
  };
  Regions(const Options& options, Registry& registry, ConnectionPool& pool)
      : options_(options),
        registry_(registry),
        pool_(pool),
        leases_([this](const ScannerLeases::Scanner& scanner) { Renew(scanner); },
                options.longest_scanner_rest) {}

  // The region that holds the row. kTableNotFound; kTableNotEnabled, which is looked at only where
  // a server did not have a region of the table; kUnavailable where no server has it now.
  StatusOr<Region> Find(const TableName& table, std::string_view row, const Patience& patience);
  // The one that holds the last rows before `row`, of all rows where it is empty.
  StatusOr<Region> FindBefore(const TableName& table, std::string_view row,
                              const Patience& patience);

  // As hbase:meta says. kTableNotFound.
  StatusOr<bool> IsTableEnabled(const TableName& table, const Patience& patience);

  // One try.
  Reply Try(const Region& region, const Call& call, const Patience& patience);
  // The same, whose answer is waited for later, or not at all. Null where there is no connection.
  std::unique_ptr<PendingCall> Begin(const Region& region, const Call& call,
                                     const Patience& patience);

  // What to do about a call of which there is no result.
  struct Verdict {
    bool may_try_again = false;
    std::optional<std::chrono::milliseconds> pause;
    Status why;  // as its caller sees it where it is not tried again
  };
  // Also forgets what was remembered wrongly. `patience`: what the call was made with.
  // REQUIRES: no result.
  Verdict Judge(const Region& region, const Reply& reply, Repeat repeat, const Patience& patience);
  // Of an exception about the region alone, in an answer about several.
  Verdict Judge(const Region& region, const RemoteException& exception);

  // The whole: finds the region that holds the row, has the call made for it, and tries again.
  // `call_for` is asked before each try, as the region may be another one. `was_silent` is set where
  // a try before the one that was answered may have been done as well.
  StatusOr<Answer> Call(const TableName& table, std::string_view row, Repeat repeat,
                        const std::function<hbase::Call(const Region&)>& call_for,
                        const Patience& patience, bool* was_silent = nullptr);

  const Options& options() const { return options_; }
  ScannerLeases& leases() { return leases_; }
  void ForgetTable(const TableName& table) { cache_.ForgetTable(table); }

 private:
  StatusOr<Region> FindMeta(const Patience& patience);
  // Before a region is looked up: kTableNotEnabled if a server missed one of the table's for that.
  Status CheckMissed(const TableName& table, const Patience& patience);
  void NoteMissed(const TableName& table);
  void Renew(const ScannerLeases::Scanner& scanner);
  // The last region of the table that begins at or before the row of hbase:meta.
  StatusOr<Region> LastAtOrBefore(const TableName& table, const std::string& meta_row,
                                  const Patience& patience);

  const Options options_;
  Registry& registry_;
  ConnectionPool& pool_;
  RegionCache cache_;
  std::mutex mutex_;
  std::set<TableName> missed_;  // a server did not have a region of theirs
  ScannerLeases leases_;
};

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_REGIONS_H_
