# SPDX-License-Identifier: MIT
"""Processes that read and write the same few files at once, and record what they did and saw.

The files of a row are, in its families:
    busy/q0, q1   everything: written, appended to, removed, replaced, made exclusively
    busy/log      appended to
    busy/n        a counter
    kept/put, kept/saved   written, or replaced as editors do; every version is kept
"""

import errno
import multiprocessing
import os
import pathlib
import pickle
import random
import re
import time
import traceback

from checker import ABSENT, Operation

SIZES = [0, 0, 10, 100, 300, 5000, 5000, 200000]
HEADER = re.compile(rb"<(\w+\.\d+\.(\d+))>")
DETACHED = (errno.ENOTCONN, errno.ECONNABORTED, errno.ENODEV)


class Unmounted(Exception):
    """Nothing is mounted there any more."""


def encode(piece):
    """The bytes of a piece, PROCESS.NUMBER.SIZE; no two pieces share a line."""
    size = int(piece.rpartition(".")[2])
    line = b"<" + piece.encode() + b">"
    return line + (line * (size // len(line) + 1))[:size]


def decode(data):
    """The pieces that the data is made of; the data itself where it is something else."""
    pieces = []
    at = 0
    while at < len(data):
        found = HEADER.match(data, at)
        if not found:
            return data
        piece = found[1].decode()
        expected = encode(piece)
        if data[at:at + len(expected)] != expected:
            return data
        pieces.append(piece)
        at += len(expected)
    return tuple(pieces)


def now():
    return time.monotonic_ns()


class Worker:
    """Does one operation after the other and records each in `history`: {file: [Operation]}."""

    def __init__(self, row, name, seed, sizes=SIZES):
        self.row = pathlib.Path(row)
        self.name = name
        self.random = random.Random(seed)
        self.history = {}
        self.number = 0
        self.sizes = sizes

    def record(self, file, *operation, **named):
        self.history.setdefault(file, []).append(Operation(*operation, **named))

    def piece(self, sizes=None):
        self.number += 1
        return f"{self.name}.{self.number}.{self.random.choice(sizes or self.sizes)}"

    def step(self):
        q = f"busy/q{self.random.randrange(2)}"
        act, file = self.random.choice([
            (self.read, q), (self.read, q), (self.read, q), (self.write, q), (self.write, q),
            (self.append, q), (self.unlink, q), (self.replace, q), (self.make_exclusively, q),
            (self.append, "busy/log"), (self.read_sometimes, "busy/log"),
            (self.add, "busy/n"), (self.count, "busy/n"),
            (self.write, "kept/put"), (self.read, "kept/put"),
            (self.replace, "kept/saved"), (self.read, "kept/saved")])
        act(file)

    # ---- Operations ------------------------------------------------------------------------------

    def read(self, file):
        begin = now()
        try:
            descriptor = os.open(self.row / file, os.O_RDONLY)
        except FileNotFoundError:
            end = now()
            self.must_be_mounted()
            self.record(file, "read", begin, end, ABSENT)
            return
        try:
            data = b"".join(iter(lambda: os.read(descriptor, 1 << 20), b""))
        finally:
            os.close(descriptor)
        self.record(file, "read", begin, now(), decode(data))

    def read_sometimes(self, file):
        if self.random.random() < 0.1:  # it becomes long
            self.read(file)

    def write(self, file):
        self.open_and_put(file, "put", os.O_TRUNC)

    def make_exclusively(self, file):
        begin = now()
        failed = ""
        try:
            os.close(self.must_be_mounted_for(lambda: os.open(
                self.row / file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)))
        except FileExistsError:
            failed = "EEXIST"
        self.record(file, "make", begin, now(), failed=failed)

    def append(self, file):
        self.open_and_put(file, "append", os.O_APPEND, [10] if file == "busy/log" else None)

    def open_and_put(self, file, kind, flags, sizes=None):
        piece = self.piece(sizes)
        begin = now()
        descriptor = self.must_be_mounted_for(
            lambda: os.open(self.row / file, os.O_WRONLY | os.O_CREAT | flags, 0o644))
        opened = now()
        self.record(file, "open", begin, opened, handle=piece)
        try:
            os.write(descriptor, encode(piece))
            wrote = now()
        finally:
            os.close(descriptor)
        began = opened if flags & os.O_TRUNC else wrote
        self.record(file, kind, opened, now(), piece, handle=piece, began=began)

    def unlink(self, file):
        begin = now()
        failed = ""
        try:
            os.unlink(self.row / file)
        except FileNotFoundError:
            failed = "ENOENT"
        end = now()
        if failed:
            self.must_be_mounted()
        self.record(file, "unlink", begin, end, failed=failed)

    def replace(self, file):
        piece = self.piece()
        target = self.row / file
        temporary = target.with_name(f"{target.name}.{self.name}.tmp")
        self.must_be_mounted_for(lambda: temporary.write_bytes(encode(piece)))
        begin = now()
        self.must_be_mounted_for(lambda: os.rename(temporary, target))
        self.record(file, "replace", begin, now(), piece)

    def add(self, file):
        amount = self.random.randrange(1, 100)
        begin = now()
        self.must_be_mounted_for(lambda: self.counter(file).write_text(f"+{amount}"))
        self.record(file, "add", begin, now(), amount)

    def count(self, file):
        begin = now()
        text = self.must_be_mounted_for(lambda: self.counter(file).read_text())
        self.record(file, "read", begin, now(), int(text))

    def counter(self, file):
        path = self.row / file
        return path.parent / ".counters" / path.name

    def must_be_mounted_for(self, call):
        try:
            return call()
        except FileNotFoundError:
            self.must_be_mounted()
            raise

    def must_be_mounted(self):
        if not self.row.exists():
            raise Unmounted


def work(row, name, seed, sizes, stop, deadline, result):
    """The body of a process: its history, and what went wrong, go to the file `result`."""
    worker = Worker(row, name, seed, sizes)
    problem = ""
    try:
        while not stop.is_set() and time.monotonic() < deadline:
            worker.step()
    except Unmounted:
        pass
    except OSError as error:
        if error.errno not in DETACHED:
            problem = f"{name}: {traceback.format_exc()}"
    with open(result, "wb") as file:
        pickle.dump((worker.history, problem), file)


class Workers:
    """Several of them, in processes of their own."""

    def __init__(self, row, count, seed, seconds, directory, sizes=SIZES):
        fork = multiprocessing.get_context("fork")
        self.stop_event = fork.Event()
        self.deadline = time.monotonic() + seconds
        source = random.Random(seed)
        self.results = [pathlib.Path(directory) / f"w{i}.history" for i in range(count)]
        self.processes = [
            fork.Process(target=work, daemon=True, args=(
                row, f"w{i}", source.random(), sizes, self.stop_event, self.deadline, self.results[i]))
            for i in range(count)]
        for process in self.processes:
            process.start()

    def join(self, patience=60):
        """({file: [Operation]}, problems) of all of them."""
        history = {}
        problems = []
        for process, result in zip(self.processes, self.results):
            process.join(max(0, self.deadline - time.monotonic()) + patience)
            if process.is_alive():
                problems.append(f"a call of process {process.pid} does not return")
                process.kill()
                continue
            if not result.exists():
                problems.append(f"process {process.pid} failed")
                continue
            of_one, problem = pickle.loads(result.read_bytes())
            result.unlink()
            problems += [problem] if problem else []
            for file, operations in of_one.items():
                history.setdefault(file, []).extend(operations)
        return history, problems
