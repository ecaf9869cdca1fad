// SPDX-License-Identifier: MIT
#include "engine/obkv/table_options.h"

#include <utility>

#include "engine/obkv/sql_error.h"
#include "engine/obkv/sql_text.h"

namespace cellfs::obkv {
namespace {

constexpr std::string_view kAttributes = "KV_ATTRIBUTES";

bool IsWordChar(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// The words, names and literals of a statement, one after the other.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  // What is in quotes comes without them. Empty: the end, or an empty literal.
  std::string Next() {
    while (!rest().empty() && (rest().front() == ' ' || rest().front() == '\n')) ++at_;
    if (rest().empty()) return {};
    const char first = rest().front();
    if (first == '\'' || first == '`' || first == '"') return Quoted(first);
    const size_t begin = at_++;
    while (IsWordChar(first) && !rest().empty() && IsWordChar(rest().front())) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  bool at_end() const { return rest().empty(); }

 private:
  std::string_view rest() const { return text_.substr(at_); }

  std::string Quoted(char quote) {
    std::string text;
    for (++at_; !rest().empty(); ++at_) {
      const char c = rest().front();
      const char next = rest().size() > 1 ? rest()[1] : '\0';
      const bool is_escaped = (c == '\\' && quote == '\'') || (c == quote && next == quote);
      if (c == quote && !is_escaped) {
        ++at_;
        break;
      }
      if (is_escaped) ++at_;
      text += is_escaped ? next : c;
    }
    return text;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string AttributesIn(std::string_view create_table) {
  Tokens tokens(create_table);
  std::string before;
  std::string token;
  while (!tokens.at_end()) {
    std::string next = tokens.Next();
    if (before == kAttributes && token == "=") return next;
    before = std::exchange(token, std::move(next));
  }
  return {};
}

void TableOptions::SetVersion(std::string_view version) {
  is_oceanbase_ = version.find("OceanBase") != std::string_view::npos;
}

// Also where it is not made for want of rights: the table is made without it then.
bool TableOptions::MayMakeGroup(Connection& connection, const TableName& table,
                                const Patience& patience) {
  if (groups_ == Known::kNo) return false;
  const Status made = connection.Define("CREATE TABLEGROUP IF NOT EXISTS " +
                                            Identifier(table.name) + " SHARDING = 'ADAPTIVE'",
                                        patience);
  if (!made.ok() && IsUnknownSyntax(connection.last_error())) groups_ = Known::kNo;
  if (made.ok()) groups_ = Known::kYes;
  return made.ok();
}

Status TableOptions::Create(Connection& connection, const TableName& table,
                            const std::string& before, const std::string& attributes,
                            const std::string& after, const Patience& patience) {
  std::string group;
  if (MayMakeGroup(connection, table, patience)) group = " TABLEGROUP = " + Identifier(table.name);
  const auto make = [&](const std::string& options) {
    return connection.Define(before + options + after, patience);
  };
  const auto is_unknown = [&](const Status& made) {
    return !made.ok() && IsUnknownSyntax(connection.last_error());
  };
  if (!attributes.empty() && attributes_ != Known::kNo) {
    const Status made = make(group + " KV_ATTRIBUTES = " + Literal(attributes));
    if (made.ok()) attributes_ = Known::kYes;
    if (!is_unknown(made)) return made;
    attributes_ = Known::kNo;
  }
  const Status made = make(group);
  if (group.empty() || !is_unknown(made)) return made;
  groups_ = Known::kNo;
  return make("");
}

Status TableOptions::SetAttributes(Connection& connection, const std::string& sql_name,
                                   const std::string& attributes, const Patience& patience) {
  if (attributes_ == Known::kNo) return {};
  const Status set = connection.Define(
      "ALTER TABLE " + sql_name + " KV_ATTRIBUTES = " + Literal(attributes), patience);
  const bool is_unknown = !set.ok() && IsUnknownSyntax(connection.last_error());
  if (set.ok() || is_unknown) attributes_ = set.ok() ? Known::kYes : Known::kNo;
  return is_unknown ? Status() : set;
}

StatusOr<std::string> TableOptions::Attributes(Connection& connection,
                                               const std::string& sql_name,
                                               const Patience& patience) const {
  const Known known = attributes_;
  if (known == Known::kNo || (known == Known::kMaybe && !is_oceanbase_)) return std::string();
  CELLFS_ASSIGN_OR_RETURN(const auto rows,
                          connection.Query("SHOW CREATE TABLE " + sql_name, {}, patience));
  return rows.empty() || rows.front().size() < 2 ? std::string()
                                                 : AttributesIn(BytesOf(rows.front()[1]));
}

void TableOptions::DropGroup(Connection& connection, const TableName& table,
                             const Patience& patience) {
  const bool may_be_there = groups_ == Known::kYes || (groups_ == Known::kMaybe && is_oceanbase_);
  if (may_be_there)
    (void)connection.Define("DROP TABLEGROUP IF EXISTS " + Identifier(table.name), patience);
}

}  // namespace cellfs::obkv
