#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two mounts and HBase's own client write and read one row at once; what they saw must have been possible.

Also while the region moves and is split, its server is aborted and another master takes over: then every
call returns within its time, what was acknowledged is there, nothing is there twice, and who is told of an
error finds it done once or not at all.

Run by on_hbase: linearizable.py CELLFS
"""

import base64
import contextlib
import errno
import os
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time
import traceback
import unittest

from cluster import NAME, cellfs, control, java

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "linearizability"))
from rows import ABSENT, NEVER, Step, check_counter, check_log, check_row  # noqa: E402

SECONDS = float(os.environ.get("CELLFS_RACE_SECONDS", "10"))
TIMEOUT = 10  # of a request, in seconds
LONGEST = 6 * TIMEOUT  # a call makes a few
PERIOD = 3  # seconds after which other columns are used: each history is short, and judged alone
BEGAN = time.monotonic()
HERE = pathlib.Path(__file__).resolve().parent


def column(name):
    """The one of that name, now."""
    return f"{name}{int((time.monotonic() - BEGAN) / PERIOD):03}"


class Client:
    """Does one thing after the other and records it; of one that fails the outcome is unknown."""

    reads_whole = False

    def __init__(self, name, seed):
        self.name = name  # the first four letters are nobody else's who writes
        self.random = random.Random(f"{name} {seed}")
        self.steps = []
        self.number = 0
        self.failed = 0
        self.longest = 0
        self.problem = ""

    def piece(self):
        self.number += 1
        return f"{self.name:.4}.{self.number:06}"

    def record(self, kind, name, begin, value=ABSENT, failed="", end=None):
        end = end or time.monotonic_ns()
        self.longest = max(self.longest, end - begin)
        if failed and failed != "ENOENT":
            self.failed += 1
            if kind == "read":
                return
            failed, end = "", NEVER
        self.steps.append(Step(kind, begin, end, name, value, failed, self.reads_whole))

    def run(self, acts, stop):
        try:
            while not stop.is_set():
                self.random.choice(acts)()
        except Exception:
            self.problem = f"{self.name}: {traceback.format_exc()}"


class MountClient(Client):
    """One process of a mount. `held`: it and the others of the mount do not use a file that is appended
    to at the same time, for there they see appended bytes before these are put."""

    def __init__(self, family, name, seed, held):
        super().__init__(name, seed)
        self.family = family
        self.held = held

    def call(self, kind, name, act, value=ABSENT):
        begin = time.monotonic_ns()
        failed = ""
        try:
            value = act() if kind == "read" else (act(), value)[1]
        except FileNotFoundError:
            value, failed = ABSENT, "" if kind == "read" else "ENOENT"
        except OSError as error:
            if kind == "read" and error.errno == errno.ESTALE:
                return  # another client removed it behind the open (the manual, "Errors")
            failed = error.strerror
        if kind != "read" or value != ():  # empty: being made, in this mount
            self.record(kind, name, begin, value, failed)

    def write(self, name, kind, mode):
        piece = self.piece()

        def act():
            with (self.family / name).open(mode) as file:
                file.write(piece + "\n")
        self.call(kind, name, act, piece)

    def put(self, name):
        self.write(name, "put", "w")

    def append(self, name):
        with self.held:
            self.write(name, "append", "a")

    def read(self, name):
        self.call("read", name, lambda: tuple((self.family / name).read_text().split()))

    def read_held(self, name):
        with self.held:
            self.read(name)

    def remove(self, name):
        self.call("remove", name, (self.family / name).unlink)

    def put_and_rename(self):
        self.put("source")
        self.call("rename", "source",
                  lambda: (self.family / "source").rename(self.family / "target"), "target")

    def add(self):
        amount = self.random.randrange(1, 100)
        self.call("add", "n", lambda: (self.family / ".counters/n").write_text(f"+{amount}"), amount)

    def count(self):
        self.call("read", "n", lambda: int((self.family / ".counters/n").read_text()))


def without_torn_reads(steps):
    """A file that changes its length while it is read may end early (the manual, "Reading")."""
    changes = [s for s in steps if s.kind != "read"]
    return [s for s in steps if s.kind != "read" or s.is_whole or
            not any(c.begin < s.end and s.begin < c.end for c in changes)]


class JavaClient(Client):
    reads_whole = True

    def __init__(self, process, seed):
        super().__init__("java", seed)
        self.process = process

    def call(self, kind, name, words, value=ABSENT):
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        begin, end, outcome, result = answer.rstrip("\n").split(" ", 3)
        if outcome == "ok" and kind == "read":
            value = int(result) if words.startswith("count") else self.seen(name, result.split(" "))
        if outcome != "refused":
            self.record(kind, name, int(begin), value, "" if outcome == "ok" else result, int(end))

    @staticmethod
    def seen(name, texts):
        values = tuple(ABSENT if text == "-" else tuple(base64.b64decode(text[:-1]).decode().split())
                       for text in texts)
        return values[0] if isinstance(name, str) else values

    def put(self, name):
        piece = self.piece()
        self.call("put", name, f"put {name} {piece}", piece)

    def append(self, name):
        piece = self.piece()
        self.call("append", name, f"append {name} {piece}", piece)

    def read(self, name):
        self.call("read", name, f"get {name}")

    def read_both(self):
        self.call("read", ("source", "target"), "get source target")

    def remove(self, name):
        self.call("remove", name, f"delete {name}")

    def add(self):
        amount = self.random.randrange(1, 100)
        self.call("add", "n", f"add n {amount}", amount)

    def count(self):
        self.call("read", "n", "count n")


class Linearizable(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.stack.callback(shutil.rmtree, self.directory)
        self.table = self._testMethodName[len("test_"):]
        cellfs("create", f"{NAME}default/{self.table}", "f")
        cellfs("incr", f"{NAME}default/{self.table}", "r", "f:n", "0")
        self.seed = random.randrange(1 << 30)
        self.clients = []
        self.threads = []
        self.stop = threading.Event()

    def start(self, client, *acts):
        self.clients.append(client)
        self.threads.append(threading.Thread(target=client.run, args=(acts, self.stop), daemon=True))

    def start_mount(self, name, *more):
        root = self.directory / name
        root.mkdir()
        options = f"cache_time=0,hbase.client.operation.timeout={TIMEOUT * 1000}"
        cellfs("mount", "-o", options, NAME, str(root))
        self.stack.callback(cellfs, "umount", str(root))
        family = root / "default" / self.table / "r/f"
        held = threading.Lock()
        writer = MountClient(family, name, self.seed, held)
        reader = MountClient(family, name + "-reads", self.seed, held)
        self.start(writer, lambda: writer.put(column("shared")), lambda: writer.put(column("passing")),
                   lambda: writer.remove(column("passing")), lambda: writer.append(column("mixed")),
                   lambda: writer.put(column("mixed")), lambda: writer.append("log"), writer.add,
                   *(getattr(writer, act) for act in more))
        self.start(reader, lambda: reader.read(column("shared")), lambda: reader.read(column("passing")),
                   lambda: reader.read_held(column("mixed")), lambda: reader.read("source"),
                   lambda: reader.read("target"), lambda: reader.read_held("log"), reader.count)
        return reader

    def race(self, meanwhile):
        """What went on, judged; how many calls failed."""
        last = self.start_mount("one", "put_and_rename")
        self.start_mount("two")
        process = self.stack.enter_context(java(HERE / "Racer.java", os.environ["CELLFS_TEST_CLUSTER"],
                                                self.table, "r"))
        client = JavaClient(process, self.seed)
        self.start(client, lambda: client.put(column("shared")), lambda: client.read(column("shared")),
                   lambda: client.remove(column("passing")), lambda: client.read(column("passing")),
                   lambda: client.append(column("mixed")), lambda: client.put(column("mixed")),
                   lambda: client.read(column("mixed")), lambda: client.append("log"),
                   lambda: client.read("log"), client.read_both, client.add, client.count)
        for thread in self.threads:
            thread.start()
        try:
            meanwhile()
        finally:
            self.stop.set()
            for thread in self.threads:
                thread.join(LONGEST)
        for thread, one in zip(self.threads, self.clients):
            self.assertFalse(thread.is_alive(), f"a call of {one.name} does not return")
            self.assertEqual(one.problem, "")
            self.assertLess(one.longest / 1e9, LONGEST, one.name)
        written = {s.name for one in self.clients for s in one.steps if isinstance(s.name, str)}
        for name in written - {"n"}:
            last.read(name)
        last.count()
        self.print_errors()
        self.judge(last)
        return sum(one.failed for one in self.clients if one is not client)

    def print_errors(self):
        """What the mounts say of calls that failed."""
        for root in sorted(self.directory.iterdir()):
            for line in (root / ".cellfs/errors").read_text().splitlines()[-8:]:
                print(f"{root.name}: {line}", flush=True)

    def judge(self, last):
        steps = [step for one in self.clients for step in one.steps]
        of = {}
        for step in steps:
            of.setdefault("pair" if "source" in step.name or "target" in step.name else step.name, []).append(step)
        problems = []
        for name in of.keys() - {"log", "n"}:
            problems += check_row(without_torn_reads(of[name]) if name.startswith("mixed") else of[name])
        final = {s.name: s.value for s in last.steps}
        problems += check_log("log", of["log"], final["log"]) + check_counter("n", of["n"], final["n"])
        self.assertEqual(problems, [], f"seed {self.seed}\n" + "\n".join(problems))
        print(f"{self.table}: {len(steps)} steps on {len(of)} columns, failed: "
              f"{ {one.name: one.failed for one in self.clients} }, longest: "
              f"{max(one.longest for one in self.clients) / 1e9:.1f} s", flush=True)

    def test_in_peace(self):
        self.assertEqual(self.race(lambda: time.sleep(SECONDS)), 0)

    def test_while_regions_move(self):
        control("add_server")

        def move():
            for command in ("move default:%s", "split default:%s q", "move default:%s"):
                time.sleep(SECONDS / 4)
                control(command % self.table)
            time.sleep(SECONDS / 4)
        self.assertEqual(self.race(move), 0)

    def test_while_servers_die(self):
        def kill():
            for command in ("restart_server", "restart_master", "restart_server"):
                time.sleep(SECONDS / 4)
                control(command)
            time.sleep(SECONDS / 4)
        self.race(kill)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
