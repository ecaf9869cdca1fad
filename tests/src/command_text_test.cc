// SPDX-License-Identifier: MIT
//
// What commands read and show: bytes in JSON and as words, arguments, tables.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "fs/base/closest_word.h"
#include "src/commands/arguments.h"
#include "src/commands/printer.h"
#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

std::string RandomBytes(std::mt19937& random) {
  static constexpr std::string_view kLikely = "a\\x0FZ:\"\n\xc3\xa4{}";
  std::string bytes;
  for (size_t length = random() % 12; bytes.size() < length;) {
    bytes += random() % 2 == 0 ? kLikely[random() % kLikely.size()] : static_cast<char>(random());
  }
  return bytes;
}

TEST(JsonText, BytesComeBackWhateverTheyAre) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    const json value = {{"row", RandomBytes(random)}, {"cells", {RandomBytes(random), 7, true}}};
    const std::string text = ToJsonText(value);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_EQ(FromJsonText(text), value) << text;
  }
}

TEST(JsonText, TextStaysText) {
  EXPECT_EQ(ToJsonText("h\xc3\xa4 \t\n"), "\"h\xc3\xa4 \\t\\n\"");
  EXPECT_EQ(ToJsonText(std::string("\0\xff", 2)), "{\"hex\":\"00ff\"}");
  EXPECT_EQ(FromJsonText("{\"hex\":\"00FF\"}"), json(std::string("\0\xff", 2)));
  EXPECT_EQ(FromJsonText("{\"hex\":\"0\"}"), json({{"hex", "0"}}));
  EXPECT_FALSE(FromJsonText("{").has_value());
}

TEST(JsonText, AMemberIsSaidOnce) {
  EXPECT_FALSE(FromJsonText(R"({"row": "a", "row": "b"})").has_value());
  EXPECT_FALSE(FromJsonText(R"([{"a": {"b": 1, "b": 1}}])").has_value());
  EXPECT_TRUE(FromJsonText(R"([{"a": {"a": 1}, "b": {"a": 1}}, {"a": 2}])").has_value());
}

TEST(ShownBytes, AreReadBackAsTheyWere) {
  EXPECT_EQ(ShownBytes(std::string("a\0\x1f\xff", 4)), "a\\x00\\x1F\\xFF");
  EXPECT_EQ(BytesOf("a\\x00\\x1f\\xFF\\x"), std::string("a\0\x1f\xff\\x", 6));
  EXPECT_EQ(ShownBytes("h\xc3\xa4"), "h\xc3\xa4");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes(1, static_cast<char>(byte));
    EXPECT_EQ(BytesOf(ShownBytes(bytes)), bytes) << byte;
  }
}

TEST(Arguments, NumbersOutsideTheirBoundsAreRefusedByName) {
  const Arguments arguments(json{{"limit", "12"}, {"low", "-1"}, {"max_word", "many"}});
  EXPECT_EQ(*arguments.NumberOr("limit", 0, 100, 5), 12);
  EXPECT_EQ(*arguments.NumberOr("absent", 0, 100, 5), 5);
  for (const auto& [name, option] : {std::pair{"low", "--low is"}, {"max_word", "--max-word is"}}) {
    const Status refused = arguments.Number(name, 0, 100).status();
    EXPECT_EQ(refused.code(), StatusCode::kIllegalArgument);
    EXPECT_NE(refused.message().find(option), std::string::npos) << refused.message();
  }
}

TEST(Arguments, OfWrongKindsAreAsIfTheyWereNotGiven) {
  const Arguments arguments(json{{"a", 7}, {"b", json::object()}, {"c", {1, "x"}}});
  EXPECT_EQ(arguments.Text("a"), "");
  EXPECT_FALSE(arguments.Flag("a"));
  EXPECT_TRUE(arguments.Texts("b").empty());
  EXPECT_EQ(arguments.Texts("c"), std::vector<std::string>{"x"});
}

TEST(ClosestTo, FindsWhatWasMeant) {
  const std::vector<std::string> words = {"status", "compact", "get", "put", "undelete"};
  EXPECT_EQ(fs::ClosestTo("sttus", words), "status");
  EXPECT_EQ(fs::ClosestTo("compct", words), "compact");
  EXPECT_EQ(fs::ClosestTo("undlete", words), "undelete");
  EXPECT_EQ(fs::ClosestTo("gte", words), "get");
  EXPECT_EQ(fs::ClosestTo("frobnicate", words), "");
}

// What a printer of the style writes.
std::string Printed(const Printer::Style& style, const std::function<void(Printer&)>& print) {
  char* text = nullptr;
  size_t length = 0;
  std::FILE* const output = open_memstream(&text, &length);
  {
    Printer printer(output, style);
    print(printer);
  }
  fclose(output);
  std::string printed(text, length);
  free(text);  // NOLINT
  return printed;
}

TEST(Printer, AlignsTablesOnATerminalAlone) {
  const auto print = [](Printer& printer) {
    printer.Head({"row", "value"});
    printer.Row({"a", "1"});
    printer.Row({"b\xc3\xa4r", "2"});
  };
  EXPECT_EQ(Printed({}, print), "a\t1\nb\xc3\xa4r\t2\n");
  EXPECT_EQ(Printed({.terminal = true}, print), "row  value\na    1\nb\xc3\xa4r  2\n");
}

TEST(Printer, ColoursWhereItIsWanted) {
  const auto print = [](Printer& printer) {
    printer.Line(printer.In(Colour::kRed, "no"));
  };
  EXPECT_EQ(Printed({}, print), "no\n");
  EXPECT_EQ(Printed({.colour = true}, print), "\x1b[31mno\x1b[0m\n");
}

}  // namespace
}  // namespace cellfs
