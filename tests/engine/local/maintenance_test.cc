// SPDX-License-Identifier: MIT
//
// What the background does after an error, and when the disk has no room for puts.
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/engine/local/engine_fixture.h"

namespace cellfs {
namespace {

class MaintenanceTest : public EngineTest {
 protected:
  MaintenanceTest() { options_.background_maintenance = true; }
  ~MaintenanceTest() override { files_.SetChangeHook({}); }
  // Lets the background look for work.
  void Wake() { engine_->SetMaintenancePaused(false); }
  template <typename Condition>
  void WakeUntil(Condition condition) {
    while (!condition()) {
      Wake();
      usleep(1000);
    }
  }
};

// Threads of this process that give way to its others.
int ThreadsThatGiveWay() {
  const int usual = getpriority(PRIO_PROCESS, 0);
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    if (getpriority(PRIO_PROCESS, std::stoi(task.path().filename())) > usual) ++count;
  return count;
}

TEST_F(MaintenanceTest, CompactionsGiveWayToWhoReadsAndWrites) {
  ASSERT_EQ(ThreadsThatGiveWay(), 0);
  Open();
  while (ThreadsThatGiveWay() < 2) usleep(1000);
  ASSERT_OK(PutOne("a", 1, "of a thread that does not"));
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), getpriority(PRIO_PROCESS, getpid()));
}

TEST_F(MaintenanceTest, AFlushThatFailsIsTriedAgainAfterAPauseThatGrows) {
  options_.site.memstore_flush_size = 50000;
  Open();
  engine_->SetMaintenancePaused(true);
  ASSERT_OK(PutOne("a", 1, std::string(60000, 'x')));
  std::atomic<int> syncs_of_table{0};  // the first change that a flush makes to the table's folder
  std::atomic<bool> fails{true};
  files_.SetChangeHook([&] {
    ++syncs_of_table;
    return fails.load();
  });
  WakeUntil([&] { return !table_->GetStatistics().error.empty(); });
  EXPECT_EQ(table_->GetStatistics().error.substr(0, 7), "flush: ");
  for (const int64_t pause : {1000, 2000, 4000}) {
    const int tried = syncs_of_table;
    clock_->Advance(pause - 1);
    for (int i = 0; i < 100; ++i) {
      Wake();
      usleep(300);
    }
    EXPECT_EQ(syncs_of_table, tried) << "within the pause";
    clock_->Advance(1);
    WakeUntil([&] { return syncs_of_table > tried; });
    engine_->SetMaintenancePaused(true);
    while (engine_->GetStatistics().maintenance != "paused") usleep(1000);
  }
  fails = false;
  ASSERT_OK(table_->Flush());  // who asks for it need not wait
  EXPECT_EQ(table_->GetStatistics().error, "");
  EXPECT_EQ(ValueOf("a"), std::string(60000, 'x'));
}

TEST_F(MaintenanceTest, ACompactionThatMeetsADamagedPageSaysSoUntilOneSucceeds) {
  options_.background_maintenance = false;
  Open();
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(PutOne("r" + std::to_string(i), 1, std::string(20000, 'x')));
    ASSERT_OK(table_->Flush());
  }
  const std::string file = table_path() + "/" + StoreFileNames().at(1);
  const std::string aside = directory_.path() + "/aside";
  Close();
  std::filesystem::copy(file, aside);
  std::fstream(file, std::ios::in | std::ios::out).seekp(4096 + 100).put('\xff');
  options_.background_maintenance = true;
  Open();
  WakeUntil([&] { return !table_->GetStatistics().error.empty(); });
  const std::string error = table_->GetStatistics().error;
  EXPECT_NE(error.find("compaction: "), std::string::npos) << error;
  EXPECT_NE(error.find("does not match its checksum"), std::string::npos) << error;
  Close();
  std::filesystem::rename(aside, file);
  Open();
  WakeUntil([&] { return table_->GetStatistics().compactions > 0; });
  EXPECT_EQ(table_->GetStatistics().error, "");
}

}  // namespace
}  // namespace cellfs
