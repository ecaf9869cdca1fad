# SPDX-License-Identifier: MIT
"""Random calls on the handles of one file, compared with a model of its bytes after each.

CELLFS_SEED repeats a run, CELLFS_MODEL_SECONDS makes it longer.
"""

import ctypes
import errno
import mmap
import os
import random
import time

from mounts import fails_with, versions

SECONDS = float(os.environ.get("CELLFS_MODEL_SECONDS", "5"))
LARGEST = 10 << 20
FLAGS = [
    os.O_RDWR, os.O_RDWR, os.O_RDWR, os.O_RDWR | os.O_APPEND, os.O_RDWR | os.O_APPEND,
    os.O_RDWR | os.O_TRUNC, os.O_RDWR | os.O_SYNC, os.O_WRONLY, os.O_RDONLY
]
KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE = 1, 2, 16
libc = ctypes.CDLL(None, use_errno=True)


class FileModel:
    """One file, open through one handle and its duplicates: a session, which makes one version."""

    def __init__(self, directory, seed):
        self.random = random.Random(seed)
        self.directory = directory
        self.path = directory / "q"
        self.bytes = None  # as the handle sees them; None: there is no file
        self.descriptors = []
        self.log = []
        self.open()

    # ---- Sessions ------------------------------------------------------------------------------

    def open(self):
        self.flags = self.random.choice(FLAGS)
        if self.bytes is None:
            self.flags |= os.O_CREAT | os.O_EXCL
        self.log.append(f"open {self.flags:#o}")
        self.versions_before = self.versions()
        self.put_something = self.bytes is None or self.flags & os.O_TRUNC != 0
        self.before = self.bytes
        self.descriptors = [os.open(self.path, self.flags, 0o644)]
        if self.put_something:
            self.bytes = bytearray()

    def close(self):
        self.random.shuffle(self.descriptors)
        while self.descriptors:
            os.close(self.descriptors.pop())
        assert self.path.read_bytes() == self.bytes, "read by another"
        assert os.stat(self.path).st_size == len(self.bytes)
        new = len(set(self.versions()) - set(self.versions_before))
        assert new <= 1 if self.put_something else new == 0, f"{new} new versions"

    def versions(self):
        try:
            return versions(self.path)
        except FileNotFoundError:
            return []

    def reopen(self):
        self.close()
        self.open()

    def remove(self):
        self.close()
        os.unlink(self.path)
        self.bytes = None
        self.open()

    def rename(self):
        other = self.directory / ("p" if self.path.name == "q" else "q")
        other.unlink(missing_ok=True)
        os.rename(self.path, other)
        self.path = other
        self.put_something = True
        self.versions_before = self.versions()

    def fail(self):
        """A write that fails leaves what was put before, and close says so again."""
        if not self.writes() or self.appends():
            return
        os.fsync(self.descriptors[0])
        kept = bytes(self.bytes)
        with fails_with(errno.EFBIG):
            os.pwrite(self.some(), b"ab", LARGEST)
        for descriptor in self.descriptors:
            with fails_with(errno.EFBIG):
                os.close(descriptor)
        self.descriptors = []
        assert self.path.read_bytes() == kept
        self.open()

    # ---- What the handle may, and where --------------------------------------------------------

    def reads(self):
        return self.flags & os.O_ACCMODE != os.O_WRONLY

    def writes(self):
        return self.flags & os.O_ACCMODE != os.O_RDONLY

    def appends(self):
        return self.flags & os.O_APPEND != 0

    def some(self):
        return self.random.choice(self.descriptors)

    def range(self):
        size = len(self.bytes)
        offset = self.random.choice(
            [0, size, self.random.randint(0, size), self.random.randint(0, size + 5000)])
        length = self.random.choice(
            [0, 1, self.random.randint(0, 100), self.random.randint(0, 9000), 4096, 4097])
        return (offset if offset < 300000 else 0), length

    def apply(self, offset, data):
        if not data:
            return
        if self.appends():
            offset = len(self.bytes)
        self.resize(max(offset, len(self.bytes)))
        self.bytes[offset:offset + len(data)] = data
        self.put_something = True

    def resize(self, size):
        self.put_something = True
        del self.bytes[size:]
        self.bytes.extend(bytes(size - len(self.bytes)))

    # ---- Calls ---------------------------------------------------------------------------------

    def write(self):
        offset, length = self.range()
        data = self.random.randbytes(length)
        if not self.writes():
            with fails_with(errno.EBADF):
                os.pwrite(self.some(), b"x", offset)
            return
        assert os.pwrite(self.some(), data, offset) == length
        self.apply(offset, data)

    def read(self):
        if self.reads():
            offset, length = self.range()
            assert os.pread(self.some(), length, offset) == self.bytes[offset:offset + length]

    def truncate(self):
        if self.writes():
            size = self.range()[0]
            os.ftruncate(self.some(), size)
            self.resize(size)

    def sync(self):
        os.fsync(self.some())

    def duplicate(self):
        if len(self.descriptors) < 4:
            self.descriptors.append(os.dup(self.some()))
        else:
            os.close(self.descriptors.pop())

    def show(self):
        assert os.fstat(self.some()).st_size == os.stat(self.path).st_size == len(self.bytes)

    def map_to_read(self):
        if self.reads() and self.bytes:
            with mmap.mmap(self.some(), len(self.bytes), prot=mmap.PROT_READ) as mapping:
                assert mapping[:] == self.bytes

    def map_to_write(self):
        if not (self.reads() and self.writes() and self.bytes):
            return
        offset = self.random.randrange(len(self.bytes))
        data = self.random.randbytes(min(len(self.bytes) - offset, self.random.randint(1, 9000)))
        with mmap.mmap(self.some(), len(self.bytes)) as mapping:
            mapping[offset:offset + len(data)] = data
            mapping.flush()
        self.bytes[offset:offset + len(data)] = data
        self.put_something = True

    def allocate(self):
        """Where it is supported at all."""
        mode = self.random.choice([0, KEEP_SIZE, KEEP_SIZE | PUNCH_HOLE, ZERO_RANGE])
        offset, length = self.range()
        if not self.writes() or length == 0:
            return
        if libc.fallocate(self.some(), mode, ctypes.c_long(offset), ctypes.c_long(length)) != 0:
            assert ctypes.get_errno() == errno.EOPNOTSUPP
            return
        end = min(offset + length, len(self.bytes)) if mode & KEEP_SIZE else offset + length
        self.resize(max(end, len(self.bytes)))
        if mode & (PUNCH_HOLE | ZERO_RANGE) and end > offset:
            self.bytes[offset:end] = bytes(end - offset)

    def copy_range(self):
        if not (self.reads() and self.writes() and len(self.bytes) > 1) or self.appends():
            return
        half = len(self.bytes) // 2
        count = os.copy_file_range(self.some(), self.some(), half, 0, half)
        assert count > 0
        self.apply(half, bytes(self.bytes[:count]))

    def splice(self):
        offset, length = self.range()
        if not self.writes() or self.appends() or length == 0:
            return
        data = self.random.randbytes(length)
        source, sink = os.pipe()
        os.write(sink, data)
        count = os.splice(source, self.some(), length, offset_dst=offset)
        self.apply(offset, data[:count])
        os.close(source)
        os.close(sink)

    def send(self):
        if not self.reads():
            return
        target = os.memfd_create("target")
        offset, length = self.range()
        count = os.sendfile(target, self.some(), offset, length) if length else 0
        assert os.pread(target, length, 0) == self.bytes[offset:offset + count]
        assert count > 0 or length == 0 or offset >= len(self.bytes)
        os.close(target)

    def seek(self):
        """There are no holes but the one at the end."""
        for whence, found in ((os.SEEK_DATA, 0), (os.SEEK_HOLE, len(self.bytes))):
            if self.bytes:
                assert os.lseek(self.some(), 0, whence) == found
            with fails_with(errno.ENXIO):
                os.lseek(self.some(), len(self.bytes) + 1, whence)

    CALLS = [
        write, write, write, read, read, truncate, sync, duplicate, show, map_to_read, map_to_write,
        allocate, copy_range, splice, send, seek, reopen, reopen, remove, rename, fail
    ]

    def step(self):
        call = self.random.choice(self.CALLS)
        self.log.append(call.__name__)
        call(self)


def test_random_calls_on_handles_do_what_a_model_does(mount):
    seed = int(os.environ.get("CELLFS_SEED", "0")) or random.randrange(1 << 30)
    print(f"seed {seed}: CELLFS_SEED repeats it")
    model = FileModel(mount.family(), seed)
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end:
            model.step()
        model.close()
        mount.remount()
        assert model.path.read_bytes() == model.bytes, "after unmount and mount"
    except BaseException:
        print("\n".join(model.log[-40:]))
        raise
    finally:
        for descriptor in model.descriptors:
            try:
                os.close(descriptor)
            except OSError:
                pass
