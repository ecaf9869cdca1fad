# SPDX-License-Identifier: MIT
"""mv of a table: one rename, also while somebody is in it."""

import errno
import os
import subprocess

import pytest

from mounts import fails_with, sh, versions
from test_commands import ok, run


def test_a_table_keeps_its_history_owners_and_open_files(mount):
    sh("mkdir -p default/t/r/f archive && echo one >default/t/r/f/q && echo two >default/t/r/f/q &&"
       "chmod 640 default/t/r/f/q && chown 1234:4321 default/t/r/f/q", cwd=mount.path)
    history = versions(mount / "default/t/r/f/q")
    before = os.stat(mount / "default/t/r/f/q")
    with open(mount / "default/t/r/f/q", "a") as log, subprocess.Popen(
            "read x && echo inside >here", shell=True, cwd=mount / "default/t/r/f", stdin=subprocess.PIPE) as inside:
        sh("mv default/t archive/kept", cwd=mount.path)
        log.write("three\n")
        log.flush()
        inside.communicate(b"go\n")
    assert inside.returncode == 0
    assert os.listdir(mount / "default") == [".namespace.toml"]
    assert (mount / "archive/kept/r/f/q").read_text() == "two\nthree\n"
    assert (mount / "archive/kept/r/f/here").read_text() == "inside\n"
    assert versions(mount / "archive/kept/r/f/q")[-len(history):] == history
    after = os.stat(mount / "archive/kept/r/f/q")
    assert (after.st_ino, after.st_mode, after.st_uid, after.st_gid) == \
        (before.st_ino, before.st_mode, before.st_uid, before.st_gid)
    mount.remount()
    assert (mount / "archive/kept/r/f/q").read_text() == "two\nthree\n"
    assert os.stat(mount / "archive/kept/r/f/q").st_uid == 1234
    sh("mkdir -p default/t/r/f && echo new >default/t/r/f/q && rm -r default/t", cwd=mount.path)


def test_commands_rename_too(mount):
    sh("mkdir -p default/t/r/f && echo one >default/t/r/f/q", cwd=mount.path)
    with open(mount / "default/t/r/f/q") as reader:
        ok("rename", mount, "t", "u")
        assert not os.path.exists(mount / "default/t")
        assert (mount / "default/u/r/f/q").read_text() == reader.read() == "one\n"
    ok("rename", mount / "default/u", "default:t")
    assert sorted(os.listdir(mount / "default")) == [".namespace.toml", "t"]
    for words, named in ((["t"], "NEW"), (["t", "absent:t"], "absent"), (["t", "t"], "exists")):
        code, _, error = run("rename", mount, *words)
        assert code == 2 or code == 1, words
        assert named in error


def test_what_mv_copies_says_how_to_keep_the_history(mount):
    sh("mkdir -p default/t/r/f && echo one >default/t/r/f/q", cwd=mount.path)
    with fails_with(errno.EXDEV):
        os.rename(mount / "default/t/r", mount / "default/t/s")
    said = (mount / ".cellfs/errors").read_text()
    assert "controls=visible" in said and "'rsync -a OLD/ NEW/' and 'rm -rf OLD'" in said
    sh("mv default/t/r default/t/s", cwd=mount.path)
    assert (mount / "default/t/s/f/q").read_text() == "one\n"


@pytest.mark.parametrize("old, new, family", [("default/t/r", "default/t/s", "f"), ("default", "ns", "t/r/f")])
def test_the_two_lines_that_keep_the_history(make_mount, old, new, family):
    mount = make_mount("controls=visible")
    sh("mkdir -p default/t/r/f && echo one >default/t/r/f/q && echo two >default/t/r/f/q", cwd=mount.path)
    before = versions(mount / old / family / "q")
    sh(f"rsync -a {old}/ {new}/ && rm -rf {old}{'' if old.count('/') else '/t'}", cwd=mount.path)
    assert not (mount / old / family).exists()
    assert versions(mount / new / family / "q") == before and len(before) == 2
    assert [(mount / new / family / f".versions/q/{stamp}").read_text() for stamp in before] == ["two\n", "one\n"]


def test_only_owners_rename(make_mount):
    mount = make_mount("allow_other")
    sh("chmod 777 default && mkdir -p default/t/r/f && echo one >default/t/r/f/q", cwd=mount.path)
    moved = subprocess.run(["mv", "default/t", "default/u"], cwd=mount.path, user=65534, capture_output=True)
    assert moved.returncode != 0 and (mount / "default/t/r/f/q").read_text() == "one\n"
    sh("chown 65534 default/t", cwd=mount.path)
    subprocess.run(["mv", "default/t", "default/u"], cwd=mount.path, user=65534, check=True)
    assert (mount / "default/u/r/f/q").read_text() == "one\n"
