# SPDX-License-Identifier: MIT
"""The kernel's caches never show what is no longer so."""

import errno
import mmap
import os
import subprocess
import sys
import threading
import time

from mounts import fails_with, sh, versions, wait_until


def look(path):
    """Fills the kernel's caches: name, attributes, pages, listing."""
    try:
        os.listdir(os.path.dirname(path))
        os.stat(path)
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def test_a_version_written_by_its_name_changes_the_column(family):
    for path in ("q", "q@7", ".versions/q/7"):
        assert look(family / path) is None
    (family / "q@5").write_text("five")
    assert look(family / "q") == b"five"
    (family / "q@7").write_text("seven, longer")
    for path in ("q", "q@7", ".versions/q/7"):
        assert look(family / path) == b"seven, longer"
    assert (family / "q").stat().st_size == 13
    (family / ".versions/q/7").write_text("VII")
    assert look(family / "q") == look(family / "q@7") == b"VII"
    assert (family / "q").stat().st_size == 3


def test_a_version_written_below_versions_appears_everywhere(family):
    (family / "other").write_text("x")
    assert look(family / "q") is None and os.listdir(family) == ["other"]
    (family / ".versions/q").mkdir()
    (family / ".versions/q/5").write_text("five")
    assert os.listdir(family) == ["other", "q"]
    assert look(family / "q") == look(family / "q@5") == b"five"


def test_unlink_of_one_name_takes_the_others(mount):
    mount.schema("[families.f]\nVERSIONS = 3\n")  # KEEP_DELETED_CELLS FALSE
    family = mount.family()
    (family / "q@5").write_text("five")
    (family / "q@7").write_text("seven")
    for path in ("q", "q@5", "q@7", ".versions/q/5", ".versions/q/7"):
        look(family / path)
    (family / ".versions/q/7").unlink()
    assert look(family / "q") == b"five" and look(family / "q@7") is None
    (family / "q").unlink()
    for path in ("q", "q@5", ".versions/q/5"):
        assert look(family / path) is None
    assert os.listdir(family) == []


def test_rename_and_counters_change_what_other_names_show(family):
    (family / "a").write_text("a")
    (family / "b").write_text("bbb")
    look(family / "a"), look(family / "b")
    os.rename(family / "b", family / "a")
    assert look(family / "a") == b"bbb" and look(family / "b") is None
    (family / ".counters/n").write_text("+1")
    assert look(family / "n")[-1] == 1
    (family / ".counters/n").write_text("+1")
    assert look(family / "n")[-1] == 2
    (family / "n").write_bytes(b"\0" * 7 + b"\x09")
    assert look(family / ".counters/n").strip() == b"9"


def test_time_to_live_ends_names_and_listings(mount):
    mount.schema("[families.f]\nTTL = 1\n[families.lasting]\n")
    family = mount.family()
    (mount.family(family="lasting") / "q").write_text("so that the row stays")
    (family / "q").write_text("short-lived")
    assert look(family / "q") == b"short-lived" and os.listdir(family) == ["q"]
    wait_until(lambda: not (family / "q").exists(), "expiry", 10)
    assert os.listdir(family) == [] and look(family / "q") is None
    (family / "q").write_text("again")
    assert look(family / "q") == b"again"


def test_a_cell_whose_newest_version_expires_shows_the_one_before(make_mount):
    mount = make_mount("xattr")
    family = mount.family()
    (family / "q").write_text("lasting")
    (family / "q").write_text("for a moment")
    os.setxattr(family / "q", "user.cellfs.ttl", b"1500")
    mount.command("flush")  # until then the put before it, of the same timestamp, lies below
    assert look(family / "q") == b"for a moment"
    wait_until(lambda: look(family / "q") == b"lasting", "expiry", 10)
    assert (family / "q").stat().st_size == 7


def test_flush_and_compaction_end_what_they_drop(mount):
    mount.schema("[families.f]\nVERSIONS = 1\n")
    family = mount.family()
    for timestamp in (3, 5, 6):
        (family / f"q@{timestamp}").write_text(str(timestamp))
    for timestamp in (3, 5, 6):
        look(family / f"q@{timestamp}")
    assert look(family / "q@5") == b"5"  # readable behind a newer one until the flush
    mount.command("flush")
    mount.command("compact")
    assert look(family / "q@5") is None and look(family / "q@3") is None
    assert look(family / "q") == b"6" and versions(family / "q") == [6]


def test_a_compaction_ends_a_version_behind_a_deleted_one(mount):
    mount.schema("[families.f]\nVERSIONS = 1\n")
    family = mount.family()
    (family / "other").write_text("stays")
    for timestamp in (5, 7):
        (family / f"q@{timestamp}").write_text(str(timestamp))
        mount.command("flush")
    (family / "q@7").unlink()  # a tombstone in the memstore, which the compaction does not see
    assert look(family / "q") == b"5"
    mount.command("compact")
    assert look(family / "q") is None and os.listdir(family) == ["other"]
    assert look(family / "other") == b"stays"


def test_an_altered_schema_is_seen_at_once(mount):
    family = mount.family()
    (family / "q").write_text("x")
    (mount.family(family="g") / "p").write_text("y")
    look(family / "q"), look(family.parent / "g/p")
    mount.schema("[families.f]\nVERSIONS = 1\n[families.g]\ndrop = true\n")
    assert look(family.parent / "g/p") is None
    with fails_with(errno.ENOENT):
        (family.parent / "g").stat()
    assert os.listdir(family.parent) == ["f"]
    mount.schema("READONLY = true\n[families.f]\nVERSIONS = 1\n")
    with fails_with(errno.EROFS):
        (family / "q").write_text("z")


