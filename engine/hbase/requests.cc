// SPDX-License-Identifier: MIT
#include "engine/hbase/requests.h"

#include <hbase.pb.h>

#include "engine/big_endian.h"
#include "engine/hbase/filters.h"

namespace cellfs::hbase {
namespace {

// Get and Scan say the same in fields of the same names.
template <typename AnyQuery, typename Message>
Status WriteQuery(const AnyQuery& query, Message& message) {
  if (query.moment != nullptr) {
    return {StatusCode::kUnsupportedOperation, "a cluster keeps no moment for reading"};
  }
  for (const auto& [family, qualifiers] : query.columns) {
    pb::Column& column = *message.add_column();
    column.set_family(family);
    for (const std::string& qualifier : qualifiers) column.add_qualifier(qualifier);
  }
  message.set_max_versions(static_cast<uint32_t>(query.max_versions));
  if (!query.time_range.IsAll()) Write(query.time_range, *message.mutable_time_range());
  for (const auto& [family, range] : query.family_time_ranges) {
    pb::ColumnFamilyTimeRange& of_family = *message.add_cf_time_range();
    of_family.set_column_family(family);
    Write(range, *of_family.mutable_time_range());
  }
  if (query.store_limit >= 0) message.set_store_limit(static_cast<uint32_t>(query.store_limit));
  if (query.store_offset > 0) message.set_store_offset(static_cast<uint32_t>(query.store_offset));
  message.set_load_column_families_on_demand(query.load_families_on_demand);
  if (query.filter != nullptr) {
    CELLFS_RETURN_IF_ERROR(Write(*query.filter, *message.mutable_filter()));
  }
  if (ComesAsLengths(query)) AddLengthsOnly(*message.mutable_filter());
  return {};
}

}  // namespace

void Name(const Region& region, pb::RegionSpecifier& specifier) {
  specifier.set_type(pb::RegionSpecifier::REGION_NAME);
  specifier.set_value(region.name);
}

void Write(const TimeRange& range, pb::TimeRange& message) {
  message.set_from(static_cast<uint64_t>(range.min));
  message.set_to(static_cast<uint64_t>(range.max));
}

pb::CompareType CompareTypeOf(CompareOperator op) {
  switch (op) {
    case CompareOperator::kLess: return pb::LESS;
    case CompareOperator::kLessOrEqual: return pb::LESS_OR_EQUAL;
    case CompareOperator::kEqual: return pb::EQUAL;
    case CompareOperator::kNotEqual: return pb::NOT_EQUAL;
    case CompareOperator::kGreaterOrEqual: return pb::GREATER_OR_EQUAL;
    case CompareOperator::kGreater: return pb::GREATER;
    case CompareOperator::kNoOp: return pb::NO_OP;
  }
  return pb::NO_OP;
}

Status Write(const Get& get, pb::Get& message) {
  message.set_row(get.row);
  return WriteQuery(get, message);
}

Status Write(const Scan& scan, pb::Scan& message) {
  CELLFS_RETURN_IF_ERROR(WriteQuery(scan, message));
  if (!scan.stop_row.empty()) message.set_stop_row(scan.stop_row);
  message.set_include_stop_row(scan.include_stop_row);
  message.set_reversed(scan.reversed);
  if (scan.raw) {
    pb::NameBytesPair& attribute = *message.add_attribute();
    attribute.set_name("_raw_");
    attribute.set_value("\xff");  // Bytes.toBytes(true)
  }
  return {};
}

Status TakeLengths(bool come_as_lengths, RowCells& cells) {
  for (Cell& cell : cells) {
    if (!come_as_lengths) {
      cell.value.clear();
      continue;
    }
    if (cell.value.size() != sizeof(uint32_t)) {
      return {StatusCode::kIoError, "the server sent what is no length of a value"};
    }
    cell.value_length = ReadBigEndian<uint32_t>(cell.value);
    cell.value.clear();
  }
  return {};
}

}  // namespace cellfs::hbase
