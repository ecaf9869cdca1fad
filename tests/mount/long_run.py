# SPDX-License-Identifier: MIT
"""The main of a program that tries a mount for as long as one likes."""

import argparse
import pathlib
import random
import sys
import tempfile

from mounts import Mount


def main(description, run, configuration="", **numbers):
    """Mounts a fresh store and calls run(mount, arguments), which returns problems; exits with 1 where there
    are some. Arguments are --minutes, --seed and `numbers`, given with their defaults."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "config.toml"
        file.write_text(configuration)
        mount = Mount(f"{directory}/store", f"{directory}/mnt", config=file)
        try:
            problems = run(mount, arguments)
        finally:
            problems_at_end = mount.clean_up()
    for problem in problems + problems_at_end:
        print(problem)
    sys.exit(1 if problems or problems_at_end else 0)
