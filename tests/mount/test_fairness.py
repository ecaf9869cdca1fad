# SPDX-License-Identifier: MIT
"""One user's long scans do not stop another: neither his requests, nor the end of the mount."""

import errno
import os
import signal
import subprocess
import sys
import time

import pytest

HOPELESS = 12
HOPELESS_VALUES = 200
SYNCED_WRITES = 5000

# Says so when it has opened the directory, and lists it.
LIST = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
directory = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
print("open", flush=True)
try:
    print(len(os.listdir(directory)))
except OSError as error:
    print("errno", error.errno, flush=True)
"""


def hopeless_table(mount):
    """A table in which the expression below needs more steps than anybody waits for: at each value
    the search is given up after a quarter of a second, and there are many."""
    family = mount.family()
    for number in range(HOPELESS_VALUES):
        (family / f"q{number}").write_bytes(b"a" * 100000 + b" x")
    return mount.path / "default" / "t"


def start_listing(table, number, program=LIST, user=0):
    # Each in a query of its own; from each of 100,000 places it takes 200,000 steps.
    query = (f"filter=ValueFilter(=%2C 'regexstring:[ab]{{0%2C{600 + number}}}"
             f"[ab]{{0%2C600}}x')")
    if user:  # from within, for the interpreter may lie where only root may look
        program = f"import os, signal, sys\nos.setgroups([]), os.setgid({user}), os.setuid({user})\n{program}"
    process = subprocess.Popen([sys.executable, "-c", program, table / ".scan" / query],
                               stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    assert process.stdout.readline() == "open\n"
    return process


def end(listings):
    for listing in listings:
        if listing.poll() is None:
            listing.kill()
        listing.wait()
        listing.stdout.close()


@pytest.mark.parametrize("options", ["", "threads=1"])
def test_others_are_served_beside_hopeless_listings(make_mount, options):
    table = hopeless_table(make_mount(options))
    listings = []
    try:
        for number in range(HOPELESS):
            listings.append(start_listing(table, number))
        for number in range(20):
            file = table / "r" / "f" / f"beside{number}"
            file.write_bytes(b"bytes")
            assert file.read_bytes() == b"bytes"
            assert f"beside{number}" in os.listdir(file.parent)
            os.unlink(file)
        assert [listing.poll() for listing in listings] == [None] * HOPELESS
    finally:
        end(listings)


def as_user(user, *command):
    """What the command writes."""
    done = subprocess.run(
        ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def test_hopeless_listings_of_one_user_leave_others_their_turn(make_mount):
    """Another user's plain requests, and his listings with expressions and without, come to their end
    while all of the first one's still run or wait."""
    mount = make_mount("allow_other")
    table = hopeless_table(mount)
    other = mount.family(table="other")
    for number in range(3):
        (other / f"q{number}").write_bytes(b"bytes")
    expression = other.parent.parent / ".scan" / "filter=ValueFilter(=%2C 'regexstring:^b.*s$')"
    listings = []
    try:
        for number in range(HOPELESS):
            listings.append(start_listing(table, number, user=65534))
        for _ in range(5):
            assert as_user(1000, "cat", other / "q1") == "bytes"
            assert as_user(1000, "ls", other).split() == ["q0", "q1", "q2"]
            assert as_user(1000, "ls", expression).split() == ["r"]
            assert as_user(1000, "cat", expression / "r" / "f" / "q2") == "bytes"
        assert [listing.poll() for listing in listings] == [None] * HOPELESS
    finally:
        end(listings)


@pytest.mark.parametrize("options", ["", "threads=1"])
def test_a_signal_ends_a_listing_that_runs_and_one_that_waits(make_mount, options):
    table = hopeless_table(make_mount(options))
    listings = []
    try:
        for number in range(HOPELESS):
            listings.append(start_listing(table, number))
        for listing in reversed(listings):
            listing.send_signal(signal.SIGINT)
            assert listing.wait() == -signal.SIGINT, listing.stdout.read()
    finally:
        end(listings)


def test_a_caught_signal_ends_a_listing_with_eintr(mount):
    table = hopeless_table(mount)
    program = "import signal; signal.signal(signal.SIGUSR1, lambda *_: None)\n" + LIST
    listing = start_listing(table, 0, program)
    try:
        # One that comes between two requests ends none.
        while listing.poll() is None:
            listing.send_signal(signal.SIGUSR1)
            time.sleep(0.02)
        assert listing.stdout.read() == f"errno {errno.EINTR}\n"
    finally:
        end([listing])
    assert "EINTR" not in (mount.path / ".cellfs" / "errors").read_text()


def test_the_mount_ends_beside_hopeless_listings(mount):
    table = hopeless_table(mount)
    listings = []
    try:
        for number in range(HOPELESS):
            listings.append(start_listing(table, number))
        os.kill(mount.pid, signal.SIGTERM)
        assert mount.process.wait() == 0
        mount.process = None
        for listing in listings:
            assert listing.wait() == 0  # told of an error, not killed
    finally:
        end(listings)


def test_a_name_is_found_beside_a_listing_of_its_directory_that_finds_nothing(mount):
    table = hopeless_table(mount)
    listing = start_listing(table, 0)
    try:
        assert not (listing.args[3] / "another row").exists()
        assert listing.poll() is None
    finally:
        end([listing])


def test_a_writer_with_o_sync_goes_on_beside_busy_loops(make_mount):
    """Alone: nobody else's request wakes a thread that slept through his."""
    family = make_mount("threads=1").family()
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        file = os.open(family / "q", os.O_WRONLY | os.O_CREAT | os.O_SYNC)
        for _ in range(SYNCED_WRITES):
            os.write(file, b"x")
        os.close(file)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    assert os.stat(family / "q").st_size == SYNCED_WRITES


# PCRE2 takes each repeat for one step, and it passes all of the value.
LONG_STEPS = ["(x+x+)+y|a+a+[bz]", "(?=(a+))\\1[xz]", "a{1%2C60000}[xz]"]


@pytest.mark.parametrize("expression", LONG_STEPS)
def test_a_signal_ends_a_search_in_the_midst_of_a_value(mount, expression):
    (mount.family() / "v").write_bytes(b"a" * 9000000)
    query = f"filter=ValueFilter(=%2C'regexstring:{expression}')"
    listing = subprocess.Popen([sys.executable, "-c", LIST,
                                mount.path / "default" / "t" / ".scan" / query],
                               stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        assert listing.stdout.readline() == "open\n"
        listing.send_signal(signal.SIGTERM)
        listing.wait()
    finally:
        end([listing])


def test_searches_of_long_steps_leave_slots_for_others(mount):
    (mount.family() / "v").write_bytes(b"a" * 1000000)
    mount.family(table="other")
    listings = []
    try:
        for number in range(6):
            query = f"filter=ValueFilter(=%2C'regexstring:a+a+[b{number}]')"
            listings.append(subprocess.Popen(
                [sys.executable, "-c", LIST, mount.path / "default" / "t" / ".scan" / query],
                stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True))
            assert listings[-1].stdout.readline() == "open\n"
        other = mount.path / "default" / "other" / ".scan" / "filter=PrefixFilter('zz')"
        assert os.listdir(other) == []
    finally:
        end(listings)
