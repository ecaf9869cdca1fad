#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the directions of includes, which the compiler does not see:

  - src includes fs and engine, fs includes engine, engine only itself;
  - engine/*.h, the public headers, and the sources beside them include only these headers, and only
    engine/ looks into the folders below engine/;
  - a folder of engine/ or fs/ includes only itself and those before it in LAYERS;
  - FUSE's header is in fs/kernel/fuse_* only, SQLite's in engine/file/database.* and page_{checksums,writer}.cc,
    libmariadb's in engine/obkv/connection.cc;
  - every file says its licence in its first lines, every header has the guard that its path gives it.

    tests/check_includes.py ROOT
"""

import pathlib
import re
import sys

# A file in the folder may include files of these folders.
ALLOWED = {
    "engine": {"engine"},
    "fs": {"engine", "fs"},
    "src": {"engine", "fs", "src"},
    "bench": {"engine", "fs", "src", "bench"},
    "examples": {"engine"},
    "tests": {"engine", "fs", "src", "tests"},
}
# The lowest first. engine/memory, the tests' oracle, knows nothing of engine/visibility, and a client of
# a cluster nothing of how a store of ours is kept.
LAYERS = {
    "engine": ["storage", "filter", "memory", "visibility", "table", "remote", "hbase", "obkv",
               "catalog", "disk", "log", "file", "memstore", "local", "embedded"],
    "fs": ["base", "requests", "tree", "files", "nodes", "store", "attributes", "reading", "schema",
           "resolve", "content", "listing", "operations", "kernel"],
}
# The system headers that few files may include.
RESTRICTED = {
    "fuse": re.compile(r"(fs/kernel/fuse_[^/]*|bench/(nullfs\.cc|ring_loop\.(cc|h)))$"),
    "sqlite3": re.compile(
        r"(engine/file/(database\.(h|cc)|page_(checksums|writer)\.cc)|bench/.*|tests/.*)$"),
    "mysql": re.compile(r"engine/obkv/connection\.cc$"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
LICENCE = "SPDX-License-Identifier: MIT"
CODE = {".h", ".cc"}
LICENSED = CODE | {".py", ".sh"}


def includes_of(text):
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match[1] == "<", match[2]


def is_private(include):
    return include.startswith("engine/") and include.count("/") > 1


def layer_of(path):
    """The place among the layers; -1: beneath all of them."""
    folder, *inner = path.split("/")[:-1]
    return LAYERS[folder].index(inner[0]) if inner else -1


def judge(path, is_system, include):
    """What is wrong with this include, or None."""
    folder = path.partition("/")[0]
    if is_system:
        for name, allowed in RESTRICTED.items():
            if re.match(rf"{name}[0-9]*([_./].*)?$", include) and not allowed.match(path):
                return f"only {allowed.pattern} may include <{include}>"
        return None
    if folder == "tests" and "/" not in include:  # beside it
        return None
    other = include.partition("/")[0]
    if other not in ALLOWED[folder]:
        return f"{folder}/ may not include {include} (paths start at the root)"
    if folder == other and folder in LAYERS and layer_of(include) > layer_of(path):
        return f"{path.rpartition('/')[0]} may not include {include}, which lies above it"
    if is_private(include) and folder not in ("engine", "tests", "bench"):
        return f"{include} is private to the engine"
    return None


def check_guard(path, text):
    guard = "CELLFS_" + re.sub(r"[^A-Za-z0-9]", "_", path).upper() + "_"
    if f"#ifndef {guard}\n#define {guard}\n" not in text:
        yield f"{path}: the guard {guard} is missing"


def check_file(path, text):
    if LICENCE not in "\n".join(text.splitlines()[:2]):
        yield f"{path}:1: '{LICENCE}' is missing"
    if path.endswith(".h"):
        yield from check_guard(path, text)
    if pathlib.PurePath(path).suffix in CODE:
        for number, is_system, include in includes_of(text):
            wrong = judge(path, is_system, include)
            if wrong:
                yield f"{path}:{number}: {wrong}"


def main():
    root = pathlib.Path(sys.argv[1])
    count = 0
    problems = []
    for folder in ALLOWED:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in LICENSED and file.is_file():
                count += 1
                problems += check_file(file.relative_to(root).as_posix(), file.read_text())
    print("\n".join(problems) if problems else f"{count} files are as they shall be")
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
