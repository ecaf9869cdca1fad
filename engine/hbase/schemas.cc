// SPDX-License-Identifier: MIT
#include "engine/hbase/schemas.h"

#include <hbase.pb.h>

#include <string>

namespace cellfs::hbase {
namespace {

// HBase reads a time to live as a number alone.
std::string ValueSent(const std::string& name, const std::string& value) {
  return name == "TTL" && value == "FOREVER" ? std::to_string(kForever) : value;
}

template <typename Message>
void WriteAttributes(const Attributes& attributes, Message& message) {
  for (const auto& [name, value] : attributes) {
    pb::BytesBytesPair& pair = *message.add_attributes();
    pair.set_first(name);
    pair.set_second(ValueSent(name, value));
  }
}

// Beside its attributes a descriptor may have configuration, which servers read as they read these.
template <typename Message, typename Schema>
void TakeAttributes(const Message& message, const Attributes& defaults, Schema& schema) {
  for (const pb::BytesBytesPair& pair : message.attributes()) {
    schema.Keep(pair.first(), pair.second());
  }
  for (const pb::NameStringPair& pair : message.configuration()) {
    schema.Keep(pair.name(), pair.value());
  }
  for (const auto& [name, value] : defaults) {
    const auto found = schema.attributes().find(name);
    if (found != schema.attributes().end() && found->second == value) schema.Unset(name);
  }
}

}  // namespace

void Write(const cellfs::TableName& table, pb::TableName& message) {
  message.set_namespace_(table.namespace_name);
  message.set_qualifier(table.name);
}

void Write(const FamilySchema& family, pb::ColumnFamilySchema& message) {
  message.set_name(family.name());
  WriteAttributes(family.attributes(), message);
}

void Write(const cellfs::TableSchema& schema, pb::TableSchema& message) {
  Write(schema.name(), *message.mutable_table_name());
  WriteAttributes(schema.attributes(), message);
  for (const auto& [name, family] : schema.families) Write(family, *message.add_column_families());
}

void Write(const NamespaceSchema& schema, pb::NamespaceDescriptor& message) {
  message.set_name(schema.name);
  for (const auto& [name, value] : schema.properties) {
    pb::NameStringPair& pair = *message.add_configuration();
    pair.set_name(name);
    pair.set_value(value);
  }
}

cellfs::TableName TableNameOf(const pb::TableName& message) {
  return {.namespace_name = message.namespace_(), .name = message.qualifier()};
}

cellfs::TableSchema SchemaOf(const pb::TableSchema& message) {
  cellfs::TableSchema schema(TableNameOf(message.table_name()));
  TakeAttributes(message, TableAttributeDefaults(), schema);
  for (const pb::ColumnFamilySchema& family_message : message.column_families()) {
    FamilySchema family(family_message.name());
    TakeAttributes(family_message, FamilyAttributeDefaults(), family);
    schema.families.emplace(family_message.name(), std::move(family));
  }
  return schema;
}

NamespaceSchema SchemaOf(const pb::NamespaceDescriptor& message) {
  NamespaceSchema schema{.name = message.name(), .properties = {}};
  for (const pb::NameStringPair& pair : message.configuration()) {
    schema.properties.emplace(pair.name(), pair.value());
  }
  return schema;
}

}  // namespace cellfs::hbase
