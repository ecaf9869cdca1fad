# SPDX-License-Identifier: MIT
"""Where a store may lie and be mounted, and what the commands say where it may not or is not."""

import contextlib
import ctypes
import json
import os
import pathlib
import signal
import stat
import subprocess
import time

import pytest

from mounts import CELLFS, PATIENCE, is_mounted, sh, wait_until

MNT_FORCE, MNT_DETACH = 1, 2
WAIT_OF_MOUNT = 10  # seconds that `mount` waits for a daemon that ends


def cellfs(*arguments, before=(), timeout=PATIENCE):
    """Exit code and standard error."""
    done = subprocess.run([*before, CELLFS, *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, check=False)
    return done.returncode, done.stderr.decode(errors="replace")


def assert_refused(answer, *words):
    """It failed with one line that has these words."""
    code, error = answer
    assert code in (2, 3) and error.count("\n") == 1, (code, error)
    for word in words:
        assert str(word) in error, error


def detach(path):
    ctypes.CDLL(None, use_errno=True).umount2(os.fsencode(path), MNT_DETACH)


def daemon_of(path):
    done = subprocess.run([CELLFS, "status", "--json", path], stdout=subprocess.PIPE, check=True,
                          timeout=PATIENCE)
    return json.loads(done.stdout)["pid"]


@contextlib.contextmanager
def taken_down(*mountpoints):
    """Nothing stays mounted there, and no daemon runs, whatever the test finds."""
    try:
        yield
    finally:
        for mountpoint in mountpoints:
            while os.path.ismount(mountpoint) or is_mounted(mountpoint):
                with contextlib.suppress(Exception):
                    os.kill(daemon_of(mountpoint), signal.SIGKILL)
                detach(mountpoint)


@pytest.fixture
def place(tmp_path):
    """(store, mount point), the first of which is not there yet."""
    (tmp_path / "mnt").mkdir()
    with taken_down(tmp_path / "mnt"):
        yield tmp_path / "store", tmp_path / "mnt"


@pytest.fixture
def made(place):
    """The same with a store that has been mounted once."""
    store, mountpoint = place
    assert cellfs("mount", store, mountpoint) == (0, "")
    (mountpoint / "default/t/r/f").mkdir(parents=True)
    (mountpoint / "default/t/r/f/q").write_text("x")
    assert cellfs("umount", mountpoint) == (0, "")
    return store, mountpoint


# ---- Names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [
    b"a,b", b",", b"a\\,b", b"\\", b"\\054", b"back\\slash", b"with space", b"tab\tand\x0b\x0c\r", b"#",
    b"'\"$(x)", b"x=y,ro", b"\xff\xfe", "\u00fc\u4e16".encode(), b"-o", b"line\nfeed"
])
def test_store_and_mountpoint_may_have_any_name(tmp_path, name):
    base = os.fsencode(tmp_path)
    store, mountpoint = base + b"/store of " + name, base + b"/" + name
    os.mkdir(mountpoint)
    try:
        assert cellfs("mount", store, mountpoint) == (0, "")
        os.makedirs(mountpoint + b"/default/t/r/f")
        for path in (store, mountpoint):
            assert daemon_of(path) > 0
            assert cellfs("flush", path) == (0, "")
        assert cellfs("status", mountpoint) == (0, "")
        assert cellfs("umount", store) == (0, "")
        assert not os.path.ismount(mountpoint) and daemon_of(store) == 0
    finally:
        if os.path.ismount(mountpoint):
            detach(mountpoint)


# ---- Where a store may be mounted ------------------------------------------------------------------


@pytest.mark.parametrize("through", ["itself", "link", "bind"])
def test_a_mountpoint_in_the_store_is_refused(made, tmp_path, through):
    store, _ = made
    way = store
    if through != "itself":
        way = tmp_path / "way"
        way.symlink_to(store) if through == "link" else way.mkdir()
    if through == "bind":
        sh(f"mount --bind {store} {way}")
    try:
        for below in (way, way / "tables", way / "wal"):
            code, error = cellfs("mount", store, below, timeout=20)
            assert code == 2 and error.count("\n") == 1 and "store" in error
            assert f" - fuse.cellfs {store} " not in sh("cat /proc/self/mountinfo")
    finally:
        if through == "bind":
            sh(f"umount {way}")


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("through", ["itself", "link"])
def test_a_store_below_its_mountpoint_is_refused(tmp_path, exists, through):
    above = tmp_path / "above"
    store = above / "deep/store"
    store.parent.mkdir(parents=True)
    if exists:
        store.mkdir(0o700)
    way = above
    if through == "link":
        way = tmp_path / "way"
        way.symlink_to(above)
    for mountpoint in (way, way / "deep"):
        assert_refused(cellfs("mount", store, mountpoint, timeout=20), "below the mount point", store)
    assert not is_mounted(above) and not (store / "FORMAT").exists()


