// SPDX-License-Identifier: MIT
//
// Every operation that changes the files of a store meets every fault at every place: the first
// write, the second, ... until it gets through. Afterwards the store opens and holds what was
// promised: what was acknowledged where the process died, what was synced where the machine lost
// its power; no half mutation of a row, no value that was not written, no temporary file.
//
// The last of these operations is what the store's threads do by themselves while it is written to:
// where each fault meets them differs from one time to the next, and what must hold does not.
//
// Each case runs in a child process, which may die of it. CELLFS_FAULT_STEP=1 tries every place;
// otherwise the later ones are tried in steps.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>

#include "engine/check.h"
#include "engine/embedded/embedded_store.h"
#include "engine/local/local_engine.h"
#include "tests/crash/unnamed_file.h"
#include "tests/support/faulty_files.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

namespace stdfs = std::filesystem;
using Fault = FaultyVfs::Fault;

// Mutation number i writes one value to the same column of two families of one row.
constexpr int kRows = 7;
constexpr int kColumns = 5;
constexpr int kBefore = 40;  // mutations of each table before the operation
constexpr int kAfter = 12;
constexpr int kBesideThreads = 20;  // while the background flushes and compacts

const TableName kData = ParseTableName("data");
const TableName kOther = ParseTableName("other");

std::string RowOf(int i) { return "row" + std::to_string(i % kRows); }
std::string ColumnOf(int i) { return "q" + std::to_string(i % kColumns); }
std::string ValueOf(int i) {
  constexpr size_t kSizes[] = {8, 600, 9000};
  return std::to_string(i) + std::string(kSizes[i % 3], static_cast<char>('a' + i % 26));
}

TableSchema SchemaOf(const TableName& table, const std::vector<std::string>& families) {
  TableSchema schema(table);
  for (const std::string& family : families) schema.families.emplace(family, FamilySchema(family));
  return schema;
}

// What the child has promised to whom; it survives the child.
struct Promises {
  int attempted = 0;     // mutations that may be there
  int acknowledged = 0;  // of them, that survive the process
  int durable = 0;       // of them, that survive power loss
  bool operation_begun = false;
  bool operation_done = false;
  bool lost_power = false;
  bool reached = false;
  char failure[500] = {};
};

void Fail(Promises& promises, const std::string& what) {
  if (promises.failure[0] == '\0') {
    snprintf(promises.failure, sizeof promises.failure, "%s", what.c_str());
  }
}

// In the background every few mutations are flushed, and any two files are compacted.
StatusOr<std::unique_ptr<ControlledStore>> OpenStore(const std::string& path, FileLayer& files,
                                                     bool in_background = false) {
  StoreOptions options;
  options.background_maintenance = in_background;
  if (in_background) {
    options.site.memstore_flush_size = 8 << 10;
    options.site.compaction_min = 2;
  }
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<StorageEngine> engine,
                          LocalEngine::Open(path, options, files));
  return EmbeddedStore::Open(std::move(engine), options);
}

Status MutateBoth(Store& store, const TableName& table, int i, Durability durability) {
  RowMutations mutations{.row = RowOf(i), .durability = durability};
  for (const char* family : {"f", "g"}) {
    mutations.mutations.push_back(
        Put{.row = RowOf(i), .cells = {{family, ColumnOf(i), i + 1, ValueOf(i), std::nullopt}}});
  }
  return store.Mutate(Caller::Superuser(), table, mutations).status();
}

// What a table holds after mutations 0 to `count` - 1, as text.
std::string Expected(int count, const std::string& families = "fg") {
  std::map<std::string, std::string> cells;
  for (int i = 0; i < count; ++i) {
    for (const char family : families) {
      cells[RowOf(i) + "/" + family + "/" + ColumnOf(i)] = ValueOf(i);
    }
  }
  std::string text;
  for (const auto& [place, value] : cells) text += place + "=" + value + "\n";
  return text;
}

std::string Contents(Store& store, const TableName& table) {
  auto scanner = store.OpenScanner(Caller::Superuser(), table, Scan());
  if (!scanner.ok()) return scanner.status().ToString();
  std::string text;
  for (;;) {
    auto rows = (*scanner)->Next({});
    if (!rows.ok()) return rows.status().ToString();
    if (rows->empty()) return text;
    for (const RowCells& cells : *rows) {
      for (const Cell& cell : cells) {
        text += cell.row + "/" + cell.family + "/" + cell.qualifier + "=" + cell.value + "\n";
      }
    }
  }
}

