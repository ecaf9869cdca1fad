// SPDX-License-Identifier: MIT
//
// Cells as the commands of the group "Data" take and show them.
//
//     row     column (f:q)     timestamp     value
//
// In JSON: {"row", "family", "qualifier", "timestamp", "value"}, "ttl" where the cell has one, "type"
// where a raw scan returns it.
#ifndef CELLFS_SRC_COMMANDS_CELLS_H_
#define CELLFS_SRC_COMMANDS_CELLS_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/mutation.h"
#include "engine/read.h"
#include "src/commands/arguments.h"
#include "src/commands/printer.h"
#include "src/commands/syntax.h"
#include "src/commands/target.h"

namespace cellfs {

struct Session;

inline constexpr int64_t kLongestTtl = int64_t{1} << 52;  // milliseconds

// "--format text|hex|long": how values are given and shown.
enum class ValueFormat { kText, kHex, kLong };
StatusOr<ValueFormat> FormatOf(const Arguments& arguments);
// Where it is not said: of a counter, named as one (.counters/q), its number.
StatusOr<ValueFormat> FormatOf(const Arguments& arguments, const fs::Place& place);
// `is_raw`: also what it is. Of what is not to be shown as text the format is said.
nlohmann::json RecordOf(Cell&& cell, ValueFormat format, bool is_raw = false);
// The printing half's part: what is not to be shown as text is there twice then ("shown").
void AddShown(nlohmann::json& record);
// Calls `take` with each cell, of which one row's come one after the other, until it says that it
// is enough. However long rows are, a piece of one is in memory.
Status ForEachCell(const Session& session, Scanner& scanner,
                   const std::function<bool(Cell&& cell)>& take);
// A row of a table.
void PrintCell(Printer& printer, const nlohmann::json& record);

// A value as a word says it: text with \xNN, hexadecimal digits, or a number of 8 bytes.
StatusOr<std::string> ValueOf(const std::string& word, ValueFormat format);
// The same of a word that may be "-", for what came on standard input ("input"): as it is, or with
// --format hex or long a word with the end of its line.
StatusOr<std::string> GivenValue(const std::string& word, const Arguments& arguments);
// The other way; what is not 8 bytes long is no number, and stays text.
std::string ShownValue(const std::string& value, ValueFormat format);

// ---- What several commands have in common -------------------------------------------------------

// --columns, --versions, --from, --until, --filter, --format.
void AddQueryOptions(Syntax& syntax);
// What they say. `place` narrows to its family and column, `words` are columns.
Status ReadQuery(const fs::Place& place, const std::vector<std::string>& words,
                 const Arguments& arguments, Timestamp now, Query& query);

// --durability.
void AddDurabilityOption(Syntax& syntax);
StatusOr<Durability> DurabilityOf(const Arguments& arguments);

// What one option says, if any, and else the place, of a version; kLatestTimestamp: neither does.
// kIllegalArgument: both do.
StatusOr<Timestamp> TimestampOf(const fs::Place& place, const Arguments& arguments, Timestamp now);
// `option` says versions, and so does the place.
Status CheckNamesNoVersion(const fs::Place& place, const std::string& option);

// The column that the place and the first of the words name, which is taken away.
StatusOr<ColumnWord> TakeColumn(NamedPlace& named);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_CELLS_H_
