// SPDX-License-Identifier: MIT
//
// Schemas as HBase's shell says and shows them: {NAME => 'f1', VERSIONS => 5}.
#ifndef CELLFS_SRC_SHELL_SCHEMA_H_
#define CELLFS_SRC_SHELL_SCHEMA_H_

#include <nlohmann/json.hpp>
#include <string>

#include "engine/status_or.h"
#include "src/shell/output.h"
#include "src/shell/value.h"

namespace cellfs::shell {

// Adds what a hash says to the arguments of `create` or `alter` of the command line: a family where
// it has a NAME, else attributes and splits of the table. kIllegalArgument: it says what is none.
Status AddToCreate(const Value& said, nlohmann::json& arguments);
Status AddToAlter(const Value& said, nlohmann::json& arguments);

// Of a record of `describe`: {NAME => 'f1', VERSIONS => '5', ...}
std::string FamilyShown(const nlohmann::json& family);
// What stands behind the table's name; empty: only defaults.
std::string AttributesShown(const nlohmann::json& attributes);

// Below what is described; null: nothing.
void ShowQuota(Output& output, const nlohmann::json& quota);

}  // namespace cellfs::shell

#endif  // CELLFS_SRC_SHELL_SCHEMA_H_
