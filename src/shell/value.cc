// SPDX-License-Identifier: MIT
#include "src/shell/value.h"

#include <cstdio>

#include "src/commands/printer.h"

namespace cellfs::shell {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : ShownBytes(text)) {
    if (c == '"') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string FloatText(double number) {
  char text[32];
  snprintf(text, sizeof text, "%g", number);
  return text;
}

}  // namespace

std::string Value::Text() const {
  if (const auto* text = As<std::string>()) return *text;
  if (const auto* table = As<TableReference>()) return table->name;
  return IsNil() ? "" : Inspect();
}

std::string Value::Inspect() const {
  if (IsNil()) return "nil";
  if (const auto* truth = As<bool>()) return *truth ? "true" : "false";
  if (const auto* number = As<int64_t>()) return std::to_string(*number);
  if (const auto* number = As<double>()) return FloatText(*number);
  if (const auto* text = As<std::string>()) return Quoted(*text);
  if (const auto* table = As<TableReference>()) return "Hbase::Table - " + table->name;
  std::string shown;
  if (const auto* list = As<List>()) {
    for (const Value& value : *list) shown += (shown.empty() ? "" : ", ") + value.Inspect();
    return "[" + shown + "]";
  }
  for (const auto& [key, value] : *As<Hash>())
    shown += (shown.empty() ? "" : ", ") + Quoted(key) + "=>" + value.Inspect();
  return "{" + shown + "}";
}

}  // namespace cellfs::shell