def test_a_live_mount_is_not_mounted_over(mount, tmp_path):
    (mount.family() / "q").write_text("x")
    for store in (mount.store, tmp_path / "another"):
        assert_refused(cellfs("mount", store, mount.path), mount.path, "cellfs umount")
    assert not (tmp_path / "another").exists()
    assert (mount / "default/t/r/f/q").read_text() == "x"


# ---- Daemons that are on their way out -------------------------------------------------------------


def test_a_store_in_use_is_refused_at_once(mount, tmp_path):
    (tmp_path / "second").mkdir()
    begun = time.monotonic()
    assert_refused(cellfs("mount", mount.store, tmp_path / "second"), mount.pid, mount.path,
                   "cellfs umount")
    assert time.monotonic() - begun < WAIT_OF_MOUNT / 2


def test_a_store_in_use_is_refused_also_without_its_lock_file(mount, tmp_path):
    (tmp_path / "second").mkdir()
    (mount.store / "LOCK").unlink()
    assert_refused(cellfs("mount", mount.store, tmp_path / "second"), mount.path, "cellfs umount")
    assert not (mount.store / "LOCK").exists()
    assert cellfs("flush", mount.store) == (0, "")  # through the daemon
    mount.stop()
    mount.start()


def test_a_store_by_another_name_is_asked_through_its_daemon(mount, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    subprocess.run(["mount", "--bind", mount.store, other], check=True, timeout=PATIENCE)
    try:
        assert daemon_of(other) == daemon_of(mount.path)
        assert cellfs("flush", other) == (0, "")
    finally:
        subprocess.run(["umount", other], check=True, timeout=PATIENCE)


def bytes_of(store):
    return {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}


@pytest.mark.parametrize("file_system", ["writable", "read-only"])
def test_a_store_that_is_read_alone_stays_as_it_is(mount, tmp_path, file_system):
    """Also after a kill, when what is in the log alone has to be read."""
    family = mount.family()
    (family / "q").write_text("flushed")
    mount.command("flush")
    (family / "q").write_text("logged")
    mount.kill9()
    store, place = mount.store, tmp_path / "place"
    (store / "LOCK").unlink()
    (store / "RESERVE").unlink()
    before = bytes_of(store)
    place.mkdir()
    with contextlib.ExitStack() as stack:
        if file_system == "read-only":
            store = tmp_path / "bound"
            store.mkdir()
            sh(f"mount --bind {mount.store} {store} && mount -o remount,bind,ro {store}")
            stack.callback(sh, f"umount {store}")
        for command, said in (("get", "logged"), ("log", "put"), ("show", "logged")):
            assert said in sh(f"{CELLFS} {command} {store}/default/t/r/f/q")
        for command in ("scan --raw", "count", "describe", "list", "status", "list_quotas", "user_permission"):
            sh(f"{CELLFS} {command} {store}{'/default/t' if command in ('scan --raw', 'count', 'describe') else ''}")
        if file_system == "read-only":
            code, _, error = sh(f"{CELLFS} put {store} t r f:q=x", check=False)
            assert code == 3 and "is on a file system that is read-only" in error
        sh(f"{CELLFS} mount -o ro {store} {place}")
        stack.callback(sh, f"{CELLFS} umount {place}")
        assert (place / "default/t/r/f/q").read_text() == "logged"
        for refused in ("put {} t r f:q=x", "create {} u f", "flush {}", "compact {}", "drop --force {} t"):
            code, _, error = sh(f"{CELLFS} {refused.format(place)}", check=False)
            assert code == 3, (refused, code, error)
    assert bytes_of(mount.store) == before
    mount.start()
    assert (family / "q").read_text() == "logged"


def test_a_mount_after_kill_9_takes_the_stale_one_away(made):
    store, mountpoint = made
    for _ in range(5):
        assert cellfs("mount", store, mountpoint) == (0, "")
        (mountpoint / "default/t/r/f/q").write_text("y")
        os.kill(daemon_of(mountpoint), signal.SIGKILL)
        # At once: the daemon may still be dying, and have the store's lock.
        assert cellfs("mount", store, mountpoint) == (0, "")
        assert (mountpoint / "default/t/r/f/q").read_text() == "y"
        assert sh("cat /proc/self/mountinfo").count(f" {mountpoint} ") == 1
        assert cellfs("umount", mountpoint) == (0, "")


def test_a_mount_waits_for_a_daemon_that_ends(made, tmp_path):
    store, mountpoint = made
    assert cellfs("mount", store, mountpoint) == (0, "")
    first = daemon_of(mountpoint)
    os.kill(first, signal.SIGSTOP)
    try:
        detach(mountpoint)
        waiting = subprocess.Popen([CELLFS, "mount", store, mountpoint], stderr=subprocess.PIPE)
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(1)  # it has been refused by then, if it is refused
        os.kill(first, signal.SIGCONT)
        assert waiting.communicate(timeout=PATIENCE)[1] == b"" and waiting.returncode == 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(first, signal.SIGCONT)
    assert daemon_of(mountpoint) != first
    assert (mountpoint / "default/t/r/f/q").read_text() == "x"
    assert cellfs("umount", mountpoint) == (0, "")


@pytest.mark.parametrize("end", ["SIGTERM", "umount", "umount -l"])
def test_a_mount_may_follow_the_end_of_another_at_once(made, end):
    store, mountpoint = made
    for _ in range(5):
        assert cellfs("mount", store, mountpoint) == (0, "")
        (mountpoint / "default/t/r/f/q").write_bytes(b"x" * 1_000_000)
        if end == "SIGTERM":
            pid = daemon_of(mountpoint)
            os.kill(pid, signal.SIGTERM)
            wait_until(lambda: "being unmounted" in cellfs("flush", mountpoint)[1]
                       or not is_mounted(mountpoint), "the daemon's end")
        else:
            sh(f"{end} {mountpoint}")
        assert cellfs("mount", store, mountpoint) == (0, "")
        assert (mountpoint / "default/t/r/f/q").stat().st_size == 1_000_000
        assert cellfs("umount", mountpoint) == (0, "")


@pytest.mark.parametrize("command", [["status"], ["flush"], ["compact"], ["set", "log_level=info"]])
def test_a_stale_mount_is_said(made, command):
    store, mountpoint = made
    assert cellfs("mount", store, mountpoint) == (0, "")
    os.kill(daemon_of(mountpoint), signal.SIGKILL)
    wait_until(lambda: "stale" in cellfs(command[0], mountpoint, *command[1:])[1], "the daemon's end")
    assert_refused(cellfs(command[0], mountpoint, *command[1:]), "stale", f"cellfs umount {mountpoint}")
    assert_refused(cellfs(command[0], mountpoint, *command[1:]), f"'cellfs mount {store} {mountpoint}' mounts it again")
    assert cellfs("umount", mountpoint) == (0, "")
    assert not is_mounted(mountpoint)


def test_a_stale_mount_keeps_nobody_from_the_store(made, tmp_path):
    store, mountpoint = made
    assert cellfs("mount", store, mountpoint) == (0, "")
    (mountpoint / "default/t/r/f/q").write_text("y")
    os.kill(daemon_of(mountpoint), signal.SIGKILL)
    # At once: the daemon may still be dying, and have the store's lock.
    assert sh(f"{CELLFS} get -b {store} t r f:q") == "y"
    assert cellfs("put", store, "t", "r", "f:q=z") == (0, "")
    for command in ("status", "flush", "compact", "check"):
        assert cellfs(command, store) == (0, ""), command
    assert is_mounted(mountpoint)
    (tmp_path / "other").mkdir()
    assert cellfs("mount", store, tmp_path / "other") == (0, "")
    assert (tmp_path / "other/default/t/r/f/q").read_text() == "z"
    assert cellfs("get", store, "t", "r", "f:q") == (0, "")
    assert cellfs("umount", tmp_path / "other") == (0, "")
    assert cellfs("umount", mountpoint) == (0, "")


def test_what_is_refused_is_said_once_and_as_it_was_called(made, tmp_path):
    store, mountpoint = made
    (tmp_path / "other").mkdir()
    assert cellfs("create", store, "u", "f") == (0, "")
    assert cellfs("mount", "-o", "ro", store, mountpoint) == (0, "")
    for command in ("flush", "compact"):
        code, error = cellfs(command, mountpoint)
        assert code == 3 and error.count("read-only") == 1 and error.count("\n") == 1, error
    code, error = cellfs("set", mountpoint, "cache_size=x")
    assert code == 2 and error.startswith("cellfs: cache_size=x: "), error
    assert_refused(cellfs("mount", "-f", store, tmp_path / "other"), "in use")
    assert cellfs("umount", mountpoint) == (0, "")


def test_a_store_that_was_renamed_under_its_mount_is_said_to_be_mounted(made, tmp_path):
    store, mountpoint = made
    moved, other = tmp_path / "moved", tmp_path / "other"
    other.mkdir()
    assert cellfs("mount", store, mountpoint) == (0, "")
    store.rename(moved)
    begun = time.monotonic()
    for command in (["status", moved], ["list", moved], ["mount", moved, other], ["umount", moved],
                    ["check", "--repair", moved]):
        assert_refused(cellfs(*command), f"process {daemon_of(mountpoint)}",
                       f"mounted on {mountpoint} as {store}", "renamed", f"cellfs umount {mountpoint}")
    assert_refused(cellfs("status", store), f"mounted on {mountpoint}", "renamed or removed")
    assert time.monotonic() - begun < WAIT_OF_MOUNT / 2
    moved.rename(store)
    assert cellfs("umount", mountpoint) == (0, "")


def test_a_store_that_is_mounted_in_another_mount_namespace_is_said_to_be(made, tmp_path):
    store, mountpoint = made
    (tmp_path / "other").mkdir()
    with subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c",
                           f"{CELLFS} mount {store} {mountpoint} && echo mounted && cat"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as elsewhere:
        try:
            assert elsewhere.stdout.readline() == b"mounted\n"
            begun = time.monotonic()
            for command in (["status", store], ["mount", store, tmp_path / "other"], ["umount", store]):
                assert_refused(cellfs(*command), f"mounted on {mountpoint} in another mount namespace", "nsenter -t")
            assert time.monotonic() - begun < WAIT_OF_MOUNT / 2
            told = cellfs("status", store)[1]
            enter = told[told.index("nsenter -t"):told.index(" cellfs umount")]
            sh(f"{enter} {CELLFS} umount {mountpoint}")
            assert cellfs("status", store) == (0, "")
        finally:
            elsewhere.stdin.close()


@pytest.mark.parametrize("by", ["one path", "two paths"])
def test_umount_of_a_mount_that_only_reads_waits_for_its_own_daemon(made, tmp_path, by):
    store, mountpoint = made
    same, other = store, tmp_path / "other"
    other.mkdir()
    with contextlib.ExitStack() as stack:
        if by == "two paths":
            same = tmp_path / "bound"
            same.mkdir()
            sh(f"mount --bind {store} {same} && mount -o remount,bind,ro {same}")
            stack.callback(sh, f"umount {same}")
        assert cellfs("mount", "-o", "ro", store, other) == (0, "")
        stack.callback(cellfs, "umount", other)
        assert cellfs("mount", "-o", "ro", same, mountpoint) == (0, "")
        daemon = daemon_of(mountpoint)
        begun = time.monotonic()
        assert cellfs("umount", mountpoint) == (0, "")
        assert time.monotonic() - begun < 10
        assert not os.path.exists(f"/proc/{daemon}/fd/0"), "its daemon has closed the store"
        assert (other / "default/t/r/f/q").exists()


def test_umount_says_where_else_the_mount_is_kept(mount):
    with subprocess.Popen(["unshare", "-m", "--propagation", "private", "cat"], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL) as elsewhere:
        own = os.readlink("/proc/self/ns/mnt")
        wait_until(lambda: os.readlink(f"/proc/{elsewhere.pid}/ns/mnt") != own, "its namespace")
        wait_until(lambda: str(mount) in pathlib.Path(f"/proc/{elsewhere.pid}/mountinfo").read_text(), "its mounts")
        with subprocess.Popen([CELLFS, "umount", str(mount)], stderr=subprocess.PIPE, text=True) as umount:
            told = umount.stderr.readline()
            assert "mounted still in the mount namespace of process" in told and "nsenter -t" in told, told
            elsewhere.stdin.close()
            elsewhere.wait(PATIENCE)
            assert umount.wait(PATIENCE) == 0
    mount.process.wait(PATIENCE)
    mount.process = None
    mount.start()


def test_of_a_stopped_daemon_umount_and_mount_say_that_it_was_stopped(made, tmp_path):
    store, mountpoint = made
    (tmp_path / "other").mkdir()
    assert cellfs("mount", store, mountpoint) == (0, "")
    pid = daemon_of(mountpoint)
    os.kill(pid, signal.SIGSTOP)
    try:
        for place in (mountpoint, tmp_path / "other"):
            assert_refused(cellfs("mount", store, place), f"pid {pid}", "kill -CONT")
        umount = subprocess.Popen([CELLFS, "umount", mountpoint], stderr=subprocess.PIPE)
        told = umount.stderr.readline().decode()
        assert f"pid {pid}" in told and "kill -CONT" in told, told
    finally:
        os.kill(pid, signal.SIGCONT)
    assert umount.communicate(timeout=PATIENCE)[1] == b"" and umount.returncode == 0


@pytest.mark.parametrize("command", ["status", "flush", "compact", "check"])
@pytest.mark.parametrize("mounted", [True, False])
def test_somebody_elses_store_is_said(mount, command, mounted):
    mount.family()
    if not mounted:
        mount.stop()
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    for path in (mount.path, mount.store) if mounted else (mount.store,):
        named = "allow_other" if mounted and command != "check" else mount.store
        assert_refused(cellfs(command, path, before=nobody), "somebody else", named)


def test_umount_that_only_another_may_do_says_so(mount):
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    assert_refused(cellfs("umount", mount.path, before=nobody), mount.path)
    assert is_mounted(mount.path)


# ---- Whose the store is ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [".", "tables", "wal", "FORMAT", "CATALOG", "EDITS", "LOCK", "tables/1", "tables/1/MANIFEST"])
@pytest.mark.parametrize("how", ["group", "others", "owner", "link"])
def test_a_store_that_others_can_change_is_refused(made, tmp_path, name, how):
    store, mountpoint = made
    path, outside = store / name, tmp_path / "outside"
    if how == "group":
        path.chmod(path.stat().st_mode | stat.S_IWGRP)
    elif how == "others":
        path.chmod(path.stat().st_mode | stat.S_IWOTH)
    elif how == "owner":
        os.chown(path, 65534, -1)
    elif name == ".":
        pytest.skip("whoever names a link to his store may do so")
    else:
        path.rename(outside)
        path.symlink_to(outside)
    before = sh(f"cd {tmp_path} && find . -type f | sort | xargs md5sum")
    for command in (["mount", store, mountpoint], ["status", store], ["flush", store], ["check", store]):
        assert_refused(cellfs(*command), path if name != "." else store)
        assert not is_mounted(mountpoint)
    assert sh(f"cd {tmp_path} && find . -type f | sort | xargs md5sum") == before


def test_a_store_in_a_directory_of_everybodys_is_refused(made, tmp_path):
    store, mountpoint = made
    os.chmod(tmp_path, 0o777)
    assert_refused(cellfs("mount", store, mountpoint), tmp_path, "chmod o-w")
    os.chmod(tmp_path, 0o1777)  # as /tmp
    assert cellfs("mount", store, mountpoint) == (0, "")
    assert cellfs("umount", store) == (0, "")


@pytest.mark.parametrize("mode", [0o755, 0o777, 0o500])
def test_an_empty_directory_is_made_private_and_that_is_said(place, mode):
    store, mountpoint = place
    store.mkdir()
    store.chmod(mode)
    code, said = cellfs("mount", store, mountpoint)
    assert code == 0 and said.count("\n") == 1 and f"{mode:o}" in said and "0700" in said
    assert stat.S_IMODE(store.stat().st_mode) == 0o700
    assert cellfs("umount", store) == (0, "")


def test_an_empty_directory_of_somebody_elses_is_left_alone(place):
    store, mountpoint = place
    store.mkdir(0o755)
    os.chown(store, 65534, 65534)
    assert_refused(cellfs("mount", store, mountpoint), store, "65534")
    assert stat.S_IMODE(store.stat().st_mode) == 0o755 and not os.listdir(store)


def test_a_mount_that_is_refused_leaves_no_new_store(place):
    store, mountpoint = place
    powerless = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]
    refused = [*powerless, CELLFS, "mount", store, mountpoint]  # fusermount3 has a word in it, too
    assert subprocess.run(refused, stderr=subprocess.DEVNULL, check=False).returncode == 3
    assert os.listdir(store.parent) == [mountpoint.name]
    with taken_down(mountpoint):
        assert cellfs("mount", store, mountpoint) == (0, "")
        (mountpoint / "default/t/r/f").mkdir(parents=True)
        (mountpoint / "default/t/r/f/q").write_text("x")
        assert cellfs("umount", store) == (0, "")
        assert subprocess.run(refused, stderr=subprocess.DEVNULL, check=False).returncode == 3
        assert cellfs("mount", store, mountpoint) == (0, "")  # one that was there is kept
        assert (mountpoint / "default/t/r/f/q").read_text() == "x"
        assert cellfs("umount", store) == (0, "")


