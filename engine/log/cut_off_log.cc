// SPDX-License-Identifier: MIT
#include "engine/log/cut_off_log.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

#include "engine/log/log_format.h"

namespace cellfs {
namespace {

constexpr std::string_view kMarkOfOpening = ".cut-";
constexpr std::string_view kMarkOfRepair = ".damaged-";
constexpr char kWhy[] =
    "power was lost before they were on disk (of what is written with FSYNC_WAL none is lost so), "
    "or a record that was there is damaged";
constexpr char kBeforeItIsCutOff[] =
    ". The segments of the log from a backup help, put in place before the store is opened; "
    "opening it, unless to be read alone, cuts them off and keeps them in a file beside the "
    "segments";

std::string_view MarkOf(CutOffBy by) {
  return by == CutOffBy::kOpening ? kMarkOfOpening : kMarkOfRepair;
}

// nullopt: it is no name of one.
std::optional<CutOffBy> WhoCutOff(std::string_view name) {
  for (const CutOffBy by : {CutOffBy::kOpening, CutOffBy::kRepair}) {
    const size_t mark = name.find(MarkOf(by));
    if (mark == name.npos || !ParseSegmentName(name.substr(0, mark))) continue;
    const std::string_view place = name.substr(mark + MarkOf(by).size());
    if (place.find_first_not_of("0123456789-") == place.npos) return by;
  }
  return std::nullopt;
}

// " (1234 bytes)"; empty where it cannot be read.
std::string SizeOfCutOff(const std::string& path) {
  std::error_code unknown;
  const uintmax_t size = std::filesystem::file_size(path, unknown);
  return unknown ? "" : " (" + std::to_string(size) + " bytes)";
}

}  // namespace

StatusOr<std::string> KeepCutOff(FileLayer& files, const std::string& directory, CutOffBy by,
                                 uint64_t segment, size_t offset, std::string_view bytes) {
  const std::string first = NameOfCutOff(by, segment, offset);
  std::string name = first;
  for (int copy = 2;; ++copy) {
    CELLFS_ASSIGN_OR_RETURN(const bool is_taken, files.Exists(directory + "/" + name));
    if (!is_taken) {
      CELLFS_RETURN_IF_ERROR(ReplaceFile(files, directory, name, bytes));
      return name;
    }
    CELLFS_ASSIGN_OR_RETURN(const std::string kept, files.Read(directory + "/" + name));
    if (kept == bytes) return name;
    name = first + "-" + std::to_string(copy);
  }
}

std::optional<CutOffPlace> PlaceOfCutOff(std::string_view name) {
  const auto by = WhoCutOff(name);
  if (!by) return std::nullopt;
  const size_t mark = name.find(MarkOf(*by));
  const std::string_view digits = name.substr(mark + MarkOf(*by).size());
  CutOffPlace place{.segment = *ParseSegmentName(name.substr(0, mark))};
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), place.offset);
  return error == std::errc() ? std::optional(place) : std::nullopt;
}

std::string NameOfCutOff(CutOffBy by, uint64_t segment, size_t offset) {
  return SegmentName(segment) + std::string(MarkOf(by)) + std::to_string(offset);
}

StatusOr<std::vector<std::string>> FindCutOff(FileLayer& files, const std::string& directory) {
  CELLFS_ASSIGN_OR_RETURN(std::vector<std::string> names, files.List(directory));
  std::erase_if(names, [](const std::string& name) { return !WhoCutOff(name); });
  return names;
}

std::string DescribeCutOff(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  const bool is_damage = WhoCutOff(name) == CutOffBy::kRepair;
  const std::string what =
      is_damage ? "the log was damaged, and a repair has cut it there"
                : "whole records behind a broken one were cut off the log: " + std::string(kWhy);
  return what + ". What was cut off is kept in '" + path + "'" + SizeOfCutOff(path) +
         ". Look whether what was written last is there, and write again what is not; then "
         "remove that file";
}

std::string DescribeTornBeforeRecords(size_t offset, size_t records) {
  return "a record is broken at offset " + std::to_string(offset) + ", and " +
         std::to_string(records) + " whole ones stand behind it: " + kWhy + kBeforeItIsCutOff;
}

std::string DescribeUnbegun(size_t records) {
  return "what lies before it, or its header, is not there, and " + std::to_string(records) +
         " records stand in it: " + kWhy + kBeforeItIsCutOff;
}

}  // namespace cellfs
