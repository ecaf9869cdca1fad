#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Watches what the daemon uses under a mixed load: memory, descriptors, threads and log stay bounded.

    CELLFS=build/src/cellfs tests/soak/soak.py [--minutes M] [--seed S]

The load is that of tests/linearizability, judged as there, with small memstores, so that the log is cut
all the time. Meanwhile a moment (.asof) and a directory are held open, which must not keep the log, and
/.cellfs/status must name the moment. Ends with code 1 where something grew. Run it for an hour:
--minutes 60.
"""

import os
import pathlib
import random
import re
import sys
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "mount"), str(TESTS / "linearizability")]
import long_run  # noqa: E402
from mounts import TRANSPORT  # noqa: E402
from races import run_round  # noqa: E402

MEBIBYTE = 1 << 20
FLUSH_SIZE = MEBIBYTE
ROUND = 15  # seconds of a round of a long run
SIZES = [0, 10, 100, 300, 5000]
# The log may reach twice the flush size before old memstores are flushed, and writers go on up to four
# times it while they are; twice that, for a flush waits for its turn.
MOST_LOG = 2 * (2 + 4) * FLUSH_SIZE
# Those that serve requests, the daemon's own, one in the place of each that waits for the kernel,
# of which the four processes of the load can keep as many, and those that make delayed puts. With
# io_uring each processor has threads of its own, which stay when others took their place.
MOST_THREADS = 10 + 10 + 4 + 8 + (2 * os.cpu_count() if TRANSPORT == "uring" else 0)
MOST_DESCRIPTORS = 200     # 128 idle connections to store files, and those in use
MOST_GROWTH = 48 * MEBIBYTE  # of memory, after the first third; malloc has an arena for each processor
CONFIGURATION = f"[store]\ncache_size = {4 * MEBIBYTE}\n[site]\n" \
                f"'hbase.hregion.memstore.flush.size' = '{FLUSH_SIZE}'\n"


class Sampler(threading.Thread):
    """Samples what the daemon uses until it is stopped: [(memory, descriptors, threads, log)]."""

    def __init__(self, mount, interval):
        super().__init__()
        self.mount = mount
        self.interval = interval
        self.stopping = threading.Event()
        self.samples = []

    def run(self):
        while not self.stopping.wait(self.interval):
            self.samples.append(self.sample())

    def sample(self):
        process = pathlib.Path(f"/proc/{self.mount.pid}")
        log = 0
        for segment in (self.mount.store / "wal").iterdir():
            try:
                log += segment.stat().st_size
            except FileNotFoundError:
                pass  # cut just now
        threads = re.search(r"Threads:\s+(\d+)", (process / "status").read_text())
        return (self.mount.memory(), len(os.listdir(process / "fd")), int(threads[1]), log)

    def stop(self):
        self.stopping.set()
        self.join()


def judge(samples):
    """What is not bounded."""
    memory, descriptors, threads, log = zip(*samples)
    third = len(samples) // 3 + 1
    growth = max(memory[third:], default=0) - max(memory[:third])
    figures = [("memory grew by", growth, MOST_GROWTH), ("descriptors:", max(descriptors), MOST_DESCRIPTORS),
               ("threads:", max(threads), MOST_THREADS), ("bytes of log:", max(log), MOST_LOG)]
    return [f"{what} {value}, more than {most}" for what, value, most in figures if value > most]


class Held:
    """A moment and a directory, held open while others write."""

    def __init__(self, mount):
        table = mount / "default/held"
        family = table / "r/f"
        family.mkdir(parents=True)
        for number in range(300):
            (family / f"q{number:03}").write_text("x")
        self.mount = mount
        self.moment = os.readlink(mount / "default/.asof/now")
        self.file = open(mount / "default/.asof" / self.moment / "held/r/f/q000")
        self.entries = os.scandir(family)
        self.names = [next(self.entries).name]

    def problems(self):
        """What is wrong with them after all."""
        problems = []
        if f"time = {self.moment}" not in (self.mount / ".cellfs/status").read_text():
            problems.append("the status does not name the moment that is held")
        self.names += [entry.name for entry in self.entries]
        if self.names != [f"q{number:03}" for number in range(300)]:
            problems.append(f"the directory held open shows {len(self.names)} of 300 names")
        if self.file.read() != "x":
            problems.append("the file held open has changed")
        return problems

    def close(self):
        self.entries.close()
        self.file.close()


def run(mount, seconds, round_seconds, seed, report=print):
    """The problems of a soak of that length."""
    held = Held(mount)
    sampler = Sampler(mount, min(1, seconds / 60))
    source = random.Random(seed)
    problems = []
    judged = number = 0
    sampler.start()
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end and not problems:
            problems, of_round = run_round(mount, f"round{number:05}", round_seconds,
                                           source.randrange(1 << 30), unmount=False, sizes=SIZES)
            judged, number = judged + of_round, number + 1
        problems += held.problems()
    finally:
        sampler.stop()
        held.close()
    highest = [max(values) for values in zip(*sampler.samples)]
    report(f"seed {seed}: {judged} operations; at most {highest[0] // MEBIBYTE} MiB of memory, "
           f"{highest[1]} descriptors, {highest[2]} threads, {highest[3]} bytes of log")
    return problems + judge(sampler.samples)


if __name__ == "__main__":
    long_run.main(__doc__, lambda mount, arguments: run(
        mount, arguments.minutes * 60, ROUND, arguments.seed), configuration=CONFIGURATION)
