// SPDX-License-Identifier: MIT
//
// Calls to the active master, whichever it is now. Changes of tables and namespaces are procedures:
// the master takes one, tells its number, and is asked until it is over. Each has a nonce, by which
// this master and the next know what was taken already, so it may be asked for again. Thread-safe.
#ifndef CELLFS_ENGINE_HBASE_MASTER_H_
#define CELLFS_ENGINE_HBASE_MASTER_H_

#include <mutex>
#include <optional>
#include <string_view>

#include "engine/hbase/attempts.h"
#include "engine/hbase/connection_pool.h"
#include "engine/hbase/nonces.h"
#include "engine/hbase/registry.h"

namespace cellfs::hbase {

class Master {
 public:
  struct Options {
    Attempts::Options attempts;
    SteadyClock::duration call_timeout = std::chrono::seconds(10);  // for one try
  };
  Master(const Options& options, Registry& registry, ConnectionPool& pool)
      : options_(options), registry_(registry), pool_(pool) {}

  // Something that changes nothing.
  Status Ask(std::string_view method, const google::protobuf::MessageLite& request,
             google::protobuf::MessageLite& response, const Patience& patience);

  // Something that is the same when it is done twice. kOutcomeUnknown where nobody answers.
  Status DoAgain(std::string_view method, const google::protobuf::MessageLite& request,
                 google::protobuf::MessageLite& response, const Patience& patience);

  // Has the procedure done, and waits for its end. kOutcomeUnknown where the patience ends before.
  template <typename Request>
  Status Do(std::string_view method, Request& request, const Patience& patience) {
    request.set_nonce_group(NonceGroup());
    request.set_nonce(NewNonce());
    return DoProcedure(method, request, patience);
  }

 private:
  struct Tried {
    Status status;
    bool may_have_happened = false;  // where not ok: a master got it, and did not answer
  };

  Status DoProcedure(std::string_view method, const google::protobuf::MessageLite& request,
                     const Patience& patience);
  Status WaitForProcedure(std::string_view method, uint64_t procedure, const Patience& patience);
  Tried Call(std::string_view method, const google::protobuf::MessageLite& request,
             google::protobuf::MessageLite& response, const Patience& patience);
  Reply Try(std::string_view method, const google::protobuf::MessageLite& request,
            const Patience& patience);
  StatusOr<ServerAddress> Find(const Patience& patience);
  void Forget();

  const Options options_;
  Registry& registry_;
  ConnectionPool& pool_;
  std::mutex mutex_;
  std::optional<ServerAddress> active_;  // as far as is known
};

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_MASTER_H_
