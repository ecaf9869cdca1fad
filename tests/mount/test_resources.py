# SPDX-License-Identifier: MIT
"""Descriptors, memory or room run out: a clear error, nothing acknowledged is lost, and work goes on by itself."""

import contextlib
import errno
import os
import random
import re
import resource
import subprocess

import pytest

from mounts import CELLFS, Mount, fails_with, sh, wait_until


def all_read(known):
    return [path.name for path, data in known.items() if path.read_bytes() != data]


def descriptors(pid):
    """Those that a mount by io_uring has as well as one by /dev/fuse."""
    opened = os.scandir(f"/proc/{pid}/fd")
    return [int(entry.name) for entry in opened if "io_uring" not in os.readlink(entry.path)]


def test_without_descriptors_nothing_is_lost_and_all_comes_back(mount):
    families = [mount.family(table) for table in ("t", "u", "v")]
    known = {}
    for family in families:
        (family / "q").write_text("x")
    mount.command("flush")
    limit = len(descriptors(mount.pid)) - 3  # for a file let go by a reader makes room
    resource.prlimit(mount.pid, resource.RLIMIT_NOFILE, (limit, 4096))
    done = failed = 0
    for number in range(20):
        for family in families:
            try:
                (family / f"q{number}").write_bytes(b"%d" % number)
                known[family / f"q{number}"] = b"%d" % number
                done += 1
            except OSError as error:
                assert error.errno == errno.EIO
                failed += 1
        sh(f"{CELLFS} flush {mount.path}", check=False)
    assert done > 0 and failed > 0
    assert "Too many open files" in (mount / ".cellfs/errors").read_text()
    resource.prlimit(mount.pid, resource.RLIMIT_NOFILE, (4096, 4096))
    (mount / "default/again").mkdir()
    mount.command("flush")
    mount.command("compact")
    assert all_read(known) == []
    mount.kill9()
    mount.start()
    assert all_read(known) == []


def test_many_tables_need_no_higher_limit(tmp_path):
    (tmp_path / "mnt").mkdir()
    try:
        sh(f"ulimit -S -n 64 && {CELLFS} mount {tmp_path}/store {tmp_path}/mnt")
        for number in range(30):
            family = tmp_path / f"mnt/default/t{number}/r/f"
            family.mkdir(parents=True)
            (family / "q").write_text("x")
        sh(f"{CELLFS} flush {tmp_path}/mnt && cat {tmp_path}/mnt/default/*/r/f/q")
    finally:
        sh(f"{CELLFS} umount {tmp_path}/mnt")


def test_without_memory_a_write_fails_as_a_whole(mount, family):
    known = {}
    for number in range(20):
        (family / f"q{number:02}").write_bytes(b"before")
        known[family / f"q{number:02}"] = b"before"
    with open(f"/proc/{mount.pid}/statm", encoding="ascii") as statm:
        pages = int(statm.read().split()[0])
    limit = pages * os.sysconf("SC_PAGESIZE") + (8 << 20)
    resource.prlimit(mount.pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    failures = 0
    for path in known:
        data = path.name.encode() * 3000000
        try:
            path.write_bytes(data)
            known[path] = data
        except OSError as error:
            assert error.errno == errno.ENOMEM
            failures += 1
    assert failures > 0
    resource.prlimit(mount.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert all_read(known) == []
    (family / "q0").write_bytes(b"again")
    known[family / "q0"] = b"again"
    mount.command("flush")
    mount.kill9()
    mount.start()
    assert all_read(known) == []


@pytest.fixture
def disk(tmp_path):
    """A small file system of its own."""
    path = tmp_path / "disk"
    path.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "none", path], check=False).returncode != 0:
        pytest.skip("no file system can be mounted here")
    yield path
    sh(f"umount {path}")


def append(path, data, time=None):
    file = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(file, data)
    if time is not None:
        os.utime(file, ns=(0, time))
    os.close(file)


