// SPDX-License-Identifier: MIT
//
// metrics: what /.cellfs/metrics has, with labels, and to a file that who reads it finds whole.
#include <sys/stat.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "fs/resolve/cellfs_directory.h"
#include "fs/resolve/metrics_text.h"
#include "src/commands/all.h"
#include "src/commands/callers_umask.h"
#include "src/commands/target.h"

namespace cellfs {
namespace {

using nlohmann::json;

StatusOr<Answer> ServeMetrics(Session& session, const Arguments& /*arguments*/) {
  if (session.mountpoint.empty())
    return NoMountOf(session.other_mounts, "a store that is not mounted has no metrics");
  fs::Place place = fs::RootPlace();
  place.kind = fs::PlaceKind::kSelfFile;
  place.name = "metrics";
  const fs::OutcomeOr<std::string> text = session.filesystem.parts().self.Text(place);
  session.take({{"text", *text}});
  return Answer::kDone;
}

bool IsLabelName(const std::string& name) {
  for (const char c : name) {
    if (c != '_' && std::isalnum(static_cast<unsigned char>(c)) == 0) return false;
  }
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
}

// Of 'mount=notes': 'mount="notes"'.
StatusOr<std::string> ParseLabel(const std::string& words) {
  const size_t at = words.find('=');
  if (at == std::string::npos || !IsLabelName(words.substr(0, at))) {
    return Status(StatusCode::kIllegalArgument,
                  "--label is '" + words + "'; it is a name and a value, as mount=notes");
  }
  return words.substr(0, at) + "=\"" + fs::Quotable(words.substr(at + 1)) + "\"";
}

std::string WithLabel(const std::string& text, const std::string& label) {
  std::istringstream lines(text);
  std::string labelled;
  for (std::string line; std::getline(lines, line); labelled += line + "\n") {
    if (line.starts_with('#')) continue;
    const size_t end = line.find_first_of("{ ");
    if (end == std::string::npos) continue;
    if (line[end] == '{') {
      line.insert(end + 1, label + ",");
    } else {
      line.insert(end, "{" + label + "}");
    }
  }
  return labelled;
}

StatusOr<std::string> AskForMetrics(const Front& front, const Arguments& arguments) {
  const std::string target = arguments.Text("target");
  CELLFS_RETURN_IF_ERROR(FindWholeStore(target).status());
  json sent = arguments.values();
  for (const char* const ours : {"label", "output"}) sent.erase(ours);
  CELLFS_ASSIGN_OR_RETURN(const auto access, front.Open(target, sent, /*only_reads=*/true));
  std::string text;
  const auto take = [&](const json& record) {
    text = record["text"].get<std::string>();
    return true;
  };
  CELLFS_RETURN_IF_ERROR(access->Call("metrics", sent, take).status());
  return text;
}

// Whoever collects it is another user mostly: as open as the file before, or as new ones are.
Status Replace(const std::string& path, const std::string& text, const Arguments& arguments) {
  const CallersUmask as_open_as_he_wants(arguments);
  const std::string made = path + ".new";
  std::remove(made.c_str());
  std::ofstream file(made);
  file << text;
  file.close();
  struct stat before {};
  if (stat(path.c_str(), &before) == 0)
    static_cast<void>(chmod(made.c_str(), before.st_mode & 0777));
  if (file.fail() || std::rename(made.c_str(), path.c_str()) != 0)
    return {StatusCode::kIoError, "cannot write " + path + ": " + strerror(errno)};
  return {};
}

// A file of a mount that does not answer goes, so that whoever reads it sees that it is gone.
StatusOr<int> RunMetrics(const Front& front, const Arguments& arguments) {
  std::string label;
  if (arguments.Has("label")) {
    CELLFS_ASSIGN_OR_RETURN(label, ParseLabel(arguments.Text("label")));
  }
  const StatusOr<std::string> answer = AskForMetrics(front, arguments);
  const std::string path = arguments.Text("output");
  if (!answer.ok() && !path.empty()) std::remove(path.c_str());
  CELLFS_RETURN_IF_ERROR(answer.status());
  const std::string text = label.empty() ? *answer : WithLabel(*answer, label);
  if (path.empty()) {
    front.printer.Bytes(text);
  } else {
    CELLFS_RETURN_IF_ERROR(Replace(path, text, arguments));
  }
  return kExitDone;
}

}  // namespace

const Command kMetricsCommand{
    .name = "metrics",
    .group = Group::kMaintenance,
    .summary = "print what a mount measures, for Prometheus",
    .description =
        "The text of /.cellfs/metrics, with a label more where that is wanted. A file is written "
        "whole, for node_exporter's textfile collector, and removed where the mount does not "
        "answer. "
        "For root and who mounted the store.",
    .example =
        "metrics ~/m\n"
        "metrics --label mount=notes -o /var/lib/prometheus/node-exporter/cellfs-notes.prom "
        "/mnt/notes",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a mount point, or the directory of a store that is mounted");
          syntax.Option("--label", "label", "NAME=VALUE", "that each line gets");
          syntax.Option("-o,--output", "output", "FILE", "write it there");
        },
    .is_owners = true,
    .only_reads = true,
    .is_of_whole_store = true,
    .serve = ServeMetrics,
    .run = RunMetrics,
};

}  // namespace cellfs
