// SPDX-License-Identifier: MIT
//
// ServedStore: the commands of a store as a caller meets them, without a socket or a mount.
#ifndef CELLFS_TESTS_SRC_SERVED_STORE_H_
#define CELLFS_TESTS_SRC_SERVED_STORE_H_

#include <unistd.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "engine/clock.h"
#include "engine/store.h"
#include "src/commands/serving.h"

namespace cellfs {

class ServedStore {
 public:
  ServedStore(Store& store, StoreControls* controls, std::string mountpoint = "",
              fs::MountOptions options = {})
      : controls_(controls),
        mountpoint_(std::move(mountpoint)),
        filesystem_(store, std::move(options), std::make_shared<SystemClock>(), nullptr) {}

  // All records of the command, and "no" where that was the answer.
  StatusOr<nlohmann::json> Run(const std::string& command, nlohmann::json arguments = {},
                               const Peer& peer = {getpid(), geteuid(), {getegid()}}) {
    static const std::atomic<bool> never = false;
    if (arguments.is_null()) arguments = nlohmann::json::object();
    if (!arguments.contains("umask")) arguments["umask"] = 022U;
    nlohmann::json records = nlohmann::json::array();
    const Served served{filesystem_, controls_, mountpoint_};
    CELLFS_ASSIGN_OR_RETURN(const nlohmann::json result,
                            Serve(served, peer, {command, std::move(arguments), &never},
                                  [&](nlohmann::json record) {
                                    records.push_back(std::move(record));
                                    return true;
                                  }));
    said_no_ = result.value("no", false);
    return records;
  }
  bool said_no() const { return said_no_; }
  fs::FileSystem& filesystem() { return filesystem_; }

 private:
  StoreControls* const controls_;
  const std::string mountpoint_;
  fs::FileSystem filesystem_;
  bool said_no_ = false;
};

}  // namespace cellfs

#endif  // CELLFS_TESTS_SRC_SERVED_STORE_H_
