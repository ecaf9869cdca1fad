# SPDX-License-Identifier: MIT
"""Mounts of the cellfs under test, and small helpers around them.

The daemon runs in the foreground as our child, so that its end, its exit code and its log are known.
"""

import contextlib
import ctypes
import errno
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import threading
import time

CELLFS = os.environ.get("CELLFS", "cellfs")
# Mounts are of this cluster or database where there is one, and not of stores of their own
# (tests/cluster/tools.py, tests/obkv/mounted.py).
REMOTE = ""
if "CELLFS_TEST_CLUSTER" in os.environ:
    REMOTE = f"hbase://{os.environ['CELLFS_TEST_CLUSTER']}/"
elif "CELLFS_TEST_DATABASE" in os.environ:
    REMOTE = f"obkv+unix://root@{os.environ['CELLFS_TEST_DATABASE']}/"
# How requests come, unless a test says so: "fuse" or "uring" (tests/mount/uring.py).
TRANSPORT = os.environ.get("CELLFS_TEST_TRANSPORT", "fuse")
PATIENCE = 60  # seconds for what takes milliseconds: the machine may be busy, the build a slow one
# In a log each of these is a failure, whatever the test says.
SUSPICIOUS = re.compile(
    r"Sanitizer|runtime error:|Assertion|terminate called|Segmentation|\[critical\]|stack smashing")
PR_SET_PDEATHSIG = 1


def sh(command, cwd=None, check=True, timeout=PATIENCE, **environment):
    """Runs it with bash and returns its output; `check`: it must succeed."""
    done = subprocess.run(
        ["bash", "-c", command], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, timeout=timeout, env={**os.environ, "LC_ALL": "C.UTF-8", **environment})
    out = done.stdout.decode("utf-8", "surrogateescape")
    err = done.stderr.decode("utf-8", "surrogateescape")
    if check:
        assert done.returncode == 0, f"{command}\nexit code {done.returncode}\n{out}\n{err}"
        return out
    return done.returncode, out, err


