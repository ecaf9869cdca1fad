// SPDX-License-Identifier: MIT
#include "engine/hbase/filters.h"

#include <hbase.pb.h>

#include <string>
#include <utility>
#include <variant>

#include "engine/filter_parameters.h"
#include "engine/hbase/requests.h"

namespace cellfs::hbase {
namespace {

constexpr char kPackage[] = "org.apache.hadoop.hbase.filter.";

// java.util.regex.Pattern. Case is folded by Unicode, as our own filters do it.
constexpr int32_t kCaseInsensitive = 2;
constexpr int32_t kDotAll = 32;
constexpr int32_t kUnicodeCase = 64;

void Fill(const char* class_name, const google::protobuf::MessageLite& parameters,
          pb::Filter& message) {
  message.set_name(std::string(kPackage) + class_name);
  parameters.SerializeToString(message.mutable_serialized_filter());
}

void Fill(const char* class_name, const google::protobuf::MessageLite& parameters,
          pb::Comparator& message) {
  message.set_name(std::string(kPackage) + class_name);
  parameters.SerializeToString(message.mutable_serialized_comparator());
}

void WriteRegex(const std::string& pattern, int32_t flags, pb::Comparator& message) {
  pb::RegexStringComparator regex;
  regex.set_pattern(pattern);
  regex.set_pattern_flags(flags);
  regex.set_charset("UTF-8");
  regex.set_engine("JAVA");
  Fill("RegexStringComparator", regex, message);
}

void WriteComparison(CompareOperator op, const Comparator& comparator, pb::CompareFilter& message) {
  message.set_compare_op(CompareTypeOf(op));
  Write(comparator, *message.mutable_comparator());
}

void WriteColumn(const SingleColumnValue& column, pb::SingleColumnValueFilter& message) {
  message.set_column_family(column.family);
  message.set_column_qualifier(column.qualifier);
  message.set_compare_op(CompareTypeOf(column.op));
  Write(column.comparator, *message.mutable_comparator());
  message.set_filter_if_missing(column.filter_if_missing);
  message.set_latest_version_only(column.latest_version_only);
}

struct FilterWriter {
  pb::Filter& message;

  Status operator()(std::monostate) const {
    return {StatusCode::kUnsupportedOperation, "this filter cannot be sent to a cluster"};
  }

  Status operator()(const parameters::ColumnCountGet& filter) const {
    pb::ColumnCountGetFilter written;
    written.set_limit(filter.limit);
    return Done("ColumnCountGetFilter", written);
  }

  Status operator()(const parameters::ColumnPagination& filter) const {
    pb::ColumnPaginationFilter written;
    written.set_limit(filter.limit);
    written.set_offset(filter.offset);
    return Done("ColumnPaginationFilter", written);
  }

  Status operator()(const parameters::ColumnPrefix& filter) const {
    pb::ColumnPrefixFilter written;
    written.set_prefix(filter.prefix);
    return Done("ColumnPrefixFilter", written);
  }

  Status operator()(const parameters::MultipleColumnPrefix& filter) const {
    pb::MultipleColumnPrefixFilter written;
    for (const std::string& prefix : filter.prefixes) written.add_sorted_prefixes(prefix);
    return Done("MultipleColumnPrefixFilter", written);
  }

  Status operator()(const parameters::ColumnRange& filter) const {
    pb::ColumnRangeFilter written;
    if (filter.min) written.set_min_column(*filter.min);
    written.set_min_column_inclusive(filter.min_inclusive);
    if (filter.max) written.set_max_column(*filter.max);
    written.set_max_column_inclusive(filter.max_inclusive);
    return Done("ColumnRangeFilter", written);
  }

  Status operator()(const parameters::Timestamps& filter) const {
    pb::TimestampsFilter written;
    for (const Timestamp timestamp : filter.timestamps) written.add_timestamps(timestamp);
    written.set_can_hint(filter.can_hint);
    return Done("TimestampsFilter", written);
  }

  Status operator()(const parameters::FirstKeyOnly&) const {
    return Done("FirstKeyOnlyFilter", pb::FirstKeyOnlyFilter());
  }

  Status operator()(const parameters::KeyOnly& filter) const {
    pb::KeyOnlyFilter written;
    written.set_len_as_val(filter.length_as_value);
    return Done("KeyOnlyFilter", written);
  }

  Status operator()(const parameters::Page& filter) const {
    pb::PageFilter written;
    written.set_page_size(filter.page_size);
    return Done("PageFilter", written);
  }

  Status operator()(const parameters::Prefix& filter) const {
    pb::PrefixFilter written;
    written.set_prefix(filter.prefix);
    return Done("PrefixFilter", written);
  }

  Status operator()(const parameters::InclusiveStop& filter) const {
    pb::InclusiveStopFilter written;
    written.set_stop_row_key(filter.stop_row);
    return Done("InclusiveStopFilter", written);
  }