# ---- What is called wrongly ------------------------------------------------------------------------


@pytest.mark.parametrize("arguments, words", [
    (["mont", "s", "m"], ["unknown command 'mont'", "did you mean 'mount'"]),
    (["foo"], ["unknown command 'foo'", "cellfs --help"]),
    ([], ["name a command", "cellfs --help"]),
    (["mount"], ["missing: STORE, MOUNTPOINT", "cellfs mount [OPTIONS] STORE MOUNTPOINT", "--help"]),
    (["mount", "s"], ["missing: MOUNTPOINT", "cellfs mount [OPTIONS] STORE MOUNTPOINT"]),
    (["flush"], ["missing: STORE|MOUNT|PATH", "cellfs flush [OPTIONS] STORE|MOUNT|PATH [TABLE...]"]),
    (["mount", "--nope", "s", "m"], ["--nope", "cellfs mount [OPTIONS] STORE MOUNTPOINT"]),
    (["mount", "s", ""], ["mount point", "empty", "directory"]),
    (["mount", "", "m"], ["store", "empty", "directory"]),
])
def test_what_is_called_wrongly_is_named_in_one_line(arguments, words):
    code, error = cellfs(*arguments)
    assert code == 2 and error.count("\n") == 1, (code, error)
    for word in words:
        assert word in error, error