def leave_free(disk, blocks):
    """Fills the file system but for so many blocks."""
    ballast = disk / "ballast"
    room = os.statvfs(disk)
    taken = ballast.stat().st_size // room.f_bsize if ballast.exists() else 0
    wanted = taken + room.f_bavail - blocks
    with open(ballast, "ab") as file:
        if wanted < taken:
            file.truncate(max(wanted, 0) * room.f_bsize)
        else:
            file.write(bytes((wanted - taken) * room.f_bsize))


def test_on_a_full_disk_each_operation_is_done_or_not(tmp_path, disk):
    mount = Mount(disk / "store", tmp_path / "mnt")
    chance = random.Random(5)
    refused = 0
    try:
        family = mount.family()
        known = {family / f"q{number}": b"" for number in range(4)}
        names = list(known)
        for path in names:
            path.write_bytes(b"")
        while refused < 100:
            leave_free(disk, chance.choice((0, 1)))
            path, other = chance.choice(list(known)), chance.choice(names)
            data = chance.randbytes(chance.choice((1, 50, 300)))
            time = chance.choice((None, chance.randrange(10**18)))
            after = dict(known)
            try:
                if other not in known:
                    after[other] = data
                    other.write_bytes(data)
                elif len(known[path]) > 100000:
                    after[path] = data
                    path.write_bytes(data)
                elif chance.random() < 0.7 or path == other:
                    after[path] = known[path] + data
                    append(path, data, time)
                elif chance.random() < 0.7:
                    after[other] = after.pop(path)
                    os.rename(path, other)
                else:
                    del after[path]
                    path.unlink()
                known = after
            except OSError as error:
                assert error.errno == errno.ENOSPC, error
                refused += 1
            assert all_read(known) == []
            assert [name for name in names if name not in known and name.exists()] == []
        (disk / "ballast").unlink()
        mount.kill9()
        mount.start()
        assert all_read(known) == [] and len(os.listdir(family)) == len(known)
    finally:
        mount.stop()


@pytest.mark.parametrize("durability", ["SYNC_WAL", "FSYNC_WAL"])
def test_a_full_disk_refuses_and_goes_on_once_there_is_room(tmp_path, disk, durability):
    mount = Mount(disk / "store", tmp_path / "mnt", f"durability={durability}")
    try:
        family = mount.family()
        known = {}
        with fails_with(errno.ENOSPC):
            for number in range(100):
                data = b"%03d" % number * 30000
                (family / f"q{number}").write_bytes(data)
                known[family / f"q{number}"] = data
        code, _, error = sh(f"{CELLFS} flush {mount}", check=False)
        assert code == 0 or "full" in error  # the reserve may be enough for it
        assert all_read(known) == []
        mount.kill9()
        mount.start()
        assert all_read(known) == []
        sh(f"mount -o remount,size=32m {disk}")
        for path in list(known)[::2]:
            path.unlink()
            del known[path]
        (family / "again").write_bytes(b"x" * 1000000)
        known[family / "again"] = b"x" * 1000000
        mount.command("flush")
        assert "no damage" in mount.command("check")
        mount.remount()
        assert all_read(known) == [] and len(os.listdir(family)) == len(known)
    finally:
        mount.stop()


def test_a_disk_without_inodes_says_so_and_goes_on_once_there_are_some(tmp_path, disk):
    sh(f"mount -o remount,nr_inodes=64 {disk}")
    mount = Mount(disk / "store", tmp_path / "mnt")
    others = []
    try:
        family = mount.family()
        (family / "q").write_text("x")
        with fails_with(errno.ENOSPC):
            for number in range(100):
                (disk / f"other{number}").touch()
                others.append(disk / f"other{number}")
        (family / "q").write_text("goes to the log")
        for command in (f"flush {mount}", f"alter {mount} t f:VERSIONS=7", f"create {mount} u f"):
            code, _, error = sh(f"{CELLFS} {command}", check=False)
            assert code == 3 and "no inode for another file" in error and "remove files outside the store" in error
            assert "the disk is full" not in error
        assert "table 't' could not be altered" in sh(f"{CELLFS} alter {mount} t f:VERSIONS=7", check=False)[2]
        assert "no inode for another file" in mount.command("status")
        for other in others:
            other.unlink()
        for command in (f"flush {mount}", f"alter {mount} t f:VERSIONS=7", f"create {mount} u f"):
            sh(f"{CELLFS} {command}")
        assert (family / "q").read_text() == "goes to the log"
    finally:
        mount.stop()


