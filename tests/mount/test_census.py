# SPDX-License-Identifier: MIT
"""How many requests the kernel sends for one operation, on a mount with default options.

A request costs ten times what the daemon does for it, so these numbers are the speed; they are the
same at every run, and equal to those of a file system without any storage (bench/run --only census).
They are counted in libfuse's own trace.
"""

import collections
import os
import re

import pytest

from mounts import Mount, wait_until

REQUEST = re.compile(r"opcode: (\w+) \(\d+\)")
OPENED = re.compile(r"opcode: (?:OPEN|CREATE|OPENDIR) ")
RELEASED = re.compile(r"opcode: RELEASE(?:DIR)? ")
# What the kernel sends when it likes, not for an operation; and our own marker.
UNRELATED = {"STATFS", "FORGET", "BATCH_FORGET", "INTERRUPT", "INIT", "DESTROY"}


class Census:
    def __init__(self, mount):
        self.mount = mount
        self.markers = self.mount.log_text().count("opcode: STATFS")

    def _trace(self):
        """The whole trace, once everything that was under way, RELEASE too, is in it."""
        self.markers += 1
        os.statvfs(self.mount.path)
        wait_until(lambda: self._is_whole(self.mount.log_text()), "libfuse's trace")
        return self.mount.log_text()

    def _is_whole(self, trace):
        """With a queue for each processor the marker may be served before a RELEASE."""
        return (trace.count("opcode: STATFS") >= self.markers
                and len(OPENED.findall(trace)) == len(RELEASED.findall(trace)))

    def of(self, operation, rounds=10):
        """{request: how many} of one call of operation(i), the mean of a few."""
        start = len(self._trace())
        for i in range(rounds):
            operation(i)
        requests = REQUEST.findall(self._trace()[start:])
        counts = collections.Counter(r for r in requests if r not in UNRELATED)
        return {name: count / rounds for name, count in counts.items()}


@pytest.fixture
def census(make_mount, monkeypatch):
    monkeypatch.setattr(Mount, "FLAGS", ["-d"])
    return Census(make_mount())


@pytest.fixture
def family(census):
    family = census.mount.family()
    for i in range(10):
        (family / f"q{i}").write_bytes(b"value")
    return family


def write(path, flags):
    descriptor = os.open(path, flags, 0o644)
    os.write(descriptor, b"value")
    os.close(descriptor)


def read(path):
    descriptor = os.open(path, os.O_RDONLY)
    content = os.read(descriptor, 4096)
    os.close(descriptor)
    return content


CREATE = os.O_CREAT | os.O_WRONLY | os.O_TRUNC


def test_create(census, family):
    assert census.of(lambda i: write(family / f"new{i}", CREATE)) == {
        "LOOKUP": 1, "CREATE": 1, "WRITE": 1, "FLUSH": 1, "RELEASE": 1}


def test_overwrite(census, family):
    assert census.of(lambda i: write(family / f"q{i}", CREATE)) == {
        "OPEN": 1, "WRITE": 1, "FLUSH": 1, "RELEASE": 1}


def test_append(census, family):
    assert census.of(lambda i: write(family / f"q{i}", os.O_WRONLY | os.O_APPEND)) == {
        "OPEN": 1, "WRITE": 1, "FLUSH": 1, "RELEASE": 1}


def test_hot_read(census, family):
    for i in range(10):
        read(family / f"q{i}")
    assert census.of(lambda i: read(family / f"q{i}")) == {"OPEN": 1, "RELEASE": 1}


def test_hot_stat(census, family):
    for i in range(10):
        os.stat(family / f"q{i}")
    assert census.of(lambda i: os.stat(family / f"q{i}")) == {}


def test_stat_of_nothing(census, family):
    assert census.of(lambda i: os.path.lexists(family / f"none{i}")) == {"LOOKUP": 1}


def test_temporary_and_rename(census, family):
    def replace(i):
        temporary = family / f".q{i}.Xy12Zw"
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        os.write(descriptor, b"newer")
        os.close(descriptor)
        os.utime(temporary, (1_700_000_000, 1_700_000_000))
        os.chmod(temporary, 0o644)
        os.rename(temporary, family / f"q{i}")

    assert census.of(replace) == {"LOOKUP": 2, "CREATE": 1, "WRITE": 1, "FLUSH": 1, "RELEASE": 1,
                                  "SETATTR": 2, "RENAME": 1}


def test_unlink(census, family):
    assert census.of(lambda i: os.unlink(family / f"q{i}")) == {"UNLINK": 1}


def test_make_and_remove_a_row(census, family):
    table = family.parent.parent
    assert census.of(lambda i: os.mkdir(table / f"row{i}")) == {"LOOKUP": 1, "MKDIR": 1}
    assert census.of(lambda i: os.rmdir(table / f"row{i}")) == {"RMDIR": 1}


def test_listing(census, family):
    """The first listing fills the kernel's cache, the next ones need no entries."""
    os.listdir(family)
    os.listdir(family)
    assert census.of(lambda _: os.listdir(family)) == {"OPENDIR": 1, "RELEASEDIR": 1}


def test_listing_with_attributes(census, family):
    def list_all(_):
        for entry in os.scandir(family):
            entry.stat()

    list_all(0)
    list_all(1)
    assert census.of(list_all) == {"OPENDIR": 1, "RELEASEDIR": 1}
