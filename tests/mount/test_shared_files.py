# SPDX-License-Identifier: MIT
"""Who opens a file to read and write it shares its bytes with all who write it, as they come: through
reads, sizes and mappings, whether or not they are put, and whoever made or truncated it.

CELLFS_SEED repeats a run, CELLFS_MODEL_SECONDS makes it longer.
"""

import mmap
import os
import random
import subprocess
import sys
import time

import pytest

from mounts import fails_with, versions

SECONDS = float(os.environ.get("CELLFS_MODEL_SECONDS", "5"))


class SharedFile:
    """One file that is open several times, and a model of its bytes."""

    FLAGS = [os.O_RDWR, os.O_RDWR, os.O_RDWR, os.O_WRONLY, os.O_RDWR | os.O_APPEND, os.O_WRONLY | os.O_APPEND]

    def __init__(self, directory, seed):
        self.random = random.Random(seed)
        self.path = directory / "q"
        self.bytes = bytearray()
        self.handles = {}  # descriptor: flags
        self.log = []
        self.begin()

    def begin(self):
        """The first handle may make or truncate the file."""
        flags = self.random.choice([0, os.O_APPEND, os.O_TRUNC, os.O_TRUNC, os.O_EXCL])
        if flags == os.O_EXCL:
            self.path.unlink(missing_ok=True)
        if flags in (os.O_TRUNC, os.O_EXCL):
            self.bytes = bytearray()
        self.add(self.random.choice([os.O_RDWR, os.O_WRONLY]) | os.O_CREAT | flags)
        if self.random.random() < 0.5:
            self.write()
        self.add(os.O_RDWR)

    def add(self, flags):
        self.log.append(f"open {flags:#o}")
        self.handles[os.open(self.path, flags, 0o644)] = flags

    def some(self, readable=False):
        able = [d for d, flags in self.handles.items() if not readable or flags & os.O_ACCMODE == os.O_RDWR]
        return self.random.choice(able) if able else None

    def offset(self):
        return self.random.choice([0, len(self.bytes), self.random.randint(0, len(self.bytes) + 3000)]) % 100000

    # ---- Calls ---------------------------------------------------------------------------------

    def open(self):
        if len(self.handles) < 5:
            self.add(self.random.choice(self.FLAGS))

    def close(self):
        descriptor = self.some()
        del self.handles[descriptor]
        os.close(descriptor)
        if not self.handles:
            assert self.path.read_bytes() == self.bytes, "read by another"
            self.begin()

    def close_all(self):
        while self.handles:
            os.close(self.handles.popitem()[0])

    def write(self):
        descriptor, offset = self.some(), self.offset()
        data = self.random.randbytes(self.random.choice([1, 100, 4096, self.random.randint(1, 9000)]))
        if self.handles[descriptor] & os.O_APPEND:
            offset = len(self.bytes)
        assert os.pwrite(descriptor, data, offset) == len(data)
        self.resize(max(len(self.bytes), offset))
        self.bytes[offset:offset + len(data)] = data

    def resize(self, size):
        del self.bytes[size:]
        self.bytes.extend(bytes(size - len(self.bytes)))

    def truncate(self):
        size = self.offset()
        os.ftruncate(self.some(), size)
        self.resize(size)

    def read(self):
        """Also without the kernel's pages."""
        if (descriptor := self.some(readable=True)) is None:
            return
        if self.random.random() < 0.5:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        offset = self.offset()
        assert os.pread(descriptor, 9000, offset) == self.bytes[offset:offset + 9000]
        assert os.pread(descriptor, 1 << 20, 0) == self.bytes

    def size(self):
        assert os.fstat(self.some()).st_size == os.stat(self.path).st_size == len(self.bytes)

    def map(self):
        descriptor = self.some(readable=True)
        if descriptor is None or not self.bytes:
            return
        with mmap.mmap(descriptor, len(self.bytes)) as mapping:
            assert mapping[:] == self.bytes
            offset = self.random.randrange(len(self.bytes))
            data = self.random.randbytes(min(len(self.bytes) - offset, 5000))
            mapping[offset:offset + len(data)] = data
            self.bytes[offset:offset + len(data)] = data
            if self.random.random() < 0.5:
                mapping.flush()

    def sync(self):
        os.fsync(self.some())
        assert self.path.read_bytes() == self.bytes, "fsync is of the file, whoever wrote it"

    CALLS = [open, open, close, write, write, write, truncate, read, read, read, size, map, sync]

    def step(self):
        call = self.random.choice(self.CALLS)
        self.log.append(call.__name__)
        call(self)


def test_handles_that_read_and_write_a_file_share_it(mount):
    seed = int(os.environ.get("CELLFS_SEED", "0")) or random.randrange(1 << 30)
    print(f"seed {seed}: CELLFS_SEED repeats it")
    file = SharedFile(mount.family(), seed)
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end:
            file.step()
        file.close_all()
        mount.remount()
        assert file.path.read_bytes() == file.bytes, "after unmount and mount"
    finally:
        print("the last calls:", *file.log[-30:], sep="\n  ")
        file.close_all()


