# SPDX-License-Identifier: MIT
"""The same calls on a family and on a plain directory end the same way. Where they differ on purpose
the reason is in DIFFERENCES."""

import ctypes
import errno
import fcntl
import os

import pytest

from mounts import sh

# Not on a plain directory, but in a family, and why.
DIFFERENCES = {
    "mkdir": "EPERM: a family holds cells, not directories",
    "mkdir in a file's place": "EPERM: a family holds cells, not directories",
    "symlink": "EPERM: a cell is a value, nothing else",
    "link": "EPERM: a cell has one name for each of its versions",
    "mkfifo": "EPERM: a cell is a value, nothing else",
    "exchange": "EINVAL: HBase mutates one row in one step, but knows no exchange",
    "rename below itself": "EPERM: there is no directory to make",
    "rmdir": "ENOENT: there is no directory to make",
    "setxattr": "EOPNOTSUPP: extended attributes are virtual, and off unless asked for",
    "listxattr": "EOPNOTSUPP: extended attributes are virtual, and off unless asked for",
    "getxattr": "EOPNOTSUPP: extended attributes are virtual, and off unless asked for",
    "tmpfile": "EOPNOTSUPP: a file without a name is no cell",
    "a huge file": "EFBIG: a value has at most max_value_size bytes",
}

RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2


LIBC = ctypes.CDLL(None, use_errno=True)


def renameat2(source, target, flags):
    if LIBC.renameat2(-100, source.encode(), -100, target.encode(), flags) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def fallocate(handle, length):
    """The system call alone: the C library's function writes where that is not supported."""
    if LIBC.fallocate(handle, 0, ctypes.c_long(0), ctypes.c_long(length)) != 0:
        raise OSError(ctypes.get_errno(), "fallocate")


def opened(path, flags, call=None):
    handle = os.open(path, flags, 0o644)
    try:
        return call(handle) if call else None
    finally:
        os.close(handle)


def write(path, text="x"):
    with open(path, "w") as file:
        file.write(text)


W, R, RW, C, X, T, A = (os.O_WRONLY, os.O_RDONLY, os.O_RDWR, os.O_CREAT, os.O_EXCL, os.O_TRUNC, os.O_APPEND)

