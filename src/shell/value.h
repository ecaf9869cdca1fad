// SPDX-License-Identifier: MIT
//
// Value: what people write in HBase's shell as arguments, in the part of Ruby that they use there:
//
//     'text'  "te\x00t"  5  -5  0.5  true  nil  ['a', 'b']  {NAME => 'f1', VERSIONS => 5}
//
// A constant (NAME) is its own name. So are filters that are made (PageFilter.new(5)): a text in the
// language of filters.
#ifndef CELLFS_SRC_SHELL_VALUE_H_
#define CELLFS_SRC_SHELL_VALUE_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace cellfs::shell {

struct Value;
struct Pair;
using List = std::vector<Value>;
using Hash = std::vector<Pair>;  // in the order in which it was written

// A table, as `t = get_table 't1'` keeps it.
struct TableReference {
  std::string name;
};

struct Value {
  std::variant<std::monostate, bool, int64_t, double, std::string, TableReference, List, Hash> is;

  bool IsNil() const { return std::holds_alternative<std::monostate>(is); }
  template <typename Kind>
  const Kind* As() const {
    return std::get_if<Kind>(&is);
  }
  // What a text, a number or a truth is as text (Ruby: to_s).
  std::string Text() const;
  // As Ruby shows it (inspect).
  std::string Inspect() const;
};

struct Pair {
  std::string first;
  Value second;
};

}  // namespace cellfs::shell

#endif  // CELLFS_SRC_SHELL_VALUE_H_
