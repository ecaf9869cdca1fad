# SPDX-License-Identifier: MIT
"""Completions in bash, zsh and fish: commands, switches, their values, and paths."""

import os
import pathlib
import shutil
import subprocess

import pytest

from shells import shell

CELLFS = os.environ["CELLFS"]
SCRIPTS = pathlib.Path(os.environ["CELLFS_COMPLETIONS"])


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Looks like a family of a mount: files and directories with awkward names."""
    directory = tmp_path_factory.mktemp("family")
    for name in ("list", "list@1767225600123", "a b", "it's", "x:y"):
        (directory / name).touch()
    (directory / "folder" / "below").mkdir(parents=True)
    return directory


@pytest.fixture(scope="module", params=["bash", "zsh", "fish"])
def complete(request, directory, tmp_path_factory):
    scripts = tmp_path_factory.mktemp("scripts")
    for name in ("cellfs", "_cellfs", "cellfs.fish"):
        shutil.copy(SCRIPTS / name, scripts / name)
    with shell(request.param, scripts, directory) as opened:
        yield opened.complete


def commands():
    """As help lists them."""
    text = subprocess.run([CELLFS, "help"], check=True, capture_output=True, text=True).stdout
    lines = text[text.index("Mounts"):text.index("'cellfs help COMMAND'")].splitlines()
    return [line.split()[0] for line in lines if line.startswith("  ")]


def test_every_command_is_completed(complete):
    assert len(commands()) > 40
    assert set(commands()) <= set(complete("cellfs "))
    assert set(complete("cellfs lo")) == {"log"}


def test_help_takes_a_command(complete):
    assert set(complete("cellfs help un")) == {"undelete"}


def test_switches_of_the_command(complete):
    switches = set(complete("cellfs log --"))
    assert {"--limit", "--since", "--until", "--patch", "--json", "--no-pager"} <= switches
    assert "--at" not in switches


@pytest.mark.parametrize("line, expected", [
    ("cellfs show --at ye", {"yesterday"}),
    ("cellfs status --release al", {"all"}),
    ("cellfs show --format he", {"hex"}),
    ("cellfs put --durability FS", {"FSYNC_WAL"}),
    ("cellfs log --colour ne", {"never"}),
    ("cellfs user_permission . --user roo", {"root"}),
    ("cellfs mount -o names=pr", {"names=printable"}),
    ("cellfs mount -o ro,controls=v", {"ro,controls=visible"}),
    ("cellfs set . maintenance=p", {"maintenance=paused"}),
])
def test_values_of_switches_and_words(complete, line, expected):
    assert set(complete(line)) == expected


@pytest.mark.parametrize("line, expected", [
    ("cellfs log ./fo", "./folder/"),
    ("cellfs log -n 3 folder/b", "folder/below/"),
    ("cellfs log --since yesterday -p ./a", "./a b"),
    ("cellfs log ./list ./it", "./it's"),
    ("cellfs log ./list@", "./list@1767225600123"),
    ("cellfs restore --at -2h ./fo", "./folder/"),
    ("cellfs mount --config li", None),
    ("cellfs check ./x", "./x:y"),
])
def test_paths(complete, line, expected):
    found = complete(line)
    if expected is None:
        assert set(found) == {"list", "list@1767225600123"}
    else:
        assert [name.rstrip("/") for name in found] == [expected.rstrip("/")]


def test_stores_and_mount_points_are_directories(complete):
    assert [name.rstrip("/") for name in complete("cellfs umount ")] == ["folder"]
    assert [name.rstrip("/") for name in complete("cellfs mount folder ./")] == ["./folder"]


def test_a_word_that_is_no_path_is_left_alone(complete):
    assert complete("cellfs get ./list li") == []
    assert complete("cellfs log -n li") == []
