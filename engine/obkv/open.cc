// SPDX-License-Identifier: MIT
#include "engine/open.h"

#include "engine/obkv/obkv_store.h"

namespace cellfs {

StatusOr<std::unique_ptr<Store>> OpenDatabase(const ObkvOptions& options,
                                              const StoreOptions& store) {
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<Store> opened, obkv::ObkvStore::Open(options, store));
  return opened;
}

}  // namespace cellfs
