// SPDX-License-Identifier: MIT
//
// Statement: what one command of HBase's shell asks for.
//
//     create 't1', {NAME => 'f1', VERSIONS => 5}      command, arguments
//     put('t1', 'r1', 'f1:q', 'v')                    the same in parentheses
//     t = get_table 't1'                              kept under a name
//     t.put 'r1', 'f1:q', 'v'                         its table is the first argument
//     list('t.*').each { |t| disable t ; drop t }     for each of what it answers
#ifndef CELLFS_SRC_SHELL_STATEMENT_H_
#define CELLFS_SRC_SHELL_STATEMENT_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status_or.h"
#include "src/shell/value.h"

namespace cellfs::shell {

// An argument: a value, or the name of what is kept under it.
struct Argument {
  Value value;
  std::string variable;  // empty: the value
};

struct Statement {
  struct Block;

  std::string kept_as;   // t = ...; empty: nowhere
  std::string receiver;  // t.put; empty: none
  std::string command;   // empty: what is kept under `receiver` is shown
  // Of pairs without braces, `NAME => 'f1'`, the last argument is a hash.
  std::vector<Argument> arguments;
  std::shared_ptr<const Block> block;  // null: none
};

// { |t| disable t ; drop t }
struct Statement::Block {
  std::string parameter;
  std::vector<Statement> statements;
};

// kUnavailable: the text goes on, and its rest is not there yet. kIllegalArgument: it is none, and
// where.
StatusOr<std::vector<Statement>> ParseStatements(std::string_view text);

}  // namespace cellfs::shell

#endif  // CELLFS_SRC_SHELL_STATEMENT_H_
