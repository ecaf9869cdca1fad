// SPDX-License-Identifier: MIT
//
// A cluster of one scripted server, which is registry, master, server of hbase:meta and of all
// regions. It answers from rows that a test gives it, takes changes and procedures without doing
// them, and before that with what the test has put in its way.
#ifndef CELLFS_TESTS_ENGINE_HBASE_FAKE_CLUSTER_H_
#define CELLFS_TESTS_ENGINE_HBASE_FAKE_CLUSTER_H_

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/hbase/connection_pool.h"
#include "engine/hbase/master.h"
#include "engine/hbase/regions.h"
#include "engine/hbase/registry.h"
#include "engine/read.h"
#include "engine/status_or.h"
#include "tests/engine/hbase/scripted_server.h"

namespace cellfs::hbase {

// What tests fill it with, and what servers throw.
using Rows = std::vector<std::string>;
inline const TableName kTable{.name = "t"};
inline const Rows kRows = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};

inline constexpr char kMoved[] = "org.apache.hadoop.hbase.exceptions.RegionMovedException";
inline constexpr char kNotServing[] = "org.apache.hadoop.hbase.NotServingRegionException";
inline constexpr char kOpening[] = "org.apache.hadoop.hbase.exceptions.RegionOpeningException";
inline constexpr char kStopped[] = "org.apache.hadoop.hbase.regionserver.RegionServerStoppedException";
inline constexpr char kTooBusy[] = "org.apache.hadoop.hbase.RegionTooBusyException";
inline constexpr char kQueue[] = "org.apache.hadoop.hbase.CallQueueTooBigException";
inline constexpr char kDropped[] = "org.apache.hadoop.hbase.CallDroppedException";
inline constexpr char kStarting[] = "org.apache.hadoop.hbase.ipc.ServerNotRunningYetException";
inline constexpr char kUnknownScanner[] = "org.apache.hadoop.hbase.UnknownScannerException";
inline constexpr char kOutOfOrder[] =
    "org.apache.hadoop.hbase.exceptions.OutOfOrderScannerNextException";
inline constexpr char kReset[] = "org.apache.hadoop.hbase.exceptions.ScannerResetException";
inline constexpr char kNoSuchFamily[] =
    "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException";

// Whom the thread works for, as long as it lives: gives up when it is told.
class Asker : public GivingUp {
 public:
  Asker() { OfThisThread() = this; }
  ~Asker() override { OfThisThread() = nullptr; }

  bool HasGivenUp() const noexcept override { return has_given_up_; }
  void GiveUp() { has_given_up_ = true; }

 private:
  std::atomic<bool> has_given_up_ = false;
};

class FakeCluster {
 public:
  // The table t has a region for each of these keys and one before them, and in each row the cell
  // f:q of the row's name. Rows come in pieces of so many.
  FakeCluster(std::vector<std::string> split_keys, const std::vector<std::string>& rows,
              size_t rows_a_call = 2);

  Regions& regions() { return regions_; }
  Master& master() { return master_; }

  // The next calls of the method, other than of meta, go as this says; nothing: as always.
  using Obstacle = std::function<std::optional<Reaction>(const ReceivedCall&)>;
  void PutInTheWay(Obstacle obstacle);
  static Obstacle Throws(std::string class_name, bool do_not_retry = false);

  // The next write is done, and so many bytes of its answer get through before the connection ends.
  void CutNextAnswer(size_t at);
  size_t cut_answer() const;  // how many the one had that was cut last
  // So many bytes of the next call of the method get through before the connection ends.
  void CutNextCall(const std::string& method, size_t at) { server_.CutNextCall(method, at); }
  size_t cut_call() const { return server_.cut_call(); }

  // The rows that have been changed, in the order in which they were, once for each time.
  std::vector<std::string> changed() const;

  // The procedures that the master has taken, by their methods, once for each nonce. Each is still
  // running when it is asked for the first time.
  std::vector<std::string> procedures() const;
  // How all of them end from now on; an empty class: well.
  void EndProceduresWith(std::string class_name);
  void ForgetProcedures();

  // Scanners live so long; none is told at first, and they live for ever.
  void LeaseScannersFor(std::chrono::milliseconds time);
  size_t renewals() const;

  // No server has a region of t, and meta says that it is disabled.
  void DisableTable();

  // Splits a region: its name is another then, so that who asks for the old one is told.
  void SplitAt(const std::string& key);

  size_t calls() const;          // of regions of t
  size_t calls_of_meta() const;
  size_t closes() const;  // of scanners, that were asked for

 private:
  struct OpenScanner {
    std::string region;
    pb::Scan scan;
    std::vector<std::string> rows;  // that are left
    uint64_t calls = 0;             // after the one that opened it
    SteadyClock::time_point used = SteadyClock::now();
  };

  Reaction Serve(const ReceivedCall& call);
  Reaction ServeRegistry(const ReceivedCall& call);
  std::optional<Reaction> MeetObstacle(const ReceivedCall& call);
  Reaction ServeScan(const ReceivedCall& call);
  Reaction ServeMeta(const ReceivedCall& call, const pb::Scan& scan);
  Reaction ServeMaster(const ReceivedCall& call);
  Reaction ServeProcedureResult(const ReceivedCall& call);
  Reaction ServeAdmin(const ReceivedCall& call);
  Reaction ServeTableState(const ReceivedCall& call);
  Reaction ServeGet(const ReceivedCall& call);
  Reaction ServeMutate(const ReceivedCall& call);
  Reaction ServeMulti(const ReceivedCall& call);
  Reaction Cut(Reaction reaction);
  pb::RegionActionResult Change(const pb::RegionAction& actions, const pb::Condition* condition);
  bool Holds(const pb::Condition& condition) const;
  pb::Result Change(const pb::MutationProto& mutation);
  std::string RegionName(size_t region) const;
  std::string StartOf(size_t region) const;
  std::string EndOf(size_t region) const;
  std::optional<size_t> RegionNamed(const std::string& name) const;
  std::vector<std::string> RowsOf(size_t region, const pb::Scan& scan) const;

  mutable std::mutex mutex_;
  std::vector<std::string> split_keys_;
  std::vector<std::string> rows_;
  const size_t rows_a_call_;
  size_t generation_ = 1;  // of region names
  std::deque<Obstacle> obstacles_;
  std::optional<size_t> cut_next_;
  size_t cut_answer_ = 0;
  std::map<uint64_t, OpenScanner> scanners_;
  uint64_t newest_scanner_ = 0;
  std::vector<std::string> changed_;
  std::set<uint64_t> nonces_;
  struct Procedure {
    std::string method;
    std::string parameter;  // with its nonce
    bool was_asked_for = false;
  };
  std::vector<Procedure> procedures_;
  std::string procedures_end_with_;
  bool are_procedures_forgotten_ = false;
  bool is_disabled_ = false;
  std::chrono::milliseconds lease_{0};
  size_t renewals_ = 0;
  size_t closes_ = 0;
  size_t calls_ = 0;
  size_t calls_of_meta_ = 0;
  ScriptedServer server_;
  ConnectionPool pool_;
  Registry registry_;
  Regions regions_;
  Master master_;
};

// The rows that a scan returns, read three at a time.
StatusOr<Rows> ScanRows(FakeCluster& cluster, const Scan& scan);

}  // namespace cellfs::hbase

#endif  // CELLFS_TESTS_ENGINE_HBASE_FAKE_CLUSTER_H_
