// SPDX-License-Identifier: MIT
#include "database_stage.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/open.h"
#include "tests/support/test_database.h"

namespace cellfs::conformance {
namespace {

ObkvOptions ServerFor(const Json& test_case) {
  const auto server = TestDatabase();
  if (!server) throw NotPlayable("CELLFS_TEST_DATABASE names no database");
  if (Truth(test_case, "acl", false)) throw NotPlayable("rights are the server's own");
  for (const Json& step : test_case.at("steps")) {
    const std::string op = Text(step, "op");
    if (op.find("quota") != std::string::npos) throw NotPlayable("a database keeps no quotas");
    if (Truth(step, "raw", false)) throw NotPlayable("a delete removes at once: nothing is raw");
  }
  return *server;
}

}  // namespace

DatabaseStage::DatabaseStage(const Json& test_case)
    : server_(ServerFor(test_case)), clock_(std::make_shared<ManualClock>(0)) {
  options_.clock = clock_;
  if (Has(test_case, "config")) {
    for (const auto& [key, value] : test_case.at("config").items())
      OrThrow(options_.site.Set(key, value.is_string() ? value.get<std::string>() : value.dump()));
  }
  Open();
  Clear();
}

DatabaseStage::~DatabaseStage() {
  try {
    Clear();
  } catch (const std::exception& error) {
    std::cerr << "conformance: the database is not as it was: " << error.what() << "\n";
  }
}

void DatabaseStage::Open() { store_ = OrThrow(OpenDatabase(server_, options_)); }

// What cases have made; what the stores of this server share stays.
void DatabaseStage::Clear() {
  const Caller me = Caller::Superuser();
  for (const std::string& name : OrThrow(store_->ListNamespaces())) {
    if (name == "cellfs") continue;
    for (const TableName& table : OrThrow(store_->ListTables(name))) {
      if (OrThrow(store_->IsTableEnabled(table))) OrThrow(store_->DisableTable(me, table));
      OrThrow(store_->DropTable(me, table));
    }
    if (name != kDefaultNamespace) OrThrow(store_->DropNamespace(me, name));
  }
}

}  // namespace cellfs::conformance
