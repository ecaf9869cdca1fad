// SPDX-License-Identifier: MIT
//
// The vocabulary of case files (see README.md): bytes, columns, reads, writes, filters and schemas
// as they are spelled in JSON. What the spelling itself makes illegal is a Status, as it would be
// an exception of HBase's client; a malformed case is a std::exception.
#ifndef CELLFS_TESTS_CONFORMANCE_CASE_JSON_H_
#define CELLFS_TESTS_CONFORMANCE_CASE_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "engine/mutation.h"
#include "engine/read.h"
#include "engine/schema.h"
#include "engine/status_or.h"

namespace cellfs::conformance {

using Json = nlohmann::json;

// "hex:00ff", "long:5", "rep:3:ab", else the text itself.
std::string BytesOf(std::string_view spelling);
// One spelling for each sequence of bytes: text where it is readable UTF-8, else "hex:".
std::string Spell(std::string_view bytes);

struct ColumnName {
  std::string family;
  std::optional<std::string> qualifier;  // absent: the whole family
};
ColumnName ParseColumn(std::string_view spelling);
std::string SpellColumn(std::string_view family, std::string_view qualifier);

// The value of `key` as text, number or truth; the fallback where it is missing or null.
bool Has(const Json& object, const char* key);
std::string Text(const Json& object, const char* key, const std::string& fallback = "");
int64_t Number(const Json& object, const char* key, int64_t fallback);
bool Truth(const Json& object, const char* key, bool fallback);

TimeRange ParseTimeRange(const Json& range);
std::optional<CompareOperator> ParseCompare(std::string_view name);
FilterOr ParseCaseFilter(const Json& filter);
StatusOr<Get> ParseGet(const Json& step);
StatusOr<Scan> ParseScan(const Json& step);
// `row` where the step names none of its own.
Mutation ParseMutation(const Json& step, const std::string& row);
StatusOr<RowMutations> ParseMutations(const Json& steps, const std::string& row);

Status SetAttributes(const Json& attributes, FamilySchema& family);
StatusOr<TableSchema> ParseTable(const std::string& name, const Json& families, const Json& splits);

}  // namespace cellfs::conformance

#endif  // CELLFS_TESTS_CONFORMANCE_CASE_JSON_H_
