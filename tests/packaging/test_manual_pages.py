# SPDX-License-Identifier: MIT
"""The manual pages: groff has nothing to say against them, and they say what --help says."""

import os
import pathlib
import re
import subprocess

import pytest

CELLFS = os.environ["CELLFS"]
MANUALS = pathlib.Path(os.environ["CELLFS_MANUALS"])
PAGES = sorted([*MANUALS.glob("*.[158]"), *MANUALS.glob("man1/*.1")])


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)


def shown(page):
    """Its words as a terminal shows them, with one blank between each two."""
    text = output_of("groff", "-man", "-Tascii", "-P-cbou", "-rHY=0", os.fspath(page)).stdout
    return " ".join(text.split())


def words_of_help(command):
    """Switches and explanations of `cellfs COMMAND --help`, in the order in which they stand."""
    text = output_of(CELLFS, command, "--help").stdout
    text = re.sub(r"\n {30}", " ", text)
    lines = re.findall(r"^  (\S.*?)  +(\S.*)$", text[text.index("Usage:"):], re.MULTILINE)
    return [(name.split()[0], " ".join(meaning.split())) for name, meaning in lines
            if "print this help" not in meaning.lower()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_groff_warns_of_nothing(page):
    assert output_of("groff", "-man", "-Tutf8", "-ww", "-z", os.fspath(page)).stderr == ""


def test_every_command_has_a_page():
    commands = re.findall(r"^  (\w+)  ", output_of(CELLFS, "help").stdout, re.MULTILINE)
    commands = [command for command in commands if not command.isdigit()]
    assert len(commands) > 40
    assert {f"cellfs-{command}.1" for command in commands} == {page.name for page in PAGES if "-" in page.name}


@pytest.mark.parametrize("command", ["log", "scan", "check_and_put", "mount", "set_quota", "create"])
def test_a_page_says_what_help_says(command):
    page = shown(MANUALS / "man1" / f"cellfs-{command}.1")
    explained = words_of_help(command)
    assert explained
    for name, meaning in explained:
        assert meaning in page
        for switch in name.split(","):
            assert not switch.startswith("-") or switch in page


def test_every_key_of_the_configuration_is_explained():
    page = shown(MANUALS / "cellfs.toml.5")
    configuration = output_of(CELLFS, "config").stdout
    keys = re.findall(r"^([\w.'\"]+) =", configuration, re.MULTILINE)
    assert len(keys) > 30
    for key in keys:
        assert f"{key} =" in page
