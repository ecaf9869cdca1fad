// SPDX-License-Identifier: MIT
//
// StoreTraits: what a store offers beyond HBase's letter, and what it does not promise. Who uses a
// Store asks here, once, and not by trying: a store that lacks something refuses it.
#ifndef CELLFS_ENGINE_STORE_TRAITS_H_
#define CELLFS_ENGINE_STORE_TRAITS_H_

#include <cstdint>

namespace cellfs {

// The values here are those of a store in this process, which offers everything.
struct StoreTraits {
  // Others change its cells and tables, and nobody is told. What was read is true for who reads
  // again, and for nobody else.
  bool has_other_writers = false;
  // With other writers: for how long what was read may be shown as the present, milliseconds.
  int64_t max_staleness_ms = 0;
  // Withdraw. Without it: kUnsupportedOperation, and nothing done.
  bool withdraws = true;
  // Stamping::kAboveColumn, for Put, Delete and Append; else kUnsupportedOperation.
  bool stamps_above_column = true;
  // Stamping::kReadable; else kUnsupportedOperation.
  bool checks_readable = true;
  // Store::Sync makes durable what was written before with SYNC_WAL. Else each mutation says itself
  // that it is to be on disk.
  bool syncs_apart = true;
  // Store::PinMoment, and reads with a Moment; else kUnsupportedOperation.
  bool pins_moments = true;
  // Store::RenameTable; else kUnsupportedOperation.
  bool renames_tables = true;
  // Store::CatalogAt, and reads of tables by their ids; else kUnsupportedOperation.
  bool tells_past_catalog = true;
  // Tables are kept for their DROPPED_TTL (Store::ListDropped and what follows it); else they are
  // dropped for good, and kUnsupportedOperation.
  bool keeps_dropped = true;
  // Store::CreateTable refuses a table without families, and nothing takes a table's last one away.
  bool tables_need_a_family = false;
  // Tombstones: a read of all stored cells finds them and what they hide, and they hide what is
  // written later too. Else a delete removes at once what it covers and leaves nothing, and what
  // families say of what is deleted is told, and has no effect.
  bool keeps_deleted = true;
  // Split keys of tables, properties of namespaces, quotas; else kUnsupportedOperation.
  bool has_splits_and_quotas = true;
  // Store::GetStatistics. Without it files, log and memory are others', and it says nothing.
  bool has_statistics = true;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_STORE_TRAITS_H_
