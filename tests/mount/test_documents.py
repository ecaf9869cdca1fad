# SPDX-License-Identifier: MIT
"""What a document shows is what happens: its blocks of commands run in their order, and print what stands below each, if anything does."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from mounts import CELLFS

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMESTAMP = re.compile(r"\d{13}")


def steps(text):
    """Commands of indented blocks, and what each prints."""
    found = []
    for line in text.splitlines():
        if not line.startswith("    "):
            found.append(None)  # the block ends
        elif line.startswith("    $ "):
            found.append((line[6:], []))
        elif found and found[-1] is not None:
            found[-1][1].append(line.strip())
    return [step for step in found if step is not None]


class Shell:
    def __init__(self, home):
        (home / "bin").mkdir(parents=True)
        (home / "bin/cellfs").symlink_to(shutil.which(CELLFS))
        environment = {**os.environ, "HOME": str(home), "PATH": f"{home}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, cwd=home, env=environment)

    def run(self, command):
        self.process.stdin.write(f"{command}\nprintf '\\n=%s=\\n' $?\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if ended := re.fullmatch(r"=(\d+)=\n", line):
                return "".join(lines).split(), int(ended[1])
            lines.append(line)
        raise AssertionError(f"the shell has ended in {command}: {lines}")

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


@pytest.mark.parametrize("name", ["README.md", "docs/hbase.md"])
def test_a_document_shows_what_happens(name, tmp_path):
    shell = Shell(tmp_path / "home")
    real = {}  # timestamps by those in the document
    try:
        for command, shown in steps((ROOT / name).read_text()):
            command = TIMESTAMP.sub(lambda found: real.get(found[0], found[0]), command)
            words, code = shell.run(command)
            expected = " ".join(shown).split()
            assert code == 0 and len(words) == len(expected or words), (command, words)
            for word, other in zip(words, expected, strict=False):
                if TIMESTAMP.fullmatch(other) and TIMESTAMP.fullmatch(word):
                    real[other] = word
                else:
                    assert word == other, (command, words)
    finally:
        shell.end()
        subprocess.run([CELLFS, "umount", "--lazy", tmp_path / "home/m"], check=False, capture_output=True, timeout=60)


def test_the_recorded_session_is_what_happens():
    recorded = subprocess.run([ROOT / "scripts/record-session", CELLFS], check=True, capture_output=True, text=True, timeout=60)
    shown = (ROOT / "docs/session.svg").read_text()
    assert TIMESTAMP.sub("T", recorded.stdout) == TIMESTAMP.sub("T", shown), "scripts/record-session makes it anew"
