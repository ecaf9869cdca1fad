// SPDX-License-Identifier: MIT
//
// Tree with the operations that change it, by paths, as programs make them.
#ifndef CELLFS_TESTS_FS_WRITING_TREE_H_
#define CELLFS_TESTS_FS_WRITING_TREE_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "fs/store/raw_cells.h"
#include "tests/fs/tree.h"

namespace cellfs::fs {

inline OpenMode ForWriting() { return {.read = true, .write = true}; }
inline OpenMode ForWritingOnly() { return {.read = false, .write = true}; }
inline OpenMode ForAppending() { return {.read = true, .write = true, .append = true}; }
inline OpenMode Truncating() { return {.read = false, .write = true, .truncate = true}; }

struct OpenFile {
  int error = 0;
  NodePtr node;
  FileHandle* handle = nullptr;
};

struct WritingTree : Tree {
  explicit WritingTree(MountOptions options = {}, StoreKind kind = StoreKindOfTests())
      : Tree(std::move(options), kind) {}

  static std::pair<std::string, std::string> Split(const std::string& path) {
    size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {"", path};
    return {path.substr(0, slash), path.substr(slash + 1)};
  }
  NodePtr Directory(const std::string& path) {
    if (path.empty()) return filesystem->root().shared_from_this();
    auto entry = LookUp(path);
    EXPECT_TRUE(entry.ok()) << path;
    return entry.ok() ? entry->node : nullptr;
  }

  OpenFile Create(const std::string& path, bool exclusive = false, OpenMode mode = ForWriting(),
                  mode_t permissions = 0644) {
    auto [parent, name] = Split(path);
    NodePtr directory = Directory(parent);
    auto created = filesystem->Create(request, *directory, name, permissions, mode, exclusive);
    if (!created.ok()) return {created.error(), nullptr, nullptr};
    return {0, created->entry.node, created->handle};
  }
  OpenFile Open(const std::string& path, OpenMode mode) {
    auto entry = LookUp(path);
    if (!entry.ok()) return {entry.error(), nullptr, nullptr};
    auto opened = filesystem->Open(request, *entry->node, mode);
    if (!opened.ok()) return {opened.error(), nullptr, nullptr};
    return {0, entry->node, opened->handle};
  }
  int Write(const OpenFile& file, std::string_view bytes, uint64_t offset = 0) {
    return filesystem->Write(*file.node, *file.handle, bytes, offset).error();
  }
  std::string Read(const OpenFile& file) {
    auto bytes = filesystem->Read(request, *file.node, file.handle, 0, 1 << 20);
    return bytes.ok() ? std::string(bytes->bytes) : "<read failed>";
  }
  int Flush(const OpenFile& file) { return filesystem->Flush(*file.node, *file.handle).error(); }
  int Close(const OpenFile& file) {
    int error = Flush(file);
    filesystem->Release(*file.node, file.handle);
    return error;
  }

  // echo -n bytes >path
  int Save(const std::string& path, std::string_view bytes) {
    OpenFile file = Error(path) == ENOENT ? Create(path) : Open(path, Truncating());
    if (file.error != 0) return file.error;
    int written = Write(file, bytes);
    int closed = Close(file);
    return written != 0 ? written : closed;
  }

  int Mkdir(const std::string& path) {
    auto [parent, name] = Split(path);
    return filesystem->MakeDirectory(request, *Directory(parent), name, 0755).error();
  }
  int Unlink(const std::string& path) {
    auto [parent, name] = Split(path);
    return filesystem->Unlink(request, *Directory(parent), name).error();
  }
  int Rmdir(const std::string& path) {
    auto [parent, name] = Split(path);
    return filesystem->RemoveDirectory(request, *Directory(parent), name).error();
  }
  int Rename(const std::string& from, const std::string& to, unsigned flags = 0) {
    auto [parent, name] = Split(from);
    auto [new_parent, new_name] = Split(to);
    return filesystem
        ->Rename(request, *Directory(parent), name, *Directory(new_parent), new_name, flags)
        .error();
  }
  int Change(const std::string& path, const AttributeChange& change) {
    auto entry = LookUp(path);
    if (!entry.ok()) return entry.error();
    return filesystem->SetAttributes(request, *entry->node, change, nullptr).error();
  }
  int SetTime(const OpenFile& file, timespec mtime) {
    AttributeChange change;
    change.mtime = mtime;
    return filesystem->SetAttributes(request, *file.node, change, file.handle).error();
  }
  struct stat Stat(const std::string& path) {
    auto entry = LookUp(path);
    EXPECT_TRUE(entry.ok()) << path;
    struct stat none {};
    return entry.ok() ? entry->attributes : none;
  }

  // The stored cells of row r, family f: "Put@5 DeleteColumn@7", newest first.
  std::string Stored(const std::string& qualifier) {
    const std::string row = "r";
    const std::string family = "f";
    const auto cells =
        RawCellsOfColumn(*store, Caller::Superuser(), {table, row, family}, qualifier);
    std::string text;
    for (const Cell& cell : *cells) {
      text += (text.empty() ? "" : " ") + std::string(TypeName(cell.type)) + "@" +
              std::to_string(cell.timestamp - kStart);
    }
    return text;
  }

  // As after unmount and mount.
  void Remount(MountOptions options = {}) {
    filesystem.reset();
    filesystem = std::make_unique<FileSystem>(*store, std::move(options), clock, controls);
  }
};

inline constexpr char kQ[] = "default/t/r/f/q";

// A table with one cell beside kQ, so that its directories stay.
struct WritingTest : testing::Test {
  WritingTest() {
    tree.MakeTable();
    tree.Put("r", "other", "x");
  }
  WritingTree tree;
};

}  // namespace cellfs::fs

#endif  // CELLFS_TESTS_FS_WRITING_TREE_H_
