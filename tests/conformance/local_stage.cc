// SPDX-License-Identifier: MIT
#include "local_stage.h"

#include <nlohmann/json.hpp>

#include "engine/open.h"

namespace cellfs::conformance {
LocalStage::LocalStage(Kept kept, const Json& test_case)
    : clock_(std::make_shared<ManualClock>(0)) {
  options_.clock = clock_;
  options_.background_maintenance = false;
  options_.durability = Durability::kAsyncWal;  // no case loses its process
  if (Truth(test_case, "acl", false)) options_.site.authorization = true;
  if (Has(test_case, "config")) {
    for (const auto& [key, value] : test_case.at("config").items()) {
      OrThrow(options_.site.Set(key, value.is_string() ? value.get<std::string>() : value.dump()));
    }
  }
  if (kept == Kept::kInDirectory) directory_.emplace();
  Open();
}

void LocalStage::Open() {
  if (!directory_) {
    store_ = OpenMemoryStore(options_);
    return;
  }
  store_ = OrThrow(OpenLocalStore(directory_->path() + "/store", options_));
}

void LocalStage::Reopen() {
  if (!directory_) return;
  store_.reset();
  Open();
}

}  // namespace cellfs::conformance
