// SPDX-License-Identifier: MIT
//
// Token: the words of a line of HBase's shell, which is one of Ruby.
#ifndef CELLFS_SRC_SHELL_TOKEN_H_
#define CELLFS_SRC_SHELL_TOKEN_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/status_or.h"

namespace cellfs::shell {

struct Token {
  enum class Kind {
    kName,      // create, t1, debug?
    kConstant,  // NAME, PageFilter, Java::Foo, org.apache.Foo
    kString,    // its bytes
    kNumber,    // as it is written
    kMark,      // , ( ) [ ] { } => = . | + -
    kEnd,       // of a statement: a semicolon, or the end of a line where one can end
  };
  Kind kind;
  std::string text;
  size_t line = 1;
};

// What is behind a '#' is a comment. A line goes on in the next one within brackets and strings, and
// behind a comma or '=>'. kUnavailable: the text goes on, and its rest is not there yet.
// kIllegalArgument: it is none.
StatusOr<std::vector<Token>> Tokens(std::string_view text);

}  // namespace cellfs::shell

#endif  // CELLFS_SRC_SHELL_TOKEN_H_