@pytest.mark.parametrize("arguments, words", [
    (["--config", "{}"], ["{}", "is a directory", "file"]),
    (["-o", "file_mode=999"], ["file_mode=999", "octal", "0640"]),
])
def test_a_wrong_setting_is_named_with_its_remedy(place, arguments, words):
    store, mountpoint = place
    at = [argument.format(mountpoint) for argument in arguments]
    assert_refused(cellfs("mount", *at, store, mountpoint), *[word.format(mountpoint) for word in words])
    assert not store.exists()


# ---- The log ---------------------------------------------------------------------------------------


def test_the_logs_directory_is_not_made(place, tmp_path):
    store, mountpoint = place
    target = tmp_path / "mistyped/deep/log"
    assert_refused(cellfs("mount", "-o", f"log_target={target}", store, mountpoint), target.parent,
                   "mkdir")
    assert not (tmp_path / "mistyped").exists() and not store.exists()


def test_sighup_opens_the_log_anew_in_the_background(place, tmp_path):
    store, mountpoint = place
    log, moved = tmp_path / "log", tmp_path / "log.1"
    assert cellfs("mount", "-o", f"log_target={log}", store, mountpoint) == (0, "")
    daemon = daemon_of(mountpoint)
    log.rename(moved)
    os.kill(daemon, signal.SIGHUP)
    wait_until(lambda: log.exists() and "anew" in log.read_text(), "a new log")
    before = moved.read_text()
    assert cellfs("set", mountpoint, "log_level=debug", "cache_size=1234567") == (0, "")
    shown = (mountpoint / ".cellfs/config").read_text()
    assert "level = 'debug'\n" in shown and "cache_size = 1234567\n" in shown
    assert shown in sh(f"{CELLFS} report {mountpoint}")
    assert daemon_of(mountpoint) == daemon
    assert cellfs("umount", mountpoint) == (0, "")
    assert "is closed" in log.read_text() and moved.read_text() == before


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE])
def test_a_signal_that_says_nothing_ends_no_mount(place, number):
    store, mountpoint = place
    assert cellfs("mount", store, mountpoint) == (0, "")
    daemon = daemon_of(mountpoint)
    os.kill(daemon, number)
    os.kill(daemon, number)
    (mountpoint / "default/t/r/f").mkdir(parents=True)
    assert daemon_of(mountpoint) == daemon
    assert cellfs("umount", mountpoint) == (0, "")