// The number of mutations, within the bounds, that explains the contents; -1: none does.
int Explain(const std::string& contents, int least, int most) {
  for (int count = most; count >= least; --count) {
    if (contents == Expected(count)) return count;
  }
  return -1;
}

// No disk is asked for anything here, so none has to take part.
const bool kInMemory = access("/dev/shm", W_OK) == 0 && setenv("TMPDIR", "/dev/shm", 0) == 0;

struct Operation {
  std::string name;
  std::function<Status(Store& store)> run;  // none: closes the store and opens it again
  // What kOther may hold once the operation has begun and once it is done.
  std::set<std::string> while_running;
  std::set<std::string> when_done;
  bool in_background = false;  // the operation is what the threads do while the test writes
};

const std::string kWhole = Expected(kBefore);
const std::string kGone = Status(StatusCode::kTableNotFound, "").ToString();

std::vector<Operation> Operations() {
  const Caller caller = Caller::Superuser();
  const auto disabled = [caller](Store& store) {
    const Status status = store.DisableTable(caller, kOther);
    return status.code() == StatusCode::kTableNotEnabled ? Status() : status;
  };
  const auto enabled = [caller](Store& store) {
    const Status status = store.EnableTable(caller, kOther);
    return status.code() == StatusCode::kTableNotDisabled ? Status() : status;
  };
  // Of both, so that the log is cut.
  const auto flushed = [caller](Store& store) {
    CELLFS_RETURN_IF_ERROR(store.Flush(caller, kOther));
    return store.Flush(caller, kData);
  };
  return {
      {"flush", flushed, {kWhole}, {kWhole}},
      {"compact",
       [=](Store& store) {
         CELLFS_RETURN_IF_ERROR(flushed(store));
         return store.Compact(caller, kData, CompactionKind::kMajor);
       },
       {kWhole},
       {kWhole}},
      {"alter",
       [=](Store& store) {
         return store.AlterTable(caller, SchemaOf(kOther, {"f", "h"}));
       },
       {kWhole, Expected(kBefore, "f")},
       {Expected(kBefore, "f")}},
      {"truncate",
       [=](Store& store) {
         CELLFS_RETURN_IF_ERROR(disabled(store));
         CELLFS_RETURN_IF_ERROR(store.TruncateTable(caller, kOther));
         return enabled(store);
       },
       {kWhole, ""},
       {""}},
      {"drop",
       [=](Store& store) {
         CELLFS_RETURN_IF_ERROR(disabled(store));
         const Status status = store.DropTable(caller, kOther);
         return status.code() == StatusCode::kTableNotFound ? Status() : status;
       },
       {kWhole, kGone},
       {kGone}},
      {"create",
       [=](Store& store) {
         const TableName table = ParseTableName("new");
         const Status status = store.CreateTable(caller, SchemaOf(table, {"f", "g"}));
         if (!status.ok() && status.code() != StatusCode::kTableExists) return status;
         return MutateBoth(store, table, 1, Durability::kFsyncWal);
       },
       {kWhole},
       {kWhole}},
      {"close", nullptr, {kWhole}, {kWhole}},
      {"background",
       [=](Store& store) {
         CELLFS_RETURN_IF_ERROR(flushed(store));
         return store.Compact(caller, kData, CompactionKind::kMinor);
       },
       {kWhole},
       {kWhole},
       /*in_background=*/true},
  };
}

class FaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    vfs_ = &FaultyVfs::Install();
    promises_ = static_cast<Promises*>(
        mmap(nullptr, sizeof(Promises), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(promises_, MAP_FAILED);
    auto store = OpenStore(origin_, PosixFiles());
    ASSERT_TRUE(store.ok()) << store.status().ToString();
    for (const TableName& table : {kData, kOther}) {
      ASSERT_TRUE((*store)->CreateTable(Caller::Superuser(), SchemaOf(table, {"f", "g"})).ok());
    }
    // A part of it lies in the store files already, so that later versions hide it there.
    for (int i = 0; i < kBefore / 2; ++i) {
      ASSERT_TRUE(MutateBoth(**store, kData, i, Durability::kSyncWal).ok());
      ASSERT_TRUE(MutateBoth(**store, kOther, i, Durability::kSyncWal).ok());
    }
  }
  void TearDown() override { munmap(promises_, sizeof(Promises)); }

  // The child: works on the store, meets the fault in the midst of the operation, goes on if it
  // can.
  void Work(const Operation& operation, int n, Fault fault) {
    Promises& promises = *promises_;
    promises.attempted = promises.acknowledged = promises.durable = kBefore / 2;
    FaultyFiles files(vfs_->mutex());
    vfs_->Forget();
    vfs_->OnPowerLoss([&] { files.LosePower(); });
    files.SetChangeHook([this] { return vfs_->CountChange(); });
    files.SetSyncedHook([this](const std::string& path) { vfs_->NoteSynced(path); });
    auto store = OpenStore(path_, files, operation.in_background);
    if (!store.ok()) return Fail(promises, "open: " + store.status().ToString());
    for (int i = kBefore / 2; i < kBefore; ++i) {
      const Status other = MutateBoth(**store, kOther, i, Durability::kFsyncWal);
      if (!other.ok()) return Fail(promises, other.ToString());
      WriteNext(**store);
    }
    promises.operation_begun = true;
    promises.lost_power = fault == Fault::kLosePower;
    vfs_->Arm(n, fault, static_cast<uint32_t>(n));
    Status status = Run(operation, store, files);
    promises.operation_done = status.ok();
    promises.reached = vfs_->reached();
    vfs_->Disarm();
    if (operation.run != nullptr || status.ok()) {
      Expect(**store, "after the fault");
      for (int i = 0; i < kAfter / 2; ++i) WriteNext(**store);
    }
    if (!status.ok()) {  // there is room again, the disk works again
      status = Run(operation, store, files);
      if (!status.ok()) {
        // After a failed sync of the log nothing but opening it anew helps.
        store = std::unique_ptr<ControlledStore>();
        store = OpenStore(path_, files, operation.in_background);
        if (!store.ok()) return Fail(promises, "open again: " + store.status().ToString());
        status = Run(operation, store, files);
      }
      if (!status.ok()) return Fail(promises, operation.name + " again: " + status.ToString());
      promises.operation_done = true;
    }
    for (int i = 0; i < kAfter / 2; ++i) WriteNext(**store);
    Expect(**store, "in the end");
    if (n % 3 == 0) store->reset();
    const std::lock_guard nothing_changes(vfs_->mutex());
    if (n % 3 == 2) {
      promises.lost_power = true;
      vfs_->LosePower(static_cast<uint32_t>(n));
    }
    _exit(0);  // without closing anything
  }

  Status Run(const Operation& operation, StatusOr<std::unique_ptr<ControlledStore>>& store,
             FileLayer& files) {
    for (int i = 0; operation.in_background && i < kBesideThreads; ++i) WriteNext(**store);
    if (operation.run != nullptr) return operation.run(**store);
    store = std::unique_ptr<ControlledStore>();  // closes it before the next one wants its lock
    store = OpenStore(path_, files);
    CELLFS_RETURN_IF_ERROR(store.status());
    // A table that met the fault while it was opened stays closed until the store is opened again.
    for (const TableName& table : {kData, kOther}) {
      CELLFS_RETURN_IF_ERROR((*store)->Read(Caller::Superuser(), table, {.row = "any"}).status());
    }
    return {};
  }

  void WriteNext(Store& store) {
    Promises& promises = *promises_;
    const int i = promises.attempted++;
    const bool durable = i % 4 == 0;
    const Status status =
        MutateBoth(store, kData, i, durable ? Durability::kFsyncWal : Durability::kSyncWal);
    if (!status.ok()) {
      // Refused, so it must not be there; the next one is the same again.
      if (status.code() != StatusCode::kOutcomeUnknown) --promises.attempted;
      return;
    }
    promises.acknowledged = i + 1;
    if (durable) promises.durable = i + 1;
  }

  void Expect(Store& store, const std::string& when) {
    const std::string contents = Contents(store, kData);
    if (Explain(contents, promises_->acknowledged, promises_->attempted) < 0) {
      Fail(*promises_, when + " it holds " + contents.substr(0, 300));
    }
  }

  // The parent: what must be there.
  void Verify(const Operation& operation) {
    const Promises& promises = *promises_;
    EXPECT_STREQ(promises.failure, "");
    {
      FaultyFiles files;  // that syncs nothing, and so is quick
      auto store = OpenStore(path_, files);
      ASSERT_TRUE(store.ok()) << store.status().ToString();
      const int least = promises.lost_power ? promises.durable : promises.acknowledged;
      const std::string data = Contents(**store, kData);
      EXPECT_GE(Explain(data, least, promises.attempted), 0)
          << "of " << least << " to " << promises.attempted
          << " mutations: " << data.substr(0, 500);
      auto enabled = (*store)->IsTableEnabled(kOther);
      if (enabled.ok() && !*enabled) {
        EXPECT_TRUE((*store)->EnableTable(Caller::Superuser(), kOther).ok());
      }
      std::string other = Contents(**store, kOther);
      if (!enabled.ok() && enabled.status().code() == StatusCode::kTableNotFound) other = kGone;
      const auto& allowed = promises.operation_done ? operation.when_done : operation.while_running;
      EXPECT_TRUE(allowed.contains(other)) << "the other table holds " << other.substr(0, 500);
    }
    const auto report = CheckLocalStore(path_);
    ASSERT_TRUE(report.ok());
    // The drop of a family that was cut short is told: an older CATALOG would look the same.
    for (const Damage& damage : report->damage) {
      const bool is_cut_short = damage.table == kOther && damage.family == "g" &&
                                damage.file == "CATALOG" && !promises.operation_done;
      EXPECT_TRUE(is_cut_short) << damage.file << ": " << damage.what;
    }
    for (const auto& entry : stdfs::recursive_directory_iterator(path_)) {
      EXPECT_NE(entry.path().extension(), ".new") << entry.path();
    }
    EXPECT_EQ(UnnamedFile(path_), "");
  }

  // False: the operation got through before its nth place.
  bool Try(const Operation& operation, int n, Fault fault) {
    const bool reached = WorkInChild(operation, n, fault);
    Verify(operation);
    return reached;
  }

  bool WorkInChild(const Operation& operation, int n, Fault fault) {
    stdfs::remove_all(path_);
    stdfs::copy(origin_, path_, stdfs::copy_options::recursive);
    *promises_ = Promises();
    const pid_t child = fork();
    if (child == 0) {
      Work(operation, n, fault);
      _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    const bool died = WIFEXITED(status) && WEXITSTATUS(status) == FaultyVfs::kDiedExitCode;
    EXPECT_TRUE(died || status == 0) << "the process ended with " << status;
    return died || promises_->reached;
  }

  TemporaryDirectory temporary_;
  const std::string origin_ = temporary_.path() + "/origin";
  const std::string path_ = temporary_.path() + "/store";
  FaultyVfs* vfs_ = nullptr;
  Promises* promises_ = nullptr;
};

// With a sanitizer a case takes five times as long.
#ifdef __SANITIZE_ADDRESS__
constexpr int kEvery = 3;
#else
constexpr int kEvery = 1;
#endif

class StoreFaultsTest : public FaultsTest, public testing::WithParamInterface<int> {};

TEST_P(StoreFaultsTest, AFaultAtAnyPlaceLosesNothingThatWasPromised) {
  const char* const step_text = getenv("CELLFS_FAULT_STEP");
  const int step = step_text != nullptr ? atoi(step_text) : 0;
  const Operation operation = Operations()[static_cast<size_t>(GetParam())];
  const auto next = [step](int n, Fault fault) {
    if (step > 0 || n < 5) return n + std::max(step, 1);
    return n + kEvery + kEvery * n / (fault == Fault::kLosePower ? 12 : 4);
  };
  for (const Fault fault : {Fault::kDie, Fault::kLosePower, Fault::kFail, Fault::kFull,
                            Fault::kReadError, Fault::kShortRead}) {
    int cases = 0;
    for (int n = 1; cases < 10000; n = next(n, fault), ++cases) {
      SCOPED_TRACE(operation.name + ", fault " + std::to_string(static_cast<int>(fault)) + " at " +
                   std::to_string(n));
      if (!Try(operation, n, fault)) break;
      if (HasFailure()) return;
    }
    printf("%s, fault %d: %d cases\n", operation.name.c_str(), static_cast<int>(fault), cases);
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, StoreFaultsTest, testing::Range(0, 8), [](const auto& test) {
  return Operations()[static_cast<size_t>(test.param)].name;
});

}  // namespace
}  // namespace cellfs