def wait_until(condition, what, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain for: {what}"
        time.sleep(0.01)


@contextlib.contextmanager
def fails_with(number):
    """The body must fail with this errno."""
    try:
        yield
    except OSError as error:
        got = errno.errorcode.get(error.errno, error.errno)
        assert error.errno == number, f"{got} instead of {errno.errorcode[number]}: {error}"
    else:
        raise AssertionError(f"no error where {errno.errorcode[number]} was due")


def versions(path):
    """The timestamps that .versions lists for a column, in that order."""
    path = pathlib.Path(path)
    return [int(name) for name in os.listdir(path.parent / ".versions" / path.name)]


def tree_of(root):
    """{path: bytes, or None for a directory} of everything listed below a directory."""
    root = os.fspath(root)
    found = {}
    for path, directories, files in os.walk(root):
        for name in directories:
            found[os.path.relpath(os.path.join(path, name), root)] = None
        for name in files:
            full = os.path.join(path, name)
            with open(full, "rb") as file:
                found[os.path.relpath(full, root)] = file.read()
    return found


def empty_remote():
    """Drops all tables and namespaces that a test has made."""
    for table in sh(f"{CELLFS} list {REMOTE}").split():
        if not table.startswith(("hbase:", "cellfs:")):
            name = table.replace(":", "/") if ":" in table else f"default/{table}"
            sh(f"{CELLFS} disable {REMOTE}{name}; {CELLFS} drop {REMOTE}{name}")
    for name in sh(f"{CELLFS} list_namespaces {REMOTE}").split():
        if name not in ("default", "hbase", "cellfs", "test"):
            sh(f"{CELLFS} drop_namespace {REMOTE}{name}")


def is_mounted(path):
    return f" {path} " in pathlib.Path("/proc/self/mountinfo").read_text()


class Mount:
    """One store and its mount. `options` is what stands behind -o."""

    FLAGS = ["-f"]

    def __init__(self, store, mountpoint, options="", config=None):
        self.store = REMOTE or pathlib.Path(store)
        self.path = pathlib.Path(mountpoint)
        self.path.mkdir(exist_ok=True)
        self.options = self._with_those_of_the_run(options)
        self.config = config
        self.log = self.path.with_name(self.path.name + ".log")
        self.process = None
        self.start()

    @staticmethod
    def _with_those_of_the_run(options):
        few = "obkv_partitions=3" if REMOTE.startswith("obkv") else ""  # each is a file
        return ",".join(filter(None, (f"transport={TRANSPORT}", options, few)))

    def __truediv__(self, name):
        return self.path / name

    def __str__(self):
        return str(self.path)

    # ---- The daemon ----------------------------------------------------------------------------

    def start(self):
        arguments = [CELLFS, "mount", *self.FLAGS, str(self.store), str(self.path)]
        if self.config:
            arguments += ["--config", str(self.config)]
        if self.options:
            arguments += ["-o", self.options]
        # With us, it goes too: nothing is left behind, however a test run ends.
        libc = ctypes.CDLL(None)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
        wait_until(self._answers_or_ended, f"mount of {self.store}\n{self.log_text()}")
        assert self.process.poll() is None, f"the daemon did not start:\n{self.log_text()}"

    def _answers_or_ended(self):
        if self.process.poll() is not None:
            return True
        return is_mounted(self.path) and os.path.isdir(self.path / "default")

    @property
    def pid(self):
        return self.process.pid

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def stop(self):
        """Unmounts; the daemon must end well."""
        sh(f"{CELLFS} umount {self.path}")
        code = self.process.wait(PATIENCE)
        self.process = None
        assert code == 0, f"the daemon ended with {code}:\n{self.log_text()}"

    def remount(self, options=None):
        self.stop()
        if options is not None:
            self.options = self._with_those_of_the_run(options)
        self.start()

    def kill9(self):
        """The daemon dies at once; the mount point is free again."""
        self.process.kill()
        self.process.wait(PATIENCE)
        self.process = None
        subprocess.run(["umount", "-l", self.path], check=False)

    def clean_up(self):
        """Leaves nothing behind; returns what was wrong."""
        problems = []
        if self.process is not None:
            if self.process.poll() is not None:
                problems.append(f"the daemon died with {self.process.returncode}")
            else:
                problems += self._end()
        if is_mounted(self.path):
            subprocess.run(["umount", "-l", self.path], check=False)
        if suspicious := SUSPICIOUS.search(self.log_text()):
            problems.append(f"'{suspicious[0]}' in the log")
        return [f"{self.path.name}: {p}\n{self.log_text()[-8000:]}" for p in problems]

    def _end(self):
        code, _, error = sh(f"{CELLFS} umount {self.path} || umount -l {self.path}", check=False)
        try:
            code = self.process.wait(PATIENCE)
            return [f"the daemon ended with {code}"] if code else []
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return [f"the daemon did not end: {error}"]

    def memory(self):
        """Bytes of the daemon that are its own and in memory."""
        text = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+) kB", text)[1]) * 1024

    # ---- What is stored ------------------------------------------------------------------------

    def command(self, *arguments):
        return sh(" ".join([CELLFS, arguments[0], str(self.path), *arguments[1:]]))

    def status(self):
        return json.loads(self.command("status", "--json"))

    def raw(self, family="f"):
        """[(row, qualifier, timestamp, type)] of all the cells in the store files of that family that
        were not withdrawn, in their order; types are HBase's: 4 Put, 8 Delete, 12 DeleteColumn
        (docs/storage.md)."""
        self.command("flush")
        cells = []
        for manifest in sorted(self.store.glob("tables/*/MANIFEST")):
            in_table = []
            for facts in json.loads(manifest.read_bytes()[8:-8])["files"]:
                if facts["family"] != family:
                    continue
                file = manifest.parent / f"{facts['number']}.db"
                uri = f"file:{file}?immutable=1"
                with contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
                    for table in ("cells", "hidden"):
                        in_table += database.execute(f"SELECT K, Q, T, Y, S FROM {table}").fetchall()
            withdrawn = {(k, q, t, y + 256): s for k, q, t, y, s in in_table if y < -255}
            cells += [(k, q, -t, -y) for k, q, t, y, s in sorted(in_table)
                      if y >= -255 and s <= withdrawn.get((k, q, t, y), s)]
        return cells

    # ---- Shorthands ----------------------------------------------------------------------------

    def family(self, table="t", row="r", family="f", namespace="default"):
        """The path of a family in a row, made where it is not there."""
        path = self.path / namespace / table / row / family
        path.mkdir(parents=True, exist_ok=True)
        return path

    def schema(self, text, table="t", namespace="default"):
        """Makes or alters a table."""
        path = self.path / namespace / table
        path.mkdir(parents=True, exist_ok=True)
        (path / ".schema.toml").write_text(text)
        return path


def stacks_of(pid):
    """Where the threads of a process are in the kernel. Starts no process: a child would close our files,
    and wait for the very daemon that hangs."""
    text = ""
    for task in sorted(pathlib.Path(f"/proc/{pid}/task").iterdir()):
        with contextlib.suppress(OSError):
            text += f"thread {task.name} {(task / 'syscall').read_text()}{(task / 'stack').read_text()}"
    return text


class Watchdog:
    """Kills the daemons of a test that hangs, so that its system calls return, and keeps where they were."""

    def __init__(self, mounts, seconds):
        self.fired = False
        self.stacks = ""
        self._mounts = mounts
        self._timer = threading.Timer(seconds, self._fire)
        self._timer.daemon = True
        self._timer.start()

    def _fire(self):
        self.fired = True
        for mount in self._mounts:
            if mount.process is not None:
                self.stacks += f"{mount.path}:\n{stacks_of(mount.process.pid)}"
                mount.process.kill()

    def stop(self):
        self._timer.cancel()
