# SPDX-License-Identifier: MIT
"""Who may do what, and what it does to modes and times: the same calls by root, the file's owner and
somebody else end the same way in a family of a mount with allow_other and in a plain directory."""

import errno
import os
import stat
import time

import pytest

OWNER, OTHER = 65534, 1000
CALLERS = (0, OWNER, OTHER)


def make(path, mode=0o644, owner=OWNER):
    with open(path, "w") as file:
        file.write("x")
    os.chown(path, owner, owner)
    os.chmod(path, mode)


def attributes(path):
    shown = os.lstat(path)
    return oct(stat.S_IMODE(shown.st_mode)), shown.st_uid, shown.st_gid


def opened(path, flags, mode=0o644, data=b""):
    handle = os.open(path, flags, mode)
    try:
        return os.write(handle, data) if data else "opened"
    finally:
        os.close(handle)


def with_umask(umask, call):
    os.umask(umask)
    return call()


def later(path, call, new_path=None):
    """Whether ctime and mtime grow by the call."""
    time.sleep(0.003)
    before = os.stat(path)
    time.sleep(0.003)
    call()
    after = os.stat(new_path or path)
    return after.st_ctime_ns > before.st_ctime_ns, after.st_mtime_ns > before.st_mtime_ns


W, R, RW, C, T, A = os.O_WRONLY, os.O_RDONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC, os.O_APPEND


# Each yields (name, what root does first, the call, what is looked at afterwards).


def opens():
    for mode in (0o000, 0o400, 0o200, 0o600, 0o040, 0o004, 0o002, 0o666):
        def first(mode=mode):
            make("f", mode)
        for flags in (R, W, RW, W | T, R | T):
            yield f"open {mode:o} {flags}", first, lambda flags=flags: opened("f", flags), None
        yield f"truncate {mode:o}", first, lambda: os.truncate("f", 0), None
        yield f"touch {mode:o}", first, lambda: os.utime("f"), None
        yield f"utime {mode:o}", first, lambda: os.utime("f", (1, 1)), None
        yield f"access {mode:o}", first, lambda: [os.access("f", right) for right in (4, 2, 1)], None


def changes_of_owner_and_mode():
    for owner in CALLERS:
        def first(owner=owner):
            make("f", 0o6755, owner)
        for mode in (0o4711, 0o2755, 0o1644):
            yield (f"chmod {mode:o} of {owner}'s", first, lambda mode=mode: os.chmod("f", mode),
                   lambda: attributes("f"))
        for uid, gid in ((-1, -1), (0, -1), (OWNER, -1), (-1, OWNER), (-1, 0), (OTHER, OTHER)):
            yield (f"chown {uid}:{gid} of {owner}'s", first,
                   lambda uid=uid, gid=gid: os.chown("f", uid, gid), lambda: attributes("f"))


def what_the_directory_allows():
    for owner in CALLERS:
        for mode in (0o755, 0o777, 0o1777, 0o700, 0o333):
            def first(owner=owner, mode=mode):
                make("f", owner=owner)
                make("g")
                os.chmod(".", mode)
            for name, call in (("unlink", lambda: os.unlink("f")), ("rename", lambda: os.rename("f", "h")),
                               ("rename over", lambda: os.rename("g", "f")),
                               ("create", lambda: opened("n", C | W, 0o666)),
                               ("list", lambda: (sorted(os.listdir()), attributes("f")))):
                yield (f"{name} {owner}'s in {mode:o}", first, call,
                       lambda: [(name, attributes(name)) for name in sorted(os.listdir())])


def what_clears_the_setuid_bit():
    for mode in (0o4777, 0o2777, 0o6777, 0o1777):
        def first(mode=mode):
            make("f", mode)
        for name, call in (("write", lambda: opened("f", W, data=b"yy")), ("truncate", lambda: os.truncate("f", 0)),
                           ("append", lambda: opened("f", W | A, data=b"yy"))):
            yield f"{name} {mode:o}", first, call, lambda: attributes("f")


def creations():
    for umask in (0, 0o22, 0o77, 0o777):
        yield (f"umask {umask:o}", lambda: os.chmod(".", 0o777),
               lambda umask=umask: with_umask(umask, lambda: opened("n", C | RW, 0o7777)), lambda: attributes("n"))
    yield ("a mode that forbids what is open", lambda: os.chmod(".", 0o777),
           lambda: opened("n", C | RW, 0, b"text"), lambda: (attributes("n"), open("n", encoding="ascii").read()))


def times():
    def first():
        make("f")
        os.chmod(".", 0o777)
    for seconds in (0, 2, -1, 2**32, 2**33):
        yield (f"utimens {seconds}", first,
               lambda s=seconds: (os.utime("f", ns=(7, s * 10**9 + 7)), os.stat("f").st_mtime_ns), None)
    for name, call in (("chmod", lambda: os.chmod("f", 0o600)), ("truncate", lambda: os.truncate("f", 0)),
                       ("write", lambda: opened("f", W, data=b"zz")), ("utime", lambda: os.utime("f", (5, 5))),
                       ("chown", lambda: os.chown("f", -1, os.getgid()))):
        yield f"times after {name}", first, lambda call=call: later("f", call), None
    yield "times after rename", first, lambda: later("f", lambda: os.rename("f", "h"), "h"), None
    for name, call in (("create", lambda: opened("n", C | W)), ("unlink", lambda: os.unlink("f")),
                       ("rename", lambda: os.rename("f", "h")), ("write", lambda: opened("f", W, data=b"zz")),
                       ("open", lambda: opened("f", R))):
        yield f"the directory's times after {name}", first, lambda call=call: later(".", call), None


def outcome(call):
    try:
        return call() if call else None
    except OSError as error:
        return errno.errorcode[error.errno]


def as_user(user, call):
    """The outcome of the call in a process of that user, as text."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            os.write(writer, repr(outcome(call)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    return text


@pytest.mark.parametrize("cases", [opens, changes_of_owner_and_mode, what_the_directory_allows,
                                   what_clears_the_setuid_bit, creations, times])
def test_rights_are_those_of_a_plain_directory(make_mount, tmp_path, cases):
    mount = make_mount("allow_other")
    wrong = []
    for number, (name, first, call, afterwards) in enumerate(cases()):
        for user in CALLERS:
            results = []
            for top in (tmp_path / "plain", mount / "default"):
                directory = top / f"t/{number}.{user}/f"
                directory.mkdir(parents=True)
                os.chdir(directory)
                try:
                    first()
                    results.append((as_user(user, call), outcome(afterwards)))
                finally:
                    os.chdir("/")
            if results[0] != results[1]:
                wrong.append(f"{name} by {user}: {results[1]}, where a plain directory has {results[0]}")
    assert not wrong, "\n".join(wrong)