@pytest.mark.parametrize("flags", [
    os.O_WRONLY | os.O_CREAT, os.O_RDWR | os.O_CREAT, os.O_RDWR | os.O_CREAT | os.O_EXCL, os.O_WRONLY | os.O_TRUNC,
    os.O_RDWR, os.O_WRONLY | os.O_APPEND
])
def test_a_mapping_is_possible_beside_any_writer(family, flags):
    path = family / "q"
    if not flags & os.O_CREAT:
        path.write_bytes(b"before")
    writer = os.open(path, flags, 0o644)
    os.write(writer, b"writer")
    sharer = os.open(path, os.O_RDWR)
    try:
        size = os.fstat(sharer).st_size
        with mmap.mmap(sharer, size) as mapping:
            assert mapping[size - 6:] == b"writer"
            mapping[:1] = b"M"
            mapping.flush()
            os.pwrite(writer, b"+", size)
            assert os.pread(sharer, 100, size - 6)[-6:] == b"riter+"
    finally:
        os.close(sharer)
        os.close(writer)
    shown = path.read_bytes()
    assert shown[:1] == b"M" and shown.endswith(b"riter+")


def test_what_one_writes_and_another_replaces_is_the_contracts(family):
    """Who truncates a file that others have open replaces it when he closes it, and not before."""
    path = family / "q"
    path.write_bytes(b"before")
    with open(path, "r+b", buffering=0) as editor, open(path, "wb", buffering=0) as replacer:
        editor.write(b"E")
        replacer.write(b"whole")
        editor.flush()
        os.fsync(editor.fileno())
        assert path.read_bytes() == b"Eefore"
    assert path.read_bytes() == b"whole"


@pytest.mark.parametrize("appends", [0, os.O_APPEND])
@pytest.mark.parametrize("sharer", [os.O_RDWR, os.O_WRONLY])
@pytest.mark.parametrize("made", [0, os.O_TRUNC, os.O_EXCL])
@pytest.mark.parametrize("writes", ["s", "sm", "ms"])
@pytest.mark.parametrize("ends", ["fsync", "close"])
def test_who_made_a_file_puts_nothing_over_what_others_wrote(family, appends, sharer, made, writes, ends):
    """Whoever wrote first, and whoever ends it first. Only who truncated it replaces it."""
    path = family / "q"
    maker = os.open(path, os.O_WRONLY | os.O_CREAT | made | appends, 0o644)
    replaces = made == os.O_TRUNC and "m" in writes and sharer == os.O_WRONLY
    with open(maker, "wb", buffering=0) as m, open(os.open(path, sharer | appends), "wb", buffering=0) as s:
        for number, who in enumerate(writes):
            os.pwrite((m if who == "m" else s).fileno(), who.encode(), number)
        os.fsync(maker) if ends == "fsync" else m.close()
        if not replaces and (ends == "fsync" or "m" in writes):
            assert path.read_bytes() == writes.encode()
    if not replaces:
        assert path.read_bytes() == writes.encode()


def test_handles_that_share_edits_make_one_version(family):
    path = family / "q"
    path.write_bytes(b"0123456789")
    with open(path, "r+b", buffering=0) as first, open(path, "r+b", buffering=0) as second:
        for offset in range(5):
            (first if offset % 2 else second).seek(offset)
            (first if offset % 2 else second).write(b"x")
    assert path.read_bytes() == b"xxxxx56789"
    assert len(versions(path)) == 2


def test_bytes_that_cannot_be_put_are_gone_for_all(make_mount):
    mount = make_mount("max_value_size=1000000")
    path = mount.family() / "q"
    path.write_bytes(b"kept")
    first, second = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
    os.pwrite(first, b"F", 0)
    with fails_with(27):  # EFBIG
        os.pwrite(first, b"far", 2000000)
    with fails_with(27):
        os.close(first)
    assert os.pread(second, 10, 0) == b"kept"
    os.pwrite(second, b"S", 3)
    os.close(second)
    assert path.read_bytes() == b"kepS"


INSERTS = """
import sqlite3, sys
path, mode, who = sys.argv[1:]
database = sqlite3.connect(path, timeout=60, isolation_level=None)
database.execute(f"PRAGMA journal_mode={mode}")
for number in range(40):
    database.execute("INSERT INTO t VALUES(?, ?)", (who, number))
    found = database.execute("SELECT count(*) FROM t WHERE who = ?", (who,)).fetchone()[0]
    assert found == number + 1, found
"""


@pytest.mark.parametrize("mode", ["wal", "delete", "persist"])
def test_processes_share_a_database(mount, mode):
    sqlite3 = pytest.importorskip("sqlite3")
    path = mount.family() / "db"
    database = sqlite3.connect(path, isolation_level=None)
    assert database.execute(f"PRAGMA journal_mode={mode}").fetchone() == (mode,)
    database.execute("CREATE TABLE t(who, number)")
    processes = [subprocess.Popen([sys.executable, "-c", INSERTS, path, mode, str(who)]) for who in range(3)]
    try:
        assert [process.wait(timeout=100) for process in processes] == [0, 0, 0]
    finally:
        for process in processes:
            process.kill()
    assert database.execute("SELECT count(*) FROM t").fetchone() == (120,)
    database.close()
    mount.remount()
    database = sqlite3.connect(path)
    assert database.execute("SELECT count(*) FROM t").fetchone() == (120,)
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
