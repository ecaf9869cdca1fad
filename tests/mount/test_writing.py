# SPDX-License-Identifier: MIT
"""Writing: what makes a version, what others see meanwhile, handles that outlive their names."""

import errno
import fcntl
import mmap
import os
import struct
import subprocess
import time

import pytest

from mounts import CELLFS, PATIENCE, fails_with, sh, versions, wait_until

MEBIBYTE = 1 << 20


ONE_VERSION = [
    ("echo x >q", "x\n"),
    ("(echo a; echo b) >q", "a\nb\n"),
    ("{ sleep 0.02; echo a; sh -c 'echo b'; } >q", "a\nb\n"),
    (": >q", ""),
    ("cat /proc/version >q", None),
    ("cp /dev/null q", ""),
    ("printf 'a\\nb\\n' | tee q >/dev/null", "a\nb\n"),
    ("dd if=/dev/zero of=q bs=1k count=64 status=none", "\0" * 65536),
    ("exec 3>q; echo a >&3; echo b >&3; exec 3>&-", "a\nb\n"),
]


@pytest.mark.parametrize("command, value", ONE_VERSION, ids=[command for command, _ in ONE_VERSION])
def test_a_command_makes_exactly_one_version(family, command, value):
    (family / "q").write_text("before")
    sh(command, cwd=family)
    assert len(versions(family / "q")) == 2
    if value is not None:
        assert (family / "q").read_text() == value


def test_a_handle_that_changes_nothing_puts_nothing(family):
    (family / "q").write_text("x")
    os.close(os.open(family / "q", os.O_RDWR))
    os.close(os.open(family / "q", os.O_WRONLY | os.O_APPEND))
    assert len(versions(family / "q")) == 1


def test_timestamps_increase_strictly(family):
    for number in range(9):
        (family / "q").write_text(str(number))
    stamps = versions(family / "q")
    assert len(set(stamps)) == 9 and stamps == sorted(stamps, reverse=True)
    assert (family / f"q@{stamps[8]}").read_text() == "0"


def test_appends_of_several_processes_lose_nothing(family):
    loop = "for i in $(seq 25); do echo {0}-$i >>log; done"
    sh(" & ".join(f"({loop.format(name)})" for name in "abc") + " & wait", cwd=family)
    lines = (family / "log").read_text().splitlines()
    assert sorted(lines) == sorted(f"{name}-{i}" for name in "abc" for i in range(1, 26))
    for name in "abc":  # in the order of each writer
        own = [int(line[2:]) for line in lines if line.startswith(name)]
        assert own == sorted(own)


def test_first_appends_of_several_processes_lose_nothing(family):
    append = "for i in $(seq 40); do echo {0} >>log-$i; done"
    sh(" & ".join(f"({append.format(name)})" for name in "abc") + " & wait", cwd=family)
    for i in range(1, 41):
        assert sorted((family / f"log-{i}").read_text().split()) == ["a", "b", "c"]


def test_o_append_ignores_offsets(family):
    (family / "q").write_text("one\n")
    first, second = (os.open(family / "q", os.O_WRONLY | os.O_APPEND) for _ in range(2))
    os.write(first, b"two\n")
    os.close(first)
    os.write(second, b"three\n")
    os.close(second)
    assert (family / "q").read_text() == "one\ntwo\nthree\n"


def test_two_writers_in_place_both_apply(family):
    (family / "q").write_bytes(b"--------")
    first, second = (os.open(family / "q", os.O_RDWR) for _ in range(2))
    os.pwrite(first, b"A", 0)
    os.pwrite(second, b"B", 7)
    os.close(first)
    os.close(second)
    assert (family / "q").read_bytes() == b"A------B"


