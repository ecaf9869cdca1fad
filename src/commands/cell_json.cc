// SPDX-License-Identifier: MIT
#include "src/commands/cell_json.h"

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

}  // namespace

bool ReadCellJson(std::string_view text, CellLine& line) {
  line.Clear();
  CellHandler handler(line);
  return json::sax_parse(text.begin(), text.end(), &handler) && line.Has(CellLine::kRow);
}

}  // namespace cellfs
