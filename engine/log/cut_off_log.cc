// SPDX-License-Identifier: MIT
#include "engine/log/cut_off_log.h"

#include <algorithm>

#include "engine/log/log_format.h"

namespace cellfs {
namespace {

constexpr std::string_view kMark = ".cut-";
constexpr char kWhy[] =
    "power was lost before they were on disk (of what is written with FSYNC_WAL none is lost so), "
    "or a record that was there is damaged";

bool IsNameOfCutOff(std::string_view name) {
  const size_t mark = name.find(kMark);
  if (mark == name.npos || !ParseSegmentName(name.substr(0, mark))) return false;
  return name.find_first_not_of("0123456789-", mark + kMark.size()) == name.npos;
}

}  // namespace

StatusOr<std::string> KeepCutOff(FileLayer& files, const std::string& directory, uint64_t segment,
                                 size_t offset, std::string_view bytes) {
  const std::string first = NameOfCutOff(segment, offset);
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

std::string NameOfCutOff(uint64_t segment, size_t offset) {
  return SegmentName(segment) + std::string(kMark) + std::to_string(offset);
}

StatusOr<std::vector<std::string>> FindCutOff(FileLayer& files, const std::string& directory) {
  CELLFS_ASSIGN_OR_RETURN(std::vector<std::string> names, files.List(directory));
  std::erase_if(names, [](const std::string& name) { return !IsNameOfCutOff(name); });
  return names;
}

std::string DescribeCutOff(const std::string& directory, const std::string& name) {
  return "whole records behind a broken one were cut off the log: " + std::string(kWhy) +
         ". They are kept in '" + directory + "/" + name +
         "'. Look whether what was written last is there, and write again what is not; then "
         "remove that file";
}

std::string DescribeTornBeforeRecords(size_t offset, size_t records) {
  return "a record is broken at offset " + std::to_string(offset) + ", and " +
         std::to_string(records) + " whole ones stand behind it: " + kWhy +
         ". The segments of the log from a backup help, put in place before the store is opened; "
         "opening it, unless to be read alone, cuts them off and keeps them in a file beside the "
         "segment";
}

}  // namespace cellfs
