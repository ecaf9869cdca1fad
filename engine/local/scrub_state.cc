// SPDX-License-Identifier: MIT
//
// {"format": 1,
//  "last": {"begun": 1800000000000, "ended": 1800000001000, "files": 3, "bytes": 40960,
//           "found": [{"file": "tables/1/2.db", "what": "...", "was_there": true}]},
//  "now": {...}, "read": {"1": [2, 3]}}
// `now` and `read` are there while a scrub is under way, `last` once one has come to its end.
#include "engine/local/scrub_state.h"

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/disk/sealed_file.h"
#include "engine/json_bytes.h"

namespace cellfs {
namespace {

using Json = nlohmann::json;

constexpr int kScrubFormat = 1;
constexpr std::string_view kScrubMagic = "CELLSCR\n";

Json PassToJson(const ScrubPass& pass) {
  Json found = Json::array();
  for (const ScrubFinding& finding : pass.found)
    found.push_back({{"file", BytesToJsonText(finding.file)},
                     {"what", BytesToJsonText(finding.what)},
                     {"was_there", finding.was_there}});
  return {{"begun", pass.begun},
          {"ended", pass.ended},
          {"files", pass.files},
          {"bytes", pass.bytes},
          {"found", std::move(found)}};
}

std::string TextAt(const Json& json, const char* key) {
  return JsonTextToBytes(json.at(key).get_ref<const std::string&>()).value_or("");
}

ScrubPass PassFromJson(const Json& json) {
  ScrubPass pass{.begun = json.at("begun").get<Timestamp>(),
                 .ended = json.at("ended").get<Timestamp>(),
                 .files = json.at("files").get<uint64_t>(),
                 .bytes = json.at("bytes").get<uint64_t>(),
                 .found = {}};
  for (const Json& finding : json.at("found"))
    pass.Add({.file = TextAt(finding, "file"),
              .what = TextAt(finding, "what"),
              .was_there = finding.at("was_there").get<bool>()});
  return pass;
}

ScrubState DecodeScrubState(std::string_view text) {
  const Json json = Json::parse(text);
  ScrubState state;
  if (json.at("format").get<int>() != kScrubFormat) return state;
  if (json.contains("last")) state.last = PassFromJson(json["last"]);
  if (!json.contains("now")) return state;
  state.now = PassFromJson(json["now"]);
  for (const auto& [table, numbers] : json.at("read").items())
    state.read[std::stoull(table)] = numbers.get<std::set<uint64_t>>();
  return state;
}

}  // namespace

void ScrubPass::Add(ScrubFinding finding) {
  const bool has_it = std::find(found.begin(), found.end(), finding) != found.end();
  if (!has_it && found.size() < kMostScrubFindings) found.push_back(std::move(finding));
}

ScrubState ReadScrubState(FileLayer& files, const std::string& directory) {
  const auto text = ReadSealedFile(files, directory + "/" + kScrubFile, kScrubMagic);
  if (!text.ok()) return {};
  try {
    return DecodeScrubState(*text);
  } catch (const Json::exception&) {
  } catch (const std::logic_error&) {  // of std::stoull
  }
  return {};
}

Status SaveScrubState(FileLayer& files, const std::string& directory, const ScrubState& state) {
  Json json = {{"format", kScrubFormat}};
  if (state.last.begun != 0) json["last"] = PassToJson(state.last);
  if (state.now.begun != 0) {
    json["now"] = PassToJson(state.now);
    json["read"] = Json::object();
    for (const auto& [table, numbers] : state.read) json["read"][std::to_string(table)] = numbers;
  }
  return ReplaceSealedFile(files, directory, kScrubFile, kScrubMagic, json.dump());
}

}  // namespace cellfs
