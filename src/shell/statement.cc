// SPDX-License-Identifier: MIT
#include "src/shell/statement.h"

#include <charconv>
#include <cstdlib>
#include <utility>

#include "src/shell/token.h"

namespace cellfs::shell {
namespace {

using Kind = Token::Kind;

class Parser {
 public:
  explicit Parser(const std::vector<Token>& tokens) : tokens_(tokens) {}

  StatusOr<std::vector<Statement>> Run() {
    std::vector<Statement> statements;
    while (at_ < tokens_.size()) {
      if (Takes(Kind::kEnd)) continue;
      CELLFS_ASSIGN_OR_RETURN(Statement statement, OneStatement());
      statements.push_back(std::move(statement));
      if (at_ < tokens_.size() && !Takes(Kind::kEnd)) return Unexpected();
    }
    return statements;
  }

 private:
  // ---- Tokens -------------------------------------------------------------------------------------

  bool Is(Kind kind, std::string_view text = {}, size_t ahead = 0) const {
    if (at_ + ahead >= tokens_.size()) return false;
    const Token& token = tokens_[at_ + ahead];
    return token.kind == kind && (text.empty() || token.text == text);
  }
  bool IsMark(std::string_view text, size_t ahead = 0) const {
    return Is(Kind::kMark, text, ahead);
  }
  bool Takes(Kind kind, std::string_view text = {}) {
    if (!Is(kind, text)) return false;
    ++at_;
    return true;
  }
  bool TakesMark(std::string_view text) { return Takes(Kind::kMark, text); }
  Status Unexpected() const {
    const bool is_end = at_ >= tokens_.size() || tokens_[at_].kind == Kind::kEnd;
    const size_t line = tokens_[std::min(at_, tokens_.size() - 1)].line;
    return {StatusCode::kIllegalArgument,
            "line " + std::to_string(line) + ": " +
                (is_end ? "the command ends too early"
                        : "'" + tokens_[at_].text + "' is not expected here")};
  }
  Status Expect(std::string_view mark) { return TakesMark(mark) ? Status() : Unexpected(); }

  // ---- Statements ---------------------------------------------------------------------------------

  StatusOr<Statement> OneStatement() {
    Statement statement;
    if (Is(Kind::kName) && IsMark("=", 1)) {
      statement.kept_as = tokens_[at_].text;
      at_ += 2;
    }
    if (!Is(Kind::kName)) return Unexpected();
    statement.command = tokens_[at_++].text;
    // Those are asked for more than they are called.
    if (IsMark(".") && Is(Kind::kName, {}, 1) && !IsOverEach(1)) {
      statement.receiver = std::exchange(statement.command, tokens_[at_ + 1].text);
      at_ += 2;
    }
    CELLFS_RETURN_IF_ERROR(TakeArguments(statement));
    if (IsMark(".") && IsOverEach(1)) {
      at_ += 2;
      CELLFS_ASSIGN_OR_RETURN(statement.block, OneBlock());
    }
    return statement;
  }

  bool IsOverEach(size_t ahead) const {
    return Is(Kind::kName, "each", ahead) || Is(Kind::kName, "map", ahead);
  }

  Status TakeArguments(Statement& statement) {
    const bool in_parentheses = TakesMark("(");
    const auto is_end = [&] {
      return at_ >= tokens_.size() || Is(Kind::kEnd) || IsMark(in_parentheses ? ")" : "}") ||
             (!in_parentheses && IsMark("."));
    };
    Hash pairs;
    bool has_pairs = false;
    while (!is_end()) {
      if (IsPair()) {
        CELLFS_RETURN_IF_ERROR(TakePair(pairs));
        has_pairs = true;
      } else {
        CELLFS_ASSIGN_OR_RETURN(Argument argument, OneArgument());
        statement.arguments.push_back(std::move(argument));
      }
      if (!TakesMark(",") && !is_end()) return Unexpected();
    }
    if (has_pairs) statement.arguments.push_back({Value{std::move(pairs)}, {}});
    return in_parentheses ? Expect(")") : Status();
  }

