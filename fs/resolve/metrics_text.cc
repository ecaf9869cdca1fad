// SPDX-License-Identifier: MIT
#include "fs/resolve/metrics_text.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>

#include "fs/tree/hidden_namespace.h"

namespace cellfs::fs {
namespace {

template <typename Value>
void WriteMetric(const char* name, const char* kind, const char* help, Value value,
                 std::ostream& text) {
  text << "# HELP cellfs_" << name << " " << help << "\n# TYPE cellfs_" << name << " " << kind
       << "\ncellfs_" << name << " " << value << "\n";
}

// Of "compact t, flush u".
size_t CountJobs(std::string_view maintenance, std::string_view kind) {
  const std::string in_list = ", " + std::string(kind) + " ";
  size_t jobs = maintenance.starts_with(in_list.substr(2)) ? 1 : 0;
  for (size_t at = 0; (at = maintenance.find(in_list, at)) != maintenance.npos; ++at) ++jobs;
  return jobs;
}

void WriteJobs(const std::string& maintenance, std::ostream& text) {
  text << "# HELP cellfs_jobs Flushes and compactions under way, also what was asked for.\n"
       << "# TYPE cellfs_jobs gauge\n";
  for (const char* const kind : {"compact", "flush"})
    text << "cellfs_jobs{kind=\"" << kind << "\"} " << CountJobs(maintenance, kind) << "\n";
}

void WriteScrubMetrics(const ScrubStatistics& scrub, std::ostream& text) {
  const auto seconds = [](int64_t ms) { return ms / 1000; };  // since 1970
  WriteMetric("scrub_due_timestamp_seconds", "gauge", "When the next scrub begins; 0: never.",
              seconds(scrub.due), text);
  WriteMetric("scrub_begin_timestamp_seconds", "gauge",
              "When the last scrub that came to its end began; 0: there was none.",
              seconds(scrub.begun), text);
  WriteMetric("scrub_end_timestamp_seconds", "gauge", "When it ended.", seconds(scrub.ended), text);
  WriteMetric("scrub_files", "gauge", "Store files and segments of the log that it read.",
              scrub.files, text);
  WriteMetric("scrub_bytes", "gauge", "Bytes that these have.", scrub.bytes, text);
  WriteMetric("scrub_damaged", "gauge", "What it found damaged, and the one under way so far.",
              scrub.damage.size(), text);
  WriteMetric("scrub_running", "gauge", "Whether a scrub is under way.",
              scrub.under_way_since == 0 ? 0 : 1, text);
}

void WriteStoreMetrics(const Statistics& statistics, std::ostream& text) {
  const auto metric = [&](const char* name, const char* kind, const char* help, auto value) {
    WriteMetric(name, kind, help, value, text);
  };
  metric("mutations_total", "counter", "Mutations since the store was opened.",
         statistics.mutations);
  metric("log_syncs_total", "counter", "Syncs of the log since the store was opened.",
         statistics.log_syncs);
  metric("log_bytes", "gauge", "Bytes of log that a recovery would replay.", statistics.log_bytes);
  metric("memstore_bytes", "gauge", "Bytes of memstores, of all tables.",
         statistics.memstore_bytes);
  metric("disk_reserve_bytes", "gauge", "Bytes of the disk that are kept for deletes.",
         statistics.disk_reserve);
  metric("disk_reserve_wanted_bytes", "gauge", "Bytes that are to be kept so.",
         statistics.disk_reserve_wanted);
  WriteScrubMetrics(statistics.scrub, text);
  const auto& refused = statistics.puts_refused;
  text << "# HELP cellfs_puts_refused Whether puts are refused, and why.\n"
       << "# TYPE cellfs_puts_refused gauge\ncellfs_puts_refused{reason=\""
       << (refused.ok() ? "" : CodeName(refused.code())) << "\"} " << (refused.ok() ? 0 : 1)
       << "\n";
  WriteJobs(statistics.maintenance, text);
  metric("pinned_moments", "gauge", "Moments that are kept for readers.",
         statistics.pinned_moments);
  metric("moment_bytes", "gauge", "Bytes that are kept for moments alone.",
         statistics.moment_bytes);
  metric("moment_limit_bytes", "gauge", "Bytes from which on no further moment is held.",
         statistics.moment_limit);
  metric("oldest_moment_age_seconds", "gauge", "Age of the oldest pinned moment.",
         static_cast<double>(statistics.oldest_moment_age_ms) / 1000);
  metric("past_schemas", "gauge", "Former states of tables and namespaces that are kept.",
         statistics.past_states);
  metric("past_schema_bytes", "gauge", "Bytes that these take.", statistics.past_bytes);
  metric("kept_tables", "gauge", "Tables that were dropped and are kept.", statistics.kept.size());
  metric("kept_bytes", "gauge", "Bytes that these take.", BytesOfKept(statistics));
  metric("kept_damaged", "gauge", "Of how many of these something is missing or damaged.",
         std::count_if(statistics.kept.begin(), statistics.kept.end(),
                       [](const KeptTableStatistics& kept) { return !kept.damage.empty(); }));
  metric("lost_tables", "gauge", "Tables that CATALOG does not name, for it is older.",
         statistics.lost_tables.size());
  metric("log_cut_off", "gauge", "Whole records were cut off the log so often, and are kept.",
         statistics.cut_off.size());
}

void WriteTableMetrics(const Statistics& statistics, std::ostream& text) {
  const auto per_table = [&](const char* name, const char* kind, const char* help,
                             const auto& value_of) {
    text << "# HELP cellfs_table_" << name << " " << help << "\n# TYPE cellfs_table_" << name << " "
         << kind << "\n";
    for (const TableStatistics& table : statistics.tables) {
      if (table.table.namespace_name == kHiddenNamespace) continue;
      text << "cellfs_table_" << name << "{table=\"" << Quotable(table.table.ToString()) << "\"} "
           << std::invoke(value_of, table) << "\n";
    }
  };
  per_table("memstore_bytes", "gauge", "Bytes of the memstore.", &TableStatistics::memstore_bytes);
  per_table("file_bytes", "gauge", "Bytes of the store files.", &TableStatistics::file_bytes);
  per_table("live_bytes", "gauge", "Bytes of these that reads show, or that are not known better.",
            LiveBytes);
  per_table("old_version_bytes", "gauge", "Bytes of these that are behind a newer version.",
            &TableStatistics::old_version_bytes);
  per_table("deleted_bytes", "gauge", "Bytes of these that are deletes, or hidden by them.",
            &TableStatistics::deleted_bytes);
  per_table("flushes_total", "counter", "Flushes since the store was opened.",
            &TableStatistics::flushes);
  per_table("compactions_total", "counter", "Compactions since the store was opened.",
            &TableStatistics::compactions);
  per_table("damaged", "gauge", "Whether something of it is missing or damaged.",
            [](const TableStatistics& table) { return !table.damage.empty(); });
  per_table("failing", "gauge", "Whether its last flush or compaction failed.",
            [](const TableStatistics& table) { return !table.error.empty(); });
  per_table(
      "retry_seconds", "gauge", "Until that is tried again.",
      [](const TableStatistics& table) { return static_cast<double>(table.retry_ms) / 1000; });
  per_table("compaction_debt_bytes", "gauge", "Bytes of files that it is worth to compact now.",
            &TableStatistics::compaction_debt);
}

// Of durations from a microsecond on; what took less counts there.
constexpr size_t kFirstBucket = 9;
constexpr size_t kLastBucket = 33;  // up to 17 seconds

void WriteHead(const std::string& name, const char* kind, const char* help, std::ostream& text) {
  text << "# HELP " << name << " " << help << "\n# TYPE " << name << " " << kind << "\n";
}

// `labels`: none, or such as 'kind="read"'.
void WriteHistogram(const std::string& name, const std::string& labels,
                    const DurationFigures& figures, std::ostream& text) {
  const std::string first = labels.empty() ? "" : labels + ",";
  const std::string alone = labels.empty() ? "" : "{" + labels + "}";
  uint64_t count = 0;
  for (size_t bucket = 0; bucket < DurationFigures::kBuckets; ++bucket) {
    count += figures.buckets[bucket];
    if (bucket < kFirstBucket || bucket > kLastBucket) continue;
    text << name << "_bucket{" << first << "le=\"" << std::ldexp(1e-9, static_cast<int>(bucket) + 1)
         << "\"} " << count << "\n";
  }
  text << name << "_bucket{" << first << "le=\"+Inf\"} " << count << "\n"
       << name << "_sum" << alone << " " << static_cast<double>(figures.nanoseconds) * 1e-9 << "\n"
       << name << "_count" << alone << " " << count << "\n";
}

void WriteRequests(const AllRequestFigures& all, std::ostream& text) {
  const std::string name = "cellfs_request_duration_seconds";
  WriteHead(name, "histogram", "How long requests took to answer.", text);
  for (size_t kind = 0; kind < kRequestKinds; ++kind)
    WriteHistogram(name, std::string("kind=\"") + NameOf(static_cast<RequestKind>(kind)) + "\"",
                   all[kind], text);
}

void WriteSyncs(const Statistics& statistics, std::ostream& text) {
  const std::string of_log = "cellfs_log_sync_duration_seconds";
  WriteHead(of_log, "histogram", "How long the disk took to sync the log.", text);
  WriteHistogram(of_log, "", statistics.log_sync_times, text);
  const std::string of_files = "cellfs_file_sync_duration_seconds";
  WriteHead(of_files, "histogram", "How long the disk took to sync a store file.", text);
  WriteHistogram(of_files, "", statistics.file_sync_times, text);
}

}  // namespace

std::string Quotable(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

void WriteMountMetrics(uint64_t open_file_bytes, size_t inodes, const AllRequestFigures& requests,
                       std::ostream& text) {
  WriteMetric("open_file_bytes", "gauge", "Bytes that open files keep in memory.", open_file_bytes,
              text);
  WriteMetric("inodes", "gauge", "Inodes the kernel knows.", inodes, text);
  WriteRequests(requests, text);
}

void WriteDiskMetrics(const std::string& directory, std::ostream& text) {
  struct statvfs disk {};
  if (directory.empty() || statvfs(directory.c_str(), &disk) != 0) return;
  WriteMetric("disk_bytes", "gauge", "Bytes of the file system that the store lies on.",
              uint64_t{disk.f_blocks} * disk.f_frsize, text);
  WriteMetric("disk_free_bytes", "gauge", "Bytes of it that are free for the store's owner.",
              uint64_t{disk.f_bavail} * disk.f_frsize, text);
}

void WriteStatisticsMetrics(const Statistics& statistics, std::ostream& text) {
  WriteStoreMetrics(statistics, text);
  WriteSyncs(statistics, text);
  WriteTableMetrics(statistics, text);
}

}  // namespace cellfs::fs