def test_an_act_on_a_disk_that_others_have_filled_says_what_helps(tmp_path, disk):
    mount = Mount(disk / "store", tmp_path / "mnt")
    try:
        (mount.family() / "q").write_text("x")
        mount.command("flush")
        for _ in range(3):  # also what the reserve gives back
            with fails_with(errno.ENOSPC), open(disk / "ballast", "ab") as ballast:
                while True:
                    ballast.write(bytes(4096))
                    ballast.flush()
            os.truncate(disk / "store/RESERVE", 0)
        for command in (f"alter {mount} t f:VERSIONS=7", f"create {mount} u f", f"disable {mount} t"):
            code, _, error = sh(f"{CELLFS} {command}", check=False)
            assert code == 3 and "free space outside the store" in error, error
        assert "table 't' could not be altered" in sh(f"{CELLFS} alter {mount} t f:VERSIONS=7", check=False)[2]
        (disk / "ballast").unlink()
        mount.command("alter", "t f:VERSIONS=7")
    finally:
        mount.stop()


def test_puts_take_what_a_small_disk_has_and_status_says_when_they_are_refused(tmp_path, disk):
    sh(f"mount -o remount,size=24m {disk}")
    mount = Mount(disk / "store", tmp_path / "mnt")
    try:
        family = mount.family()
        known = {}
        with fails_with(errno.ENOSPC):
            for number in range(240):
                data = b"%04d" % number * 25000
                (family / f"q{number}").write_bytes(data)
                known[family / f"q{number}"] = data
        room = os.statvfs(disk)
        assert room.f_bavail * room.f_bsize < 2 << 20, "memstores are flushed where puts lack room"
        assert "the disk is full: it lacks " in mount.status()["puts_refused"]
        assert 'cellfs_puts_refused{reason="StoreFull"} 1' in (mount / ".cellfs/metrics").read_text()
        assert "the disk is full" in (mount / ".cellfs/status").read_text()
        sh(f"mount -o remount,size=64m {disk}")
        (family / "again").write_bytes(b"x" * 100000)
        assert mount.status()["puts_refused"] == ""
        assert 'cellfs_puts_refused{reason=""} 0' in (mount / ".cellfs/metrics").read_text()
        assert all_read(known) == []
    finally:
        mount.stop()


@pytest.fixture
def ext4(tmp_path):
    path = tmp_path / "ext4"
    path.mkdir(mode=0o700)
    sh(f"truncate -s 32M {path}.img")
    if sh(f"mkfs.ext4 -q -F {path}.img && mount -o loop {path}.img {path}", check=False)[0] != 0:
        pytest.skip("no image of a file system can be mounted here")
    yield path
    sh(f"umount {path}")


@pytest.mark.parametrize("kind", ["tmpfs", "ext4"])
def test_a_small_disk_that_was_filled_gives_its_room_back_without_a_remount(tmp_path, request, kind):
    disk = request.getfixturevalue("disk" if kind == "tmpfs" else "ext4")
    if kind == "tmpfs":
        sh(f"mount -o remount,size=32m {disk}")
    mount = Mount(disk / "store", tmp_path / "mnt")

    def used():
        room = os.statvfs(disk)
        return (room.f_blocks - room.f_bfree) * room.f_bsize

    try:
        family = mount.family()
        before = used()
        for turn in range(2):
            known = {}
            with fails_with(errno.ENOSPC):
                for number in range(200):
                    data = os.urandom(300000)
                    (family / f"q{number}").write_bytes(data)
                    known[family / f"q{number}"] = data
            assert len(known) > 60
            mount.command("flush")
            code, _, error = sh(f"{CELLFS} compact {mount} t", check=False)
            assert code == 3 and "no room for a compaction" in error
            needs, has, lacks = map(int, re.search(r"needs (\d+) bytes and may have (\d+): free (\d+) bytes", error).groups())
            assert lacks == needs - has
            assert mount.status()["disk_reserve"] == mount.status()["disk_reserve_wanted"]
            assert all_read(known) == []
            if turn == 0:
                for path in known:
                    path.unlink()
                    (family / ".deleted" / path.name).unlink()
                mount.command("flush")
                mount.command("compact", "t")
            else:
                sh(f"rm -r {mount}/default/t/r && rmdir {mount}/default/t")
            assert used() < before + (2 << 20)
            assert mount.status()["puts_refused"] == ""
        assert "no damage" in mount.command("check")
    finally:
        mount.stop()


