// SPDX-License-Identifier: MIT
//
// Syntax: how a command is called. What is given stands in its arguments under the name that is said
// here, as text: numbers are read where they are used (arguments.h), a TIME becomes milliseconds at
// once.
#ifndef CELLFS_SRC_COMMANDS_SYNTAX_H_
#define CELLFS_SRC_COMMANDS_SYNTAX_H_

#include <nlohmann/json.hpp>
#include <string>

namespace CLI {
class App;
}

namespace cellfs {

class Syntax {
 public:
  // Both outlive it.
  Syntax(CLI::App& app, nlohmann::json& arguments) : app_(app), arguments_(arguments) {}

  // "target": a store, a mount point, or a path in either.
  void Target(const std::string& help);
  // "targets": one or more.
  void Targets(const std::string& help);
  // A word in its place: "text" of `type`, which usage shows.
  void Word(const std::string& name, const std::string& type, const std::string& help,
            bool is_required = true);
  // "words": all that follow.
  void Words(const std::string& type, const std::string& help, bool is_required = false);
  // `switches`: "-n,--lines".
  void Option(const std::string& switches, const std::string& name, const std::string& type,
              const std::string& help);
  // May be given several times.
  void Options(const std::string& switches, const std::string& name, const std::string& type,
               const std::string& help);
  void Flag(const std::string& switches, const std::string& name, const std::string& help);

 private:
  CLI::App& app_;
  nlohmann::json& arguments_;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_SYNTAX_H_
