// SPDX-License-Identifier: MIT
#include "engine/local/store_id.h"

#include <cinttypes>
#include <cstdio>
#include <functional>
#include <optional>
#include <set>

#include "engine/local/manifest.h"
#include "engine/log/log_format.h"

namespace cellfs {
namespace {

// Shows what each file says, as far as it can be read, until `wants_more` has heard enough.
void VisitIds(FileLayer& files, const std::string& path,
              const std::function<bool(uint64_t id)>& wants_more) {
  const std::string tables = path + "/tables";
  if (const auto names = files.List(tables); names.ok()) {
    for (const std::string& name : *names) {
      const auto id = ReadStoreIdOfManifest(files, tables + "/" + name);
      if (id.ok() && !wants_more(*id)) return;
    }
  }
  const std::string log = path + "/wal";
  const auto names = files.List(log);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    const auto bytes = files.Read(log + "/" + name);
    const auto header = bytes.ok() ? DecodeSegmentHeader(*bytes) : std::nullopt;
    if (header && !wants_more(header->store_id)) return;
  }
}

}  // namespace

std::string StoreIdText(uint64_t id) {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016" PRIx64, id);
  return digits;
}

Status CheckIdIsOfFiles(FileLayer& files, const std::string& path, uint64_t id) {
  std::set<uint64_t> others;
  bool agrees = false;
  VisitIds(files, path, [&](uint64_t found) {
    agrees = found == id;
    others.insert(found);
    return !agrees && others.size() == 1;
  });
  if (agrees || others.size() != 1) return {};
  return {StatusCode::kCorruption,
          "'" + path + "/FORMAT' is damaged, or another store's: its id is " + StoreIdText(id) +
              ", and that of every other file " + StoreIdText(*others.begin()) +
              "; the same from a backup helps, or its second line made 'id " +
              StoreIdText(*others.begin()) + "'"};
}

}  // namespace cellfs
