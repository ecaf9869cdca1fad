// SPDX-License-Identifier: MIT
#include "src/commands/cell_json.h"

#include <algorithm>
#include <string>
#include <utility>

#include <simdjson.h>

#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

namespace ondemand = simdjson::ondemand;

void AddText(std::string_view bytes, std::string& text) {
  const bool needs_nothing = std::ranges::all_of(
      bytes, [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; });
  if (!needs_nothing && !IsPlainText(bytes)) {
    text += "{\"hex\":\"" + ToHex(bytes) + "\"}";
    return;
  }
  text += '"';
  if (needs_nothing) {
    text += bytes;
  } else {
    for (const char c : bytes) {
      switch (c) {
        case '"':
        case '\\':
          text += '\\';
          text += c;
          break;
        case '\n':
          text += "\\n";
          break;
        case '\t':
          text += "\\t";
          break;
        case '\r':
          text += "\\r";
          break;
        default:
          text += c;
      }
    }
  }
  text += '"';
}

}  // namespace

void AddCellJson(const Cell& cell, std::string_view table, std::string& text) {
  text += "{\"family\":";
  AddText(cell.family, text);
  text += ",\"qualifier\":";
  AddText(cell.qualifier, text);
  text += ",\"row\":";
  AddText(cell.row, text);
  if (cell.sequence_id != 0) text += ",\"sequence\":" + std::to_string(cell.sequence_id);
  text += ",\"table\":";
  AddText(table, text);
  text += ",\"timestamp\":" + std::to_string(cell.timestamp);
  if (cell.time_to_live != kNoCellTtl)
    text += ",\"ttl\":" + std::to_string(cell.time_to_live);
  text += ",\"type\":\"";
  text += TypeName(cell.type);
  text += "\",\"value\":";
  AddText(cell.value, text);
  text += "}\n";
}

class CellJsonReader::Parser {
 public:
  bool Read(std::string_view text, CellLine& line) {
    // It may read some bytes behind the text.
    text_.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    text_ = text;
    ondemand::document document;
    ondemand::object object;
    if (parser_.iterate(text_.data(), text_.size(), text_.capacity()).get(document)) return false;
    if (document.get_object().get(object)) return false;
    for (auto found : object) {
      ondemand::field field;
      std::string_view name;
      if (std::move(found).get(field) || field.unescaped_key().get(name)) return false;
      const CellLine::Member member = CellLine::MemberOf(name);
      if (member == CellLine::kUnknown || line.Has(member)) return false;
      if (!Take(field.value(), member, line)) return false;
    }
    const char* behind = nullptr;
    return document.current_location().get(behind) == simdjson::OUT_OF_BOUNDS;
  }

 private:
  static bool Take(ondemand::value value, CellLine::Member member, CellLine& line) {
    ondemand::json_type type;
    if (value.type().get(type)) return false;
    switch (type) {
      case ondemand::json_type::string: {
        std::string_view text;
        if (value.get_string().get(text)) return false;
        line.SetText(member, std::string(text));
        return true;
      }
      case ondemand::json_type::number:
        return TakeNumber(value, member, line);
      case ondemand::json_type::object:
        return TakeHex(value, member, line);
      default:
        return false;
    }
  }
  static bool TakeNumber(ondemand::value value, CellLine::Member member, CellLine& line) {
    ondemand::number number;
    if (value.get_number().get(number)) return false;
    if (!number.is_int64()) return false;
    line.SetNumber(member, number.get_int64());
    return true;
  }
  // {"hex": "00ff"}
  static bool TakeHex(ondemand::value value, CellLine::Member member, CellLine& line) {
    ondemand::object object;
    if (value.get_object().get(object)) return false;
    bool has_hex = false;
    for (auto found : object) {
      ondemand::field field;
      std::string_view name;
      std::string_view digits;
      if (std::move(found).get(field) || field.unescaped_key().get(name)) return false;
      if (has_hex || name != "hex" || field.value().get_string().get(digits)) return false;
      auto bytes = FromHex(digits);
      if (!bytes) return false;
      line.SetText(member, *std::move(bytes));
      has_hex = true;
    }
    return has_hex;
  }

  ondemand::parser parser_;
  std::string text_;
};

CellJsonReader::CellJsonReader() : parser_(std::make_unique<Parser>()) {}
CellJsonReader::~CellJsonReader() = default;

bool CellJsonReader::Read(std::string_view text, CellLine& line) {
  line.Clear();
  return parser_->Read(text, line) && line.Has(CellLine::kRow);
}

}  // namespace cellfs