def test_the_last_of_two_whole_writers_decides(family):
    first, second = (os.open(family / "q", os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for _ in range(2))
    os.write(first, b"a" * 10000)
    os.write(second, b"b" * 100)
    os.close(second)
    os.close(first)
    assert (family / "q").read_bytes() == b"a" * 10000


def test_o_excl_claims_the_name(family):
    first = os.open(family / "lock", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with fails_with(errno.EEXIST):
        os.open(family / "lock", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    assert (family / "lock").read_bytes() == b"" and os.listdir(family) == ["lock"]
    os.close(first)
    with fails_with(errno.EEXIST):
        os.open(family / "lock", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    assert len(versions(family / "lock")) == 1


def test_truncate_and_ftruncate(family):
    (family / "q").write_bytes(b"0123456789")
    os.truncate(family / "q", 4)
    assert (family / "q").read_bytes() == b"0123"
    with open(family / "q", "r+b") as file:
        file.truncate(2)
        file.seek(0, os.SEEK_END)
        file.write(b"xy")
    assert (family / "q").read_bytes() == b"01xy"
    os.truncate(family / "q", 6)
    assert (family / "q").read_bytes() == b"01xy\0\0"
    assert len(versions(family / "q")) == 4


def test_a_reader_during_a_write_reads_the_value_before_whole(family):
    before, after = b"b" * 300000, b"a" * 200000
    (family / "q").write_bytes(before)
    writer = os.open(family / "q", os.O_WRONLY | os.O_TRUNC)
    os.write(writer, after[:100000])
    assert (family / "q").read_bytes() == before
    assert (family / "q").stat().st_size == 100000  # the name says what is written so far
    os.write(writer, after[100000:])
    assert (family / "q").read_bytes() == before
    os.close(writer)
    assert (family / "q").read_bytes() == after
    stamp = versions(family / "q")[1]
    assert (family / f"q@{stamp}").read_bytes() == before


def test_nothing_mixed_outlives_a_writer(family):
    (family / "q").write_bytes(b"b" * 10000)
    reader = os.open(family / "q", os.O_RDONLY)
    os.pread(reader, 4096, 0)
    writer = os.open(family / "q", os.O_WRONLY)
    os.pwrite(writer, b"a" * 5000, 0)
    os.pread(reader, 10000, 0)
    os.close(writer)
    os.close(reader)
    assert (family / "q").read_bytes() == b"a" * 5000 + b"b" * 5000


def test_fsync_puts_what_was_written_so_far(family):
    handle = os.open(family / "q", os.O_WRONLY | os.O_CREAT)
    os.write(handle, b"one")
    os.fsync(handle)
    assert (family / "q").read_bytes() == b"one"
    os.write(handle, b"two")
    os.close(handle)
    assert (family / "q").read_bytes() == b"onetwo"
    assert len(versions(family / "q")) == 1  # put again through one handle: the same timestamp


def test_who_opens_a_log_that_is_being_written_can_follow_it(family):
    with open(family / "log", "w") as log:
        log.write("one\n")
        log.flush()
        reader = os.open(family / "log", os.O_RDONLY)
        try:
            assert os.read(reader, 100) == b""  # the value before
            os.fsync(log.fileno())
            assert os.read(reader, 100) == b"one\n"
            log.write("two\n")
            log.flush()
            os.fsync(log.fileno())
            assert os.read(reader, 100) == b"two\n"
        finally:
            os.close(reader)


def test_who_opens_a_file_that_is_being_replaced_reads_nothing_of_both(family):
    (family / "q").write_text("before")
    with open(family / "q", "w") as writer:
        writer.write("something else")
        writer.flush()
        with open(family / "q", "rb", buffering=0) as reader:
            os.fsync(writer.fileno())
            assert reader.read(100) == b"before" and reader.read(100) == b""


def test_a_log_that_is_held_open_can_be_followed(family):
    (family / "log").write_text("first\n")
    handle = os.open(family / "log", os.O_WRONLY | os.O_APPEND)
    os.write(handle, b"second\n")
    wait_until(lambda: (family / "log").read_text() == "first\nsecond\n", "the second line", 10)
    os.close(handle)


# ---- Handles and names ---------------------------------------------------------------------------


def test_what_is_closed_last_of_all_before_the_mount_goes_is_stored(mount, family):
    """The kernel ends the connection with the last close, before it has told of it."""
    (family / "old").write_text("before")
    handles = [os.open(family / "old", os.O_WRONLY | os.O_TRUNC),
               os.open(family / "new", os.O_WRONLY | os.O_CREAT | os.O_EXCL)]
    sh(f"{CELLFS} umount -l {mount}")
    for handle in handles:
        os.close(handle)
    assert mount.process.wait(PATIENCE) == 0
    mount.start()
    assert (family / "old").read_bytes() == (family / "new").read_bytes() == b""


def test_a_file_that_is_unlinked_while_open_reads_and_writes_on(family):
    (family / "q").write_text("value")
    handle = os.open(family / "q", os.O_RDWR)
    (family / "q").unlink()
    assert os.pread(handle, 100, 0) == b"value"
    os.pwrite(handle, b"V", 0)
    assert os.pread(handle, 100, 0) == b"Value"
    os.close(handle)
    assert os.listdir(family) == []
    assert len(versions(family / "q")) == 1 if (family / ".versions/q").exists() else True


def test_the_handles_of_an_unlinked_file_share_it(mount, family):
    """The shell's way to a file that nobody else sees."""
    assert sh("exec 3>t 4<t; rm t; echo one >&3; cat <&4; echo two >&3; cat <&4", cwd=family) == "one\ntwo\n"
    assert sh("echo first >t; exec 3>>t 4<t 5<>t; rm t; echo second >&3; cat <&4; cat <&5", cwd=family) == \
        "first\nsecond\nfirst\nsecond\n"
    assert os.listdir(family) == []


def test_a_log_that_the_shell_holds_open_has_the_size_that_others_wrote(family, outside):
    """exec 9>>log, or flock(1): backup programs would copy an empty file."""
    for opened in ("9>>", "9>"):
        assert sh(f"exec {opened}log; echo line >>log; stat -c %s log; tar c log | tar x -O; "
                  f"rsync log {outside}/; cat {outside}/log", cwd=family) == "5\nline\nline\n"
        assert (family / "log").read_text() == "line\n"
        (family / "log").unlink()


def test_bytes_that_are_not_put_stay_in_a_file_that_loses_its_name(family):
    writer = os.open(family / "q", os.O_RDWR | os.O_CREAT | os.O_EXCL)
    os.write(writer, b"first ")
    reader = os.open(family / "q", os.O_RDONLY)
    (family / "q").unlink()
    assert os.fstat(reader).st_size == 6
    os.lseek(writer, 0, os.SEEK_END)
    os.write(writer, b"second")
    assert os.pread(writer, 20, 0) == os.pread(reader, 20, 0) == b"first second"
    os.close(writer)
    os.close(reader)


def test_a_temporary_that_is_unlinked_before_its_first_put_leaves_nothing(mount, family):
    handle = os.open(family / "scratch", os.O_RDWR | os.O_CREAT)
    (family / "scratch").unlink()
    os.write(handle, b"bytes")
    assert os.pread(handle, 10, 0) == b"bytes"
    os.close(handle)
    assert os.listdir(family) == [] and mount.raw() == []


def test_a_handle_puts_under_the_new_name_after_rename(family):
    handle = os.open(family / "a", os.O_WRONLY | os.O_CREAT)
    os.write(handle, b"bytes")
    os.rename(family / "a", family / "b")
    os.write(handle, b" more")
    os.close(handle)
    assert os.listdir(family) == ["b"] and (family / "b").read_bytes() == b"bytes more"


def test_a_handle_of_a_replaced_file_puts_nothing(family):
    (family / "q").write_text("old")
    (family / "new").write_text("new")
    handle = os.open(family / "q", os.O_RDWR)
    os.rename(family / "new", family / "q")
    assert os.pread(handle, 10, 0) == b"old"
    os.pwrite(handle, b"OLD", 0)
    os.close(handle)
    assert (family / "q").read_text() == "new"


def test_a_reader_of_a_renamed_file_reads_what_is_put_at_the_new_name(family):
    (family / "a").write_text("before")
    reader = os.open(family / "a", os.O_RDONLY)
    os.rename(family / "a", family / "b")
    (family / "b").write_text("after" * 2000)
    os.stat(family / "b")
    assert os.pread(reader, 20000, 0) == b"after" * 2000
    fresh = os.open(family / "b", os.O_RDONLY)  # and read before anything asks for its size
    assert os.read(fresh, 20000) == b"after" * 2000
    os.close(fresh)
    os.close(reader)


def test_a_renamed_file_has_the_inode_number_of_its_name(mount, family):
    sh("echo a >q; sed -i s/a/b/ q; echo c >tmp; mv tmp p; echo d >tmp", cwd=family)
    before = sh("stat -c '%n %i' *", cwd=family)  # asks for the number alone, as ls -i
    assert len({line.split()[1] for line in before.splitlines()}) == 3
    mount.remount()
    assert sh("stat -c '%n %i' *", cwd=family) == before


def test_rename_moves_one_version_within_the_row(family):
    for text in ("one", "two"):
        (family / "q").write_text(text)
    (family.parent / "g").mkdir()
    stamp = (family / "q").stat().st_mtime_ns
    os.rename(family / "q", family.parent / "g/p")
    assert (family.parent / "g/p").read_text() == "two"
    assert (family.parent / "g/p").stat().st_mtime_ns == stamp
    assert os.listdir(family) == [] and os.listdir(family / ".deleted") == ["q"]


def test_rename_elsewhere_is_another_device(family):
    (family / "q").write_text("x")
    other = family.parent.parent / "r2/f"
    other.mkdir(parents=True)
    for source, target in ((family / "q", other / "q"), (family, family.parent / "h"),
                           (family.parent, family.parent.parent / "r3")):
        with fails_with(errno.EXDEV):
            os.rename(source, target)
    sh(f"mv {family / 'q'} {other / 'q'}")
    assert (other / "q").read_text() == "x" and os.listdir(family) == []


# ---- Kinds of input and output -------------------------------------------------------------------


def test_mmap_reads_and_writes(family):
    (family / "q").write_bytes(b"x" * 10000)
    with open(family / "q", "r+b") as file, mmap.mmap(file.fileno(), 0) as pages:
        assert pages[9999:10000] == b"x"
        pages[0:5] = b"hello"
        pages.flush()
    wait_until(lambda: (family / "q").read_bytes() == b"hello" + b"x" * 9995, "the pages", 10)


def test_o_direct(family):
    block = mmap.mmap(-1, 8192)
    block.write(b"d" * 8192)
    handle = os.open(family / "q", os.O_WRONLY | os.O_CREAT | os.O_DIRECT)
    assert os.write(handle, block) == 8192
    os.close(handle)
    handle = os.open(family / "q", os.O_RDONLY | os.O_DIRECT)
    assert os.readv(handle, [block]) == 8192 and block[:] == b"d" * 8192
    os.close(handle)


def test_sparse_writes_read_as_zeros_and_count_in_full(family):
    with open(family / "q", "wb") as file:
        file.seek(100000)
        file.write(b"end")
    assert (family / "q").read_bytes() == bytes(100000) + b"end"
    assert (family / "q").stat().st_blocks * 512 >= 100003
    handle = os.open(family / "q", os.O_RDONLY)
    assert os.lseek(handle, 0, os.SEEK_DATA) == 0
    assert os.lseek(handle, 0, os.SEEK_HOLE) == 100003
    with fails_with(errno.ENXIO):
        os.lseek(handle, 100003, os.SEEK_DATA)
    os.close(handle)


def test_fallocate_does_it_or_says_so_at_once(family):
    handle = os.open(family / "q", os.O_RDWR | os.O_CREAT)
    try:
        os.posix_fallocate(handle, 0, 1000)
        assert os.fstat(handle).st_size == 1000
    except OSError as error:
        assert error.errno == errno.EOPNOTSUPP
    os.close(handle)


def test_copy_file_range(family):
    (family / "a").write_bytes(os.urandom(100000))
    source, target = os.open(family / "a", os.O_RDONLY), os.open(family / "b", os.O_WRONLY | os.O_CREAT)
    try:
        while os.copy_file_range(source, target, 65536):
            pass
    except OSError as error:
        assert error.errno in (errno.EOPNOTSUPP, errno.EXDEV)
        os.sendfile(target, source, 0, 100000)
    os.close(source)
    os.close(target)
    assert (family / "a").read_bytes() == (family / "b").read_bytes()


def test_flock_and_record_locks_exclude(family):
    (family / "q").write_text("x")
    with open(family / "q", "r+b") as first, open(family / "q", "r+b") as second:
        fcntl.flock(first, fcntl.LOCK_EX)
        with fails_with(errno.EAGAIN):
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(first, fcntl.LOCK_UN)
        fcntl.lockf(first, fcntl.LOCK_EX)
        other = subprocess.run(["python3", "-c", "import fcntl,sys\n"
                                "fcntl.lockf(open(sys.argv[1], 'r+b'), fcntl.LOCK_EX | fcntl.LOCK_NB)",
                                family / "q"], capture_output=True, timeout=60)
        assert b"BlockingIOError" in other.stderr
    assert len(versions(family / "q")) == 1


def test_a_value_over_the_maximum_is_efbig_and_the_value_before_stays(make_mount):
    family = make_mount("max_value_size=1048576").family()
    (family / "q").write_bytes(b"m" * MEBIBYTE)
    handle = os.open(family / "q", os.O_WRONLY | os.O_TRUNC)
    with fails_with(errno.EFBIG):
        for _ in range(3):
            os.write(handle, b"n" * MEBIBYTE)
    with fails_with(errno.EFBIG):
        os.close(handle)
    assert (family / "q").read_bytes() == b"m" * MEBIBYTE
    with fails_with(errno.EFBIG):
        os.truncate(family / "q", MEBIBYTE + 1)


# ---- Versions and counters -----------------------------------------------------------------------


def test_a_version_is_written_by_its_name(family):
    (family / "q@5").write_text("five")
    (family / "q@3").write_text("three")
    assert (family / "q").read_text() == "five" and versions(family / "q") == [5, 3]
    (family / "q@3").write_text("THREE")
    assert (family / "q@3").read_text() == "THREE" and versions(family / "q") == [5, 3]
    with open(family / "q@3", "a") as file:
        file.write("!")
    assert (family / "q@3").read_text() == "THREE!"
    (family / "q@5").unlink()
    assert (family / "q").read_text() == "THREE!" and versions(family / "q") == [3]


def test_a_version_that_could_not_be_read_is_erange(mount):
    mount.schema("[families.f]\n")  # KEEP_DELETED_CELLS FALSE: what is deleted is not read by any name
    family = mount.family()
    (family / "q@5").write_text("x")
    (family / "q").unlink()
    with fails_with(errno.ERANGE):
        (family / "q@4").write_text("hidden by the tombstone")
    assert b"x" not in [q for _, q, _, _ in mount.raw()]
    assert not (family / "q").exists()


def test_the_last_timestamp_is_the_last(family):
    (family / f"q@{2**63 - 2}").write_text("last")
    with fails_with(errno.EOVERFLOW):
        (family / "q").write_text("after")
    assert (family / "q").read_text() == "last"
    (family / f"q@{2**63 - 2}").unlink()
    (family / "q").write_text("now it works")


def test_what_has_the_last_timestamp_can_be_removed_as_a_whole(family):
    (family / "q").write_text("before")
    (family / f"q@{2**63 - 2}").write_text("last")
    (family / "q").unlink()
    assert not (family / "q").exists()
    (family / "q").write_text("now it works")
    assert (family / "q").read_text() == "now it works"


def test_counters(family):
    counter = family / ".counters/hits"
    for text in ("+5", "-1\n", "+10"):
        counter.write_text(text)
    assert counter.read_text().strip() == "14"
    assert (family / "hits").read_bytes() == struct.pack(">q", 14)
    (family / "text").write_text("no counter")
    with fails_with(errno.EINVAL):
        (family / ".counters/text").write_text("+1")
    with fails_with(errno.EINVAL):
        (family / ".counters/hits").write_text("many")
    handle = os.open(family / ".counters/text", os.O_WRONLY | os.O_TRUNC)
    with fails_with(errno.EINVAL):
        os.write(handle, b"+1\n")
    with fails_with(errno.EINVAL):
        os.close(handle)
    sh("exec 3>.counters/hits; echo +1 >&3; { printf +2; printf '0\\n+1'; } >&3; echo +1 >>.counters/hits",
       cwd=family)
    assert counter.read_text() == "37\n"
    sh("for i in 1 2 3; do (for j in $(seq 20); do echo +1 >.counters/shared; done) & done; wait",
       cwd=family)
    assert (family / ".counters/shared").read_text().strip() == "60"


def test_a_killed_writer_leaves_a_whole_value_or_the_one_before(family):
    (family / "q").write_text("before")
    writer = subprocess.Popen(["bash", "-c", "exec 3>q; echo part >&3; echo ready; exec sleep 100"],
                              cwd=family, stdout=subprocess.PIPE)
    writer.stdout.readline()
    writer.kill()
    writer.wait()
    deadline = time.monotonic() + 10
    while (family / "q").read_text() not in ("before", "part\n") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (family / "q").read_text() in ("before", "part\n")


def test_a_first_write_that_fails_answers(family):
    """Its page is locked until the reply: nothing may wait for the page before."""
    handle = os.open(family / "q", os.O_RDWR | os.O_CREAT)
    with fails_with(errno.EFBIG):
        os.pwrite(handle, b"ab", 10 << 20)
    with fails_with(errno.EFBIG):
        os.close(handle)
    assert os.listdir(family) == []
