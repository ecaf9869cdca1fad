// SPDX-License-Identifier: MIT
#include "engine/local/unnamed_files.h"

#include "engine/file/stored_facts.h"

namespace cellfs {

StatusOr<std::vector<std::string>> UnnamedFiles(FileLayer& files, const std::string& directory,
                                                const Manifest& manifest) {
  CELLFS_ASSIGN_OR_RETURN(std::vector<std::string> names, files.List(directory));
  std::erase(names, kManifestFile);
  for (const FileFacts& facts : manifest.files) {
    const std::string name = StoreFileName(facts.number);
    if (std::erase(names, name) == 0)
      return Status(StatusCode::kCorruption, "'" + directory + "/" + name + "' is missing");
  }
  return names;
}

Status CheckAreNotNeeded(const std::string& directory, const std::vector<std::string>& unnamed,
                         SequenceId known) {
  for (const std::string& name : unnamed) {
    if (!IsStoreFileName(name)) continue;
    const std::string path = directory + "/" + name;
    const StatusOr<StoredFacts> stored = ReadStoredFacts(path);
    if (!stored.ok() || stored->facts.highest <= known) continue;
    return {StatusCode::kCorruption,
            "'" + directory + "/" + kManifestFile + "' is an older copy: '" + path +
                "', which it does not name, has cells up to sequence id " +
                std::to_string(stored->facts.highest) + ", and it knows of " +
                std::to_string(known)};
  }
  return {};
}

}  // namespace cellfs