def test_on_a_disk_that_others_have_filled_deletes_give_space_back(tmp_path, disk):
    mount = Mount(disk / "store", tmp_path / "mnt")

    def free():
        return os.statvfs(disk).f_bavail

    try:
        family, other = mount.family(), mount.family(table="other")
        for number in range(10):
            (family / f"q{number}").write_bytes(bytes([number]) * 100000)
            (other / f"q{number}").write_bytes(os.urandom(100000))
        mount.command("flush")
        leave_free(disk, 0)
        assert free() == 0
        with fails_with(errno.ENOSPC):  # the log has some room ahead
            for number in range(10):
                (family / f"q{number}").write_bytes(b"x" * 100000)
        for number in range(10):
            (family / f"q{number}").unlink()
            (family / f".deleted/q{number}").unlink()
        mount.command("flush")
        mount.command("compact", "t")
        assert free() > 0 and os.listdir(family) == [] and os.listdir(family / ".deleted") == []

        leave_free(disk, 0)
        for number in range(10):
            (other / f"q{number}").unlink()
        before = free()
        other.rmdir()
        (mount / "default/other/r").rmdir()
        (mount / "default/other").rmdir()
        assert free() > before + 100
        known = {family / "new": b"x" * 100000}
        (family / "new").write_bytes(known[family / "new"])
        assert all_read(known) == []
        mount.remount()
        assert all_read(known) == [] and not (mount / "default/other").exists()
        assert "no damage" in mount.command("check")
    finally:
        mount.stop()


def test_a_store_is_opened_on_a_full_disk(tmp_path, disk):
    mount = Mount(disk / "store", tmp_path / "mnt")
    try:
        family = mount.family()
        known = {family / f"q{number}": b"x" * 10000 for number in range(10)}
        for path, value in known.items():
            path.write_bytes(value)
        for end in (mount.kill9, mount.stop):
            leave_free(disk, 0)
            end()
            mount.start()
            assert all_read(known) == []
            with fails_with(errno.ENOSPC):
                (family / "new").write_bytes(b"x" * 5000)
            gone, _ = known.popitem()
            gone.unlink()
        (disk / "ballast").unlink()
        (family / "new").write_bytes(b"x")
        assert all_read(known | {family / "new": b"x"}) == []
    finally:
        mount.stop()


def test_a_compaction_that_has_no_room_takes_smaller_steps(tmp_path, disk):
    sh(f"mount -o remount,size=64m {disk}")
    mount = Mount(disk / "store", tmp_path / "mnt", "disk_reserve=1048576")
    try:
        mount.command("set", "maintenance=paused")
        sh(f"{CELLFS} create {mount} t f")
        family = mount / "default/t/r/f"
        for names in (["kept%d" % number for number in range(8)], ["old"] * 2, ["old"] * 2):
            for name in set(names):
                sh(f"head -c 2000000 /dev/urandom | {CELLFS} put {mount} t r f:{name} -")
            mount.command("flush")
        before = (family / "kept0").read_bytes(), (family / "old").read_bytes()
        files = sorted((mount.store / "tables").glob("*/*.db"))
        leave_free(disk, 1000)
        code, _, error = sh(f"{CELLFS} compact {mount} t", check=False)
        assert code == 3 and "no room for a compaction" in error and "'cellfs flush'" in error, (code, error)
        after = sorted((mount.store / "tables").glob("*/*.db"))
        assert len(after) == len(files) - 1, "the two that hold one column are one"
        assert ((family / "kept0").read_bytes(), (family / "old").read_bytes()) == before
        (disk / "ballast").unlink()
        sh(f"{CELLFS} compact {mount} t")
        assert ((family / "kept0").read_bytes(), (family / "old").read_bytes()) == before
    finally:
        mount.stop()


