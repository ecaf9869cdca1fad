# SPDX-License-Identifier: MIT
"""The main of a program that tries a mount for as long as one likes."""

import argparse
import pathlib
import random
import sys
import tempfile

from mounts import Mount


def arguments_of(description, **numbers):
    """--minutes, --seed and `numbers`, given with their defaults."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    return parser.parse_args()


def end_with(problems):
    """Ends the program: with 1 where there are problems."""
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


def main(description, run, configuration="", **numbers):
    """Mounts a fresh store and calls run(mount, arguments), which returns problems. Arguments as above."""
    arguments = arguments_of(description, **numbers)
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "config.toml"
        file.write_text(configuration)
        mount = Mount(f"{directory}/store", f"{directory}/mnt", config=file)
        try:
            problems = run(mount, arguments)
        finally:
            problems_at_end = mount.clean_up()
    end_with(problems + problems_at_end)
