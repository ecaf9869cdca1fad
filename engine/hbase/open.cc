// SPDX-License-Identifier: MIT
#include "engine/open.h"

#include "engine/hbase/hbase_store.h"

namespace cellfs {

StatusOr<std::unique_ptr<Store>> OpenCluster(const ClusterOptions& options) {
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, hbase::HBaseStore::Open(options));
  return store;
}

}  // namespace cellfs
