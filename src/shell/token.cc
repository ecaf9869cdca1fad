// SPDX-License-Identifier: MIT
#include "src/shell/token.h"

#include <cctype>
#include <utility>

namespace cellfs::shell {
namespace {

// Text that was set in a book has these for quotes.
constexpr std::pair<std::string_view, char> kTypographicQuotes[] = {
    {"\xE2\x80\x98", '\''}, {"\xE2\x80\x99", '\''}, {"\xE2\x80\xB2", '\''},
    {"\xE2\x80\x9C", '"'},  {"\xE2\x80\x9D", '"'}};

bool IsWordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool IsUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

void AppendUtf8(unsigned code, std::string& text) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    if (code < 0x10000) {
      text += static_cast<char>(0xE0 | (code >> 12));
    } else {
      text += static_cast<char>(0xF0 | (code >> 18));
      text += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    }
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  StatusOr<std::vector<Token>> Run() {
    while (at_ < text_.size()) CELLFS_RETURN_IF_ERROR(Next());
    if (!open_.empty() || GoesOn()) return Unfinished();
    End();
    return std::move(tokens_);
  }

 private:
  static Status Unfinished() { return {StatusCode::kUnavailable, "the command is not complete"}; }
  Status Wrong(const std::string& what) const {
    return {StatusCode::kIllegalArgument, "line " + std::to_string(line_) + ": " + what};
  }
  void Add(Token::Kind kind, std::string text) {
    tokens_.push_back({kind, std::move(text), line_});
  }
  void End() {
    if (!tokens_.empty() && tokens_.back().kind != Token::Kind::kEnd) Add(Token::Kind::kEnd, "");
  }
  // Behind these no statement ends.
  bool GoesOn() const {
    if (tokens_.empty() || tokens_.back().kind != Token::Kind::kMark) return false;
    const std::string& mark = tokens_.back().text;
    return mark == "," || mark == "=>" || mark == "=" || mark == "." || mark == "+";
  }

