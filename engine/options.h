// SPDX-License-Identifier: MIT
//
// What a store is opened with. The members of SiteSettings are HBase's site keys under their own
// names; SetSite takes them as text.
#ifndef CELLFS_ENGINE_OPTIONS_H_
#define CELLFS_ENGINE_OPTIONS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "engine/clock.h"
#include "engine/mutation.h"
#include "engine/status_or.h"

namespace cellfs {

struct SiteSettings {
  int64_t memstore_flush_size = int64_t{128} << 20;  // hbase.hregion.memstore.flush.size, bytes
  int64_t time_to_purge_deletes = 0;                 // hbase.hstore.time.to.purge.deletes, ms
  int32_t compaction_min = 3;                        // hbase.hstore.compaction.min, files
  int32_t compaction_max = 10;                       // hbase.hstore.compaction.max, files
  double compaction_ratio = 1.2;                     // hbase.hstore.compaction.ratio
  int32_t blocking_store_files = 16;                 // hbase.hstore.blockingStoreFiles
  int64_t major_compaction_period =
      7LL * 24 * 60 * 60 * 1000;         // hbase.hregion.majorcompaction, ms; 0 off
  double major_compaction_jitter = 0.5;  // hbase.hregion.majorcompaction.jitter
  int64_t timestamp_slop = -1;           // hbase.hregion.keyvalue.timestamp.slop.millisecs; < 0 off
  int64_t client_max_cell_size = 10485760;  // hbase.client.keyvalue.maxsize, bytes; <= 0 off
  int64_t server_max_cell_size = 10485760;  // hbase.server.keyvalue.maxsize, bytes; <= 0 off
  int64_t max_row_size = int64_t{1} << 30;  // hbase.table.max.rowsize, bytes
  int32_t default_max_versions = 1;         // hbase.column.max.version, of new families
  bool authorization = false;               // hbase.security.authorization

  // kIllegalArgument names key, value and what is allowed; an unknown key is refused.
  Status Set(std::string_view key, std::string_view value);
  // Every key with its present value as text.
  std::map<std::string, std::string> ToMap() const;
};

struct StoreOptions {
  SiteSettings site;
  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();
  Durability durability = Durability::kSyncWal;  // where neither mutation nor table says otherwise
  int64_t cache_bytes = int64_t{64} << 20;       // blocks of store files, over all tables
  int64_t memstore_limit = int64_t{512} << 20;   // bytes of memstores, of all tables together
  int64_t disk_reserve = 0;                      // bytes; engine/disk/disk_reserve.h
  int64_t compaction_rate = 0;                   // bytes a second, of all compactions; 0: any
  int64_t scrub_interval_ms = 30LL * 24 * 60 * 60 * 1000;  // from one to the next; 0: none
  int64_t scrub_rate = int64_t{32} << 20;        // bytes a second that it reads; 0: any
  int64_t moment_limit = int64_t{4} << 30;       // bytes kept for pinned moments alone
  bool background_maintenance = true;            // flush and compact by itself
  // Nothing of the store is written, made or removed, also not what a recovery finds in the log, so
  // it may lie on a file system that is read-only; every change is kReadOnly.
  bool read_only = false;
  int32_t inline_value_limit = 256;              // bytes; longer values lie in a table of their own
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_OPTIONS_H_