def test_a_dropped_table_leaves_no_stale_name(mount):
    for text in ("first", "second"):
        family = mount.family()
        assert look(family / "q") is None
        (family / "q").write_text(text)
        assert look(family / "q") == text.encode()
        sh(f"rm -r {mount / 'default/t'}")
        assert look(family / "q") is None and os.listdir(mount / "default") == [".namespace.toml"]


def test_a_future_asof_is_not_cached(mount):
    family = mount.family()
    (family / "q").write_text("one")
    later = int(time.time() * 1000) + 10**7
    cell = mount / f"default/t/.asof/{later}/r/f/q"
    assert look(cell) == b"one"
    (family / "q").write_text("two!")
    assert look(cell) == b"two!" and cell.stat().st_size == 4


def test_who_works_in_a_directory_keeps_its_path_when_the_schema_changes(mount, family):
    table = mount / "default/t"
    text = (table / ".schema.toml").read_text()
    os.chdir(table)
    try:
        for versions in range(2, 12):
            with open(".schema.toml", "w") as schema:
                schema.write(text.replace("VERSIONS = 10", f"VERSIONS = {versions}"))
            for _ in range(10):  # the kernel is told a little later
                time.sleep(0.002)
                assert os.getcwd() == str(table)
    finally:
        os.chdir("/")


def test_a_writer_under_another_name_waits_for_no_reader_that_waits_for_it(make_mount):
    # Its pages are dropped while they are read, by the only thread that could answer.
    mount = make_mount("threads=1")
    family = mount.family()
    (family / "q").write_bytes(bytes(4 << 20))
    ended = threading.Event()

    def read():
        while not ended.is_set():
            with open(family / "q", "rb", buffering=0) as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                while file.read(1 << 20):
                    pass

    written = []

    def write():
        while not ended.is_set():
            (family / f"q@{len(written) + 1}").write_text("x")
            written.append(1)

    threads = [threading.Thread(target=call, daemon=True) for call in (read, read, write)]
    for thread in threads:
        thread.start()
    try:
        wait_until(lambda: len(written) >= 50, "writes go on")
    finally:
        ended.set()
    for thread in threads:
        thread.join()


# Reads the file again and again, from the daemon.
READ = """
import os, sys
while True:
    file = os.open(sys.argv[1], os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_WILLNEED)
    while os.read(file, 1 << 20):
        pass
    os.close(file)
"""


def test_a_truncation_is_seen_by_the_next_open_beside_many_readers(mount):
    """It is put when the kernel says that the file is closed, which it must not keep back behind reads."""
    family = mount.family()
    readers = []
    try:
        for number in range(20):
            (family / f"long{number}").write_bytes(bytes(1 << 20))
            readers.append(subprocess.Popen([sys.executable, "-c", READ, family / f"long{number}"]))
        stale = 0
        for _ in range(150):
            (family / "q").write_bytes(b"one")
            os.close(os.open(family / "q", os.O_WRONLY | os.O_TRUNC))
            stale += (family / "q").read_bytes() != b""
        assert stale == 0
    finally:
        for reader in readers:
            reader.kill()
            reader.wait()


def test_moving_the_newest_version_away_shows_the_one_before(family):
    (family / "q").write_text("one")
    (family / "q").write_text("two")
    newest = versions(family / "q")[0]
    assert look(family / "q") == b"two"
    os.rename(family / f"q@{newest}", family / "p")
    assert look(family / "p") == b"two"
    assert look(family / "q") == b"one"
    assert (family / "q").stat().st_size == 3


# Maps the file whose first bytes are not put yet, or are about to be replaced.
MAP = """
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
mmap.mmap(file, 8192, mmap.MAP_PRIVATE, mmap.PROT_READ)[:1]
"""


def test_what_a_mapping_reads_before_a_put_is_gone_after_it(family):
    for before in (b"", b"o" * 8192):
        if before:
            (family / "q").write_bytes(before)
        with open(family / "q", "wb", buffering=0) as file:
            file.write(b"x" * 8192)
            subprocess.run([sys.executable, "-c", MAP, family / "q"], check=False)
        wait_until(lambda: (family / "q").read_bytes() == b"x" * 8192, "the pages to be dropped", 5)
        (family / "q").unlink()


def test_a_mapping_that_stays_shows_what_was_put(family):
    (family / "q").write_bytes(b"o" * 8192)
    with open(family / "q", "wb", buffering=0) as writer:
        writer.truncate(8192)
        with open(family / "q", "rb") as reader:
            with mmap.mmap(reader.fileno(), 8192, mmap.MAP_PRIVATE, mmap.PROT_READ) as mapped:
                assert mapped[:2] == b"oo"
                writer.write(b"x")
                os.close(os.dup(writer.fileno()))  # puts
                wait_until(lambda: mapped[:2] == b"x\0", "the page to be dropped")


def test_a_mapping_shows_edits_as_they_come(family):
    (family / "q").write_bytes(b"o" * 4096)
    with open(family / "q", "r+b", buffering=0) as writer:
        writer.write(b"x")
        with open(family / "q", "rb") as reader:
            with mmap.mmap(reader.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ) as mapped:
                assert mapped[:2] == b"xo"
                assert reader.read(2) == b"oo", "a read keeps to the value before"
