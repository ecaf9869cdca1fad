// SPDX-License-Identifier: MIT
//
// Tables: namespaces and tables as databases and their tables: a database is a namespace, the tables
// `T$family` in it are the families of the table T. They are known by their shape: columns K, Q
// (varbinary), T (bigint, the negated timestamp), V, maybe TTL, with the primary key (K, Q, T),
// whoever has made them, however they are partitioned, whatever columns are computed of these. What
// the schema says of a family stands in its table's comment (table_note.h), and in KV_ATTRIBUTES where
// the server has them (table_options.h).
//
// A change of several tables is no one step: what is refused half way leaves those that were done.
#ifndef CELLFS_ENGINE_OBKV_TABLES_H_
#define CELLFS_ENGINE_OBKV_TABLES_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/clock.h"
#include "engine/obkv/connection_pool.h"
#include "engine/obkv/described_table.h"
#include "engine/obkv/table_options.h"

namespace cellfs::obkv {

// Thread-safe. Holds nothing; what is described is as it is now.
class Tables {
 public:
  // All outlive it.
  Tables(ConnectionPool& pool, const ObkvOptions& options, const Clock& clock)
      : pool_(pool), options_(options), clock_(clock) {}

  // Asks what the server is, and whether it keeps the case of names. Before anything else.
  Status Open(const Patience& patience);

  StatusOr<std::vector<std::string>> ListNamespaces(const Patience& patience);  // sorted
  Status CreateNamespace(const NamespaceSchema& schema, const Patience& patience);
  Status DropNamespace(const std::string& name, const Patience& patience);
  Status CheckNamespace(const std::string& name, const Patience& patience);  // kNamespaceNotFound

  StatusOr<std::vector<TableName>> List(const std::string& namespace_name,
                                        const Patience& patience);  // sorted
  StatusOr<DescribedTable> Describe(const TableName& table, const Patience& patience);
  Status Create(const TableSchema& schema, const Patience& patience);
  // Families that the schema leaves out go with their cells.
  Status Alter(const DescribedTable& table, const TableSchema& schema, const Patience& patience);
  Status SetEnabled(const DescribedTable& table, bool enabled, const Patience& patience);
  Status Drop(const DescribedTable& table, const Patience& patience);

 private:
  using Families = std::map<std::string, DescribedFamily, std::less<>>;
  StatusOr<Families> DescribeFamilies(Connection& connection, const TableName& table,
                                      const Patience& patience);
  Status CreateFamily(Connection& connection, const TableName& table, const TableNote& note,
                      const Patience& patience);
  Status WriteNoteOf(Connection& connection, const TableName& table, const DescribedFamily& family,
                     const TableNote& note, const Patience& patience);
  Status CheckName(const std::string& name) const;

  ConnectionPool& pool_;
  const ObkvOptions& options_;
  const Clock& clock_;
  std::atomic<bool> keeps_case_{true};
  TableOptions table_options_;
};

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_TABLES_H_
