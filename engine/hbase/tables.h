// SPDX-License-Identifier: MIT
//
// Tables and namespaces of a cluster, in the engine's words. Changes are done when these return, in
// all regions.
#ifndef CELLFS_ENGINE_HBASE_TABLES_H_
#define CELLFS_ENGINE_HBASE_TABLES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/hbase/master.h"
#include "engine/hbase/regions.h"
#include "engine/remote/description_cache.h"
#include "engine/schema.h"

namespace cellfs::hbase {

using Description = StatusOr<std::shared_ptr<const TableSchema>>;

class Tables {
 public:
  // `schema_age`: how long a description counts; what this client changes it asks for anew.
  Tables(Master& master, Regions& regions, SteadyClock::duration schema_age)
      : master_(master), regions_(regions), schemas_(schema_age) {}

  Status Create(const TableSchema& schema, const Patience& patience);
  // kUnavailable, and nothing is done, where another client has declared a family since Describe has
  // told what there is: it would be dropped. One that is being declared at this moment may be.
  Status Alter(const TableSchema& schema, const Patience& patience);
  // Nobody puts anything from then on, or everybody may again. False: it was so already.
  StatusOr<bool> SetReadOnly(const TableName& table, bool read_only, const Patience& patience);
  Status Drop(const TableName& table, const Patience& patience);
  Status Truncate(const TableName& table, const Patience& patience);
  Status Enable(const TableName& table, const Patience& patience);
  Status Disable(const TableName& table, const Patience& patience);
  Status AddFamily(const TableName& table, const FamilySchema& family, const Patience& patience);
  Status ModifyFamily(const TableName& table, const FamilySchema& family,
                      const Patience& patience);
  Status DropFamily(const TableName& table, const std::string& family, const Patience& patience);
  // The daughters have servers when it returns.
  Status Split(const TableName& table, const std::string& key, const Patience& patience);

  Description Describe(const TableName& table, const Patience& patience);
  // kReadOnly.
  Status CheckMayPut(const TableName& table, const Patience& patience);
  StatusOr<std::vector<TableName>> List(const std::string& namespace_name,
                                        const Patience& patience);

  Status CreateNamespace(const NamespaceSchema& schema, const Patience& patience);
  Status AlterNamespace(const NamespaceSchema& schema, const Patience& patience);
  Status DropNamespace(const std::string& name, const Patience& patience);
  StatusOr<NamespaceSchema> DescribeNamespace(const std::string& name, const Patience& patience);
  StatusOr<std::vector<std::string>> ListNamespaces(const Patience& patience);  // sorted

 private:
  Status CheckAllAreSeen(const TableSchema& altered, const Patience& patience);
  Status Modify(const TableSchema& schema, const Patience& patience);
  // As Do, and again where another client has changed the table in between.
  template <typename Request>
  Status DoUndisturbed(std::string_view procedure, const TableName& table, Request& request,
                       const Patience& patience);
  // A procedure about the table.
  template <typename Request>
  Status Do(std::string_view procedure, const TableName& table, Request& request,
            const Patience& patience);
  Description Ask(const TableName& table, const Patience& patience);

  Master& master_;
  Regions& regions_;
  DescriptionCache<const TableSchema> schemas_;
};

// In the order of their keys, as hbase:meta has them now.
StatusOr<std::vector<Region>> RegionsOf(Regions& regions, const TableName& table,
                                        const Patience& patience);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_TABLES_H_