  StatusOr<Argument> OneArgument() {
    const bool is_variable = Is(Kind::kName) && !Is(Kind::kName, "nil") &&
                             !Is(Kind::kName, "true") && !Is(Kind::kName, "false");
    if (is_variable) return Argument{{}, tokens_[at_++].text};
    CELLFS_ASSIGN_OR_RETURN(Value value, OneValue());
    return Argument{std::move(value), {}};
  }

  StatusOr<std::shared_ptr<const Statement::Block>> OneBlock() {
    auto block = std::make_shared<Statement::Block>();
    const bool is_do = Takes(Kind::kName, "do");
    if (!is_do) CELLFS_RETURN_IF_ERROR(Expect("{"));
    CELLFS_RETURN_IF_ERROR(Expect("|"));
    if (!Is(Kind::kName)) return Unexpected();
    block->parameter = tokens_[at_++].text;
    CELLFS_RETURN_IF_ERROR(Expect("|"));
    const auto is_end = [&] { return is_do ? Is(Kind::kName, "end") : IsMark("}"); };
    while (!is_end()) {
      if (at_ >= tokens_.size())
        return Status(StatusCode::kUnavailable, "the block is not complete");
      if (Takes(Kind::kEnd)) continue;
      CELLFS_ASSIGN_OR_RETURN(Statement statement, OneStatement());
      block->statements.push_back(std::move(statement));
      if (!Is(Kind::kEnd) && !is_end()) return Unexpected();
    }
    ++at_;
    return std::shared_ptr<const Statement::Block>(std::move(block));
  }

  // ---- Values -------------------------------------------------------------------------------------

  // NAME => 'f1', 'NAME' => 'f1', NAME: 'f1'
  bool IsPair() const {
    const bool is_key = Is(Kind::kConstant) || Is(Kind::kString) || Is(Kind::kName);
    return is_key && (IsMark("=>", 1) || IsMark(":", 1));
  }
  Status TakePair(Hash& pairs) {
    if (!IsPair()) return Unexpected();
    std::string key = tokens_[at_].text;
    at_ += 2;
    CELLFS_ASSIGN_OR_RETURN(Value value, OneValue());
    for (auto& [known, present] : pairs) {
      if (known != key) continue;
      present = std::move(value);  // the last one counts
      return {};
    }
    pairs.push_back({std::move(key), std::move(value)});
    return {};
  }

  StatusOr<Value> OneValue() {
    if (Is(Kind::kString)) return Text();
    if (Is(Kind::kNumber)) return Number(tokens_[at_++].text, false);
    if (TakesMark("-")) {
      if (!Is(Kind::kNumber)) return Unexpected();
      return Number(tokens_[at_++].text, true);
    }
    if (Is(Kind::kConstant)) return Constant();
    if (TakesMark("[")) return OneList();
    if (TakesMark("{")) return OneHash();
    if (Takes(Kind::kName, "nil")) return Value{};
    if (Takes(Kind::kName, "true")) return Value{true};
    if (Takes(Kind::kName, "false")) return Value{false};
    return Unexpected();
  }

  // 'a' + 'b', and 'a' 'b'.
  StatusOr<Value> Text() {
    std::string text = tokens_[at_++].text;
    while (Is(Kind::kString) || (IsMark("+") && Is(Kind::kString, {}, 1))) {
      if (!Is(Kind::kString)) ++at_;
      text += tokens_[at_++].text;
    }
    return Value{std::move(text)};
  }

  StatusOr<Value> Number(const std::string& word, bool is_negative) const {
    const std::string text = (is_negative ? "-" : "") + word;
    if (word.starts_with("0x")) {
      return Value{static_cast<int64_t>(std::strtoull(word.c_str() + 2, nullptr, 16)) *
                   (is_negative ? -1 : 1)};
    }
    if (word.find('.') != word.npos) return Value{std::strtod(text.c_str(), nullptr)};
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return Value{number};
    return Status(StatusCode::kIllegalArgument, "'" + text + "' is no number");
  }

