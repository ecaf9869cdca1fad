// SPDX-License-Identifier: MIT
#include "local_stage.h"

#include <nlohmann/json.hpp>

#include "engine/open.h"

namespace cellfs::conformance {
namespace {

void SetOrThrow(SiteSettings& site, const std::string& key, const std::string& value) {
  const Status set = site.Set(key, value);
  if (!set.ok()) throw std::runtime_error(set.ToString());
}

}  // namespace

LocalStage::LocalStage(Kept kept, const Json& test_case)
    : clock_(std::make_shared<ManualClock>(0)) {
  options_.clock = clock_;
  options_.background_maintenance = false;
  options_.durability = Durability::kAsyncWal;  // no case loses its process
  if (Truth(test_case, "acl", false)) options_.site.authorization = true;
  if (Has(test_case, "config")) {
    for (const auto& [key, value] : test_case.at("config").items()) {
      SetOrThrow(options_.site, key,
                 value.is_string() ? value.get<std::string>() : value.dump());
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
  auto opened = OpenLocalStore(directory_->path() + "/store", options_);
  if (!opened.ok()) throw std::runtime_error(opened.status().ToString());
  store_ = *std::move(opened);
}

void LocalStage::Reopen() {
  if (!directory_) return;
  store_.reset();
  Open();
}

}  // namespace cellfs::conformance
