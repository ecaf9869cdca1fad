// SPDX-License-Identifier: MIT
//
// Space quotas as words say them and as records show them: {"limit", "policy"}, or null.
#ifndef CELLFS_SRC_COMMANDS_QUOTA_WORDS_H_
#define CELLFS_SRC_COMMANDS_QUOTA_WORDS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/admin.h"
#include "engine/status_or.h"
#include "src/commands/printer.h"

namespace cellfs {

// "1073741824", "10G", "1.5T": K, M, G and T are of 1024. kIllegalArgument.
StatusOr<int64_t> ParseSize(const std::string& word);
// "NO_INSERTS", any case of letters. kIllegalArgument.
StatusOr<SpaceViolationPolicy> ParsePolicyWord(const std::string& word);

nlohmann::json QuotaRecord(const std::optional<SpaceQuota>& quota);
// A row "space quota", where there is one.
void PrintQuota(Printer& printer, const nlohmann::json& quota);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_QUOTA_WORDS_H_
