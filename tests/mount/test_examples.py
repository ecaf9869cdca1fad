# SPDX-License-Identifier: MIT
"""The examples run to their end, and each of them checks what it shows."""

import os
import pathlib
import shutil
import subprocess

import pytest

from mounts import CELLFS

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
LONGEST = 280  # seconds


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.sh") if path.name != "common.sh"))
def test_an_example_runs_to_its_end(name, tmp_path):
    run = subprocess.run(["bash", EXAMPLES / name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=LONGEST, cwd=tmp_path,
                         env={**os.environ, "CELLFS": shutil.which(CELLFS), "TMPDIR": str(tmp_path)})
    text = run.stdout.decode(errors="replace")
    assert run.returncode == 0, text
    assert "has run to its end" in text.splitlines()[-1]
    assert str(tmp_path) not in pathlib.Path("/proc/self/mountinfo").read_text()
    assert [path.name for path in tmp_path.iterdir()] == []  # it takes away what it made