  // NAME; PageFilter.new(5); Bytes.toBytes('x')
  StatusOr<Value> Constant() {
    std::string name = tokens_[at_++].text;
    if (!IsMark(".") || !Is(Kind::kName, {}, 1)) return Value{std::move(name)};
    const std::string method = tokens_[at_ + 1].text;
    at_ += 2;
    std::vector<Value> values;
    bool has_comparator = false;  // as its last value
    if (TakesMark("(")) {
      while (!IsMark(")")) {
        has_comparator = Is(Kind::kConstant) && TypeOfComparator(tokens_[at_].text) != nullptr;
        CELLFS_ASSIGN_OR_RETURN(Value value, OneValue());
        values.push_back(std::move(value));
        if (!TakesMark(",") && !IsMark(")")) return Unexpected();
      }
      CELLFS_RETURN_IF_ERROR(Expect(")"));
    }
    if (name == "Bytes" && method.starts_with("toBytes") && values.size() == 1) return values[0];
    const bool is_operator = name == "CompareOperator" || name == "CompareOp";
    if (is_operator && method == "valueOf" && values.size() == 1) return values[0];
    if (const char* type = TypeOfComparator(name); type != nullptr && method == "new" && !values.empty())
      return Value{type + (":" + values[0].Text())};
    if (method == "new") return Value{FilterText(name, values, has_comparator)};
    return Status(StatusCode::kIllegalArgument, name + "." + method + " is not known here");
  }

  // As the language of filters names it; null: it is none.
  static const char* TypeOfComparator(std::string_view name) {
    if (name == "BinaryComparator") return "binary";
    if (name == "BinaryPrefixComparator") return "binaryprefix";
    if (name == "SubstringComparator") return "substring";
    if (name == "RegexStringComparator") return "regexstring";
    return nullptr;
  }

  // Of the operators of Java, as the language of filters writes them; empty: it is none.
  static std::string_view SignOf(std::string_view name) {
    constexpr std::pair<std::string_view, std::string_view> kSigns[] = {
        {"EQUAL", "="},   {"NOT_EQUAL", "!="},     {"LESS", "<"},
        {"GREATER", ">"}, {"LESS_OR_EQUAL", "<="}, {"GREATER_OR_EQUAL", ">="}};
    for (const auto& [word, sign] : kSigns)
      if (word == name) return sign;
    return "";
  }

  // In the language of filters a quote in a text is two.
  static std::string QuotedForFilter(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
    return quoted + '\'';
  }

  // A filter that compares has an operator, and behind it a comparator, or bytes for one.
  static std::string FilterText(const std::string& name, const std::vector<Value>& values,
                                bool has_comparator) {
    const bool is_of_column = name.ends_with("ColumnValueFilter") || name.ends_with("ExcludeFilter");
    const size_t place = is_of_column ? 2 : 0;
    const bool compares = values.size() == place + 2 && !SignOf(values[place].Text()).empty();
    std::string text;
    for (size_t i = 0; i < values.size(); ++i) {
      text += text.empty() ? "" : ", ";
      const auto* const bytes = values[i].As<std::string>();
      if (compares && i == place) {
        text += SignOf(*bytes);
      } else if (bytes == nullptr || bytes->ends_with(')')) {
        text += values[i].Text();
      } else {
        const bool lacks_type = compares && i == place + 1 && !has_comparator;
        text += QuotedForFilter((lacks_type ? "binary:" : "") + *bytes);
      }
    }
    return name + " (" + text + ")";
  }

  StatusOr<Value> OneList() {
    List list;
    while (!IsMark("]")) {
      CELLFS_ASSIGN_OR_RETURN(Value value, OneValue());
      list.push_back(std::move(value));
      if (!TakesMark(",") && !IsMark("]")) return Unexpected();
    }
    ++at_;
    return Value{std::move(list)};
  }

  StatusOr<Value> OneHash() {
    Hash hash;
    while (!IsMark("}")) {
      CELLFS_RETURN_IF_ERROR(TakePair(hash));
      if (!TakesMark(",") && !IsMark("}")) return Unexpected();
    }
    ++at_;
    return Value{std::move(hash)};
  }

  const std::vector<Token>& tokens_;
  size_t at_ = 0;
};

}  // namespace

StatusOr<std::vector<Statement>> ParseStatements(std::string_view text) {
  CELLFS_ASSIGN_OR_RETURN(const std::vector<Token> tokens, Tokens(text));
  return Parser(tokens).Run();
}

}  // namespace cellfs::shell