# Each in an empty directory that is the current one, after "file" with the text "text" was made.
CASES = {
    "open what is missing": lambda: opened("none", R),
    "open for writing what is missing": lambda: opened("none", W),
    "open below a file": lambda: opened("file/x", R),
    "create below a file": lambda: opened("file/x", W | C),
    "open below what is missing": lambda: opened("none/x", W | C),
    "create what is there": lambda: opened("file", W | C),
    "O_EXCL on what is there": lambda: opened("file", W | C | X),
    "O_EXCL": lambda: opened("new", W | C | X),
    "O_DIRECTORY on a file": lambda: opened("file", R | os.O_DIRECTORY),
    "open the directory for writing": lambda: opened(".", W),
    "O_CREAT on the directory": lambda: opened(".", R | C),
    "O_NOFOLLOW": lambda: opened("file", R | os.O_NOFOLLOW),
    "O_PATH": lambda: opened("file", os.O_PATH, os.fstat).st_size,
    "name of 255 bytes": lambda: opened("x" * 255, W | C),
    "name of 256 bytes": lambda: opened("x" * 256, W | C),
    "stat with a slash at the end": lambda: os.stat("file/"),
    "stat the empty path": lambda: os.stat(""),
    "write to what is open for reading": lambda: opened("file", R, lambda h: os.write(h, b"x")),
    "read what is open for writing": lambda: opened("file", W, lambda h: os.read(h, 1)),
    "read the directory": lambda: opened(".", R, lambda h: os.read(h, 1)),
    "read at the end": lambda: opened("file", R, lambda h: os.pread(h, 10, 4)),
    "read beyond the end": lambda: opened("file", R, lambda h: os.pread(h, 10, 400)),
    "read across the end": lambda: opened("file", R, lambda h: os.pread(h, 10, 2)),
    "write nothing": lambda: opened("file", W, lambda h: os.write(h, b"")),
    "write beyond the end": lambda: (opened("file", W, lambda h: os.pwrite(h, b"x", 8)), content("file")),
    "append": lambda: (opened("file", W | A, lambda h: os.pwrite(h, b"x", 0)), content("file")),
    "truncate and append": lambda: (opened("file", W | A | T, lambda h: os.write(h, b"x")), content("file")),
    "O_TRUNC for reading": lambda: (opened("file", R | T), content("file")),
    "seek before the begin": lambda: opened("file", R, lambda h: os.lseek(h, -1, os.SEEK_SET)),
    "seek to the end": lambda: opened("file", R, lambda h: os.lseek(h, 2, os.SEEK_END)),
    "seek for data beyond": lambda: opened("file", R, lambda h: os.lseek(h, 9, os.SEEK_DATA)),
    "seek for a hole": lambda: opened("file", R, lambda h: os.lseek(h, 0, os.SEEK_HOLE)),
    "fsync": lambda: opened("file", R, os.fsync),
    "fdatasync": lambda: opened("file", W, os.fdatasync),
    "fsync of the directory": lambda: opened(".", R, os.fsync),
    "truncate": lambda: (os.truncate("file", 2), content("file")),
    "truncate up": lambda: (os.truncate("file", 6), content("file")),
    "truncate below 0": lambda: os.truncate("file", -1),
    "truncate the directory": lambda: os.truncate(".", 0),
    "truncate what is missing": lambda: os.truncate("none", 0),
    "ftruncate for reading": lambda: opened("file", R, lambda h: os.ftruncate(h, 0)),
    "a huge file": lambda: os.truncate("file", 1 << 40),
    "fallocate": lambda: opened("file", RW, lambda h: fallocate(h, 2)),
    "fallocate beyond the end": lambda: (opened("file", RW, lambda h: fallocate(h, 9)), size("file")),
    "unlink": lambda: (os.unlink("file"), os.listdir()),
    "unlink what is missing": lambda: os.unlink("none"),
    "unlink with a slash at the end": lambda: os.unlink("file/"),
    "rmdir": lambda: os.rmdir("none"),
    "rmdir a file": lambda: os.rmdir("file"),
    "rmdir .": lambda: os.rmdir("."),
    "mkdir": lambda: os.mkdir("d"),
    "mkdir in a file's place": lambda: os.mkdir("file"),
    "mkdir below a file": lambda: os.mkdir("file/d"),
    "rename": lambda: (os.rename("file", "b"), os.listdir(), content("b")),
    "rename onto itself": lambda: (os.rename("file", "file"), content("file")),
    "rename what is missing": lambda: os.rename("none", "b"),
    "rename over another": lambda: (write("b", "b"), os.rename("b", "file"), content("file"), os.listdir()),
    "rename below itself": lambda: os.rename("file", "file/x"),
    "rename with a slash at the end": lambda: os.rename("file", "b/"),
    "rename to what is there, not to replace": lambda: (write("b"), renameat2("file", "b", RENAME_NOREPLACE)),
    "rename, not to replace": lambda: (renameat2("file", "b", RENAME_NOREPLACE), os.listdir()),
    "exchange": lambda: (write("b", "b"), renameat2("file", "b", RENAME_EXCHANGE), content("b")),
    "link": lambda: os.link("file", "b"),
    "link over what is there": lambda: os.link("file", "file"),
    "symlink": lambda: os.symlink("file", "b"),
    "symlink over what is there": lambda: os.symlink("x", "file"),
    "mkfifo": lambda: os.mkfifo("b"),
    "readlink of a file": lambda: os.readlink("file"),
    "chmod": lambda: (os.chmod("file", 0o4751), os.stat("file").st_mode),
    "chmod what is missing": lambda: os.chmod("none", 0o600),
    "chown": lambda: (os.chown("file", 12, 34), os.stat("file").st_uid, os.stat("file").st_gid),
    "chown clears setuid": lambda: (os.chmod("file", 0o4755), os.chown("file", 12, 34), os.stat("file").st_mode),
    "utime": lambda: (os.utime("file", ns=(0, 123456789)), os.stat("file").st_mtime_ns),
    "utime before 1970": lambda: (os.utime("file", ns=(0, -10**9)), os.stat("file").st_mtime_ns),
    "access": lambda: (os.access("file", os.R_OK), os.access("none", os.F_OK), os.access("file", os.X_OK)),
    "setxattr": lambda: os.setxattr("file", "user.x", b"x"),
    "getxattr": lambda: os.getxattr("file", "user.x"),
    "listxattr": lambda: os.listxattr("file"),
    "tmpfile": lambda: opened(".", RW | os.O_TMPFILE),
    "flock": lambda: opened("file", R, lambda h: fcntl.flock(h, fcntl.LOCK_EX | fcntl.LOCK_NB)),
    "record lock": lambda: opened("file", RW, lambda h: fcntl.lockf(h, fcntl.LOCK_EX | fcntl.LOCK_NB)),
    "record lock for reading only": lambda: opened("file", R, lambda h: fcntl.lockf(h, fcntl.LOCK_EX | fcntl.LOCK_NB)),
    "chdir to a file": lambda: os.chdir("file"),
    "listdir of a file": lambda: os.listdir("file"),
    "exec without the right": lambda: os.execv("./file", ["./file"]),
    "link count and type": lambda: (os.stat("file").st_nlink, oct(os.stat("file").st_mode)),
    "two descriptors": lambda: shared_offset(),
}


