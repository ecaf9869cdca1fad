// SPDX-License-Identifier: MIT
//
// Descriptors of tables and namespaces as HBase's messages and back. A server tells every attribute
// that has a default, set or not: those that say the same as the default are left out here. What we
// have no word for (coprocessors, configuration) stays as an attribute of its name.
#ifndef CELLFS_ENGINE_HBASE_SCHEMAS_H_
#define CELLFS_ENGINE_HBASE_SCHEMAS_H_

#include "engine/names.h"
#include "engine/schema.h"

namespace cellfs::hbase {

namespace pb {
class ColumnFamilySchema;
class NamespaceDescriptor;
class TableName;
class TableSchema;
}  // namespace pb

void Write(const cellfs::TableName& table, pb::TableName& message);
// Split keys are no part of it.
void Write(const cellfs::TableSchema& schema, pb::TableSchema& message);
void Write(const FamilySchema& family, pb::ColumnFamilySchema& message);
void Write(const NamespaceSchema& schema, pb::NamespaceDescriptor& message);

cellfs::TableName TableNameOf(const pb::TableName& message);
cellfs::TableSchema SchemaOf(const pb::TableSchema& message);
NamespaceSchema SchemaOf(const pb::NamespaceDescriptor& message);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_SCHEMAS_H_
