#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills the daemon of a real mount at random moments, under several writers, and looks at what is left.

    CELLFS=build/src/cellfs tests/crash/crash_rounds.py [--rounds N] [--minutes M] [--seed S]

Writers overwrite, append, fsync, rename and remove files of their own; the store is flushed and
compacted meanwhile. After each death the store must hold, of every file, what the last call that
returned promised, or what the call that was under way would have made of it; nothing else. Ends with
code 1 where it does not. Run it for an hour: --minutes 60.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mount"))
import long_run  # noqa: E402
from mounts import CELLFS, sh  # noqa: E402

WRITERS = 4
NAMES = 12


class Writer(threading.Thread):
    """Works on files of its own until the mount is gone. A state is {name: bytes or None}."""

    def __init__(self, family, seed, known):
        super().__init__()
        self.family = family
        self.random = random.Random(seed)
        self.known = dict(known)  # what the calls that returned promise
        self.possible = {}        # what the call under way may make of it as well
        self.calls = 0

    def run(self):
        try:
            while True:
                self.step()
                self.calls += 1
        except OSError:
            pass

    def step(self):
        name = f"q{self.random.randrange(NAMES)}"
        data = b"%d %d " % (id(self), self.calls) + self.random.randbytes(
            self.random.choice([0, 10, 300, 5000, 200000]))
        before = self.known.get(name)
        act = self.random.choice(["write", "write", "write", "append", "fsync", "rename", "unlink"])
        if act in ("write", "fsync"):
            self.change({name: data}, lambda: self.write(name, "wb", data, act == "fsync"))
        elif act == "append":
            self.change({name: (before or b"") + data}, lambda: self.write(name, "ab", data, False))
        elif act == "unlink" and before is not None:
            self.change({name: None}, (self.family / name).unlink)
        elif act == "rename" and before is not None:
            other = f"q{self.random.randrange(NAMES)}"
            if other != name:
                self.change({name: None, other: before},
                            lambda: os.rename(self.family / name, self.family / other))

    def write(self, name, mode, data, sync):
        with open(self.family / name, mode, buffering=0) as file:
            file.write(data)
            if sync:
                os.fsync(file.fileno())

    def change(self, to, call):
        self.possible = to
        call()
        self.known.update(to)
        self.possible = {}

    def judge(self):
        """What is wrong with the files that are there now; takes them for known."""
        problems = []
        for name in sorted(set(self.known) | set(self.possible)):
            path = self.family / name
            found = path.read_bytes() if path.exists() else None
            # What was under way has happened or not.
            if found not in (self.known.get(name), {**self.known, **self.possible}.get(name)):
                shown = "nothing" if found is None else f"{len(found)} bytes {found[:24]!r}"
                problems.append(f"{path}: {shown} is not what was written")
            self.known[name] = found
        return problems


def run_round(mount, source, known):
    families = [mount.family(row=f"writer{i}") for i in range(WRITERS)]
    writers = [Writer(f, source.random(), known.get(f, {})) for f in families]
    for writer in writers:
        writer.start()
    for command in source.sample(["flush", "compact", "", ""], 2):
        time.sleep(source.uniform(0, 0.3))
        if command:
            subprocess.Popen([CELLFS, command, str(mount.path)], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    time.sleep(source.uniform(0, 0.3))
    mount.process.kill()
    for writer in writers:
        writer.join()
    mount.kill9()
    problems = []
    _, report, error = sh(f"{CELLFS} check --json {mount.store}", check=False)
    problems += [str(d) for d in json.loads(report)["damage"]] if report else [error]
    mount.start()
    for writer in writers:
        problems += writer.judge()
        known[writer.family] = writer.known
    return problems, sum(writer.calls for writer in writers), sum(len(w.known) for w in writers)


def run_rounds(mount, rounds, seconds, seed, report=print):
    """The problems of all rounds."""
    source = random.Random(seed)
    known = {}
    problems = []
    calls = values = done = 0
    end = time.monotonic() + seconds
    while done < rounds and time.monotonic() < end and not problems:
        problems, of_round, checked = run_round(mount, source, known)
        done, calls, values = done + 1, calls + of_round, values + checked
    report(f"seed {seed}: {done} rounds, {calls} calls, {values} values checked, "
           f"{len(problems)} wrong")
    return problems


if __name__ == "__main__":
    long_run.main(__doc__, lambda mount, arguments: run_rounds(
        mount, arguments.rounds, arguments.minutes * 60, arguments.seed), rounds=100)
