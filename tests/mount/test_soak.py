# SPDX-License-Identifier: MIT
"""What the daemon uses stays bounded under load; an hour of it: tests/soak/soak.py."""

import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "soak"))
from soak import CONFIGURATION, run  # noqa: E402


def test_memory_descriptors_threads_and_log_stay_bounded(make_mount, tmp_path):
    seed = int(os.environ.get("CELLFS_SEED", "0")) or random.randrange(1 << 30)
    (tmp_path / "config.toml").write_text(CONFIGURATION)
    mount = make_mount(config=tmp_path / "config.toml")
    assert run(mount, 2, 1, seed) == []
