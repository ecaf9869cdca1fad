// SPDX-License-Identifier: MIT
//
// Java's regular expressions and case-blind substrings, by PCRE2.
//
// The syntax is Java's where the two differ quietly (\p{Lower}, \uXXXX); what only one of them
// knows (classes in classes, recursion, verbs) is refused. Case is folded by Unicode also where
// Java would fold ASCII only. A search that needs more than a number of steps, some 10
// million and 16 for each byte of the value, finds nothing.
#ifndef CELLFS_ENGINE_FILTER_REGEX_H_
#define CELLFS_ENGINE_FILTER_REGEX_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/status_or.h"
#include "engine/work_limit.h"

struct pcre2_real_code_8;

namespace cellfs {

// `bytes` read as UTF-8, with U+FFFD for each malformed sequence, as Java's decoder does.
std::string WellFormedUtf8(std::string_view bytes);

// While it lives, a search of this thread ends, as if it had found nothing, soon after the limit's
// flag is set. A filter is called from too far above to be handed the limit.
class SearchLimit {
 public:
  explicit SearchLimit(const WorkLimit& limit);
  ~SearchLimit();
  SearchLimit(const SearchLimit&) = delete;
  SearchLimit& operator=(const SearchLimit&) = delete;

 private:
  const WorkLimit* const before_;
};

// Cheap to copy; thread-safe.
class Regex {
 public:
  enum class Syntax { kJava, kJavaNoCase, kSubstringNoCase };

  // kIllegalArgument with PCRE2's complaint.
  static StatusOr<Regex> Compile(std::string_view pattern, Syntax syntax);

  // Whether some part of `subject` matches (Java's Matcher.find).
  bool Find(std::string_view subject) const;

 private:
  using Code = std::shared_ptr<const pcre2_real_code_8>;

  Regex(Code quick, Code careful, std::string expression)
      : quick_(std::move(quick)),
        careful_(std::move(careful)),
        expression_(std::move(expression)) {}

  bool FindLiteral(std::string_view subject) const;
  bool FindInWhole(std::string_view subject) const;

  Code quick_;
  Code careful_;  // null for a literal
  std::string expression_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILTER_REGEX_H_