def test_puts_that_wait_for_the_room_of_a_compaction_end_its_pauses(tmp_path, disk):
    sh(f"mount -o remount,size=64m {disk}")
    config = tmp_path / "config.toml"
    config.write_text('[store]\ncompaction_rate = "50K"\n')
    mount = Mount(disk / "store", tmp_path / "mnt", "disk_reserve=1048576", config)
    try:
        sh(f"mkdir -p {mount}/default/{{t,big}}/r/f")
        for number in range(2):
            sh(f"head -c 5000000 /dev/urandom >{mount}/default/t/r/f/q{number}")
            mount.command("flush")
        leave_free(disk, 6000)
        compaction = subprocess.Popen([CELLFS, "compact", mount.path, "t"], stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: os.statvfs(disk).f_bavail < 5500, "the compaction writes")
            for number in range(8):  # each ends, well or not, before the compaction, which takes minutes
                sh(f"head -c 3000000 /dev/urandom >{mount}/default/big/r/f/q{number}", check=False, timeout=30)
        finally:
            compaction.terminate()
            compaction.wait()
    finally:
        mount.stop()


@pytest.mark.parametrize("way", ["rm", "delete"])
def test_what_was_deleted_gives_its_room_back_though_the_rest_is_larger_than_the_reserve(tmp_path, disk, way):
    sh(f"mount -o remount,size=48m {disk}")
    mount = Mount(disk / "store", tmp_path / "mnt")

    def taken():
        return {file: file.stat().st_size for file in (mount.store / "tables").glob("*/*.db")}

    try:
        mount.command("set", "maintenance=paused")
        if way == "delete":
            mount.command("create", "t", "f")  # KEEP_DELETED_CELLS FALSE
        family = mount.family()
        known = {}
        for part, names in enumerate((["old"] * 20, ["kept"] * 30, ["old", "kept"] * 10)):
            for number, kind in enumerate(names):
                path = family / f"{kind}{part}-{number}"
                path.write_bytes(os.urandom(400000))
                known[path] = path.read_bytes()
            mount.command("flush")
        assert len([file for file, size in taken().items() if size > 4000000]) == 3
        old = [path for path in known if path.name.startswith("old")]
        for path in old:
            del known[path]
            if way == "rm":
                path.unlink()
                (family / ".deleted" / path.name).unlink()
            else:
                mount.command("deleteall", "t", "r", f"f:{path.name}")
        mount.command("flush")
        leave_free(disk, 0)
        before = sum(taken().values())
        code, _, error = sh(f"{CELLFS} compact {mount} t", check=False)
        assert code == 3 and "no room for a compaction" in error, (code, error)
        assert before - sum(taken().values()) > 11000000, "the first file and half of the third"
        assert int(re.search(r"What could go in smaller steps went: (\d+) bytes", error)[1]) > 11000000
        assert all_read(known) == [] and not [path for path in old if path.exists()]
        mount.remount()
        assert all_read(known) == [] and not [path for path in old if path.exists()]
        assert "no damage" in mount.command("check")
    finally:
        mount.stop()


