// SPDX-License-Identifier: MIT
#include "engine/filter/java_regex.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace cellfs {
namespace {

// What Java calls \p{Lower} PCRE2 calls [:lower:]. Its own \p{Lower} is Unicode's, Java's ASCII's.
constexpr std::array<std::string_view, 13> kPosixClasses = {
    "Lower", "Upper", "ASCII", "Alpha", "Digit",  "Alnum", "Punct",
    "Graph", "Print", "Blank", "Cntrl", "XDigit", "Space"};

Status NotSupported(std::string_view what, size_t position) {
  return Status(StatusCode::kIllegalArgument, "regular expression: " + std::string(what) + " at " +
                                                  std::to_string(position) + " is not supported");
}

// One token at a time.
class JavaTranslator {
 public:
  JavaTranslator(std::string_view java, std::string_view mark) : java_(java), mark_(mark) {}

  StatusOr<std::string> Translate() {
    out_ = mark_;
    while (at_ < java_.size()) {
      const char c = java_[at_];
      if (c == '\\') {
        CELLFS_RETURN_IF_ERROR(Escape());
      } else if (in_class_) {
        CELLFS_RETURN_IF_ERROR(InClass(c));
      } else if (c == '[') {
        OpenClass();
      } else if (c == '(') {
        CELLFS_RETURN_IF_ERROR(OpenGroup());
      } else {
        Copy(1);
        if (c == ')') --depth_;
        if (c == '|' && depth_ == 0) out_ += mark_;
      }
    }
    return std::move(out_);
  }

 private:
  std::string_view Rest() const { return java_.substr(at_); }

  void Copy(size_t count) {
    const std::string_view copied = Rest().substr(0, count);
    out_ += copied;
    at_ += copied.size();
  }

  Status Escape() {
    const char kind = Rest().size() > 1 ? java_[at_ + 1] : '\0';
    if (kind == 'Q') {
      const size_t end = java_.find("\\E", at_);
      Copy(end == std::string_view::npos ? Rest().size() : end + 2 - at_);
      return Status();
    }
    if (std::string_view("KCNgo").find(kind) != std::string_view::npos) {
      return NotSupported(Rest().substr(0, 2), at_);
    }
    if (kind == 'u' && CodeUnit()) return Status();
    if ((kind == 'p' || kind == 'P') && PosixClass(kind == 'P')) return Status();
    Copy(2);
    return Status();
  }

  bool CodeUnit() {
    const std::string_view digits = Rest().substr(2, 4);
    const auto is_hex = [](unsigned char c) { return std::isxdigit(c) != 0; };
    if (digits.size() < 4 || !std::all_of(digits.begin(), digits.end(), is_hex)) return false;
    out_.append("\\x{").append(digits).append("}");
    at_ += 6;
    return true;
  }

  bool PosixClass(bool negated) {
    for (std::string_view name : kPosixClasses) {
      const std::string braced = "{" + std::string(name) + "}";
      if (Rest().substr(2, braced.size()) != braced) continue;
      std::string lower(name);
      for (char& c : lower) c = static_cast<char>(std::tolower(c));
      const std::string set = (negated ? "[:^" : "[:") + lower + ":]";
      out_ += in_class_ ? set : "[" + set + "]";
      at_ += 2 + braced.size();
      return true;
    }
    return false;
  }

  void OpenClass() {
    in_class_ = true;
    Copy(1);
    if (Rest().substr(0, 1) == "^") Copy(1);
    if (Rest().substr(0, 1) == "]") Copy(1);  // as the first it is a member
  }

  Status InClass(char c) {
    if (c == '[' || Rest().substr(0, 2) == "&&") {
      return NotSupported("a class in a class", at_);
    }
    if (c == ']') in_class_ = false;
    Copy(1);
    return Status();
  }

  Status OpenGroup() {
    if (Rest().substr(0, 2) == "(*") return NotSupported("(*", at_);
    if (Rest().substr(0, 2) != "(?") {
      ++depth_;
      Copy(1);
      return Status();
    }
    const size_t end = java_.find_first_not_of("imsx-", at_ + 2);
    const std::string_view enders = end == at_ + 2 ? ":=!><" : ":)";
    if (end == std::string_view::npos || enders.find(java_[end]) == std::string_view::npos) {
      return NotSupported(Rest().substr(0, 3), at_);
    }
    if (java_[end] != ')') ++depth_;
    Copy(end + 1 - at_);
    return Status();
  }

  const std::string_view java_;
  const std::string_view mark_;
  size_t at_ = 0;
  int depth_ = 0;  // of groups
  bool in_class_ = false;
  std::string out_;
};

}  // namespace

StatusOr<std::string> TranslateFromJava(std::string_view java, std::string_view mark) {
  return JavaTranslator(java, mark).Translate();
}

}  // namespace cellfs
