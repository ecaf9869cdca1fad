// SPDX-License-Identifier: MIT
#include "fs/tree/dropped_names.h"

#include <algorithm>
#include <map>

namespace cellfs::fs {

std::string WithTimeOfDrop(const std::string& key, Timestamp dropped) {
  return key + "@" + std::to_string(dropped);
}

std::vector<DroppedName> DroppedIn(const Dropped& dropped, const std::string& name_space) {
  std::vector<DroppedName> names;
  if (name_space.empty()) {
    for (const DroppedNamespace& space : dropped.namespaces)
      names.push_back({"", space.schema.name, space.dropped, nullptr});
  } else {
    for (const DroppedTable& table : dropped.tables) {
      const TableName& name = table.schema->name();
      if (table.with_namespace == 0 && name.namespace_name == name_space)
        names.push_back({"", name.name, table.dropped, table.schema});
    }
  }
  std::map<std::string, int> of_name;
  for (const DroppedName& entry : names) ++of_name[entry.key];
  for (DroppedName& entry : names) {
    entry.name =
        of_name[entry.key] == 1 ? entry.key : WithTimeOfDrop(entry.key, entry.dropped);
  }
  std::sort(names.begin(), names.end(),
            [](const DroppedName& a, const DroppedName& b) { return a.name < b.name; });
  return names;
}

std::optional<DroppedName> FindDropped(const Dropped& dropped, const std::string& name_space,
                                       std::string_view name) {
  for (DroppedName& entry : DroppedIn(dropped, name_space)) {
    if (entry.name == name || WithTimeOfDrop(entry.key, entry.dropped) == name)
      return std::move(entry);
  }
  return std::nullopt;
}

}  // namespace cellfs::fs
