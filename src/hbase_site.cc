// SPDX-License-Identifier: MIT
#include "src/hbase_site.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <pugixml.hpp>
#include <set>
#include <system_error>

namespace cellfs {
namespace {

std::string Trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

Status RefuseFile(const std::string& path, const std::string& why) {
  return {StatusCode::kIllegalArgument, path + ": " + why};
}

size_t LineOf(const std::string& text, ptrdiff_t offset) {
  return 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + offset, '\n'));
}

}  // namespace

StatusOr<std::map<std::string, std::string>> ReadHBaseSite(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return RefuseFile(path, std::generic_category().message(errno));
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) {
    return RefuseFile(path + ":" + std::to_string(LineOf(text, parsed.offset)),
                      std::string("no XML: ") + parsed.description());
  }
  const pugi::xml_node configuration = document.child("configuration");
  if (!configuration)
    return RefuseFile(path, "there is no <configuration>, as hbase-site.xml has it");
  std::map<std::string, std::string> properties;
  std::set<std::string> final_ones;
  for (const pugi::xml_node property : configuration.children("property")) {
    const std::string name = Trimmed(property.child("name").text().get());
    if (final_ones.contains(name)) continue;
    properties[name] = Trimmed(property.child("value").text().get());
    if (Trimmed(property.child("final").text().get()) == "true") final_ones.insert(name);
  }
  return properties;
}

}  // namespace cellfs
