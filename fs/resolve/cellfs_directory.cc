// SPDX-License-Identifier: MIT
#include "fs/resolve/cellfs_directory.h"

#include <sys/statvfs.h>

#include <cmath>
#include <functional>
#include <sstream>

#include "fs/requests/owner.h"
#include "fs/requests/request_counts.h"
#include "fs/requests/running_request.h"
#include "fs/store/not_kept.h"
#include "fs/tree/hidden_namespace.h"

namespace cellfs::fs {
namespace {

const char* ControlsName(Controls controls) {
  switch (controls) {
    case Controls::kOff:
      return "off";
    case Controls::kHidden:
      return "hidden";
    case Controls::kVisible:
      break;
  }
  return "visible";
}

// As the text format of Prometheus wants label values, and as TOML takes strings.
std::string Quotable(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

}  // namespace

OutcomeOr<std::string> CellfsDirectory::Text(const Place& place) const {
  if (place.kind == PlaceKind::kKeyFile) return place.row;
  if (place.name == "status") return Status();
  if (place.name == "metrics") return Metrics();
  if (place.name == "errors") return Errors();
  if (place.name == "config") return options_.configuration();
  return Outcome(ENOENT);
}

// Another user's failures tell of his files: root and the mount's owner see all, others their own.
std::optional<uid_t> CellfsDirectory::WhoseErrors() {
  const RunningRequest* const request = RunningRequest::OfThisThread();
  const bool sees_all = request == nullptr || IsOwnerOrRoot(request->uid());
  return sees_all ? std::nullopt : std::optional(request->uid());
}

// What a scrub has found is not one user's, and stays until the next one.
std::string CellfsDirectory::Errors() const {
  const std::optional<uid_t> user = WhoseErrors();
  std::string text = errors_.Text(user);
  if (user || !reading_.traits().has_statistics) return text;
  for (const std::string& damage : reading_.GetStatistics().scrub.damage)
    text += "scrub: " + damage + "\n";
  return text;
}

namespace {

void WriteScrub(const ScrubStatistics& scrub, std::ostream& text) {
  text << "scrub_due = " << scrub.due << "  # milliseconds since 1970; 0: never\n"
       << "scrub_begun = " << scrub.begun << "  # the last one that came to its end\n"
       << "scrub_ended = " << scrub.ended << "\n"
       << "scrub_files = " << scrub.files << "\n"
       << "scrub_bytes = " << scrub.bytes << "\n"
       << "scrub_under_way_since = " << scrub.under_way_since << "\n";
  for (const std::string& damage : scrub.damage)
    text << "\n[[scrub_damage]]\nwhat = \"" << Quotable(damage) << "\"\n";
}

void WriteStore(const Statistics& statistics, std::ostream& text) {
  text << "mutations = " << statistics.mutations << "\n"
       << "log_bytes = " << statistics.log_bytes << "\n"
       << "maintenance = \"" << statistics.maintenance << "\"\n"
       << "disk_reserve = " << statistics.disk_reserve << "  # of "
       << statistics.disk_reserve_wanted << "; while it is not whole only deletes are taken\n"
       << "puts_refused = \"" << Quotable(statistics.puts_refused.message())
       << "\"  # why; empty: they are taken\n"
       << "memstore_bytes = " << statistics.memstore_bytes << "\n"
       << "past_schemas = " << statistics.past_states
       << "  # of tables and namespaces, as they were\n"
       << "past_schema_bytes = " << statistics.past_bytes << "  # at most 1048576\n"
       << "kept_tables = " << statistics.kept.size() << "  # that were dropped, in .deleted\n"
       << "kept_bytes = " << BytesOfKept(statistics) << "  # that these take\n"
       << "pinned_moments = " << statistics.pinned_moments << "\n"
       << "moment_bytes = " << statistics.moment_bytes << "  # at most " << statistics.moment_limit
       << "\n";
  WriteScrub(statistics.scrub, text);
  for (const KeptTableStatistics& kept : statistics.kept) {
    if (!kept.damage.empty())
      text << "\n[[kept_table]]\nname = \"" << kept.table.ToString() << "\"\ndropped = "
           << kept.dropped << "\ndamage = \"" << Quotable(kept.damage) << "\"\n";
  }
  for (const std::string& freed : statistics.freed_early)
    text << "\n[[freed_early]]\nwhat = \"" << Quotable(freed) << "\"\n";
  for (const std::string& lost : statistics.lost_tables)
    text << "\n[[lost_table]]\nwhat = \"" << Quotable(lost) << "\"\n";
  for (const std::string& cut_off : statistics.cut_off)
    text << "\n[[cut_off]]\nwhat = \"" << Quotable(cut_off) << "\"\n";
}

void WriteClock(const StatusOr<std::chrono::milliseconds>& difference, std::ostream& text) {
  if (!difference.ok()) {
    text << "# clock_difference_ms is not known: " << Quotable(difference.status().message())
         << "\n";
    return;
  }
  text << "clock_difference_ms = " << difference->count()
       << "  # at least; positive: this machine's is ahead of the cluster's. Beyond "
       << kLongestClockDifference.count() << " nothing is written\n";
}

void WriteTables(const Statistics& statistics, std::ostream& text) {
  for (const TableStatistics& table : statistics.tables) {
    if (table.table.namespace_name == kHiddenNamespace) continue;
    text << "\n[[table]]\n"
         << "name = \"" << table.table.ToString() << "\"\n"
         << "memstore_bytes = " << table.memstore_bytes << "\n"
         << "memstore_cells = " << table.memstore_cells << "\n"
         << "file_bytes = " << table.file_bytes << "\n"
         << "flushes = " << table.flushes << "\n"
         << "compactions = " << table.compactions << "\n"
         << "compaction_debt = " << table.compaction_debt << "\n"
         << "quota_in_force = \"" << (table.violation ? PolicyName(*table.violation) : "")
         << "\"\n"
         << "error = \"" << Quotable(table.error) << "\"\n"
         << "retry_ms = " << table.retry_ms << "\n"
         << "damage = \"" << Quotable(table.damage) << "\"\n";
  }
}

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

void WriteDisk(const std::string& directory, std::ostream& text) {
  struct statvfs disk {};
  if (directory.empty() || statvfs(directory.c_str(), &disk) != 0) return;
  WriteMetric("disk_bytes", "gauge", "Bytes of the file system that the store lies on.",
              uint64_t{disk.f_blocks} * disk.f_frsize, text);
  WriteMetric("disk_free_bytes", "gauge", "Bytes of it that are free for the store's owner.",
              uint64_t{disk.f_bavail} * disk.f_frsize, text);
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
  metric("kept_tables", "gauge", "Tables that were dropped and are kept.",
         statistics.kept.size());
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
  per_table("flushes_total", "counter", "Flushes since the store was opened.",
            &TableStatistics::flushes);
  per_table("compactions_total", "counter", "Compactions since the store was opened.",
            &TableStatistics::compactions);
  per_table("damaged", "gauge", "Whether something of it is missing or damaged.",
            [](const TableStatistics& table) { return !table.damage.empty(); });
  per_table("failing", "gauge", "Whether its last flush or compaction failed.",
            [](const TableStatistics& table) { return !table.error.empty(); });
  per_table("retry_seconds", "gauge", "Until that is tried again.",
            [](const TableStatistics& table) {
              return static_cast<double>(table.retry_ms) / 1000;
            });
  per_table("compaction_debt_bytes", "gauge", "Bytes of files that it is worth to compact now.",
            &TableStatistics::compaction_debt);
}

// From a microsecond on; what took less counts there.
constexpr size_t kFirstBucket = 9;
constexpr size_t kLastBucket = 33;  // up to 17 seconds

void WriteRequests(const AllRequestFigures& all, std::ostream& text) {
  const std::string name = "cellfs_request_duration_seconds";
  text << "# HELP " << name << " How long requests took to answer.\n# TYPE " << name
       << " histogram\n";
  for (size_t kind = 0; kind < kRequestKinds; ++kind) {
    const RequestFigures& figures = all[kind];
    const std::string label = std::string("{kind=\"") + NameOf(static_cast<RequestKind>(kind));
    uint64_t count = 0;
    for (size_t bucket = 0; bucket < RequestFigures::kBuckets; ++bucket) {
      count += figures.buckets[bucket];
      if (bucket < kFirstBucket || bucket > kLastBucket) continue;
      text << name << "_bucket" << label << "\",le=\"" << std::ldexp(1e-9, static_cast<int>(bucket) + 1)
           << "\"} " << count << "\n";
    }
    text << name << "_bucket" << label << "\",le=\"+Inf\"} " << count << "\n"
         << name << "_sum" << label << "\"} " << static_cast<double>(figures.nanoseconds) * 1e-9
         << "\n"
         << name << "_count" << label << "\"} " << count << "\n";
  }
}

}  // namespace

std::string CellfsDirectory::Status() const {
  const Timestamp now = reading_.clock().Now();
  std::ostringstream text;
  text << "version = \"" << CELLFS_VERSION << "\"\n"
       << "mounted_for = " << (now - mounted_at_) / 1000 << "  # seconds\n"
       << "controls = \"" << ControlsName(options_.controls) << "\"\n"
       << "read_only = " << (options_.read_only ? "true" : "false") << "\n"
       << "known_inodes = " << inodes_.size() << "\n"
       << "open_file_bytes = " << open_files_.used() << "  # in memory; at most "
       << open_files_.limit() << "\n";
  const Statistics statistics = reading_.GetStatistics();
  const bool has_statistics = reading_.traits().has_statistics;
  if (has_statistics) WriteStore(statistics, text);
  if (reading_.traits().has_other_writers) WriteClock(reading_.ClockDifference(), text);
  for (const std::string& what : NotKept(reading_.traits()))
    text << "\n[[not_kept]]\nwhat = \"" << Quotable(what) << "\"\n";
  for (const AsofRegistry::Held& held : asof_.ListHeld()) {
    text << "\n[[asof]]\n"
         << "time = " << held.time << "\n"
         << "sequence_id = " << held.sequence_id << "  # what it sees is kept\n"
         << "in_use = " << (held.in_use ? "true" : "false") << "\n"
         << "unused_for = " << (now - held.last_use) / 1000 << "  # seconds; let go after "
         << options_.asof_hold_ms / 1000 << "\n";
  }
  if (has_statistics) WriteTables(statistics, text);
  return text.str();
}

std::string CellfsDirectory::Metrics() const {
  std::ostringstream text;
  WriteMetric("open_file_bytes", "gauge", "Bytes that open files keep in memory.",
              open_files_.used(), text);
  WriteMetric("inodes", "gauge", "Inodes the kernel knows.", inodes_.size(), text);
  WriteRequests(requests_.Figures(), text);
  if (!reading_.traits().has_statistics) return text.str();
  const Statistics statistics = reading_.GetStatistics();
  WriteDisk(options_.store_directory, text);
  WriteStoreMetrics(statistics, text);
  WriteTableMetrics(statistics, text);
  return text.str();
}

}  // namespace cellfs::fs
