// SPDX-License-Identifier: MIT
#include "engine/filter/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include "engine/filter/java_regex.h"

namespace cellfs {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr uint32_t kHeapLimitKib = 16 * 1024;
constexpr uint32_t kNoMatchLimit = std::numeric_limits<uint32_t>::max();
constexpr std::string_view kCallout = "(?C)";

uint8_t ByteAt(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

thread_local const WorkLimit* search_limit = nullptr;

bool NobodyWaits() { return search_limit != nullptr && search_limit->IsCancelled(); }

// How far a search is. PCRE2 counts its steps anew from each place where a match may begin, and a
// repeat of a single character, a back reference or a look behind is one step however many bytes it
// passes. So neither its limit nor a callout where a match may begin bounds a search.
//
// A quick search has callouts only there, which cost nothing much, and gives way to a careful one
// if it takes long. That one has a callout before each item of the expression, and counts: what it
// answers does not hang on the time. What a quick search can do in its time a careful one can do
// in its steps, so they answer the same.
class QuickSearch {
 public:
  explicit QuickSearch(size_t length) : length_(length) {}

  // So few that one place takes some 100 ms at most, though each step may pass all bytes.
  uint32_t match_limit() const {
    return static_cast<uint32_t>(std::min(kMostSteps, kMostBytes / (length_ + 1) + 1));
  }

  static int GoesOn(pcre2_callout_block* /*place*/, void* search) {
    return static_cast<QuickSearch*>(search)->IsOver() ? PCRE2_ERROR_CALLOUT : 0;
  }

 private:
  static constexpr std::chrono::milliseconds kTime{10};
  static constexpr std::chrono::nanoseconds kTimeOfByte{20};
  static constexpr size_t kMostSteps = 100'000;
  static constexpr size_t kMostBytes = 100'000'000;
  static constexpr uint32_t kPlacesBetweenLooks = 16;  // of a value that is not long
  static constexpr size_t kLong = 1'000'000;

  bool IsOver() {
    if (++places_ % kPlacesBetweenLooks != 0 && length_ < kLong) return false;
    if (NobodyWaits()) return true;
    const auto now = SteadyClock::now();
    if (end_ == SteadyClock::time_point()) end_ = now + kTime + length_ * kTimeOfByte;
    return now >= end_;
  }

  const size_t length_;
  SteadyClock::time_point end_;  // set at the first look: most searches end before it
  uint32_t places_ = 0;
};

class CarefulSearch {
 public:
  CarefulSearch(std::string_view expression, size_t length)
      : expression_(expression), steps_left_(kSteps + length * kStepsOfByte) {}

  static int GoesOn(pcre2_callout_block* place, void* search) {
    return static_cast<CarefulSearch*>(search)->Count(*place) ? 0 : PCRE2_ERROR_CALLOUT;
  }

 private:
  static constexpr uint64_t kSteps = 10'000'000;
  // An expression that looks at each byte a few times can search any value to its end.
  static constexpr uint64_t kStepsOfByte = 16;
  static constexpr size_t kBytesOfStep = 16;  // passed in the time of a step

  bool Count(const pcre2_callout_block& place) {
    const size_t at = place.current_position;
    uint64_t bytes = at > at_ ? at - at_ : at_ - at;
    at_ = at;
    bytes += LongestGroup(place) + LeastRepeats(place);
    const uint64_t steps = 1 + bytes / kBytesOfStep;
    if (steps > steps_left_ || NobodyWaits()) return false;
    steps_left_ -= steps;
    return true;
  }

  // What comes next may be a back reference that compares so much and then fails, unseen.
  uint64_t LongestGroup(const pcre2_callout_block& place) const {
    uint64_t longest = 0;
    if (ItemAt(place).substr(0, 1) != "\\") return longest;
    for (uint32_t group = 1; group < place.capture_top; ++group) {
      const size_t at = size_t{2} * group;
      const size_t begin = place.offset_vector[at];
      const size_t end = place.offset_vector[at + 1];
      if (begin != PCRE2_UNSET && end > begin) longest = std::max<uint64_t>(longest, end - begin);
    }
    return longest;
  }

  // `x{N}` may pass almost as many and then fail, unseen.
  uint64_t LeastRepeats(const pcre2_callout_block& place) const {
    const std::string_view item = ItemAt(place);
    const size_t brace = item.rfind('{');
    if (brace == std::string_view::npos || item.back() == ')') return 0;
    if (brace >= 2 && item.substr(brace - 2, 2) == "\\x") return 0;
    uint64_t least = 0;
    for (const char c : item.substr(brace + 1)) {
      if (c < '0' || c > '9') break;
      least = 10 * least + static_cast<uint64_t>(c - '0');
    }
    return least;
  }

  std::string_view ItemAt(const pcre2_callout_block& place) const {
    return expression_.substr(place.pattern_position, place.next_item_length);
  }

  const std::string_view expression_;
  uint64_t steps_left_;
  size_t at_ = 0;
};

using Callout = int (*)(pcre2_callout_block*, void*);

// As pcre2_match returns it.
int Match(const pcre2_code& code, std::string_view subject, uint32_t match_limit, Callout callout,
          void* search) {
  const std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> context(
      pcre2_match_context_create(nullptr), &pcre2_match_context_free);
  pcre2_set_match_limit(context.get(), match_limit);
  pcre2_set_heap_limit(context.get(), kHeapLimitKib);
  pcre2_set_callout(context.get(), callout, search);
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(
      pcre2_match_data_create(1, nullptr), &pcre2_match_data_free);
  return pcre2_match(&code, reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(), 0,
                     PCRE2_NO_UTF_CHECK, match.get(), context.get());
}

StatusOr<std::shared_ptr<const pcre2_code>> CompileText(const std::string& text, uint32_t options) {
  const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), &pcre2_compile_context_free);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_ANYCRLF);  // before which `$` holds at the end

  int error = 0;
  PCRE2_SIZE error_position = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                   options | PCRE2_UTF | PCRE2_NO_UTF_CHECK, &error,
                                   &error_position, context.get());
  if (code == nullptr) {
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    return Status(StatusCode::kIllegalArgument,
                  "regular expression: " + std::string(reinterpret_cast<char*>(message.data())) +
                      " at " + std::to_string(error_position));
  }
  return std::shared_ptr<const pcre2_code>(
      code, [](const pcre2_code* old) { pcre2_code_free(const_cast<pcre2_code*>(old)); });
}

