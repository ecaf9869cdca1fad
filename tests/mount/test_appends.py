# SPDX-License-Identifier: MIT
"""Processes append to one file while others read it: each reads a beginning of what the file becomes."""

import os
import subprocess
import sys

import pytest

APPENDS = 1200  # of each process to a file: a value has a largest size
ROUNDS = int(os.environ.get("CELLFS_ROUNDS", "1"))  # a long run takes hundreds

# Lines of many lengths, so that ends lie everywhere in a page.
APPENDER = """
import os, sys
path, letter, appends, stays = sys.argv[1], sys.argv[2].encode(), int(sys.argv[3]), sys.argv[4] == "stays"
flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
file = os.open(path, flags) if stays else None
for number in range(appends):
    line = letter * (1 + number * 7919 % 700) + b"\\n"
    now = file if stays else os.open(path, flags)
    if os.write(now, line) != len(line):
        sys.exit("a short write")
    if not stays:
        os.close(now)
"""

# Reads in pieces; keeps what it read only where it is no beginning of the next.
READER = """
import os, sys
path, stays = sys.argv[1], sys.argv[2] == "stays"
kept = b""
file = os.open(path, os.O_RDONLY)
while True:
    if not stays:
        os.close(file)
        file = os.open(path, os.O_RDONLY)
        begin = b""
    else:
        begin = kept
    pieces = [begin]
    while piece := os.read(file, 50 * 1024):
        pieces.append(piece)
    read = b"".join(pieces)
    if not (read.startswith(kept) or kept.startswith(read)):
        at = next(i for i in range(len(read)) if read[i] != kept[i])
        sys.exit("byte %d of %d was %r and is %r" % (at, len(read), kept[at:at+20], read[at:at+20]))
    if b"\\0" in read[len(kept):]:
        sys.exit("a zero at %d of %d" % (read.index(b"\\0"), len(read)))
    if len(read) > len(kept):
        kept = read
    if os.path.exists(sys.argv[3]):
        break
sys.stdout.buffer.write(kept)
"""


def start(program, *arguments):
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def race(file, end, appenders, readers):
    """What went wrong."""
    file.touch()
    reading = [start(READER, file, stays, end) for stays in readers]
    appending = [start(APPENDER, file, letter, APPENDS, stays)
                 for letter, stays in zip("abcdefgh", appenders)]
    problems = []
    try:
        for process in appending:
            problems += [error.decode() for error in process.communicate()[1:] if error]
        end.touch()
        results = [process.communicate() for process in reading]
    finally:
        for process in reading + appending:
            process.kill()
            process.wait()
    whole = file.read_bytes()
    for kept, error in results:
        if error:
            problems.append(error.decode())
        elif not whole.startswith(kept):
            problems.append(f"{len(kept)} bytes read are no beginning of the {len(whole)} there")
    lines = whole.splitlines()
    for letter, _ in zip(b"abcdefgh", appenders):
        mine = [len(line) for line in lines if line[:1] == bytes([letter])]
        if mine != [1 + number * 7919 % 700 for number in range(APPENDS)]:
            problems.append(f"lines of {chr(letter)} are lost, doubled or in another order")
    return problems


@pytest.mark.parametrize("number", range(ROUNDS))
def test_readers_of_a_file_that_others_append_to_see_a_beginning_of_it(family, outside, number):
    assert race(family / "log", outside / "end", ["opens"] * 3, ["opens", "opens", "stays"]) == []


@pytest.mark.parametrize("number", range(ROUNDS))
def test_so_do_readers_beside_one_that_keeps_it_open(family, outside, number):
    assert race(family / "log", outside / "end", ["opens", "stays"], ["opens", "stays"]) == []


def test_two_that_keep_it_open_lose_nothing(family, outside):
    assert race(family / "log", outside / "end", ["stays", "stays", "opens"], ["opens", "stays"]) == []


def test_who_opens_it_reads_no_less_than_who_had_it_open(family):
    (family / "log").write_bytes(b"one\n")
    earlier = os.open(family / "log", os.O_RDONLY)
    appends = os.open(family / "log", os.O_WRONLY | os.O_APPEND)
    try:
        os.write(appends, b"two\n")
        assert os.read(earlier, 100) == b"one\ntwo\n"
        assert (family / "log").read_bytes() == b"one\ntwo\n"
    finally:
        os.close(appends)
        os.close(earlier)
    assert (family / "log").read_bytes() == b"one\ntwo\n"
