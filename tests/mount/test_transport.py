# SPDX-License-Identifier: MIT
"""How requests come from the kernel: by /dev/fuse or by io_uring, as it is asked for and can be had."""

import json
import os
import subprocess
import threading

import pytest

from mounts import CELLFS, sh
from uring import SWITCH, reason_without_uring, switched


@pytest.fixture(autouse=True)
def uring():
    if reason := reason_without_uring():
        pytest.skip(reason)


def transport(mount):
    return json.loads(mount.command("status", "--json"))["transport"]


def use(family):
    """A bit of everything that a request can be."""
    content = os.urandom(3 << 20)
    for name in ("a", "b"):
        (family / name).write_bytes(content)
        assert (family / name).read_bytes() == content
    os.rename(family / "a", family / "c")
    assert sorted(os.listdir(family)) == ["b", "c"]
    os.unlink(family / "b")
    assert not (family / "b").exists()
    (family / "c").write_bytes(b"")
    assert (family / "c").read_bytes() == b""


@pytest.mark.parametrize("asked, switch, name", [
    ("fuse", "Y", "fuse"), ("uring", "Y", "uring"), ("best", "Y", "uring"), ("best", "N", "fuse")])
def test_it_is_what_is_asked_for_and_can_be_had(make_mount, asked, switch, name):
    with switched(switch):
        mount = make_mount(f"transport={asked}")
        assert transport(mount)["name"] == name
        use(mount.family())
        mount.stop()


def test_uring_that_is_switched_off_is_refused_with_the_remedy(tmp_path):
    (tmp_path / "m").mkdir()
    with switched("N"):
        mounted = subprocess.run([CELLFS, "mount", "-o", "transport=uring", tmp_path / "s", tmp_path / "m"],
                                 capture_output=True, text=True, check=False)
    assert mounted.returncode != 0
    assert f"switched off: write Y to {SWITCH}" in mounted.stderr
    assert not os.path.ismount(tmp_path / "m")


def test_a_mount_keeps_its_transport_when_the_switch_is_turned(make_mount):
    with switched("Y"):
        mount = make_mount("transport=uring")
    with switched("N"):
        use(mount.family())
        assert transport(mount)["name"] == "uring"


def test_status_says_why_the_faster_way_is_not_taken(make_mount):
    with switched("N"):
        mount = make_mount("transport=best")
        assert str(SWITCH) in transport(mount)["why"]


def test_what_was_decided_at_mount_stays_and_so_does_its_reason(make_mount):
    with switched("N"):
        mount = make_mount("transport=best")
    with switched("Y"):
        assert transport(mount)["name"] == "fuse"
        assert str(SWITCH) in transport(mount)["why"]


def test_with_fewer_and_fewer_descriptors_a_mount_works_or_says_what_is_lacking(tmp_path):
    (tmp_path / "m").mkdir()
    told = []
    with switched("Y"):
        for limit in range(40, 8, -1):
            mounted = subprocess.run(
                ["bash", "-c", f"ulimit -n {limit}; exec {CELLFS} mount {tmp_path}/s {tmp_path}/m"],
                capture_output=True, text=True, check=False)
            if mounted.returncode != 0:
                told.append(mounted.stderr)
                break
            assert "default" in os.listdir(tmp_path / "m")
            status = subprocess.run([CELLFS, "status", "--json", tmp_path / "m"], capture_output=True, text=True, check=False)
            told.append(json.loads(status.stdout)["transport"]["why"] if status.returncode == 0 else "")
            sh(f"{CELLFS} umount {tmp_path}/m")
            if told[-1]:
                break
    assert told[0] == ""
    assert "Too many open files" in told[-1]


def test_clients_on_all_processors_at_once_each_have_their_bytes(make_mount):
    with switched("Y"):
        mount = make_mount("transport=uring,threads=2")
    family = mount.family()
    wrong = []

    def work(number):
        for i in range(50):
            file = family / f"q{number}.{i % 5}"
            file.write_bytes(f"{number} {i} ".encode() * 1000)
            if file.read_bytes() != f"{number} {i} ".encode() * 1000:
                wrong.append((number, i))
    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(os.listdir(family)) == 16 * 5
