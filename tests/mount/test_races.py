# SPDX-License-Identifier: MIT
"""Processes race on the same files; each history must be one that files can have."""

import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "linearizability"))
from races import run_rounds  # noqa: E402

SECONDS = float(os.environ.get("CELLFS_RACE_SECONDS", "0.5"))


def test_histories_of_racing_processes_are_linearizable(mount):
    seed = int(os.environ.get("CELLFS_SEED", "0")) or random.randrange(1 << 30)
    print(f"seed {seed}: CELLFS_SEED repeats it, CELLFS_RACE_SECONDS says how long a round is")
    assert run_rounds(mount, 2, SECONDS, seed) == []
