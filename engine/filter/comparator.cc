// SPDX-License-Identifier: MIT
#include "engine/filter/comparator.h"

#include <utility>

namespace cellfs {
namespace {

// Nothing for the kinds that compare bytes.
std::optional<Regex::Syntax> SyntaxOf(Comparator::Kind kind) {
  switch (kind) {
    case Comparator::Kind::kBinary:
    case Comparator::Kind::kBinaryPrefix:
      return std::nullopt;
    case Comparator::Kind::kSubstring:
      return Regex::Syntax::kSubstringNoCase;
    case Comparator::Kind::kRegexString:
      return Regex::Syntax::kJava;
    case Comparator::Kind::kRegexStringNoCase:
      return Regex::Syntax::kJavaNoCase;
  }
  return std::nullopt;
}

}  // namespace

CompareOperator Turned(CompareOperator op) {
  switch (op) {
    case CompareOperator::kLess:
      return CompareOperator::kGreater;
    case CompareOperator::kLessOrEqual:
      return CompareOperator::kGreaterOrEqual;
    case CompareOperator::kGreaterOrEqual:
      return CompareOperator::kLessOrEqual;
    case CompareOperator::kGreater:
      return CompareOperator::kLess;
    default:
      return op;
  }
}

bool Holds(CompareOperator op, std::strong_ordering order) {
  switch (op) {
    case CompareOperator::kLess:
      return order < 0;
    case CompareOperator::kLessOrEqual:
      return order <= 0;
    case CompareOperator::kEqual:
      return order == 0;
    case CompareOperator::kNotEqual:
      return order != 0;
    case CompareOperator::kGreaterOrEqual:
      return order >= 0;
    case CompareOperator::kGreater:
      return order > 0;
    case CompareOperator::kNoOp:
      return false;
  }
  return false;
}

Condition::Condition(CompareOperator op, Comparator comparator, std::optional<Regex> regex)
    : op_(op), comparator_(std::move(comparator)), regex_(std::move(regex)) {}

StatusOr<Condition> Condition::Create(CompareOperator op, Comparator comparator) {
  std::optional<Regex> regex;
  if (const auto syntax = SyntaxOf(comparator.kind)) {
    CELLFS_ASSIGN_OR_RETURN(regex, Regex::Compile(comparator.value, *syntax));
  }
  return Condition(op, std::move(comparator), std::move(regex));
}

std::strong_ordering Condition::Compare(std::string_view stored) const {
  if (regex_) {
    return regex_->Find(stored) ? std::strong_ordering::equal : std::strong_ordering::less;
  }
  const std::string_view given = comparator_.value;
  if (comparator_.kind == Comparator::Kind::kBinaryPrefix) stored = stored.substr(0, given.size());
  return stored <=> given;
}

}  // namespace cellfs
