#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes the disk away from a real mount at random moments, as a loss of power does, and looks at what is left.

    CELLFS=build/src/cellfs tests/crash/power_rounds.py [--rounds N] [--minutes M] [--seed S]

As crash_rounds.py, but the store lies on an ext4 of its own, which is shut down without writing anything more:
what was not synced is gone. With FSYNC_WAL every call that returned must be there. Needs root and loop devices.
"""

import fcntl
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mount"))
from crash_rounds import WRITERS, Writer  # noqa: E402
from mounts import CELLFS, Mount, sh  # noqa: E402
import long_run  # noqa: E402

SHUT_DOWN = 0x8004587D  # EXT4_IOC_SHUTDOWN
WITHOUT_LOG = struct.pack("I", 2)  # the file system's own journal is not written out either


class Disk:
    """An ext4 in a file."""

    def __init__(self, directory):
        self.image = directory / "image"
        self.path = directory / "disk"
        self.path.mkdir()
        sh(f"truncate -s 400m {self.image} && mkfs.ext4 -q {self.image}")
        self.mount()

    def mount(self):
        sh(f"mount -o loop {self.image} {self.path}")

    def unmount(self):
        sh(f"umount {self.path}")

    def lose_power(self):
        directory = os.open(self.path, os.O_RDONLY)
        fcntl.ioctl(directory, SHUT_DOWN, WITHOUT_LOG)
        os.close(directory)


def run_round(mount, disk, source, known):
    families = [mount.family(row=f"writer{i}") for i in range(WRITERS)]
    writers = [Writer(f, source.random(), known.get(f, {})) for f in families]
    for writer in writers:
        writer.start()
    time.sleep(source.uniform(0.1, 0.5))
    if command := source.choice(["flush", "compact", ""]):
        subprocess.Popen([CELLFS, command, str(mount.path)], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
        time.sleep(source.uniform(0, 0.3))
    disk.lose_power()
    mount.process.kill()
    for writer in writers:
        writer.join()
    mount.kill9()
    disk.unmount()
    disk.mount()
    _, report, error = sh(f"{CELLFS} check --json {mount.store}", check=False)
    # What was not synced may have holes: that is told, and no fault.
    problems = [str(d) for d in json.loads(report)["damage"]
                if "power was lost" not in d["what"]] if report else [error]
    mount.start()
    for writer in writers:
        problems += writer.judge()
        known[writer.family] = writer.known
    return problems, sum(writer.calls for writer in writers), sum(len(w.known) for w in writers)


def run_rounds(mount, disk, arguments):
    source = random.Random(arguments.seed)
    known, problems = {}, []
    calls = values = done = 0
    end = time.monotonic() + arguments.minutes * 60
    while done < arguments.rounds and time.monotonic() < end and not problems:
        problems, of_round, checked = run_round(mount, disk, source, known)
        done, calls, values = done + 1, calls + of_round, values + checked
    print(f"seed {arguments.seed}: {done} rounds, {calls} calls, {values} values checked, "
          f"{len(problems)} wrong")
    return problems


def main():
    arguments = long_run.arguments_of(__doc__, rounds=100)
    with tempfile.TemporaryDirectory() as name:
        disk = Disk(pathlib.Path(name))
        mount = Mount(disk.path / "store", f"{name}/mnt", "durability=FSYNC_WAL")
        try:
            problems = run_rounds(mount, disk, arguments)
        finally:
            problems_at_end = mount.clean_up()
            disk.unmount()
    long_run.end_with(problems + problems_at_end)


if __name__ == "__main__":
    main()
