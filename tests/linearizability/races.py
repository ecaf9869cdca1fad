#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes race on the same files of a real mount; what they saw must have been possible.

    CELLFS=build/src/cellfs tests/linearizability/races.py [--minutes M] [--seed S]

In each round they read, write, append, remove, replace, make exclusively and count, while the store is
flushed, compacted and listed; in every other one it is unmounted under their hands. Then the recorded
history is judged (checker.py), after a remount where there was one. Ends with code 1 where something was
not possible. Run it for an hour: --minutes 60.
"""

import itertools
import os
import pathlib
import random
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mount"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import long_run  # noqa: E402
from checker import Operation, check_counter, check_file, check_history, check_log  # noqa: E402
from mounts import CELLFS, PATIENCE  # noqa: E402
from workers import SIZES, Worker, Workers, decode  # noqa: E402

WORKERS = 4
ROUND = 8  # seconds of a round of a long run
SCHEMA = """
[families.busy]
VERSIONS = 3
KEEP_DELETED_CELLS = "TRUE"
[families.kept]
VERSIONS = 1000000
"""


class Disturber(threading.Thread):
    """Flushes, compacts and lists until it is stopped."""

    def __init__(self, mount, row, seed):
        super().__init__()
        self.mount = mount
        self.row = row
        self.random = random.Random(seed)
        self.stopping = threading.Event()
        self.problems = []
        self.done = 0

    def run(self):
        acts = [self.flush, self.compact, self.list, self.list_versions, self.look_back]
        while not self.stopping.wait(self.random.uniform(0, 0.05)):
            self.random.choice(acts)()
            self.done += 1

    def stop(self):
        self.stopping.set()
        self.join()

    def command(self, *arguments):
        done = subprocess.run([CELLFS, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE)
        if done.returncode != 0:
            self.problems.append(f"{' '.join(arguments)}: {done.stderr}")

    def flush(self):
        self.command("flush", str(self.mount))

    def compact(self):
        self.command("compact", str(self.mount), *self.random.choice([[], ["--minor"]]))

    def list(self):
        names = os.listdir(self.row / "kept")
        if len(set(names)) != len(names):
            self.problems.append(f"a listing names something twice: {sorted(names)}")
        if not {"put", "saved"} <= set(names):
            self.problems.append(f"a listing leaves out what is there: {sorted(names)}")

    def list_versions(self):
        for file in ("kept/put", "kept/saved", "busy/q0"):
            path = self.row / file
            try:
                stamps = [int(name) for name in os.listdir(path.parent / ".versions" / path.name)]
            except FileNotFoundError:
                continue
            if any(newer <= older for newer, older in itertools.pairwise(stamps)):
                self.problems.append(f"{file}: the history is not in strict order: {stamps}")

    def look_back(self):
        """What a moment shows stays what it is."""
        moments = self.row.parent / ".asof"
        row = moments / os.readlink(moments / "now") / self.row.name
        files = ("kept/put", "kept/saved", "busy/q0", "busy/log")
        before, after = ([self.look_at(row / file) for file in files] for _ in range(2))
        if before != after:
            self.problems.append(f"{row} changed from {before} to {after}")

    @staticmethod
    def look_at(path):
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        return decode(data)


def prepare(mount, row):
    """The row's directory, with the first values; the history of making them."""
    if not (mount / "default/t").exists():
        mount.schema(SCHEMA)
    path = mount / "default/t" / row
    path.mkdir()
    for family in ("busy", "kept"):
        (path / family).mkdir()
    first = Worker(path, "first", 0)
    first.write("kept/put")
    first.replace("kept/saved")
    first.append("busy/log")
    first.add("busy/n")
    return path, first.history


def judge(row, history):
    """(problems, operations judged) of all the files; reads what they hold at last."""
    last = Worker(row, "last", 0)
    problems = []
    for file in ("busy/q0", "busy/q1", "kept/put", "kept/saved"):
        last.read(file)
        of_file, _ = check_file(file, history.get(file, []) + last.history[file])
        problems += of_file
    for file, kind in (("kept/put", "put"), ("kept/saved", "replace")):
        puts = [o for o in history[file] if o.kind == kind]
        problems += check_history(file, puts, versions_of(row / file))
    log = (row / "busy/log").read_bytes()
    problems += check_log("busy/log", history["busy/log"], decode(log))
    problems += check_counter("busy/n", history["busy/n"], int(last.counter("busy/n").read_text()))
    return problems, sum(len(operations) for operations in history.values())


def versions_of(path):
    """[(timestamp, piece)] as listed."""
    found = []
    for name in os.listdir(path.parent / ".versions" / path.name):
        pieces = decode((path.parent / f"{path.name}@{name}").read_bytes())
        found.append((int(name), pieces[0] if len(pieces) == 1 else pieces))
    return found


def run_round(mount, name, seconds, seed, unmount, sizes=SIZES):
    """(problems, operations judged)."""
    row, history = prepare(mount, name)
    workers = Workers(row, WORKERS, seed, seconds, mount.path.parent, sizes)
    disturber = Disturber(mount, row, seed)
    disturber.start()
    time.sleep(seconds * 0.9 if unmount else seconds)
    disturber.stop()
    if unmount:
        subprocess.run([CELLFS, "umount", "-l", str(mount)], check=True, timeout=PATIENCE)
    of_workers, problems = workers.join()
    for file, operations in of_workers.items():
        history.setdefault(file, []).extend(operations)
    problems += disturber.problems
    if unmount:
        code = mount.process.wait(PATIENCE)
        if code != 0:
            problems.append(f"the daemon ended with {code}: {mount.log_text()[-2000:]}")
        mount.start()
    if problems:
        return problems, 0
    problems, judged = judge(row, history)
    if not problems:
        shutil.rmtree(row)  # so that the disk is not full after an hour
    return problems, judged


def run_rounds(mount, rounds, seconds, seed, report=print):
    """The problems of `rounds` rounds of that many seconds."""
    source = random.Random(seed)
    judged = 0
    problems = []
    begin = time.monotonic()
    for number in range(rounds):
        problems, of_round = run_round(mount, f"round{number:05}", seconds, source.randrange(1 << 30),
                                       unmount=number % 2 == 0)
        judged += of_round
        if problems:
            break
    report(f"seed {seed}: {judged} operations in {time.monotonic() - begin:.0f} s, "
           f"{len(problems)} problems")
    return problems


def run(mount, arguments):
    rounds = max(1, int(arguments.minutes * 60 / ROUND))
    return run_rounds(mount, rounds, ROUND, arguments.seed)


if __name__ == "__main__":
    long_run.main(__doc__, run)