def test_open_files_keep_no_more_than_their_limit(make_mount):
    mount = make_mount("open_file_limit=16777216,max_value_size=4194304")
    family = mount.family("t")
    (family / "old").write_bytes(b"before")
    (family / "log").write_bytes(b"")
    value = b"x" * 4194304
    held = []
    with pytest.raises(OSError) as full:
        for number in range(9):
            held.append(os.open(family / f"held{number}", os.O_CREAT | os.O_TRUNC | os.O_WRONLY))
            os.write(held[-1], value)
    assert full.value.errno == errno.ENOSPC and len(held) == 3
    with fails_with(errno.ENOSPC):
        (family / "old").write_bytes(value)
    assert (family / "old").read_bytes() == b"before"
    with open(family / "log", "ab", buffering=0) as log:
        for _ in range(4):
            assert log.write(value[:1000000]) == 1000000
    assert (family / "log").read_bytes() == value[:4000000]
    assert "open_file_limit" in (mount / ".cellfs/errors").read_text()
    assert "open_file_bytes = 8388608" in (mount / ".cellfs/status").read_text()
    with fails_with(errno.ENOSPC):
        os.close(held.pop())
    for descriptor in held:
        os.close(descriptor)
    (family / "old").write_bytes(value)
    assert (family / "old").read_bytes() == (family / "held0").read_bytes() == value


REMOVED_FILES = {
    "made": lambda path, data: write_open(path, data, os.O_CREAT | os.O_TRUNC),
    "synced": lambda path, data: write_open(path, data, os.O_CREAT, after=os.fsync),
    "emptied": lambda path, data: write_open(path, data, os.O_CREAT, after=lambda file: os.ftruncate(file, 1)),
    "edited": lambda path, data: write_open(stored(path), data, 0, after=lambda file: os.ftruncate(file, 1)),
    "read": lambda path, data: read_open(stored(path, data)),
}


def stored(path, data=b""):
    path.write_bytes(data)
    return path


def open_file_bytes(mount):
    return int(re.search(r"open_file_bytes = (\d+)", (mount / ".cellfs/status").read_text())[1])


def write_open(path, data, flags, after=lambda file: None):
    file = os.open(path, os.O_RDWR | flags)
    try:
        assert os.write(file, data) == len(data)
        after(file)
        return file
    except OSError:
        with contextlib.suppress(OSError):
            os.close(file)
        raise


def read_open(path):
    file = os.open(path, os.O_RDONLY)
    os.read(file, 1)
    return file


@pytest.mark.parametrize("how", REMOVED_FILES)
def test_files_that_are_removed_while_open_keep_no_more_than_their_limit(make_mount, how):
    limit, length, count = 16 << 20, 4 << 20, 60
    mount = make_mount(f"open_file_limit={limit},max_value_size={length},memstore_limit={32 << 20}")
    family = mount.family()
    before = mount.memory()
    held = []
    for number in range(count):
        path = family / f"q{number}"
        try:
            held.append(REMOVED_FILES[how](path, b"x" * length))
            path.unlink()
        except OSError as error:
            assert error.errno == errno.ENOSPC, error
    counted = open_file_bytes(mount)
    try:
        # The memstore has a limit of its own, and of free memory 32 MiB are kept.
        most = before + limit + (32 << 20) + (32 << 20)
        wait_until(lambda: mount.memory() < most, f"less than {most} bytes in memory", seconds=15)
    finally:
        for file in held:
            os.close(file)
    assert counted <= limit
    wait_until(lambda: open_file_bytes(mount) == 0, "nothing is held")


def test_queries_that_are_looked_up_do_not_choose_the_daemons_memory(make_mount):
    """Each holds what its expression has become, as long as the kernel knows its name."""
    mount = make_mount()
    family = mount.family()
    (family / "q").write_text("x")
    scan = family.parent.parent / ".scan"
    expression = "(?:abcdefgh|ijklmnop|qrstuvwx){200}[a-z]{100}"
    before = mount.memory()
    for number in range(12000):  # 36 KiB and more each
        os.stat(scan / f"filter=ValueFilter(=%2C'regexstring:{expression}{number}')")
    most = before + (160 << 20)
    wait_until(lambda: mount.memory() < most, f"less than {most} bytes in memory", seconds=15)
    assert os.listdir(scan / "limit=1/r/f") == ["q"]
