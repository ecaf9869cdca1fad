// SPDX-License-Identifier: MIT
#include "src/commands/quota_words.h"

#include <utility>
#include <vector>

#include "engine/byte_size.h"
#include "fs/base/closest_word.h"
#include "src/commands/arguments.h"

namespace cellfs {

StatusOr<int64_t> ParseSize(const std::string& word) {
  const Status wrong(StatusCode::kIllegalArgument,
                     "'" + word + "' is no size; it is a number of bytes, or like 500M, 10G, 1.5T");
  const auto bytes = ParseByteSize(word);
  return bytes ? StatusOr<int64_t>(*bytes) : wrong;
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