  Status Next() {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return {};
    }
    if (c == '\n') return EndOfLine();
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
      return {};
    }
    if (c == '\\' && text_.substr(at_ + 1, 1) == "\n") {
      at_ += 2;
      ++line_;
      return {};
    }
    if (const char quote = QuoteHere(); quote != 0) return String(quote);
    if (IsDigit(c)) return Number();
    if (IsWordByte(c) || c == '@' || c == '$') return Word();
    if (c == ':' && at_ + 1 < text_.size() && IsWordByte(text_[at_ + 1])) return Symbol();
    return Mark();
  }

  Status EndOfLine() {
    ++at_;
    if ((open_.empty() || open_.back() == kBlock) && !GoesOn()) End();
    ++line_;
    return {};
  }

  // And passes it.
  char QuoteHere() {
    if (text_[at_] == '\'' || text_[at_] == '"') return text_[at_++];
    for (const auto& [bytes, quote] : kTypographicQuotes) {
      if (text_.substr(at_).starts_with(bytes)) {
        at_ += bytes.size();
        return quote;
      }
    }
    return 0;
  }

  Status String(char quote) {
    std::string bytes;
    const size_t first_line = line_;
    while (at_ < text_.size()) {
      const size_t before = at_;
      const char closing = QuoteHere();
      if (closing == quote) {
        tokens_.push_back({Token::Kind::kString, std::move(bytes), first_line});
        return {};
      }
      at_ = before;
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        CELLFS_RETURN_IF_ERROR(Escape(quote, bytes));
      } else if (quote == '"' && text_.substr(at_).starts_with("#{")) {
        return Wrong("\"#{...}\" is Ruby, which this shell does not run; for these very bytes write \\#{");
      } else {
        bytes += text_[at_++];
      }
    }
    return Unfinished();
  }

  // In single quotes a backslash is one, but before a quote and itself.
  Status Escape(char quote, std::string& bytes) {
    const char c = text_[at_ + 1];
    at_ += 2;
    if (quote == '\'') {
      if (c != '\'' && c != '\\') bytes += '\\';
      bytes += c;
      return {};
    }
    constexpr std::string_view kLetters = "ntrabefv0s";
    constexpr std::string_view kBytes("\n\t\r\a\b\x1b\f\v\0 ", 10);
    if (c == 'x') {
      const size_t begin = at_;
      bytes += static_cast<char>(Digits(16, 2));
      if (at_ == begin) return Wrong("behind \\x one or two hexadecimal digits are missing");
    } else if (c == 'u') {
      return Character(bytes);
    } else if (c >= '0' && c <= '7') {
      --at_;
      bytes += static_cast<char>(Digits(8, 3));
    } else if (const size_t letter = kLetters.find(c); letter != kLetters.npos) {
      bytes += kBytes[letter];
    } else {
      bytes += c;
    }
    return {};
  }
  // \u00e9, \u{1f600}
  Status Character(std::string& bytes) {
    const bool is_braced = at_ < text_.size() && text_[at_] == '{';
    if (is_braced) ++at_;
    const size_t begin = at_;
    const unsigned code = Digits(16, is_braced ? 6 : 4);
    const bool is_whole = is_braced ? at_ > begin && at_ < text_.size() && text_[at_] == '}'
                                    : at_ == begin + 4;
    if (!is_whole || code > 0x10FFFF)
      return Wrong("behind \\u are four hexadecimal digits, or {} with one character's");
    if (is_braced) ++at_;
    AppendUtf8(code, bytes);
    return {};
  }
  unsigned Digits(unsigned base, int most) {
    unsigned number = 0;
    for (int i = 0; i < most && at_ < text_.size(); ++i, ++at_) {
      const char c = static_cast<char>(std::tolower(static_cast<unsigned char>(text_[at_])));
      const unsigned digit = IsDigit(c)               ? static_cast<unsigned>(c - '0')
                             : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                                                      : 99;
      if (digit >= base) break;
      number = number * base + digit;
    }
    return number;
  }

  Status Number() {
    std::string number;
    const auto take = [&] {
      for (; at_ < text_.size() && (IsWordByte(text_[at_])); ++at_)
        if (text_[at_] != '_') number += text_[at_];
    };
    take();
    const bool has_fraction = at_ + 1 < text_.size() && text_[at_] == '.' && IsDigit(text_[at_ + 1]);
    if (has_fraction) {
      number += text_[at_++];
      take();
    }
    Add(Token::Kind::kNumber, std::move(number));
    return {};
  }

  Status Symbol() {
    ++at_;
    const size_t begin = at_;
    while (at_ < text_.size() && IsWordByte(text_[at_])) ++at_;
    Add(Token::Kind::kString, std::string(text_.substr(begin, at_ - begin)));
    return {};
  }

  // The name of a class has its packages before it (org.apache.hadoop.hbase.filter.PageFilter); of
  // these only the last part counts.
  Status Word() {
    const size_t begin = at_;
    ++at_;
    while (at_ < text_.size() && IsWordByte(text_[at_])) ++at_;
    if (at_ < text_.size() && (text_[at_] == '?' || text_[at_] == '!')) ++at_;
    std::string word(text_.substr(begin, at_ - begin));
    if (word == "org" || word == "java") return ClassName(begin);
    const bool is_constant = IsUpper(word.front());
    if (is_constant && text_.substr(at_).starts_with("::")) {
      at_ += 2;
      return {};  // Java::Foo is Foo
    }
    Add(is_constant ? Token::Kind::kConstant : Token::Kind::kName, std::move(word));
    return {};
  }
  Status ClassName(size_t begin) {
    while (at_ + 1 < text_.size() && text_[at_] == '.' && IsWordByte(text_[at_ + 1])) {
      const size_t part = ++at_;
      while (at_ < text_.size() && IsWordByte(text_[at_])) ++at_;
      if (IsUpper(text_[part])) {
        Add(Token::Kind::kConstant, std::string(text_.substr(part, at_ - part)));
        return {};
      }
    }
    Add(Token::Kind::kName, std::string(text_.substr(begin, at_ - begin)));
    return {};
  }

  Status Mark() {
    const std::string_view rest = text_.substr(at_);
    const size_t length = rest.starts_with("=>") ? 2 : 1;
    const std::string mark(rest.substr(0, length));
    at_ += length;
    if (mark == ";") {
      Add(Token::Kind::kEnd, "");
      return {};
    }
    if (mark == "(" || mark == "[" || mark == "{") open_ += IsBlock(mark) ? kBlock : mark[0];
    if (mark == ")" || mark == "]" || mark == "}") {
      if (open_.empty()) return Wrong("'" + mark + "' closes nothing");
      open_.pop_back();
    }
    if (std::string_view("()[]{},.=|+-:").find(mark[0]) == std::string_view::npos)
      return Wrong("'" + mark + "' is not understood here");
    Add(Token::Kind::kMark, mark);
    return {};
  }

  // "{ |t| ...", of whose lines each is a statement.
  bool IsBlock(const std::string& mark) const {
    const size_t next = text_.find_first_not_of(" \t", at_);
    return mark == "{" && next != text_.npos && text_[next] == '|';
  }

  static constexpr char kBlock = '|';

  const std::string_view text_;
  size_t at_ = 0;
  size_t line_ = 1;
  std::string open_;  // brackets, the innermost last; kBlock for those of a block
  std::vector<Token> tokens_;
};

}  // namespace

StatusOr<std::vector<Token>> Tokens(std::string_view text) { return Lexer(text).Run(); }

}  // namespace cellfs::shell
