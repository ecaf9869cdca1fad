# SPDX-License-Identifier: MIT
"""Fixtures: mounts of fresh stores, which are always taken down again.

A test fails also where a daemon died, ended with another code than 0, or wrote of a crash or a
sanitizer's finding into its log.
"""

import os
import pathlib
import shutil
import signal

import pytest

from mounts import CELLFS, REMOTE, TRANSPORT, Mount, Watchdog, empty_remote
from uring import reason_without_uring, switched

LONGEST_TEST = 150 + int(os.environ.get("CELLFS_ROWS", "0")) / 50  # seconds


def reason_not_to_mount():
    if not os.path.exists("/dev/fuse"):
        return "/dev/fuse is missing"
    if os.geteuid() != 0:
        return "this is not root"
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "/dev/fuse may not be opened"
    if shutil.which(CELLFS) is None:
        return f"{CELLFS} is missing: set CELLFS to the program"
    return None


def pytest_configure():
    # A runner that loses patience ends us so; the fixtures shall clean up all the same.
    signal.signal(signal.SIGTERM, lambda *_: pytest.exit("terminated"))
    os.umask(0o022)


@pytest.fixture(autouse=True)
def mountable():
    if reason := reason_not_to_mount():
        pytest.skip(reason)


@pytest.fixture(scope="session", autouse=True)
def transport():
    """The kernel offers what the mounts of this run are to have."""
    if TRANSPORT != "uring":
        yield
        return
    if reason := reason_without_uring():
        pytest.skip(reason)
    with switched("Y"):
        yield


@pytest.fixture
def mounts(request):
    """All the mounts of a test; they are taken down at its end."""
    mounts = []
    watchdog = Watchdog(mounts, LONGEST_TEST)
    yield mounts
    watchdog.stop()
    problems = [f"a call took more than {LONGEST_TEST} s\n{watchdog.stacks}"] if watchdog.fired else []
    for mount in reversed(mounts):
        problems += mount.clean_up()
    if REMOTE:
        empty_remote()
    assert not problems, "\n".join(problems)


@pytest.fixture
def make_mount(mounts, tmp_path):
    """make_mount(options): another mount, of a store of its own unless `store` names one."""
    for directory in (tmp_path, *tmp_path.parents[:2]):
        os.chmod(directory, 0o711)  # other users get as far as the mount

    def make(options="", store=None, config=None):
        name = f"m{len(mounts)}"
        mount = Mount.__new__(Mount)
        mount.process = None
        mounts.append(mount)  # first, so that a mount that fails half-way is taken down too
        Mount.__init__(mount, store or tmp_path / f"{name}.store", tmp_path / name, options, config)
        return mount
    return make


@pytest.fixture
def mount(make_mount):
    return make_mount()


@pytest.fixture
def family(mount):
    """A family in a row of an open table: /default/t/r/f."""
    return mount.family()


@pytest.fixture
def outside(tmp_path):
    """A plain directory."""
    directory = tmp_path / "outside"
    directory.mkdir()
    return pathlib.Path(directory)
