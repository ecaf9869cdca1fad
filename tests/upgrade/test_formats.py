# SPDX-License-Identifier: MIT
"""Stores that older programs made (make-store): opened and brought to the present format, or refused by
a line that says what to do, and not touched."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess

import pytest

CELLFS = os.environ["CELLFS"]
HERE = pathlib.Path(__file__).parent
PRESENT = "cellfs store, format 6"


@pytest.fixture
def store_of(tmp_path):
    """store_of(FORMAT): the store, unpacked."""
    def unpack(number):
        shutil.unpack_archive(HERE / f"format-{number}.tar.xz", tmp_path)
        subprocess.run(["chown", "-R", f"{os.geteuid()}:{os.getegid()}", tmp_path], check=True)
        store = tmp_path / "store"
        assert format_of(store) == f"cellfs store, format {number}"
        return store
    return unpack


def format_of(store):
    return (store / "FORMAT").read_text().splitlines()[0]


def run(*arguments):
    done = subprocess.run([CELLFS, *map(str, arguments)], capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def records(*arguments):
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return [json.loads(line) for line in out.splitlines()]


def bytes_of(store):
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(store.rglob("*")) if path.is_file() and path.name != "LOCK"}


@pytest.mark.parametrize("number", [3, 4, 5, 6])
def test_it_is_opened_and_is_of_the_present_format_then(store_of, number):
    store = store_of(number)
    assert run("get", "-b", store, "notes", "monday", "text:list")[:2] == (0, "buy bread\n")
    assert number == 6 or format_of(store) != PRESENT, "who only reads changes nothing"
    assert run("put", store, "notes", "wednesday", "text:list=new")[0] == 0
    assert format_of(store) == PRESENT
    assert run("get", "-b", store, "notes", "tuesday", "text:list")[:2] == (0, "in the log\n")
    assert len(run("get", "-b", store, "notes", "monday", "text:large")[1]) == 20000
    assert run("get", store, "notes", "monday", "text:gone")[0] == 1
    versions = records("get", "--versions", "all", store, "notes", "monday", "text:list")
    assert [version["value"] for version in versions] == ["buy bread\n", "buy milk\n"]
    assert run("undelete", store / "default/notes/monday/text/gone")[0] == 0
    assert run("get", "-b", store, "notes", "monday", "text:gone")[1] == "gone\n"
    assert run("compact", store)[0] == 0
    assert run("check", store)[0] == 0
    assert run("get", "-b", store, "notes", "monday", "text:list")[1] == "buy bread\n"


@pytest.mark.parametrize("number, text", [
    (1, "cellfs store, format 1\n"), (2, "cellfs store, format 2\nid 0123456789abcdef\n")])
def test_one_that_is_too_old_is_refused_and_stays_as_it_is(store_of, number, text, tmp_path):
    store = store_of(4)
    (store / "FORMAT").write_text(text)
    before = bytes_of(store)
    (tmp_path / "m").mkdir()
    for call in (("status", store), ("check", store), ("mount", store, tmp_path / "m")):
        code, _, err = run(*call)
        assert code == 3 and len(err.splitlines()) == 1
        assert f"has format {number}, of an older version" in err
        assert "copy its files out with the version that made it" in err
    assert bytes_of(store) == before


def test_one_of_a_newer_version_is_refused(store_of):
    store = store_of(6)
    (store / "FORMAT").write_text((store / "FORMAT").read_text().replace("format 6", "format 7"))
    before = bytes_of(store)
    code, _, err = run("status", store)
    assert code == 3 and "has format 7, of a newer version" in err
    assert bytes_of(store) == before