// How many bytes a sequence that starts with `lead` has; 0 where none does.
size_t SequenceLength(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

bool MayFollow(uint8_t lead, size_t index, uint8_t byte) {
  if ((byte & 0xc0) != 0x80) return false;
  if (index > 1) return true;
  if (lead == 0xe0) return byte >= 0xa0;
  if (lead == 0xf0) return byte >= 0x90;
  if (lead == 0xf4) return byte < 0x90;
  return true;
}

bool IsAscii(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

// The last place up to `at` where the bytes before and behind can be decoded each on their own.
size_t BorderAt(std::string_view bytes, size_t at) {
  constexpr size_t kMostThatFollow = 3;
  for (size_t back = 0; back <= std::min(at, kMostThatFollow); ++back) {
    if (at == bytes.size() || (ByteAt(bytes, at - back) & 0xc0) != 0x80) return at - back;
  }
  return at;  // behind so many, none belongs to a sequence
}

}  // namespace

std::string WellFormedUtf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (size_t i = 0; i < bytes.size();) {
    const uint8_t lead = ByteAt(bytes, i);
    const size_t length = SequenceLength(lead);
    size_t count = 1;
    while (count < length && i + count < bytes.size() &&
           MayFollow(lead, count, ByteAt(bytes, i + count))) {
      ++count;
    }
    const bool surrogate = lead == 0xed && count > 1 && ByteAt(bytes, i + 1) >= 0xa0;
    text += count == length && !surrogate ? bytes.substr(i, count) : "\xef\xbf\xbd";
    i += count;
  }
  return text;
}

SearchLimit::SearchLimit(const WorkLimit& limit) : before_(std::exchange(search_limit, &limit)) {}
SearchLimit::~SearchLimit() { search_limit = before_; }

StatusOr<Regex> Regex::Compile(std::string_view pattern, Syntax syntax) {
  const std::string text = WellFormedUtf8(pattern);
  if (syntax == Syntax::kSubstringNoCase) {
    CELLFS_ASSIGN_OR_RETURN(auto code, CompileText(text, PCRE2_LITERAL | PCRE2_CASELESS));
    return Regex(std::move(code), nullptr, text);
  }
  uint32_t options = PCRE2_DOTALL | PCRE2_NEVER_BACKSLASH_C;
  if (syntax == Syntax::kJavaNoCase) options |= PCRE2_CASELESS;
  // Without marks first: PCRE2 shall judge, and complain of, what was written.
  CELLFS_ASSIGN_OR_RETURN(std::string plain, TranslateFromJava(text, ""));
  CELLFS_ASSIGN_OR_RETURN(auto careful, CompileText(plain, options | PCRE2_AUTO_CALLOUT));
  CELLFS_ASSIGN_OR_RETURN(const std::string marked, TranslateFromJava(text, kCallout));
  CELLFS_ASSIGN_OR_RETURN(auto quick, CompileText(marked, options));
  return Regex(std::move(quick), std::move(careful), std::move(plain));
}

// A literal has no callouts, and may compare all of itself at each place: so it is sought in
// pieces, each of some 20 ms at most. They overlap by what it may be long where it is found.
bool Regex::FindLiteral(std::string_view subject) const {
  constexpr size_t kPiece = size_t{64} << 10;
  constexpr size_t kMostBytesOfLetter = 4;
  const size_t overlap = kMostBytesOfLetter * (expression_.size() + 1);
  const size_t most = std::max(kPiece, 2 * overlap);
  for (size_t begin = 0;;) {
    if (NobodyWaits()) return false;
    const size_t end = BorderAt(subject, std::min(subject.size(), begin + most));
    const std::string_view piece = subject.substr(begin, end - begin);
    if (FindInWhole(piece)) return true;
    if (end == subject.size()) return false;
    begin = BorderAt(subject, end - overlap);
  }
}

bool Regex::Find(std::string_view subject) const {
  return careful_ == nullptr ? FindLiteral(subject) : FindInWhole(subject);
}

bool Regex::FindInWhole(std::string_view subject) const {
  std::string decoded;
  if (!IsAscii(subject)) {
    decoded = WellFormedUtf8(subject);
    subject = decoded;
  }
  if (subject.empty()) subject = "";  // PCRE2 takes no null pointer

  QuickSearch quick(subject.size());
  const int found = Match(*quick_, subject, quick.match_limit(), &QuickSearch::GoesOn, &quick);
  const bool took_long = found == PCRE2_ERROR_CALLOUT || found == PCRE2_ERROR_MATCHLIMIT;
  if (!took_long || careful_ == nullptr || NobodyWaits()) return found >= 0;
  CarefulSearch careful(expression_, subject.size());
  return Match(*careful_, subject, kNoMatchLimit, &CarefulSearch::GoesOn, &careful) >= 0;
}

}  // namespace cellfs
