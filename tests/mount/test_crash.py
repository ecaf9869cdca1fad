# SPDX-License-Identifier: MIT
"""The daemon dies at any moment; the store belongs to one daemon and is nothing else's directory."""

import ctypes
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys

import pytest

from mounts import CELLFS, PATIENCE, is_mounted, sh, versions, wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "crash"))
from crash_rounds import run_rounds  # noqa: E402

MNT_FORCE, MNT_DETACH = 1, 2
ROUNDS = int(os.environ.get("CELLFS_CRASHES", "6"))


def test_what_was_acknowledged_survives_kill_9(mount):
    seed = int(os.environ.get("CELLFS_SEED", "0")) or random.randrange(1 << 30)
    print(f"seed {seed}: CELLFS_SEED repeats it, CELLFS_CRASHES says how often")
    assert run_rounds(mount, ROUNDS, 100, seed) == []


def test_names_attributes_and_schemas_survive_kill_9(mount):
    mount.schema('splits = ["m"]\n[families.f]\nVERSIONS = 2\n')
    family = mount.family()
    (family / "q").write_text("one")
    (family / "gone").write_text("x")
    (family / "gone").unlink()
    os.rename(family / "q", family / "p")
    os.chmod(family / "p", 0o640)
    schema = (mount / "default/t/.schema.toml").read_text()
    mount.kill9()
    mount.start()
    assert os.listdir(family) == ["p"] and (family / "p").read_text() == "one"
    assert os.stat(family / "p").st_mode & 0o777 == 0o640
    assert (mount / "default/t/.schema.toml").read_text() == schema


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_unfinished_write_leaves_the_value_before(mount, family, number):
    (family / "q").write_text("before")
    handle = os.open(family / "q", os.O_WRONLY | os.O_TRUNC)
    os.write(handle, b"unfinished")
    claim = os.open(family / "claimed", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    mount.process.send_signal(number)
    mount.process.wait(PATIENCE)
    for descriptor in (handle, claim):
        with pytest.raises(OSError):
            os.close(descriptor)
    subprocess.run(["umount", "-l", mount.path], check=False)
    mount.start()
    assert (family / "q").read_text() == "before" and os.listdir(family) == ["q"]


def unmount(path, flags):
    """Not by umount(8): a child closes copies of what is open here, and a close puts. Forced, it aborts
    the connection, and takes no mount away that is in use."""
    ctypes.CDLL(None).umount2(os.fsencode(path), flags)


def test_an_abort_leaves_the_value_before_and_ends_the_daemon_with_an_error(mount, family):
    (family / "q").write_text("before")
    handle = os.open(family / "q", os.O_WRONLY | os.O_TRUNC | os.O_CREAT)
    os.write(handle, b"unfinished")
    unmount(mount.path, MNT_FORCE)
    assert mount.process.wait(PATIENCE) == 3, "a stale mount is left"
    with pytest.raises(OSError):
        os.close(handle)
    mount.start()
    assert (family / "q").read_text() == "before"


@pytest.mark.parametrize("end", ["umount -fl", "umount -l, SIGTERM"])
def test_an_end_below_a_detached_mount_leaves_the_value_before(mount, family, end):
    (family / "q").write_text("before")
    (family / "p").write_text("before")
    handles = [os.open(family / name, os.O_WRONLY | os.O_TRUNC | os.O_CREAT) for name in "qpn"]
    os.write(handles[0], b"unfinished")
    if end == "umount -fl":
        unmount(mount.path, MNT_FORCE | MNT_DETACH)
    else:
        unmount(mount.path, MNT_DETACH)
        mount.process.send_signal(signal.SIGTERM)
    assert mount.process.wait(PATIENCE) == 0
    for handle in handles:
        with pytest.raises(OSError):
            os.close(handle)
    mount.start()
    assert (family / "q").read_text() == (family / "p").read_text() == "before"
    assert sorted(os.listdir(family)) == ["p", "q"]


def test_what_is_written_and_closed_below_a_detached_mount_is_stored(mount, family):
    (family / "q").write_text("before")
    handle = os.open(family / "q", os.O_WRONLY | os.O_TRUNC)
    unmount(mount.path, MNT_DETACH)
    os.write(handle, b"finished")
    os.close(handle)
    assert mount.process.wait(PATIENCE) == 0
    mount.start()
    assert (family / "q").read_text() == "finished"


# Holds what the kernel needs when it is told to drop pages and names.
CLIENT = """
import os, sys
family, me = sys.argv[1:]
try:
    for i in range(1 << 30):
        with open(f"{family}/{me}.{i % 4}", "wb") as file:
            file.write(b"x" * 300000)
        if i % 3 == 0:
            os.unlink(f"{family}/{me}.{i % 4}")
        os.listdir(family)
        if i == 20:
            print("running", flush=True)
except OSError:
    pass
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_daemon_ends_although_it_waits_for_a_client(mount, number):
    """A thread that tells the kernel to drop something, here after a command, waits for whoever
    holds it, and he for the daemon: that must not leave the mount hanging and the store locked."""
    family = mount.family()
    for _ in range(3):
        clients = [
            subprocess.Popen([sys.executable, "-c", CLIENT, str(family), str(me)],
                             stdout=subprocess.PIPE) for me in range(5)
        ]
        commands = subprocess.Popen(
            ["sh", "-c", f"while {CELLFS} flush {mount.path}; do :; done"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for client in clients:
            client.stdout.readline()
        mount.process.send_signal(number)
        mount.process.wait(PATIENCE)
        for process in [commands, *clients]:
            process.wait(PATIENCE)
        subprocess.run(["umount", "-l", mount.path], check=False)
        mount.start()


def test_a_second_daemon_is_refused_and_names_the_first(mount, tmp_path):
    (tmp_path / "second").mkdir()
    code, _, error = sh(f"{CELLFS} mount {mount.store} {tmp_path}/second", check=False)
    assert code != 0 and str(mount.pid) in error
    assert not is_mounted(tmp_path / "second")
    (mount.family() / "q").write_text("the first goes on")


def test_a_foreign_directory_is_refused_and_left_alone(tmp_path):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "mnt").mkdir()
    (tmp_path / "foreign/letter.txt").write_text("mine")
    code, _, error = sh(f"{CELLFS} mount {tmp_path}/foreign {tmp_path}/mnt", check=False)
    assert code != 0 and "foreign" in error
    assert os.listdir(tmp_path / "foreign") == ["letter.txt"] and not is_mounted(tmp_path / "mnt")


def test_a_mountpoint_that_is_missing_is_said(tmp_path):
    code, _, error = sh(f"{CELLFS} mount {tmp_path}/store {tmp_path}/none", check=False)
    assert code != 0 and "none" in error and not (tmp_path / "store").exists()


def test_the_background_form_returns_when_the_mount_answers(tmp_path):
    (tmp_path / "mnt").mkdir()
    try:
        sh(f"{CELLFS} mount {tmp_path}/store {tmp_path}/mnt && ls {tmp_path}/mnt/default && "
           f"mkdir -p {tmp_path}/mnt/default/t/r/f && echo x >{tmp_path}/mnt/default/t/r/f/q")
        assert os.stat(tmp_path / "store").st_mode & 0o777 == 0o700
        assert '"pid"' in sh(f"{CELLFS} status --json {tmp_path}/store")
        sh(f"{CELLFS} umount {tmp_path}/mnt")
        assert not is_mounted(tmp_path / "mnt")
        assert '"pid":0' in sh(f"{CELLFS} status --json {tmp_path}/store").replace(" ", "")
    finally:
        if is_mounted(tmp_path / "mnt"):
            sh(f"umount -l {tmp_path}/mnt")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_unmounts_and_closes(mount, number):
    (mount.family() / "q").write_text("x")
    mount.process.send_signal(number)
    assert mount.process.wait(60) == 0
    assert not is_mounted(mount.path)
    mount.start()
    assert (mount / "default/t/r/f/q").read_text() == "x"


def test_a_copied_store_is_a_store(mount, make_mount, tmp_path):
    (mount.family() / "q").write_text("x")
    mount.stop()
    shutil.copytree(mount.store, tmp_path / "copy")
    copy = make_mount(store=tmp_path / "copy")
    assert (copy / "default/t/r/f/q").read_text() == "x"
    assert versions(copy / "default/t/r/f/q")
    mount.start()


def test_umount_waits_until_the_store_is_closed(mount):
    (mount.family() / "q").write_text("x")
    pid = mount.pid
    subprocess.run([CELLFS, "umount", mount.path], check=True, timeout=60)
    wait_until(lambda: mount.process.poll() is not None, f"end of {pid}", 5)
    mount.start()
