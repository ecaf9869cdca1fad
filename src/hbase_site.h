// SPDX-License-Identifier: MIT
//
// hbase-site.xml: what an administrator of HBase has written for its clients.
//
//     <configuration><property><name>hbase.rpc.timeout</name><value>5000</value></property>...
#ifndef CELLFS_SRC_HBASE_SITE_H_
#define CELLFS_SRC_HBASE_SITE_H_

#include <map>
#include <string>

#include "engine/status_or.h"

namespace cellfs {

// The properties, without space around them. As Hadoop reads it, the last of a name counts, but
// none behind one that is final. Other files that it includes are not read, and what ${...} stands
// for is not looked up. kIllegalArgument names the file and, where it is no XML, the line.
StatusOr<std::map<std::string, std::string>> ReadHBaseSite(const std::string& path);

}  // namespace cellfs

#endif  // CELLFS_SRC_HBASE_SITE_H_
