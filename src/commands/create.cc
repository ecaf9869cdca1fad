// SPDX-License-Identifier: MIT
//
// create: a table with its families, attributes and regions.
#include <limits>
#include <utility>

#include "engine/split_keys.h"
#include "fs/schema/schema_file.h"
#include "src/commands/all.h"
#include "src/commands/schema_words.h"

namespace cellfs {
namespace {

StatusOr<std::vector<std::string>> SplitList(const std::string& text) {
  std::vector<std::string> keys;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    keys.push_back(BytesOf(text.substr(begin, end - begin)));
    if (keys.back().empty()) return WrongCall("--splits '" + text + "' has an empty key");
    begin = end + 1;
  }
  return keys;
}

// HBase's names too.
std::string AlgorithmOf(const std::string& name) {
  if (name == "HexStringSplit") return "hex";
  return name == "UniformSplit" ? "uniform" : name;
}

StatusOr<std::vector<std::string>> SplitsOf(const Arguments& arguments) {
  const bool has_regions = arguments.Has("regions");
  if (has_regions != arguments.Has("split_algorithm"))
    return WrongCall("--regions N and --split-algorithm hex|uniform go together");
  if (has_regions && arguments.Has("splits"))
    return WrongCall("say --splits or --regions, not both");
  if (arguments.Has("splits")) return SplitList(arguments.Text("splits"));
  if (!has_regions) return std::vector<std::string>();
  CELLFS_ASSIGN_OR_RETURN(
      const auto regions,
      arguments.NumberOr("regions", 1, std::numeric_limits<int32_t>::max(), 1));
  return SplitKeys(AlgorithmOf(arguments.Text("split_algorithm")), "", "",
                   static_cast<int32_t>(regions));
}

Status AddFamilies(const Session& session, const NamedTable& named, TableSchema& schema) {
  for (const std::string& word : named.words) {
    CELLFS_ASSIGN_OR_RETURN(const FamilyWord family, ParseFamilyWord(word));
    CELLFS_RETURN_IF_ERROR(SaidOnce().AddFamily(family));
    CELLFS_RETURN_IF_ERROR(CheckFamilyName(family.name));
    const auto [added, is_new] = schema.families.emplace(family.name, FamilySchema(family.name));
    if (!is_new) return WrongCall("family '" + family.name + "' is named twice");
    if (fs::IsOpen(schema)) {
      for (const auto& [name, value] : session.filesystem.parts().options.family_defaults)
        CELLFS_RETURN_IF_ERROR(added->second.Set(name, value));
    }
    CELLFS_RETURN_IF_ERROR(SetAttributes(family, added->second));
  }
  return {};
}

StatusOr<Answer> ServeCreateTable(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const NamedTable named, NameTable(session, arguments));
  TableSchema schema(named.table);
  CELLFS_RETURN_IF_ERROR(SaidOnce().AddOptions(arguments));
  for (const std::string& word : arguments.Texts("set")) {
    CELLFS_ASSIGN_OR_RETURN(const AttributeWord attribute, ParseAttributeWord(word));
    CELLFS_RETURN_IF_ERROR(SetAttribute(attribute, schema));
  }
  if (arguments.Flag("open"))
    CELLFS_RETURN_IF_ERROR(schema.Set(fs::kOpenAttribute, "true"));
  CELLFS_RETURN_IF_ERROR(AddFamilies(session, named, schema));
  if (schema.families.empty() && !fs::IsOpen(schema)) {
    return WrongCall("name the families of table '" + named.table.ToString() +
                     "', or say --open, so that mkdir makes them");
  }
  CELLFS_ASSIGN_OR_RETURN(schema.split_keys, SplitsOf(arguments));
  const Status created = session.store.CreateTable(session.caller, schema);
  if (created.code() == StatusCode::kNamespaceNotFound)
    return WithRemedy(created, "'cellfs create_namespace' makes it");
  if (created.code() == StatusCode::kStoreFull) {
    return Status(created.code(),
                  "table '" + named.table.ToString() + "' was not made: " + created.message());
  }
  CELLFS_RETURN_IF_ERROR(AsWrongCall(created));
  TakeDone(session, "table", named.table.ToString(), "created");
  return Answer::kDone;
}

}  // namespace

const Command kCreateCommand{
    .name = "create",
    .group = Group::kSchema,
    .summary = "create a table; 1: it is there already",
    .description =
        "With HBase's defaults for what is not said.",
    .example = "create ~/m notes text\n"
               "create ~/m log:events e:VERSIONS=5,TTL='30 DAYS' meta:COMPRESSION=ZSTD\n"
               "create ~/m t f --splits g,n,t --set DURABILITY=ASYNC_WAL\n"
               "create ~/m t f --regions 16 --split-algorithm hex",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("WORD",
                       "[NAMESPACE:]TABLE as far as the path does not say it; "
                       "FAMILY or FAMILY:NAME=VALUE,...");
          syntax.Options("--set", "set", "NAME=VALUE", "an attribute of the table");
          syntax.Option("--splits", "splits", "KEY,...", "where regions begin; bytes may be \\xNN");
          syntax.Option("--regions", "regions", "N", "so many regions, of keys as the next says");
          syntax.Option("--split-algorithm", "split_algorithm", "ALGORITHM",
                        "hex (rows of hexadecimal digits) or uniform (of bytes)");
          syntax.Flag("--open", "open",
                      "mkdir in a row makes families, with the mount's [family_defaults]; so do "
                      "families here");
        },
    .serve = ServeCreateTable,
    .print = PrintDone,
};

}  // namespace cellfs
