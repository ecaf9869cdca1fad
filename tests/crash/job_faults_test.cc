// SPDX-License-Identifier: MIT
//
// Every job of a store whose threads run meets a fault at each of its steps: at the first, the
// second, ... until it gets through all of them. The step fails, finds no room, or is the last
// before the machine loses its power. Two writers go on beside it, and for jobs that somebody asks
// for the threads flush and compact. Only the job's own steps are counted, so each of them is met
// whatever the others do meanwhile.
//
// Afterwards everything that was acknowledged is there, nothing that was dropped is, the job
// succeeds once the fault has passed, status tells no error any more, and no file is left that no
// manifest names.
//
// Each case runs in a child process, which may die of it.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "engine/check.h"
#include "engine/embedded/embedded_store.h"
#include "engine/local/local_engine.h"
#include "tests/crash/faulty_jobs.h"
#include "tests/crash/unnamed_file.h"
#include "tests/support/faulty_files.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

namespace stdfs = std::filesystem;
using Fault = FaultyVfs::Fault;

constexpr int kLooks = 5000;  // each some milliseconds: for what never comes

// With a sanitizer a case takes five times as long.
#ifdef __SANITIZE_ADDRESS__
constexpr int kEvery = 8;
#else
constexpr int kEvery = 1;
#endif

// Which threads' changes are steps of the job.
enum class Counted { kByDefault, kYes, kNo };
thread_local Counted counted_here = Counted::kByDefault;
std::atomic<bool> counted_by_default{false};

bool IsCounted() {
  return counted_here == Counted::kYes ||
         (counted_here == Counted::kByDefault && counted_by_default);
}

// What the child has promised to whom; it survives the child.
struct Promises {
  Progress before, inside, beside;
  bool is_done = false;
  bool has_lost_power = false;
  bool reached = false;
  char failure[500] = {};
};

// ---- Cases --------------------------------------------------------------------------------------

// No disk is asked for anything here, so none has to take part.
const bool kInMemory = access("/dev/shm", W_OK) == 0 && setenv("TMPDIR", "/dev/shm", 0) == 0;

// The child: works on the store in `path`, meets the fault in the midst of the job, goes on.
class JobCase {
 public:
  JobCase(FaultyVfs& vfs, const std::string& path, const Job& job, Promises& promises, int n,
          Fault fault)
      : vfs_(vfs), path_(path), job_(job), promises_(promises), n_(n), fault_(fault) {
    vfs_.Forget();
    vfs_.CountOnly(IsCounted);
    vfs_.OnPowerLoss([this] { files_.LosePower(); });
    files_.SetChangeHook([this] { return vfs_.CountChange(); },
                         fault == Fault::kNoRoom ? StatusCode::kStoreFull : StatusCode::kIoError);
    files_.SetSyncedHook([this](const std::string& synced) { vfs_.NoteSynced(synced); });
  }

  static Writer Before(const Job& job) {
    return {.name = 'm',
            .table = job.table == kOther ? kLone : job.table,
            .families = job.table == kPair ? "fg" : "f",
            .rows = job.rows,
            .is_ascending = job.is_ascending};
  }
  static Writer Inside(const Job& job) {
    Writer writer = Before(job);
    writer.name = 'i';
    writer.rows = 7;
    writer.is_ascending = false;
    return writer;
  }
  static Writer Beside() { return {.name = 'b', .table = kBeside, .families = "f"}; }

  // Ends the process.
  void Run() {
    alarm(120);
    if (!job_.is_opening) {
      store_ = Open();
      if (!store_.ok()) End("open: " + store_.status().ToString());
      (*store_)->SetMaintenancePaused(true);
      Prepare();
    }
    Status status = MeetFault();
    if (store_.ok() && *store_ != nullptr) {
      ExpectWhatWasWritten("after the fault");
      if (!status.ok() && job_.name == "compact" && ErrorOfJob().empty())
        End("status tells no error after " + status.ToString());
    }
    GoOn(std::move(status));
    Settle();
    ExpectWhatWasWritten("in the end");
    ExpectNamedFilesOnly();
    if (n_ % 3 == 0) store_ = std::unique_ptr<ControlledStore>();
    const std::lock_guard nothing_changes(vfs_.mutex());
    if (n_ % 3 == 2) {
      promises_.has_lost_power = true;
      vfs_.LosePower(static_cast<uint32_t>(n_));
    }
    _exit(0);  // without closing anything
  }