def content(path):
    with open(path, "rb") as file:
        return file.read()


def size(path):
    return os.stat(path).st_size


def shared_offset():
    def twice(handle):
        other = os.dup(handle)
        os.write(handle, b"AB")
        os.write(other, b"CD")
        os.close(other)
    opened("file", W | T, twice)
    return content("file")


def outcome(case, directory):
    os.chdir(directory)
    try:
        for name in os.listdir():
            sh(f"rm -rf -- './{name}'")
        write("file", "text")
        return case()
    except OSError as error:
        return name_of(error)
    finally:
        os.chdir("/")


def name_of(error):
    return errno.errorcode[error.errno].replace("ENOTSUP", "EOPNOTSUPP")  # two names of one number


@pytest.fixture
def family(make_mount):
    """With allow_other, since without it the kernel checks no modes."""
    return make_mount("allow_other").family()


@pytest.fixture
def plain(tmp_path):
    """A plain directory, of which a test's temporary directory has most."""
    directory = tmp_path / "plain"
    directory.mkdir()
    return directory


def test_calls_end_as_on_a_plain_directory(family, plain):
    wrong = {}
    for name, case in CASES.items():
        expected, got = outcome(case, plain), outcome(case, family)
        if name in DIFFERENCES:
            due = DIFFERENCES[name].partition(":")[0]
            # Where the plain file system cannot do it either, that is no difference.
            if got not in (due, expected):
                wrong[name] = f"{got}, where {due} is due on purpose"
        elif got != expected:
            wrong[name] = f"{got}, where a plain directory has {expected}"
    assert not wrong, "\n".join(f"{name}: {what}" for name, what in wrong.items())


DIRECTORY_CASES = {
    "mkdir what is there": lambda: os.mkdir("d"),
    "rmdir": lambda: os.rmdir("d"),
    "rmdir what is missing": lambda: os.rmdir("none"),
    "rmdir of what is not empty": lambda: (os.mkdir("d/f"), write("d/f/q"), os.rmdir("d")),
    "unlink a directory": lambda: os.unlink("d"),
    "open for writing": lambda: opened("d", W),
    "rename a file over a directory": lambda: (os.mkdir("d/f"), write("d/f/q"), os.rename("d/f/q", "d/f")),
    "rename a directory below itself": lambda: os.rename("d", "d/x"),
    "readlink": lambda: os.readlink("d"),
    "mkdir of 256 bytes": lambda: os.mkdir("x" * 256),
    "mkdir below what is missing": lambda: os.mkdir("none/d"),
    "truncate": lambda: os.truncate("d", 0),
    "rmdir with a dot at the end": lambda: os.rmdir("d/."),
}


@pytest.mark.parametrize("name", DIRECTORY_CASES)
def test_calls_on_rows_end_as_on_plain_directories(family, plain, name):
    results = []
    for directory in (plain, family.parent.parent):
        os.chdir(directory)
        os.mkdir("d")
        try:
            results.append(DIRECTORY_CASES[name]())
        except OSError as error:
            results.append(name_of(error))
        finally:
            os.chdir("/")
    assert results[0] == results[1]
