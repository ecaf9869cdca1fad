// SPDX-License-Identifier: MIT
//
// TableOptions: what OceanBase alone has of a family's table: the TABLEGROUP of all families of a
// table, and KV_ATTRIBUTES, by which it removes by itself what is past its time. Of any server it is
// tried when a table is made; one that takes them for an error of syntax, or says that it does not
// support them, is not asked again.
#ifndef CELLFS_ENGINE_OBKV_TABLE_OPTIONS_H_
#define CELLFS_ENGINE_OBKV_TABLE_OPTIONS_H_

#include <atomic>
#include <string>
#include <string_view>

#include "engine/names.h"
#include "engine/obkv/connection.h"

namespace cellfs::obkv {

// Thread-safe. Of one server.
class TableOptions {
 public:
  // As SELECT VERSION() has it.
  void SetVersion(std::string_view version);

  // A statement that makes a family's table: `before`, the options, `after`. `attributes` is
  // KV_ATTRIBUTES; empty: none.
  Status Create(Connection& connection, const TableName& table, const std::string& before,
                const std::string& attributes, const std::string& after,
                const Patience& patience);
  // Of a table that is there. Nothing where the server does not know them.
  Status SetAttributes(Connection& connection, const std::string& sql_name,
                       const std::string& attributes, const Patience& patience);
  // KV_ATTRIBUTES; empty: there are none.
  StatusOr<std::string> Attributes(Connection& connection, const std::string& sql_name,
                                   const Patience& patience) const;
  // The group of a table whose families have gone: where it is somebody else's too it stays.
  void DropGroup(Connection& connection, const TableName& table, const Patience& patience);

 private:
  enum class Known { kMaybe, kYes, kNo };

  bool MayMakeGroup(Connection& connection, const TableName& table, const Patience& patience);

  std::atomic<bool> is_oceanbase_{false};
  std::atomic<Known> groups_{Known::kMaybe};
  std::atomic<Known> attributes_{Known::kMaybe};
};

// What SHOW CREATE TABLE says of KV_ATTRIBUTES.
std::string AttributesIn(std::string_view create_table);

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_TABLE_OPTIONS_H_