  static StatusOr<std::unique_ptr<ControlledStore>> OpenStore(const std::string& path,
                                                              FileLayer& files,
                                                              std::shared_ptr<Clock> clock,
                                                              bool has_threads,
                                                              int64_t flush_size = kFlushSize) {
    StoreOptions options;
    options.clock = std::move(clock);
    options.background_maintenance = has_threads;
    options.site.memstore_flush_size = flush_size;
    CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<StorageEngine> engine,
                            LocalEngine::Open(path, options, files));
    return EmbeddedStore::Open(std::move(engine), options);
  }

 private:
  OpenedStore Open() { return OpenStore(path_, files_, clock_, true, job_.flush_size); }

  [[noreturn]] void End(const std::string& failure) {
    snprintf(promises_.failure, sizeof promises_.failure, "%s", failure.c_str());
    _exit(0);
  }

  void Prepare() {
    for (const int count : job_.files) {
      Write(Before(job_), promises_.before, count);
      Flush(Before(job_).table);
    }
    Write(Before(job_), promises_.before, job_.unflushed);
    if (job_.table == kOther) {
      Progress progress{.attempted = kInOther};
      Write(OfOther(), progress, kMoreInOther / 2);
      Flush(kOther);
      Write(OfOther(), progress, kMoreInOther / 2);
    }
    if (job_.is_done != nullptr && job_.is_done(StatisticsOfJob())) End("it is not due");
  }
  void Write(const Writer& writer, Progress& progress, int count) {
    for (int i = 0; i < count; ++i)
      if (!writer.Write(**store_, progress, i + 1 == count)) End("a write failed");
  }
  void Flush(const TableName& table) {
    const Status flushed = (*store_)->Flush(kCaller, table);
    if (!flushed.ok()) End("flush: " + flushed.ToString());
  }

  // The job, once, with whatever goes on beside it.
  Status MeetFault() {
    promises_.has_lost_power = fault_ == Fault::kLosePower;
    counted_by_default = job_.run == nullptr;
    counted_here = job_.run == nullptr ? Counted::kNo : Counted::kYes;
    std::vector<std::thread> writers;
    if (!job_.is_alone) {
      writers.emplace_back([this] { WriteInThread(Inside(job_), promises_.inside); });
      writers.emplace_back([this] { WriteInThread(Beside(), promises_.beside); });
    }
    vfs_.Arm(n_, fault_, static_cast<uint32_t>(n_));
    Status status = RunJob();
    for (std::thread& writer : writers) writer.join();
    promises_.is_done = status.ok();
    promises_.reached = vfs_.reached();
    vfs_.Disarm();
    return status;
  }

  void WriteInThread(const Writer& writer, Progress& progress) {
    counted_here = Counted::kNo;
    for (int i = 0; i < kFewWrites; ++i)
      static_cast<void>(writer.Write(**store_, progress, i % 4 == 0));
  }

  Status RunJob() {
    if (!job_.is_opening && !job_.is_alone) (*store_)->SetMaintenancePaused(false);
    if (job_.run != nullptr) return job_.run(store_, [this] { return Open(); });
    for (int look = 0; look < kLooks; ++look, usleep(500)) {
      const TableStatistics table = StatisticsOfJob();
      if (!table.error.empty()) return {StatusCode::kIoError, table.error};
      if (job_.is_done(table)) return {};
    }
    return {StatusCode::kUnavailable, "it never came"};
  }

  // Without the fault it succeeds.
  void GoOn(Status status) {
    clock_->Advance(120000);  // no pause after an error is longer
    if (!store_.ok() || *store_ == nullptr || !(*store_)->GetStatistics().puts_refused.ok()) {
      // After a failed sync of the log nothing but opening it anew helps.
      store_ = std::unique_ptr<ControlledStore>();
      store_ = Open();
      if (!store_.ok()) End("open again: " + store_.status().ToString());
    }
    if (status.ok()) return;
    (*store_)->SetMaintenancePaused(false);
    if (job_.run == nullptr) AwaitEndOf([this] { return ErrorOfJob(); });
    status = RunJob();
    if (!status.ok()) End(job_.name + " again: " + status.ToString());
    promises_.is_done = true;
  }

  // Further edits of all tables, so that what a failed sync has left open is settled.
  void Settle() {
    for (int i = 0; i < kFewWrites / 2; ++i) {
      const bool wrote = Inside(job_).Write(**store_, promises_.inside, i == 0) &&
                         Beside().Write(**store_, promises_.beside, i == 0);
      if (!wrote) End("a write failed after the fault had passed");
    }
    Progress none;
    const Writer of_other{.name = 'z', .table = kOther, .families = "f"};
    static_cast<void>(of_other.Write(**store_, none, false));  // it may be gone, or disabled
    for (const auto& table : (*store_)->GetStatistics().tables) {
      const Status flushed =
          Unless(StatusCode::kTableNotEnabled, (*store_)->Flush(kCaller, table.table));
      if (!flushed.ok()) End("flush in the end: " + flushed.ToString());
    }
    AwaitEndOf([this] {
      clock_->Advance(120000);
      (*store_)->SetMaintenancePaused(false);
      return ErrorOfAny();
    });
  }

  void ExpectWhatWasWritten(const std::string& when) {
    for (const auto& [writer, progress] :
         {std::pair(Before(job_), &promises_.before), std::pair(Inside(job_), &promises_.inside),
          std::pair(Beside(), &promises_.beside)}) {
      const std::string wrong = Unexplained(**store_, writer, *progress, false);
      if (!wrong.empty()) End(when + ": " + wrong);
    }
  }

  // What the threads have just replaced goes with the last who looks at it.
  void ExpectNamedFilesOnly() {
    AwaitEndOf([this] { return UnnamedFile(path_); });
  }

  // Until there is nothing of the kind.
  void AwaitEndOf(const std::function<std::string()>& what) {
    for (int look = 0; look < kLooks; ++look, usleep(500))
      if (what().empty()) return;
    End("there is still " + what());
  }

  TableStatistics StatisticsOfJob() {
    for (TableStatistics& table : (*store_)->GetStatistics().tables)
      if (table.table == job_.table) return std::move(table);
    return {};
  }
  std::string ErrorOfJob() { return StatisticsOfJob().error; }
  std::string ErrorOfAny() {
    const Statistics statistics = (*store_)->GetStatistics();
    if (!statistics.puts_refused.ok()) return statistics.puts_refused.ToString();
    for (const TableStatistics& table : statistics.tables)
      if (!table.error.empty()) return table.table.ToString() + ": " + table.error;
    return "";
  }

  FaultyVfs& vfs_;
  const std::string path_;
  const Job& job_;
  Promises& promises_;
  const int n_;
  const Fault fault_;
  FaultyFiles files_{vfs_.mutex()};
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(1000000);
  OpenedStore store_ = std::unique_ptr<ControlledStore>();
};

class JobFaultsTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    vfs_ = &FaultyVfs::Install();
    promises_ = static_cast<Promises*>(
        mmap(nullptr, sizeof(Promises), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(promises_, MAP_FAILED);
    // Whoever makes the store dies, so that the log has what was not flushed.
    ASSERT_EQ(InChild([this] { MakeOrigin(); }), 0);
  }
  void TearDown() override { munmap(promises_, sizeof(Promises)); }

  void MakeOrigin() {
    FaultyFiles files;
    auto store = JobCase::OpenStore(origin_, files, std::make_shared<ManualClock>(1000000), false);
    const auto check = [](bool is_right) {
      if (!is_right) _exit(1);
    };
    check(store.ok());
    for (const TableName& table : {kPair, kLone, kOther, kBeside}) {
      const bool has_one = table == kLone || table == kBeside;
      TableSchema schema = SchemaOf(table, has_one ? "f" : "fg");
      if (table == kBeside) check(schema.Set("MEMSTORE_FLUSHSIZE", "134217728").ok());
      check((*store)->CreateTable(kCaller, schema).ok());
    }
    Progress progress;
    for (int i = 0; i < kInOther; ++i) {
      check(OfOther().Write(**store, progress, false));
      if (i == kInOther / 2) check((*store)->Flush(kCaller, kOther).ok());
    }
    _exit(0);
  }

  template <typename Act>
  static int InChild(const Act& act) {
    const pid_t child = fork();
    if (child == 0) {
      act();
      _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "the process ended with " << status;
    return WEXITSTATUS(status);
  }

  // False: the job got through before its nth step.
  bool Try(const Job& job, int n, Fault fault) {
    stdfs::remove_all(path_);
    stdfs::copy(origin_, path_, stdfs::copy_options::recursive);
    *promises_ = Promises();
    const int code = InChild([&] { JobCase(*vfs_, path_, job, *promises_, n, fault).Run(); });
    EXPECT_TRUE(code == 0 || code == FaultyVfs::kDiedExitCode) << code;
    EXPECT_STREQ(promises_->failure, "");
    if (!HasFailure()) Verify(job);
    return code == FaultyVfs::kDiedExitCode || promises_->reached;
  }

  // What is there for whoever opens the store next.
  void Verify(const Job& job) {
    {
      FaultyFiles files;  // that syncs nothing, and so is quick
      auto store = JobCase::OpenStore(path_, files, std::make_shared<ManualClock>(2000000), false);
      ASSERT_TRUE(store.ok()) << store.status().ToString();
      const bool has_lost_power = promises_->has_lost_power;
      EXPECT_EQ(Unexplained(**store, JobCase::Before(job), promises_->before, has_lost_power), "");
      EXPECT_EQ(Unexplained(**store, JobCase::Inside(job), promises_->inside, has_lost_power), "");
      EXPECT_EQ(Unexplained(**store, JobCase::Beside(), promises_->beside, has_lost_power), "");
      static_cast<void>((*store)->EnableTable(kCaller, kOther));
      auto other = Contents(**store, kOther);
      const std::string text =
          other.ok() ? (*other)['o'] : Status(other.status().code(), "").ToString();
      std::set<std::string> allowed = promises_->is_done ? job.afterwards : job.meanwhile;
      if (allowed.empty()) allowed = {OfOther().Expected(kInOther)};
      EXPECT_TRUE(allowed.contains(text)) << "the other table holds " << text.substr(0, 500);
    }
    const auto report = CheckLocalStore(path_);
    ASSERT_TRUE(report.ok());
    // The drop of a family that was cut short is told: an older CATALOG would look the same.
    for (const Damage& damage : report->damage) {
      const bool is_cut_short = damage.table == kOther && damage.family == "g" &&
                                damage.file == "CATALOG" && !promises_->is_done;
      EXPECT_TRUE(is_cut_short) << damage.file << ": " << damage.what;
    }
    EXPECT_EQ(UnnamedFile(path_), "");
  }

  TemporaryDirectory temporary_;
  const std::string origin_ = temporary_.path() + "/origin";
  const std::string path_ = temporary_.path() + "/store";
  FaultyVfs* vfs_ = nullptr;
  Promises* promises_ = nullptr;
};

TEST_P(JobFaultsTest, AFaultAtAnyStepLosesNothing) {
  const Job job = Jobs()[static_cast<size_t>(GetParam())];
  for (const Fault fault :
       {Fault::kFail, Fault::kNoRoom, Fault::kReadError, Fault::kLosePower}) {
    int n = 1;
    for (; Try(job, n, fault); n += kEvery) {
      if (!HasFailure()) continue;
      ADD_FAILURE() << "fault " << static_cast<int>(fault) << " at step " << n;
      return;
    }
    printf("%s, fault %d: through before step %d\n", job.name.c_str(), static_cast<int>(fault), n);
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, JobFaultsTest, testing::Range(0, 11), [](const auto& test) {
  return Jobs()[static_cast<size_t>(test.param)].name;
});

}  // namespace
}  // namespace cellfs
