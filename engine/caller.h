// SPDX-License-Identifier: MIT
//
// Who asks. Rights are checked for a Caller only where authorization is on
// (`hbase.security.authorization`), and never for the superuser.
#ifndef CELLFS_ENGINE_CALLER_H_
#define CELLFS_ENGINE_CALLER_H_

#include <string>

namespace cellfs {

struct Caller {
  std::string user;  // empty: the superuser

  static const Caller& Superuser() {
    static const Caller superuser;
    return superuser;
  }
  bool is_superuser() const { return user.empty(); }
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CALLER_H_
