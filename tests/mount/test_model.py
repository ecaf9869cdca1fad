# SPDX-License-Identifier: MIT
"""Random operations on a handful of names, compared with a model after each.

CELLFS_SEED repeats a run, CELLFS_MODEL_SECONDS makes it longer.
"""

import errno
import os
import random
import time

SECONDS = float(os.environ.get("CELLFS_MODEL_SECONDS", "5"))
SIZES = [0, 1, 7, 100, 255, 256, 257, 4095, 4096, 4097, 20000, 131072, 200001]


class Model:
    """What rows r0.. with families f, g and qualifiers q0.. of one table hold, and what it does."""

    def __init__(self, mount, seed):
        self.mount = mount
        self.table = mount / "default/t"
        self.random = random.Random(seed)
        self.directories = {}  # family path: {name: bytes}
        self.log = []
        for row in range(2):
            for family in "fg":
                path = mount.family(row=f"r{row}", family=family)
                self.directories[path] = {}

    def place(self):
        return self.random.choice(list(self.directories)), f"q{self.random.randrange(5)}"

    def bytes(self):
        size = self.random.choice(SIZES)
        return bytes([self.random.randrange(256)]) * size

    def expect(self, number, call):
        try:
            call()
        except OSError as error:
            assert error.errno == number, f"{error} instead of {errno.errorcode[number]}"
        else:
            raise AssertionError(f"no {errno.errorcode[number]}")

    # ---- Operations: each changes the mount and the model ---------------------------------------

    def create(self, directory, name):
        data = self.bytes()
        with open(directory / name, "wb") as file:
            file.write(data)
        self.directories[directory][name] = data

    def create_exclusively(self, directory, name):
        def call():
            os.close(os.open(directory / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        if name in self.directories[directory]:
            self.expect(errno.EEXIST, call)
        else:
            call()
            self.directories[directory][name] = b""

    def write_at(self, directory, name):
        old = self.directories[directory].get(name)
        if old is None:
            return self.expect(errno.ENOENT, lambda: open(directory / name, "r+b"))
        offset = self.random.randrange(max(len(old) + len(old) // 2, 1) + 1)
        data = self.bytes()
        with open(directory / name, "r+b", buffering=0) as file:
            os.pwrite(file.fileno(), data, offset)
            if data:
                old = old.ljust(offset, b"\0")
                old = old[:offset] + data + old[offset + len(data):]
            assert os.pread(file.fileno(), len(old) + 1, 0) == old, "read back through the handle"
            assert os.fstat(file.fileno()).st_size == len(old)
        self.directories[directory][name] = old

    def append(self, directory, name):
        data = self.bytes()
        with open(directory / name, "ab", buffering=0) as file:
            file.write(data)
        self.directories[directory][name] = self.directories[directory].get(name, b"") + data

    def truncate(self, directory, name):
        old = self.directories[directory].get(name)
        size = self.random.choice(SIZES)
        if old is None:
            return self.expect(errno.ENOENT, lambda: os.truncate(directory / name, size))
        os.truncate(directory / name, size)
        self.directories[directory][name] = old[:size].ljust(size, b"\0")

    def unlink(self, directory, name):
        if name not in self.directories[directory]:
            return self.expect(errno.ENOENT, (directory / name).unlink)
        (directory / name).unlink()
        del self.directories[directory][name]

    def unlink_while_open(self, directory, name):
        old = self.directories[directory].get(name)
        if old is None:
            return
        with open(directory / name, "rb") as file:
            (directory / name).unlink()
            assert file.read() == old, "an open file outlives its name"
        del self.directories[directory][name]

    def rename(self, directory, name):
        to_directory, to_name = self.place()
        if name not in self.directories[directory]:
            return self.expect(
                errno.ENOENT, lambda: os.rename(directory / name, to_directory / to_name))
        if directory.parent != to_directory.parent:  # nothing is atomic over rows
            return self.expect(
                errno.EXDEV, lambda: os.rename(directory / name, to_directory / to_name))
        os.rename(directory / name, to_directory / to_name)
        if (directory, name) != (to_directory, to_name):
            self.directories[to_directory][to_name] = self.directories[directory].pop(name)

    def make_again(self, directory, _):
        self.expect(errno.EEXIST, lambda: os.mkdir(directory))

    def remove_directory(self, directory, _):
        if self.directories[directory]:
            return self.expect(errno.ENOTEMPTY, lambda: os.rmdir(directory))
        os.rmdir(directory)
        os.makedirs(directory, exist_ok=True)

    def flush(self, *_):
        self.mount.command(self.random.choice(["flush", "compact"]))

    def remount(self, *_):
        if self.random.random() < 0.2:
            self.mount.remount()
            for directory in self.directories:  # an empty one is not stored
                os.makedirs(directory, exist_ok=True)

    # ---- What is compared ------------------------------------------------------------------------

    def step(self):
        acts = ([self.create] * 4 + [self.write_at] * 6 + [self.append] * 4 + [self.truncate] * 3 +
                [self.unlink] * 2 + [self.rename] * 4 + [self.unlink_while_open,
                self.create_exclusively, self.make_again, self.remove_directory])
        if self.random.random() < 0.02:
            acts = [self.flush, self.remount]
        act = self.random.choice(acts)
        place = self.place()
        self.log.append(f"{act.__name__} {place[0].relative_to(self.table)}/{place[1]}")
        act(*place)
        self.compare(*place)

    def compare(self, directory, name):
        held = self.directories[directory]
        data = held.get(name)
        if data is None:
            assert not (directory / name).exists()
        else:
            assert (directory / name).stat().st_size == len(data)
            assert (directory / name).read_bytes() == data
        if directory.exists() or held:
            assert sorted(os.listdir(directory)) == sorted(held)

    def compare_all(self):
        for directory in self.directories:
            for name in range(5):
                self.compare(directory, f"q{name}")


def test_random_operations_do_what_a_model_does(mount):
    seed = int(os.environ.get("CELLFS_SEED", "0")) or random.randrange(1 << 30)
    model = Model(mount, seed)
    end = time.monotonic() + SECONDS
    steps = 0
    try:
        while time.monotonic() < end:
            model.step()
            steps += 1
            if steps % 100 == 0:
                model.compare_all()
        model.compare_all()
        mount.remount()
        model.compare_all()
    finally:
        print(f"seed {seed}, {steps} steps; the last:", *model.log[-12:], sep="\n")