  Status operator()(const parameters::Compare& filter) const {
    switch (filter.part) {
      case parameters::Compare::Part::kRow: return Compared<pb::RowFilter>("RowFilter", filter);
      case parameters::Compare::Part::kFamily:
        return Compared<pb::FamilyFilter>("FamilyFilter", filter);
      case parameters::Compare::Part::kQualifier:
        return Compared<pb::QualifierFilter>("QualifierFilter", filter);
      case parameters::Compare::Part::kValue:
        return Compared<pb::ValueFilter>("ValueFilter", filter);
    }
    return (*this)(std::monostate());
  }

  Status operator()(const parameters::ColumnValue& filter) const {
    pb::ColumnValueFilter written;
    written.set_family(filter.family);
    written.set_qualifier(filter.qualifier);
    written.set_compare_op(CompareTypeOf(filter.op));
    Write(filter.comparator, *written.mutable_comparator());
    return Done("ColumnValueFilter", written);
  }

  Status operator()(const parameters::DependentColumn& filter) const {
    pb::DependentColumnFilter written;
    pb::CompareFilter& compare = *written.mutable_compare_filter();
    compare.set_compare_op(CompareTypeOf(filter.op));
    if (filter.comparator) Write(*filter.comparator, *compare.mutable_comparator());
    written.set_column_family(filter.family);
    written.set_column_qualifier(filter.qualifier);
    written.set_drop_dependent_column(filter.drop);
    return Done("DependentColumnFilter", written);
  }

  Status operator()(const parameters::ColumnJudgesRow& filter) const {
    if (filter.excludes_column) {
      pb::SingleColumnValueExcludeFilter written;
      WriteColumn(filter.column, *written.mutable_single_column_value_filter());
      return Done("SingleColumnValueExcludeFilter", written);
    }
    pb::SingleColumnValueFilter written;
    WriteColumn(filter.column, written);
    return Done("SingleColumnValueFilter", written);
  }

  Status operator()(const parameters::Skip& filter) const {
    return Wrapped<pb::SkipFilter>("SkipFilter", *filter.inner);
  }

  Status operator()(const parameters::WhileMatch& filter) const {
    return Wrapped<pb::WhileMatchFilter>("WhileMatchFilter", *filter.inner);
  }

  Status operator()(const parameters::List& list) const {
    pb::FilterList written;
    written.set_operator_(list.op == ListOperator::kMustPassAll ? pb::FilterList::MUST_PASS_ALL
                                                                : pb::FilterList::MUST_PASS_ONE);
    for (const FilterPtr& filter : list.filters) {
      CELLFS_RETURN_IF_ERROR(Write(*filter, *written.add_filters()));
    }
    return Done("FilterList", written);
  }

  template <typename Written>
  Status Compared(const char* class_name, const parameters::Compare& filter) const {
    Written written;
    WriteComparison(filter.op, filter.comparator, *written.mutable_compare_filter());
    return Done(class_name, written);
  }

  template <typename Written>
  Status Wrapped(const char* class_name, const Filter& inner) const {
    Written written;
    CELLFS_RETURN_IF_ERROR(Write(inner, *written.mutable_filter()));
    return Done(class_name, written);
  }

  Status Done(const char* class_name, const google::protobuf::MessageLite& written) const {
    Fill(class_name, written, message);
    return {};
  }
};

}  // namespace

Status Write(const Filter& filter, pb::Filter& message) {
  return std::visit(FilterWriter{message}, filter.Parameters().value);
}

bool CanBeSent(const Filter& filter) {
  pb::Filter message;
  return Write(filter, message).ok();
}

void Write(const Comparator& comparator, pb::Comparator& message) {
  switch (comparator.kind) {
    case Comparator::Kind::kBinary: {
      pb::BinaryComparator written;
      written.mutable_comparable()->set_value(comparator.value);
      return Fill("BinaryComparator", written, message);
    }
    case Comparator::Kind::kBinaryPrefix: {
      pb::BinaryPrefixComparator written;
      written.mutable_comparable()->set_value(comparator.value);
      return Fill("BinaryPrefixComparator", written, message);
    }
    case Comparator::Kind::kSubstring: {
      pb::SubstringComparator written;
      written.set_substr(comparator.value);
      return Fill("SubstringComparator", written, message);
    }
    case Comparator::Kind::kRegexString: return WriteRegex(comparator.value, kDotAll, message);
    case Comparator::Kind::kRegexStringNoCase:
      return WriteRegex(comparator.value, kDotAll | kCaseInsensitive | kUnicodeCase, message);
  }
}

void AddLengthsOnly(pb::Filter& message) {
  pb::KeyOnlyFilter lengths;
  lengths.set_len_as_val(true);
  if (!message.has_name()) return Fill("KeyOnlyFilter", lengths, message);
  pb::FilterList both;
  both.set_operator_(pb::FilterList::MUST_PASS_ALL);
  both.add_filters()->Swap(&message);
  Fill("KeyOnlyFilter", lengths, *both.add_filters());
  Fill("FilterList", both, message);
}

}  // namespace cellfs::hbase
