#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The example that embeds the engine does what it says, on a new store and on the same one again, and
neither it nor what it is linked with is FUSE.

    embed_engine.py EXAMPLE
"""

import subprocess
import sys
import tempfile

EXPECTED = """monday: 'buy bread'
tuesday: 'rest'
monday then: 'buy bread' 'buy milk'
monday now: nothing
"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def main():
    example = sys.argv[1]
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(2):
            shown = run(example, directory + "/store")
            assert shown == EXPECTED, shown
    libraries = run("ldd", example)
    assert "sqlite" in libraries and "fuse" not in libraries, libraries


if __name__ == "__main__":
    main()
