// SPDX-License-Identifier: MIT
//
// The attributes that HBase 2.6's descriptors of families and tables have, and ours: what each may
// be, and the form in which its value is kept. Attributes of other names are free metadata.
#ifndef CELLFS_ENGINE_ATTRIBUTE_RULES_H_
#define CELLFS_ENGINE_ATTRIBUTE_RULES_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "engine/status_or.h"

namespace cellfs {

using Attributes = std::map<std::string, std::string>;

inline constexpr int32_t kForever = std::numeric_limits<int32_t>::max();
inline constexpr std::string_view kForeverText = "FOREVER";

// All that are known, with the texts of their defaults.
const Attributes& FamilyAttributeDefaults();
const Attributes& TableAttributeDefaults();

enum class DescriptorKind { kFamily, kTable };

struct AttributeEntry {
  std::string name;
  std::string value;
};
// Under its own name, in whatever letters it was given, with its value in canonical form. `owner`
// is named by what is refused: kIllegalArgument, or kDoNotRetry for a limit of HBase's master.
StatusOr<AttributeEntry> CanonicalAttribute(DescriptorKind kind, const std::string& owner,
                                            std::string_view attribute, std::string_view value);
std::string AttributeName(DescriptorKind kind, std::string_view attribute);
// What was set, else the default; empty for metadata that was not set.
std::string AttributeInForce(DescriptorKind kind, const Attributes& attributes,
                             std::string_view attribute);

// Of a canonical text.
int64_t AttributeNumber(std::string_view text);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_ATTRIBUTE_RULES_H_
