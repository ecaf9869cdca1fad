# SPDX-License-Identifier: MIT
"""Many rows, many qualifiers, many bytes. More of them: CELLFS_ROWS, CELLFS_MEGABYTES."""

import hashlib
import os
import pathlib
import random
import re

import pytest

from mounts import sh, wait_until

ROWS = int(os.environ.get("CELLFS_ROWS", "3000"))
MEGABYTES = int(os.environ.get("CELLFS_MEGABYTES", "20"))
LONG = 100 + ROWS / 20  # seconds for one command
MEBIBYTE = 1 << 20


def fill_rows(mount):
    table = mount / "default/t"
    for number in range(ROWS):
        family = table / f"row{number:07}" / "f"
        os.makedirs(family)
        with open(family / "q", "w") as file:
            file.write(f"{number}\n")
    return table


def fill_row(mount):
    family = mount.family(row="wide")
    for number in range(ROWS):
        with open(family / f"q{number:07}", "w") as file:
            file.write(f"{number}\n")
    return family.parent.parent


@pytest.mark.parametrize("fill", [fill_rows, fill_row])
def test_every_tool_sees_everything_once(mount, outside, fill):
    table = fill(mount)
    wide = fill is fill_row
    listed = table / "wide/f" if wide else table
    pattern = "q*" if wide else "row*"
    assert int(sh("find . -type f -name 'q*' | sort -u | wc -l", cwd=table, timeout=LONG)) == ROWS
    assert int(sh("find . -type f -name 'q*' | wc -l", cwd=table, timeout=LONG)) == ROWS
    assert int(sh(f"ls -lU | grep -c ' {pattern[:-1]}'", cwd=listed, timeout=LONG)) == ROWS
    assert int(sh("ls -f | sort -u | grep -cv '^\\.'", cwd=listed, timeout=LONG)) == ROWS
    assert int(sh("grep -r . --include='q*' | wc -l", cwd=table, timeout=LONG)) == ROWS
    sh(f"rsync -a {table}/ {outside}/one/", timeout=LONG)
    assert sh(f"rsync -a --itemize-changes {table}/ {outside}/one/", timeout=LONG) == ""
    sh(f"mkdir {outside}/two && tar -C {table} -c . | tar -C {outside}/two -x", timeout=LONG)
    sh(f"diff -r {outside}/one {outside}/two", timeout=LONG)
    sh(f"rsync -a {outside}/one/ {mount.path}/default/u/", timeout=LONG)
    assert sh(f"rsync -a --itemize-changes {outside}/one/ {mount.path}/default/u/", timeout=LONG) == ""
    sh(f"diff -r {table} {mount.path}/default/u", timeout=LONG)
    sh("rm -r t u", cwd=mount / "default", timeout=LONG)
    assert os.listdir(mount / "default") == [".namespace.toml"]


def test_a_listing_survives_concurrent_change(mount):
    family = mount.family()
    count = min(ROWS, 2000)
    for number in range(count):
        (family / f"q{number:05}").write_text("x")
    gone = set()
    for turn in range(3):  # the later ones begin with what the kernel kept of the one before
        os.listdir(family)
        names = []
        with os.scandir(family) as entries:
            for number, entry in enumerate(entries):
                names.append(entry.name)
                if number == count // 4:
                    for changed in range(turn, count, 10):
                        (family / f"q{changed:05}").unlink()
                        (family / f"q{changed:05}-new").write_text("x")
                        gone.add(changed)
        kept = [f"q{number:05}" for number in range(count) if number not in gone]
        assert [name for name in names if name in set(kept)] == kept
        assert len(set(names)) == len(names)


def test_memory_returns_after_a_walk(mount):
    """Look-ups and forgets are exact: what the kernel forgot the daemon does not know either."""
    table = fill_rows(mount)

    def known():
        text = (mount / ".cellfs/status").read_text()
        return int(re.search(r"known_inodes = (\d+)", text)[1])

    def walk():
        sh("find . -ls | wc -l", cwd=table, timeout=LONG)
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("2")

    walk()
    before = mount.memory()
    for _ in range(3):
        walk()
    wait_until(lambda: known() < 50, "the forgets", 20)
    assert mount.memory() < before + 32 * MEBIBYTE


def sizes():
    """Small, middling and large values, in all MEGABYTES."""
    source = random.Random(7)
    left = MEGABYTES * MEBIBYTE
    while left > 0:
        size = min(left, source.choice([source.randrange(1, 2000), source.randrange(1, 100000),
                                        source.randrange(1, 4 * MEBIBYTE)]))
        yield size
        left -= size


def test_megabytes_in_cells_of_all_sizes_read_back_equal(mount):
    family = mount.family()
    source = random.Random(8)
    sums = {}
    for number, size in enumerate(sizes()):
        value = source.randbytes(size)
        sums[f"q{number}"] = hashlib.sha256(value).digest()
        (family / f"q{number}").write_bytes(value)
    for again in range(2):
        assert sorted(os.listdir(family)) == sorted(sums)
        for name, digest in sums.items():
            assert hashlib.sha256((family / name).read_bytes()).digest() == digest, name
        mount.command("flush")
        mount.remount()
