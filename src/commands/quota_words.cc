// SPDX-License-Identifier: MIT
#include "src/commands/quota_words.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "fs/base/closest_word.h"
#include "src/commands/arguments.h"

namespace cellfs {
namespace {

}  // namespace

StatusOr<int64_t> ParseSize(const std::string& word) {
  const Status wrong(StatusCode::kIllegalArgument,
                     "'" + word + "' is no size; it is a number of bytes, or like 500M, 10G, 1.5T");
  double number = 0;
  const char* const end = word.data() + word.size();
  const auto [rest, error] =
      std::from_chars(word.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0)) return wrong;
  std::string unit = fs::InUpperCase(std::string(rest, end));
  if (unit.ends_with("IB") && unit.size() > 2) {
    unit.resize(unit.size() - 2);
  } else if (unit.ends_with("B")) {
    unit.pop_back();
  }
  static constexpr std::string_view kUnits = "KMGT";
  const size_t power = unit.empty() ? 0 : kUnits.find(unit) + 1;
  if (unit.size() > 1 || (!unit.empty() && power == 0)) return wrong;
  const double bytes = std::ldexp(number, static_cast<int>(10 * power));
  if (bytes >= 9.2e18) return wrong;
  return static_cast<int64_t>(bytes);
}

StatusOr<SpaceViolationPolicy> ParsePolicyWord(const std::string& word) {
  if (const auto policy = ParsePolicy(fs::InUpperCase(word))) return *policy;
  static const std::vector<std::string> kNames = {"NO_INSERTS", "NO_WRITES",
                                                  "NO_WRITES_COMPACTIONS", "DISABLE"};
  const std::string meant = fs::ClosestTo(fs::InUpperCase(word), kNames);
  return Status(StatusCode::kIllegalArgument,
                "'" + word + "' is no policy; " +
                    (meant.empty() ? "there are NO_INSERTS, NO_WRITES, NO_WRITES_COMPACTIONS and "
                                     "DISABLE"
                                   : "did you mean '" + meant + "'?"));
}

nlohmann::json QuotaRecord(const std::optional<SpaceQuota>& quota) {
  if (!quota) return nullptr;
  return {{"limit", quota->limit}, {"policy", PolicyName(quota->policy)}};
}

void PrintQuota(Printer& printer, const nlohmann::json& quota) {
  if (quota.is_null()) return;
  printer.Row({"space quota", ShownSize(quota["limit"].get<uint64_t>()) + " " +
                                  quota["policy"].get<std::string>()});
}

}  // namespace cellfs
