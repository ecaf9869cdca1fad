// SPDX-License-Identifier: MIT
#include "src/commands/syntax.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <vector>

#include "fs/tree/time_text.h"

namespace cellfs {
namespace {

using nlohmann::json;
using TextCallback = std::function<void(const std::string&)>;
using TextsCallback = std::function<void(const std::vector<std::string>&)>;

TextCallback Into(json& arguments, const std::string& name) {
  return [&arguments, name](const std::string& text) { arguments[name] = text; };
}

TextsCallback AllInto(json& arguments, const std::string& name) {
  return [&arguments, name](const std::vector<std::string>& texts) { arguments[name] = texts; };
}

// Reckoned here, where the caller's zone is known: milliseconds.
TextCallback TimeInto(json& arguments, const std::string& name) {
  return [&arguments, name](const std::string& text) {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    const auto time = fs::ParseTime(text, now.count());
    if (!time.ok()) throw CLI::ValidationError(time.status().message());
    arguments[name] = std::to_string(*time);
  };
}

constexpr char kTarget[] = "STORE|MOUNT|PATH";

}  // namespace

void Syntax::Target(const std::string& help) {
  app_.add_option_function("target", Into(arguments_, "target"), help)
      ->required()
      ->type_name(kTarget);
}

void Syntax::Targets(const std::string& help) {
  app_.add_option_function("targets", AllInto(arguments_, "targets"), help)
      ->required()
      ->type_name("PATH");
}

void Syntax::Word(const std::string& name, const std::string& type, const std::string& help,
                  bool is_required) {
  app_.add_option_function(name, Into(arguments_, name), help)
      ->required(is_required)
      ->type_name(type);
}

void Syntax::Words(const std::string& type, const std::string& help, bool is_required) {
  app_.add_option_function("words", AllInto(arguments_, "words"), help)
      ->required(is_required)
      ->type_name(type);
}

void Syntax::Option(const std::string& switches, const std::string& name, const std::string& type,
                    const std::string& help) {
  if (type == "TIME") {
    app_.add_option_function(switches, TimeInto(arguments_, name), help)->type_name(type);
    return;
  }
  app_.add_option_function(switches, Into(arguments_, name), help)->type_name(type);
}

void Syntax::Options(const std::string& switches, const std::string& name, const std::string& type,
                     const std::string& help) {
  app_.add_option_function(switches, AllInto(arguments_, name), help)
      ->type_name(type)
      ->allow_extra_args(false);
}

void Syntax::Flag(const std::string& switches, const std::string& name, const std::string& help) {
  app_.add_flag_callback(
      switches, [&arguments = arguments_, name] { arguments[name] = true; }, help);
}

}  // namespace cellfs
