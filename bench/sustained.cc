// SPDX-License-Identifier: MIT
//
// What is kept up when a store grows beyond memory: cells are written in batches, one after the other;
// then some are read at random, and a million in order. bench/sustained.py runs it on both targets and
// makes a table of it.
//
//     sustained DIRECTORY [--cells N] [--bytes N] [--order ORDER] [--batch N] [--reads N] [--buffer MIB]
//
//     random      rows in no order
//     ascending   rows in their order
//     series      1,000 rows, to each of which one column after the other comes
//     overwrite   a tenth as many rows, each written ten times on average
//
// A line for each million, with its rate, the longest wait of a batch and what all threads took of the
// processors; the last is JSON.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include "bench/sustained.h"

namespace cellfs::bench {

void Fail(const std::string& why) {
  std::fprintf(stderr, "sustained: %s\n", why.c_str());
  std::exit(1);
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMillion = 1'000'000;
constexpr int64_t kSeries = 1000;
constexpr int64_t kOverwrites = 10;
constexpr int64_t kFirstTimestamp = 1'700'000'000'000;

double SecondsSince(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

// A number that looks like chance, the same each time (SplitMix64).
uint64_t Scattered(uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
  number = (number ^ number >> 27) * 0x94d049bb133111eb;
  return number ^ number >> 31;
}

std::string Digits(const char* format, uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, format, static_cast<unsigned long long>(number));
  return text;
}

struct Work {
  std::string order = "random";
  int64_t cells = 16 * kMillion;
  int64_t bytes = 100;
  int64_t batch = 100;
  int64_t reads = 20'000;
  int64_t buffer = 128;

  std::pair<std::string, std::string> ColumnAt(int64_t index) const {
    const auto number = static_cast<uint64_t>(index);
    if (order == "series")
      return {Digits("sensor%04llu", number % kSeries), Digits("%012llu", number / kSeries)};
    if (order == "ascending") return {Digits("%016llx", number), "q"};
    if (order == "random") return {Digits("%016llx", Scattered(number)), "q"};
    const auto rows = static_cast<uint64_t>(std::max<int64_t>(1, cells / kOverwrites));
    return {Digits("%016llx", Scattered(Scattered(number) % rows)), "q"};
  }
  std::string ValueAt(int64_t index) const {
    std::string value(static_cast<size_t>(bytes), ' ');
    uint64_t chance = Scattered(static_cast<uint64_t>(index));
    for (size_t i = 0; i < value.size(); ++i) {
      if (i % 12 == 0) chance = Scattered(chance);
      value[i] = static_cast<char>('a' + (chance >> i % 12 * 5) % 26);
    }
    return value;
  }
};

Work WorkOf(int count, char** words) {
  Work work;
  const std::map<std::string, int64_t*> numbers = {{"--cells", &work.cells}, {"--bytes", &work.bytes},
                                                   {"--batch", &work.batch}, {"--reads", &work.reads},
                                                   {"--buffer", &work.buffer}};
  for (int i = 2; i + 1 < count; i += 2) {
    const auto number = numbers.find(words[i]);
    if (number != numbers.end()) {
      *number->second = std::max<int64_t>(1, std::atoll(words[i + 1]));
    } else if (std::string(words[i]) == "--order") {
      work.order = words[i + 1];
    } else {
      Fail(std::string("there is no ") + words[i]);
    }
  }
  const auto orders = {"random", "ascending", "series", "overwrite"};
  if (std::find(orders.begin(), orders.end(), work.order) == orders.end())
    Fail("there is no order '" + work.order + "'");
  return work;
}

struct Written {
  double seconds = 0;
  double slowest_million = 0;  // cells a second; 0: there was no whole one
  double longest_wait = 0;     // of a batch, in seconds
};

// Of all threads: what else runs on the machine makes it no longer.
double ProcessorSeconds() {
  struct rusage used {};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

Written WriteAll(Target& target, const Work& work) {
  Written written;
  const auto begun = Clock::now();
  auto million = begun;
  double longest = 0;
  double processor = ProcessorSeconds();
  for (int64_t i = 0; i < work.cells; ++i) {
    auto [row, qualifier] = work.ColumnAt(i);
    target.Add(std::move(row), std::move(qualifier), work.ValueAt(i), kFirstTimestamp + i / 10);
    if ((i + 1) % work.batch == 0 || i + 1 == work.cells) {
      const auto before = Clock::now();
      target.Write();
      longest = std::max(longest, SecondsSince(before));
    }
    written.longest_wait = std::max(written.longest_wait, longest);
    if ((i + 1) % kMillion != 0) continue;
    const double rate = kMillion / SecondsSince(million);
    const double processor_before = std::exchange(processor, ProcessorSeconds());
    std::printf("%5lld million: %9.0f a second, longest wait %8.1f ms, %6.2f s of processors\n",
                static_cast<long long>((i + 1) / kMillion), rate, longest * 1e3,
                processor - processor_before);
    std::fflush(stdout);
    const bool is_first = written.slowest_million == 0;
    written.slowest_million = is_first ? rate : std::min(written.slowest_million, rate);
    million = Clock::now();
    longest = 0;
  }
  written.seconds = SecondsSince(begun);
  return written;
}

}  // namespace
}  // namespace cellfs::bench

int main(int count, char** words) {
  using namespace cellfs::bench;
  if (count < 2) Fail("a directory is missing");
  const Work work = WorkOf(count, words);
  const auto target = Target::Open(words[1], static_cast<uint64_t>(work.buffer) << 20);
  const Written written = WriteAll(*target, work);
  auto begun = Clock::now();
  target->Flush();
  const double flush = SecondsSince(begun);

  begun = Clock::now();
  for (int64_t i = 0; i < work.reads; ++i) {
    const auto chosen = Scattered(static_cast<uint64_t>(i) + 77) % static_cast<uint64_t>(work.cells);
    const auto [row, qualifier] = work.ColumnAt(static_cast<int64_t>(chosen));
    if (!target->Get(row, qualifier)) Fail("a cell that was written is not there: " + row);
  }
  const double reads = SecondsSince(begun);
  begun = Clock::now();
  const int64_t scanned = target->Scan(kMillion);
  const double scan = SecondsSince(begun);

  std::printf("{\"rate\": %.0f, \"slowest_million\": %.0f, \"longest_wait_ms\": %.1f, \"flush_s\": %.2f, "
              "\"read_us\": %.2f, \"scan_us\": %.3f}\n",
              static_cast<double>(work.cells) / written.seconds, written.slowest_million,
              written.longest_wait * 1e3, flush, reads / static_cast<double>(work.reads) * 1e6,
              scan / static_cast<double>(std::max<int64_t>(1, scanned)) * 1e6);
}