def test_sighup_without_a_place_for_the_log_leaves_it_where_it_is(place, tmp_path):
    store, mountpoint = place
    (tmp_path / "logs").mkdir()
    assert cellfs("mount", "-o", f"log_target={tmp_path}/logs/log", store, mountpoint) == (0, "")
    (tmp_path / "logs").rename(tmp_path / "moved")
    (tmp_path / "logs").write_text("no directory")
    os.kill(daemon_of(mountpoint), signal.SIGHUP)
    wait_until(lambda: "old file" in (tmp_path / "moved/log").read_text(), "the reason in the log")
    assert cellfs("umount", mountpoint) == (0, "")
    assert "is closed" in (tmp_path / "moved/log").read_text()


@pytest.mark.parametrize("terminal", [True, False])
def test_sighup_ends_a_mount_in_the_foreground_of_a_terminal_alone(place, terminal):
    store, mountpoint = place
    ours, theirs = os.openpty()
    take_it = ["setsid", "--ctty"] if terminal else ["setsid"]
    daemon = subprocess.Popen([*take_it, "--wait", CELLFS, "mount", "-f", store, mountpoint],
                              stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        wait_until(lambda: is_mounted(mountpoint) and (mountpoint / "default").is_dir(), "the mount")
        os.kill(daemon_of(mountpoint), signal.SIGHUP)
        if not terminal:
            assert (mountpoint / "default").is_dir()
            assert cellfs("umount", mountpoint) == (0, "")
        assert daemon.wait(PATIENCE) == 0
        assert not is_mounted(mountpoint)
    finally:
        os.close(ours)


@pytest.mark.parametrize("prepare, words", [
    ("mount --bind {device} /dev/fuse", ["Permission denied", "chmod"]),
    ("mount -t tmpfs none /dev", ["No such file", "modprobe"]),
])
def test_a_device_that_may_not_be_opened_is_told_from_one_that_is_missing(made, tmp_path, prepare, words):
    """In a mount namespace of its own, without the right to pass modes by."""
    device = tmp_path / "device"
    os.mknod(device, stat.S_IFCHR | 0o600, os.stat("/dev/fuse").st_rdev)
    os.chown(device, 65534, 65534)
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c",
         prepare.format(device=device) +
         ' && exec setpriv --bounding-set=-dac_override,-dac_read_search "$@"',
         "bash", CELLFS, "mount", *made],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
    assert_refused((done.returncode, done.stderr.decode()), "/dev/fuse", *words)


# ---- The end of a session --------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["SIGTERM", "umount -l", "abort"])
def test_files_open_for_writing_at_the_end_are_let_go(mount, end):
    """They outlive the session that opened them."""
    family = mount.family()
    client = subprocess.Popen(
        ["python3", "-c", """
import os, sys
names = ["a", "b", ".counters/c", "../../.schema.toml"]
for file in [os.open(name, os.O_RDWR | os.O_CREAT) for name in names]:
    os.write(file, b"+1")
print("open", flush=True)
sys.stdin.read()
"""], cwd=family, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert client.stdout.readline() == b"open\n"
        if end == "SIGTERM":
            mount.process.send_signal(signal.SIGTERM)
        elif end == "abort":
            ctypes.CDLL(None).umount2(os.fsencode(mount.path), MNT_FORCE)
        else:
            detach(mount.path)
            client.stdin.close()
        # Who starts daemons shall start another: the mount is there, and stale.
        assert mount.process.wait(PATIENCE) == (3 if end == "abort" else 0)
        mount.process = None
    finally:
        client.kill()
        client.wait()
    detach(mount.path)
    mount.start()
    assert (family / "a").read_text() == "+1" and (family / "b").read_text() == "+1"
