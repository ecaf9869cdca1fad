// SPDX-License-Identifier: MIT
//
// {"format": 3, "store": 1234, "table": 7, "flushed": 1000, "next_file": 3,
//  "files": [{"number": 2, "family": "f", "first_row": "a", "last_row": "z", "oldest": 1, ...}],
//  "past": {"f": {"complete_since": 1800000000000, "widened": 0}},
//  "ranges": {"f": {"cuts": ["m"], "major": 1800000000000}}, "logged": 4711}
// The last three are not there where they have nothing. Older versions read format 1, which has
// no ranges and no files of compactions that wrote several, and 2, which has no hidden cells.
#include "engine/local/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/disk/sealed_file.h"
#include "engine/json_bytes.h"
#include "engine/memory_reserve.h"

namespace cellfs {
namespace {

using Json = nlohmann::json;

constexpr int kManifestFormat = 3;
constexpr std::string_view kMagic = "CELLMAN\n";

Json FactsToJson(const FileFacts& facts) {
  Json json = {{"number", facts.number},
               {"family", BytesToJsonText(facts.family)},
               {"first_row", BytesToJsonText(facts.first_row)},
               {"last_row", BytesToJsonText(facts.last_row)},
               {"oldest", facts.oldest},
               {"newest", facts.newest},
               {"oldest_put", facts.oldest_put},
               {"lowest", facts.lowest},
               {"highest", facts.highest},
               {"cells", facts.cells},
               {"tombstones", facts.tombstones},
               {"family_tombstones", facts.family_tombstones},
               {"withdrawals", facts.withdrawals},
               {"surplus", facts.surplus},
               {"bytes", facts.bytes},
               {"written", facts.written},
               {"filter_blocks", facts.filter_blocks},
               {"filter_has_columns", facts.filter_has_columns},
               {"is_major", facts.is_major}};
  if (facts.follows != 0) json["follows"] = facts.follows;
  if (facts.is_followed) json["is_followed"] = true;
  if (facts.room != RoomFacts())
    json["room"] = {{"old", facts.room.old_versions}, {"deleted", facts.room.deleted}};
  if (facts.hidden.cells != 0) {
    json["hidden"] = {{"cells", facts.hidden.cells},
                      {"newest_tombstone", facts.hidden.newest_tombstone}};
  }
  return json;
}

// Throws Json::exception, or std::domain_error where a text holds what is no byte.
std::string Bytes(const Json& json) {
  std::optional<std::string> bytes = JsonTextToBytes(json.get_ref<const std::string&>());
  if (!bytes) throw std::domain_error("a text holds what is no byte");
  return *std::move(bytes);
}

RoomFacts RoomFromJson(const Json& facts) {
  const auto found = facts.find("room");
  if (found == facts.end()) return {};
  return {.old_versions = found->at("old").get<int64_t>(),
          .deleted = found->at("deleted").get<int64_t>()};
}

HiddenFacts HiddenFromJson(const Json& facts) {
  const auto found = facts.find("hidden");
  if (found == facts.end()) return {};
  return {.cells = found->at("cells").get<int64_t>(),
          .newest_tombstone = found->at("newest_tombstone").get<Timestamp>()};
}

FileFacts FactsFromJson(const Json& json) {
  return {.number = json.at("number").get<uint64_t>(),
          .family = Bytes(json.at("family")),
          .first_row = Bytes(json.at("first_row")),
          .last_row = Bytes(json.at("last_row")),
          .oldest = json.at("oldest").get<Timestamp>(),
          .newest = json.at("newest").get<Timestamp>(),
          .oldest_put = json.at("oldest_put").get<Timestamp>(),
          .lowest = json.at("lowest").get<SequenceId>(),
          .highest = json.at("highest").get<SequenceId>(),
          .cells = json.at("cells").get<int64_t>(),
          .tombstones = json.at("tombstones").get<int64_t>(),
          .family_tombstones = json.at("family_tombstones").get<int64_t>(),
          .withdrawals = json.at("withdrawals").get<int64_t>(),
          .hidden = HiddenFromJson(json),
          .surplus = json.at("surplus").get<int64_t>(),
          .bytes = json.at("bytes").get<uint64_t>(),
          .written = json.at("written").get<Timestamp>(),
          .filter_blocks = json.at("filter_blocks").get<int64_t>(),
          .filter_has_columns = json.at("filter_has_columns").get<bool>(),
          .is_major = json.at("is_major").get<bool>(),
          .follows = json.value("follows", uint64_t{0}),
          .is_followed = json.value("is_followed", false),
          .room = RoomFromJson(json)};
}

int FormatOf(const Manifest& manifest) {
  const auto any_file = [&](const auto& is_so) {
    return std::any_of(manifest.files.begin(), manifest.files.end(), is_so);
  };
  if (any_file([](const FileFacts& facts) { return facts.hidden.cells != 0; }))
    return kManifestFormat;
  const bool has_parts =
      any_file([](const FileFacts& facts) { return facts.follows != 0 || facts.is_followed; });
  return has_parts || !manifest.ranges.empty() ? 2 : 1;
}

std::string Encode(const Manifest& manifest) {
  const MemoryReserve reserve(MemoryReserve::kOfSmallText);
  Json files = Json::array();
  for (const FileFacts& facts : manifest.files) files.push_back(FactsToJson(facts));
  Json json = {{"format", FormatOf(manifest)},    {"store", manifest.store_id},
               {"table", manifest.table},         {"flushed", manifest.flushed},
               {"next_file", manifest.next_file}, {"files", std::move(files)}};
  for (const auto& [family, past] : manifest.past) {
    json["past"][BytesToJsonText(family)] = {{"complete_since", past.complete_since},
                                             {"widened", past.widened}};
  }
  for (const auto& [family, ranges] : manifest.ranges) {
    Json cuts = Json::array();
    for (const std::string& cut : ranges.cuts) cuts.push_back(BytesToJsonText(cut));
    json["ranges"][BytesToJsonText(family)] = {{"cuts", std::move(cuts)}, {"major", ranges.major}};
  }
  if (manifest.logged != 0) json["logged"] = manifest.logged;
  return json.dump();
}

StatusOr<Manifest> Decode(const std::string& path, std::string_view text) {
  try {
    const Json json = Json::parse(text);
    if (const int format = json.at("format").get<int>(); format < 1 || format > kManifestFormat)
      return Status(StatusCode::kCorruption, "'" + path + "': format " + std::to_string(format) +
                                                 " is not known to this version");
    Manifest manifest{.store_id = json.at("store").get<uint64_t>(),
                      .table = json.at("table").get<TableId>(),
                      .flushed = json.at("flushed").get<SequenceId>(),
                      .next_file = json.at("next_file").get<uint64_t>(),
                      .files = {},
                      .past = {},
                      .ranges = {},
                      .logged = json.value("logged", LogPosition{0})};
    for (const Json& facts : json.at("files")) manifest.files.push_back(FactsFromJson(facts));
    if (const auto known = json.find("past"); known != json.end()) {
      for (const auto& [family, past] : known->items()) {
        manifest.past[Bytes(family)] = {
            .complete_since = past.at("complete_since").get<Timestamp>(),
            .widened = past.at("widened").get<Timestamp>()};
      }
    }
    if (const auto known = json.find("ranges"); known != json.end()) {
      for (const auto& [family, ranges] : known->items()) {
        FamilyRanges& of_family = manifest.ranges[Bytes(family)];
        of_family.major = ranges.at("major").get<Timestamp>();
        for (const Json& cut : ranges.at("cuts")) of_family.cuts.push_back(Bytes(cut));
      }
    }
    return manifest;
  } catch (const Json::exception& error) {
    return Status(StatusCode::kCorruption, "'" + path + "': " + error.what());
  } catch (const std::domain_error& error) {
    return Status(StatusCode::kCorruption, "'" + path + "': " + error.what());
  }
}

StatusOr<Manifest> ReadAnyManifest(FileLayer& files, const std::string& path) {
  CELLFS_ASSIGN_OR_RETURN(const bool is_there, files.Exists(path));
  if (!is_there) return Status(StatusCode::kCorruption, "'" + path + "' is missing");
  CELLFS_ASSIGN_OR_RETURN(const std::string text, ReadSealedFile(files, path, kMagic));
  return Decode(path, text);
}

}  // namespace

StatusOr<Manifest> ReadManifest(FileLayer& files, const std::string& directory, uint64_t store_id,
                                TableId table) {
  const std::string path = directory + "/" + kManifestFile;
  CELLFS_ASSIGN_OR_RETURN(Manifest manifest, ReadAnyManifest(files, path));
  if (manifest.store_id == store_id && manifest.table == table) return manifest;
  return Status(StatusCode::kCorruption,
                "'" + path + "': it is the manifest of " +
                    (manifest.store_id == store_id ? "table " + std::to_string(manifest.table)
                                                   : "another store's table"));
}

StatusOr<uint64_t> ReadStoreIdOfManifest(FileLayer& files, const std::string& directory) {
  CELLFS_ASSIGN_OR_RETURN(const Manifest manifest,
                          ReadAnyManifest(files, directory + "/" + kManifestFile));
  return manifest.store_id;
}

Status SaveManifest(FileLayer& files, const std::string& directory, const Manifest& manifest) {
  return ReplaceSealedFile(files, directory, kManifestFile, kMagic, Encode(manifest));
}

TableMark MarkOf(const Manifest& manifest) {
  TableMark mark{.flushed = manifest.flushed, .next_file = manifest.next_file, .files = {}};
  for (const FileFacts& facts : manifest.files) mark.files.push_back(facts.number);
  std::sort(mark.files.begin(), mark.files.end());
  return mark;
}

Status CheckIsNotOlder(const std::string& directory, const Manifest& manifest,
                       const TableMark& mark) {
  if (manifest.flushed >= mark.flushed && manifest.next_file >= mark.next_file) return Status();
  return Status(StatusCode::kCorruption,
                "'" + directory + "/" + kManifestFile + "' is an older copy: it has file " +
                    std::to_string(manifest.next_file) + " and sequence id " +
                    std::to_string(manifest.flushed + 1) + " before it, and the log says " +
                    std::to_string(mark.next_file) + " and " + std::to_string(mark.flushed + 1));
}

Status CheckHasFlushed(const std::string& directory, SequenceId flushed, SequenceId needed,
                       const std::string& segment) {
  if (flushed >= needed) return Status();
  return Status(StatusCode::kCorruption,
                "'" + directory + "' lacks what was written with the sequence ids from " +
                    std::to_string(flushed + 1) + " to " + std::to_string(needed) +
                    ": it is an older copy or was damaged, or segment " + segment +
                    " of the log is missing");
}

}  // namespace cellfs
