// SPDX-License-Identifier: MIT
#include "fs/resolve/cellfs_directory.h"

#include <sstream>

#include "fs/requests/owner.h"
#include "fs/requests/request_counts.h"
#include "fs/requests/running_request.h"
#include "fs/resolve/metrics_text.h"
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
         << "live_bytes = " << LiveBytes(table) << "\n"
         << "old_version_bytes = " << table.old_version_bytes << "\n"
         << "deleted_bytes = " << table.deleted_bytes << "\n"
         << "flushes = " << table.flushes << "\n"
         << "compactions = " << table.compactions << "\n"
         << "compaction_debt = " << table.compaction_debt << "\n"
         << "quota_in_force = \"" << (table.violation ? PolicyName(*table.violation) : "") << "\"\n"
         << "error = \"" << Quotable(table.error) << "\"\n"
         << "retry_ms = " << table.retry_ms << "\n"
         << "damage = \"" << Quotable(table.damage) << "\"\n";
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
  WriteMountMetrics(open_files_.used(), inodes_.size(), requests_.Figures(), text);
  if (!reading_.traits().has_statistics) return text.str();
  WriteDiskMetrics(options_.store_directory, text);
  WriteStatisticsMetrics(reading_.GetStatistics(), text);
  return text.str();
}

}  // namespace cellfs::fs
