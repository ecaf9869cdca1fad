// SPDX-License-Identifier: MIT
#include "src/commands/cell_json.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

// Each of these: whether to go on.
class CellHandler : public json::json_sax_t {
 public:
  explicit CellHandler(CellLine& line) : line_(line) {}

  bool start_object(std::size_t /*members*/) override { return ++depth_ <= 2; }
  bool end_object() override {
    if (depth_-- == 1) return true;
    if (!has_hex_) return false;
    has_hex_ = false;
    line_.SetText(member_, std::move(bytes_));
    return true;
  }
  bool key(json::string_t& name) override {
    if (depth_ == 2) return name == "hex" && !has_hex_;
    member_ = CellLine::MemberOf(name);
    return member_ != CellLine::kUnknown && !line_.Has(member_);
  }
  bool string(json::string_t& text) override {
    if (depth_ == 1) {
      line_.SetText(member_, std::move(text));
      return true;
    }
    auto bytes = FromHex(text);
    has_hex_ = bytes.has_value();
    if (has_hex_) bytes_ = *std::move(bytes);
    return has_hex_;
  }
  bool number_integer(json::number_integer_t number) override {
    line_.SetNumber(member_, number);
    return depth_ == 1;
  }
  bool number_unsigned(json::number_unsigned_t number) override {
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      line_.SetGreatNumber(member_);
    } else {
      line_.SetNumber(member_, static_cast<int64_t>(number));
    }
    return depth_ == 1;
  }
  bool number_float(json::number_float_t /*number*/, const json::string_t& /*text*/) override {
    return IsOther();
  }
  bool null() override { return IsOther(); }
  bool boolean(bool /*value*/) override { return IsOther(); }
  bool binary(json::binary_t& /*bytes*/) override { return false; }
  bool start_array(std::size_t /*elements*/) override { return false; }
  bool end_array() override { return false; }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  bool IsOther() {
    line_.SetOther(member_);
    return depth_ == 1;
  }

  CellLine& line_;
  int depth_ = 0;
  CellLine::Member member_ = CellLine::kUnknown;
  bool has_hex_ = false;  // in this member
  std::string bytes_;
};

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

bool ReadCellJson(std::string_view text, CellLine& line) {
  line.Clear();
  CellHandler handler(line);
  return json::sax_parse(text.begin(), text.end(), &handler) && line.Has(CellLine::kRow);
}

}  // namespace cellfs
