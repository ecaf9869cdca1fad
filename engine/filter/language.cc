// SPDX-License-Identifier: MIT
//
// The filter language, read as HBase's ParseFilter reads it: one pass with a stack of operators and
// one of filters.
//
//   text := { '(' | ')' | "AND" | "OR" | "SKIP" | "WHILE" | simple | ' ' | tab }
//
// SKIP and WHILE bind tighter than AND, AND tighter than OR. Operators are upper case and stand
// between blanks or parentheses. What a simple expression is, simple_filter.h says.
// What HBase accepts means the same here, such as parentheses left open at the end. One fault is
// not copied: there an operator of lower precedence inside parentheses is lost, so that
// "(A OR B AND C)" is refused.
#include <algorithm>
#include <utility>

#include "engine/filter/simple_filter.h"
#include "engine/filters.h"

namespace cellfs {
namespace {

constexpr size_t kMaxTextLength = size_t{64} * 1024;
constexpr int kMaxDepth = 100;

Status Refused(size_t position, std::string_view what) {
  return Status(StatusCode::kIllegalArgument,
                "filter, from character " + std::to_string(position + 1) +
                    " on: " + std::string(what));
}

// In order of precedence: the first binds tightest.
enum class Operator { kSkip, kWhile, kAnd, kOr, kParenthesis };

bool BindsTighter(Operator a, Operator b) {
  const auto precedence = [](Operator op) { return std::max(op, Operator::kWhile); };
  return precedence(a) < precedence(b);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  FilterOr Parse() {
    while (at_ < text_.size()) CELLFS_RETURN_IF_ERROR(Token());
    while (!operators_.empty()) CELLFS_RETURN_IF_ERROR(Apply());
    if (filters_.empty()) return Refused(at_, "no filter");
    if (filters_.size() > 1) return Refused(filters_[1].position, "a filter without an operator");
    return filters_.front().filter;
  }

 private:
  struct Pending {
    Operator op;
    size_t position;
  };
  struct Parsed {
    FilterPtr filter;
    size_t position;
    int depth;  // of filters in filters
  };

  Status Token() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t') {
      ++at_;
      return Status();
    }
    if (c == '(') {
      operators_.push_back({Operator::kParenthesis, at_++});
      return Status();
    }
    if (c == ')') return Close();
    if (IsWord("OR", false)) return Push(Operator::kOr, 2);
    if (IsWord("AND", false)) return Push(Operator::kAnd, 3);
    if (IsWord("SKIP", true)) return Push(Operator::kSkip, 4);
    if (IsWord("WHILE", true)) return Push(Operator::kWhile, 5);
    return Simple();
  }

  // An operator stands after a blank or ')', one that may begin an expression also after '(' or
  // first of all, and before a blank or '('.
  bool IsWord(std::string_view word, bool may_begin) const {
    if (text_.substr(at_, word.size()) != word) return false;
    const size_t after = at_ + word.size();
    if (after == text_.size() || (text_[after] != ' ' && text_[after] != '(')) return false;
    if (at_ == 0) return may_begin;
    const char before = text_[at_ - 1];
    return before == ' ' || before == ')' || (may_begin && before == '(');
  }

  Status Push(Operator op, size_t length) {
    while (!operators_.empty() && BindsTighter(operators_.back().op, op)) {
      CELLFS_RETURN_IF_ERROR(Apply());
    }
    operators_.push_back({op, at_});
    at_ += length;
    return Status();
  }

  Status Close() {
    while (!operators_.empty() && operators_.back().op != Operator::kParenthesis) {
      CELLFS_RETURN_IF_ERROR(Apply());
    }
    if (operators_.empty()) return Refused(at_, "')' without '('");
    operators_.pop_back();
    ++at_;
    return Status();
  }

  Status Simple() {
    const size_t length = SimpleLength();
    if (length == 0) {
      const bool begins = text_.find('(', at_) != std::string_view::npos;
      return Refused(at_, begins ? "no ')' ends this filter"
                                 : "a '(' is expected behind the filter's name");
    }
    FilterOr filter = ReadSimpleFilter(text_.substr(at_, length));
    if (!filter.ok()) return Refused(at_, filter.status().message());
    filters_.push_back({*std::move(filter), at_, 1});
    at_ += length;
    return Status();
  }

  // Up to the first ')' that is not in quotes; 0 where there is none.
  size_t SimpleLength() const {
    bool in_quotes = false;
    for (size_t i = at_; i < text_.size(); ++i) {
      if (text_[i] == '\'') {
        if (IsQuoteAlone(text_, i)) {
          in_quotes = !in_quotes;
        } else {
          ++i;
        }
      }
      if (text_[i] == ')' && !in_quotes) return i - at_ + 1;
    }
    return 0;
  }

  // Applies the operator on top to the filters on top.
  Status Apply() {
    const Pending top = operators_.back();
    size_t operands = 1;
    if (top.op == Operator::kAnd || top.op == Operator::kOr) {
      // A row of the same operator makes one list.
      for (; !operators_.empty() && operators_.back().op == top.op; ++operands) {
        operators_.pop_back();
      }
    } else {
      operators_.pop_back();
    }
    if (filters_.size() < operands) return Refused(top.position, "a filter is missing");
    if (top.op == Operator::kParenthesis) return Status();
    return Combine(top, filters_.size() - operands);
  }

  Status Combine(const Pending& top, size_t first) {
    std::vector<FilterPtr> operands;
    Parsed parsed{nullptr, filters_[first].position, 0};
    for (size_t i = first; i < filters_.size(); ++i) {
      operands.push_back(std::move(filters_[i].filter));
      parsed.depth = std::max(parsed.depth, filters_[i].depth + 1);
    }
    filters_.resize(first);
    if (parsed.depth > kMaxDepth) return Refused(top.position, "filters are nested too deep");
    CELLFS_ASSIGN_OR_RETURN(parsed.filter, Make(top.op, operands));
    filters_.push_back(std::move(parsed));
    return Status();
  }

  static FilterOr Make(Operator op, const std::vector<FilterPtr>& operands) {
    if (op == Operator::kSkip) return MakeSkipFilter(operands.front());
    if (op == Operator::kWhile) return MakeWhileMatchFilter(operands.front());
    return MakeFilterList(
        op == Operator::kAnd ? ListOperator::kMustPassAll : ListOperator::kMustPassOne, operands);
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::vector<Pending> operators_;
  std::vector<Parsed> filters_;
};

}  // namespace

FilterOr ParseFilter(std::string_view text) {
  if (text.size() > kMaxTextLength) return Refused(kMaxTextLength, "the text is too long");
  return Parser(text).Parse();
}

}  // namespace cellfs
