# SPDX-License-Identifier: MIT
"""Random calls on several names and on handles that stay open while the names come, go and change hands,
compared with a model of files. Handles are read with nothing that asks for the size before.

CELLFS_SEED repeats a run, CELLFS_MODEL_SECONDS makes it longer.
"""

import os
import random
import time

SECONDS = float(os.environ.get("CELLFS_MODEL_SECONDS", "5"))
NAMES = ["f/a", "f/b", "f/c", "g/a"]
MOST_OPEN = 6


class File:
    """What has a name, or had one."""

    def __init__(self):
        self.bytes = b""
        self.named = True


class Handle:
    """An open file. What is written through it is put at once (fsync)."""

    def __init__(self, descriptor, file, appends=None):
        self.descriptor = descriptor
        self.file = file
        self.appends = appends  # None: it only reads

    def write(self, data, offset):
        offset = len(self.file.bytes) if self.appends else offset
        self.file.bytes = patch(self.file.bytes, data, offset)
        os.pwrite(self.descriptor, data, offset)
        os.fsync(self.descriptor)


def patch(value, data, offset):
    if not data:
        return value
    return value[:offset].ljust(offset, b"\0") + data + value[offset + len(data):]


class NamesModel:
    def __init__(self, row, seed, flush):
        self.row = row
        self.random = random.Random(seed)
        self.flush_store = flush
        self.files = {}
        self.handles = []
        self.log = []
        for family in {name.partition("/")[0] for name in NAMES}:
            (row / family).mkdir(exist_ok=True)

    # ---- What there is to choose from ----------------------------------------------------------

    def data(self):
        size = self.random.choice([0, 1, 100, 4095, 4096, 5000, 30000, self.random.randint(1, 9000)])
        self.note(size, "bytes")
        return self.random.randbytes(size)

    def present(self):
        name = self.random.choice(sorted(self.files)) if self.files else None
        self.note(name)
        return name

    def any_name(self):
        name = self.random.choice(NAMES)
        self.note(name)
        return name

    def any_handle(self, writes=False):
        wanted = [h for h in self.handles if h.appends is not None or not writes]
        if not wanted:
            return None
        handle = self.random.choice(wanted)
        self.note(handle.descriptor, "appends" if handle.appends else "", len(handle.file.bytes),
                  "named" if handle.file.named else "nameless")
        return handle

    def note(self, *words):
        self.log[-1] += words

    def lose(self, name):
        if name in self.files:
            self.files.pop(name).named = False

    # ---- Calls on names ------------------------------------------------------------------------

    def put(self):
        name, data = self.any_name(), self.data()
        (self.row / name).write_bytes(data)
        self.files.setdefault(name, File()).bytes = data

    def append(self):
        name, data = self.any_name(), self.data()
        with open(self.row / name, "ab", buffering=0) as file:
            file.write(data)
        self.files.setdefault(name, File()).bytes += data

    def truncate(self):
        if name := self.present():
            size = self.random.choice([0, 10, 4096, 6000])
            self.note(size)
            os.truncate(self.row / name, size)
            self.files[name].bytes = self.files[name].bytes[:size].ljust(size, b"\0")

    def rename(self):
        source, target = self.present(), self.any_name()
        if source and source != target:
            os.rename(self.row / source, self.row / target)
            self.lose(target)
            self.files[target] = self.files.pop(source)

    def save(self):
        """As editors do."""
        target, data = self.any_name(), self.data()
        temporary = self.row / f"{target}.tmp"
        temporary.write_bytes(data)
        os.rename(temporary, self.row / target)
        self.lose(target)
        self.files[target] = File()
        self.files[target].bytes = data

    def unlink(self):
        if name := self.present():
            os.unlink(self.row / name)
            self.lose(name)

    def look(self):
        name = self.any_name()
        if name in self.files:
            assert os.stat(self.row / name).st_size == len(self.files[name].bytes)
        else:
            assert not (self.row / name).exists()

    def list(self):
        listed = [f"{family}/{name}" for family in ("f", "g") for name in os.listdir(self.row / family)]
        assert sorted(listed) == sorted(self.files)

    def read(self):
        if name := self.present():
            descriptor = os.open(self.row / name, os.O_RDONLY)
            self.compare(descriptor, self.files[name].bytes)
            os.close(descriptor)

    def flush(self):
        if self.random.random() < 0.1:
            self.flush_store()

    # ---- Calls on handles ----------------------------------------------------------------------

    def open_to_read(self):
        self.open(os.O_RDONLY, None)

    def open_to_write(self):
        appends = self.random.random() < 0.3
        self.open(os.O_RDWR | (os.O_APPEND if appends else 0), appends)

    def open(self, flags, appends):
        if len(self.handles) < MOST_OPEN and (name := self.present()):
            self.handles.append(Handle(os.open(self.row / name, flags), self.files[name], appends))
            self.note(self.handles[-1].descriptor)

    def read_handle(self):
        if handle := self.any_handle():
            self.compare(handle.descriptor, handle.file.bytes)

    def write_handle(self):
        if handle := self.any_handle(writes=True):
            offset = self.random.choice([0, 50, 4096, 7000])
            self.note("at", offset)
            handle.write(self.data(), offset)

    def show_handle(self):
        if handle := self.any_handle():
            assert os.fstat(handle.descriptor).st_size == len(handle.file.bytes)

    def close(self):
        if handle := self.any_handle():
            os.close(handle.descriptor)
            self.handles.remove(handle)

    def compare(self, descriptor, expected):
        offset = self.random.choice([0, 0, 100, 4096])
        assert os.pread(descriptor, 1 << 24, offset) == expected[offset:]

    CALLS = [
        put, put, append, truncate, rename, rename, save, unlink, look, list, read, read, flush, open_to_read,
        open_to_read, open_to_write, read_handle, read_handle, read_handle, write_handle, show_handle, close
    ]

    def step(self):
        call = self.random.choice(self.CALLS)
        self.log.append([call.__name__])
        call(self)

    def close_all(self):
        for handle in self.handles:
            os.close(handle.descriptor)
        self.handles = []


def test_names_and_open_handles_do_what_a_model_does(mount):
    seed = int(os.environ.get("CELLFS_SEED", "0")) or random.randrange(1 << 30)
    print(f"seed {seed}: CELLFS_SEED repeats it")
    model = NamesModel(mount.family().parent, seed, lambda: mount.command("flush"))
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end:
            model.step()
        model.close_all()
        mount.remount()
        for name, file in model.files.items():
            assert (model.row / name).read_bytes() == file.bytes, "after unmount and mount"
    except BaseException:
        print(len(model.log), "calls, the last:", *model.log[-40:], sep="\n")
        raise
    finally:
        model.close_all()
