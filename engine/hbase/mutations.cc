// SPDX-License-Identifier: MIT
#include "engine/hbase/mutations.h"

#include <hbase.pb.h>

#include <algorithm>
#include <string>
#include <variant>

#include "engine/big_endian.h"
#include "engine/hbase/filters.h"
#include "engine/hbase/requests.h"

namespace cellfs::hbase {
namespace {

using ColumnValue = pb::MutationProto::ColumnValue;
using QualifierValue = ColumnValue::QualifierValue;

Status CannotBeSent(const std::string& what) {
  return {StatusCode::kUnsupportedOperation, "a cluster does not know how to " + what};
}

// HBase's client.Mutation: attributes that its later releases brought.
void AddAttribute(const char* name, std::string value, pb::MutationProto& message) {
  pb::NameBytesPair& attribute = *message.add_attribute();
  attribute.set_name(name);
  attribute.set_value(std::move(value));
}

void AddTimeToLive(int64_t milliseconds, pb::MutationProto& message) {
  if (milliseconds == kNoCellTtl) return;
  std::string bytes;
  AppendBigEndian(static_cast<uint64_t>(milliseconds), bytes);
  AddAttribute("_ttl", std::move(bytes), message);
}

void AddReturnResults(bool return_results, pb::MutationProto& message) {
  if (!return_results) AddAttribute("_rr_", std::string(1, '\0'), message);
}

template <typename Message>
void AddTimeRange(const TimeRange& range, Message& message) {
  if (!range.IsAll()) Write(range, *message.mutable_time_range());
}

// Cells of one family that follow each other lie together. The timestamp is always said: of an
// Increment and an Append a server takes a missing one for 0.
template <typename AnyCell>
QualifierValue& AddCell(const AnyCell& cell, pb::MutationProto& message) {
  const int count = message.column_value_size();
  ColumnValue* column = count == 0 ? nullptr : message.mutable_column_value(count - 1);
  if (column == nullptr || column->family() != cell.family) {
    column = message.add_column_value();
    column->set_family(cell.family);
  }
  QualifierValue& value = *column->add_qualifier_value();
  value.set_qualifier(cell.qualifier);
  value.set_timestamp(static_cast<uint64_t>(cell.timestamp));
  return value;
}

pb::MutationProto::DeleteType DeleteTypeOf(CellType type) {
  switch (type) {
    case CellType::kDelete: return pb::MutationProto::DELETE_ONE_VERSION;
    case CellType::kDeleteFamilyVersion: return pb::MutationProto::DELETE_FAMILY_VERSION;
    case CellType::kDeleteFamily: return pb::MutationProto::DELETE_FAMILY;
    default: return pb::MutationProto::DELETE_MULTIPLE_VERSIONS;
  }
}

struct MutationWriter {
  pb::MutationProto& message;

  Status operator()(const Put& put) const {
    if (put.stamping != Stamping::kAsGiven) return CannotBeSent("stamp a put so");
    message.set_mutate_type(pb::MutationProto::PUT);
    for (const PutCell& cell : put.cells) AddCell(cell, message).set_value(cell.value);
    AddTimeToLive(put.time_to_live, message);
    return {};
  }

  Status operator()(const Delete& deletion) const {
    if (deletion.stamping != Stamping::kAsGiven) return CannotBeSent("stamp a delete so");
    message.set_mutate_type(pb::MutationProto::DELETE);
    message.set_timestamp(static_cast<uint64_t>(deletion.timestamp));
    for (const DeleteMarker& marker : deletion.markers)
      AddCell(marker, message).set_delete_type(DeleteTypeOf(marker.type));
    return {};
  }

  Status operator()(const Increment& increment) const {
    message.set_mutate_type(pb::MutationProto::INCREMENT);
    for (const IncrementCell& cell : increment.cells) {
      AppendBigEndian(static_cast<uint64_t>(cell.amount),
                      *AddCell(cell, message).mutable_value());
    }
    AddTimeRange(increment.time_range, message);
    AddTimeToLive(increment.time_to_live, message);
    AddReturnResults(increment.return_results, message);
    return {};
  }

  Status operator()(const Append& append) const {
    if (append.stamping != Stamping::kAsGiven) return CannotBeSent("stamp an append so");
    message.set_mutate_type(pb::MutationProto::APPEND);
    for (const AppendCell& cell : append.cells) AddCell(cell, message).set_value(cell.value);
    AddTimeRange(append.time_range, message);
    AddTimeToLive(append.time_to_live, message);
    AddReturnResults(append.return_results, message);
    return {};
  }

  Status operator()(const Withdraw&) const { return CannotBeSent("withdraw a cell"); }
};

pb::MutationProto::Durability DurabilityOf(Durability durability) {
  switch (durability) {
    case Durability::kUseDefault: return pb::MutationProto::USE_DEFAULT;
    case Durability::kSkipWal: return pb::MutationProto::SKIP_WAL;
    case Durability::kAsyncWal: return pb::MutationProto::ASYNC_WAL;
    case Durability::kSyncWal: return pb::MutationProto::SYNC_WAL;
    case Durability::kFsyncWal: return pb::MutationProto::FSYNC_WAL;
  }
  return pb::MutationProto::USE_DEFAULT;
}

bool IsChosen(Timestamp timestamp) { return timestamp != kLatestTimestamp; }

template <typename Cells>
bool AreChosen(const Cells& cells) {
  return std::ranges::all_of(cells, [](const auto& cell) { return IsChosen(cell.timestamp); });
}

}  // namespace

Status Write(const Mutation& mutation, Durability durability, pb::MutationProto& message) {
  message.set_row(RowOf(mutation));
  message.set_durability(DurabilityOf(durability));
  return std::visit(MutationWriter{message}, mutation);
}

Status Write(const cellfs::CheckAndMutate& check, pb::Condition& message) {
  message.set_row(check.row);
  AddTimeRange(check.time_range, message);
  if (const auto* filter = std::get_if<FilterPtr>(&check.condition)) {
    return Write(**filter, *message.mutable_filter());
  }
  const auto& column = std::get<ColumnCondition>(check.condition);
  message.set_family(column.family);
  message.set_qualifier(column.qualifier);
  message.set_compare_type(CompareTypeOf(column.op));
  Write(Comparator{.value = column.value}, *message.mutable_comparator());
  return {};
}

bool IsRepeatable(const Mutation& mutation) {
  if (const auto* put = std::get_if<Put>(&mutation)) return AreChosen(put->cells);
  if (const auto* deletion = std::get_if<Delete>(&mutation)) {
    return deletion->markers.empty() ? IsChosen(deletion->timestamp)
                                     : AreChosen(deletion->markers);
  }
  return false;
}

bool TakesNonce(const Mutation& mutation) {
  return std::holds_alternative<Increment>(mutation) || std::holds_alternative<Append>(mutation);
}

void AddTimestamps(const Mutation& mutation, std::vector<Timestamp>& timestamps) {
  const auto add = [&](const auto& cells) {
    for (const auto& cell : cells) timestamps.push_back(cell.timestamp);
  };
  if (const auto* put = std::get_if<Put>(&mutation)) add(put->cells);
  if (const auto* deletion = std::get_if<Delete>(&mutation)) add(deletion->markers);
}

Status MayHaveEndedIt() {
  return {StatusCode::kOutcomeUnknown,
          "a server did not answer, and may have done it or not; the condition does not hold now"};
}

}  // namespace cellfs::hbase
