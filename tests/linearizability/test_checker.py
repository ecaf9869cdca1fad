# SPDX-License-Identifier: MIT
"""The checker itself: it takes what is possible and finds what is not."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from checker import ABSENT, Operation, check_counter, check_file, check_history, check_log  # noqa: E402
from workers import decode, encode  # noqa: E402


def read(begin, end, *value):
    return Operation("read", begin, end, value)


def gone(begin, end):
    return Operation("read", begin, end, ABSENT)


def write(begin, opened, end, piece, kind="put"):
    """A write whose descriptor was open from `opened` on."""
    return [Operation("open", begin, opened, handle=piece),
            Operation(kind, opened, end, piece, handle=piece, began=opened)]


def unlink(begin, end, failed=""):
    return Operation("unlink", begin, end, failed=failed)


def make(begin, end, failed=""):
    return Operation("make", begin, end, failed=failed)


def replace(begin, end, piece):
    return Operation("replace", begin, end, piece)


def flat(*parts):
    return [o for part in parts for o in (part if isinstance(part, list) else [part])]


A = write(10, 11, 20, "a")
POSSIBLE = {
    "a file is absent, then empty, then has its value": [gone(1, 2), A, read(21, 22, "a")],
    "a reader opened meanwhile reads the value before": [A, write(30, 31, 40, "b"), read(32, 33, "a")],
    "or the value put, where that is under way": [A, write(30, 31, 40, "b"), read(32, 45, "b")],
    "of two writers at once either may be the last":
        [write(10, 11, 20, "a"), write(10, 12, 20, "b"), read(21, 22, "a")],
    "a reader that was open before may see a mixture":
        [A, write(30, 34, 40, "b"), read(31, 38, "a", "b")],
    "appended pieces come in either order":
        [write(10, 11, 20, "a", "append"), write(10, 12, 20, "b", "append"), read(21, 22, "b", "a")],
    "what is written to a file that was removed is gone":
        [A, Operation("open", 30, 31, handle="b"), unlink(32, 33),
         Operation("put", 31, 40, "b", handle="b", began=31), gone(41, 42)],
    "and to one that was replaced":
        [A, Operation("open", 30, 31, handle="b"), replace(32, 33, "c"),
         Operation("put", 31, 40, "b", handle="b", began=31), read(41, 42, "c")],
    "a file opened while it is removed may be the one that goes":
        [A, unlink(30, 40), gone(32, 33), write(35, 36, 50, "b"), gone(51, 52)],
    "one of two makers fails": [make(1, 5), make(2, 6, "EEXIST"), read(7, 8)],
    "a removal finds nothing": [gone(1, 2), unlink(3, 4, "ENOENT")],
}
IMPOSSIBLE = {
    "an old value is read": [A, write(30, 31, 40, "b"), read(41, 42, "a")],
    "a value is read before it was written": [A, read(5, 6, "a")],
    "a value comes back": [A, write(30, 31, 40, "b"), read(36, 37, "b"), read(38, 39, "a")],
    "a value that nobody wrote": [A, read(21, 22, "x")],
    "a torn value": [A, Operation("read", 21, 22, b"half")],
    "two values in one": [A, write(30, 31, 40, "b"), read(41, 42, "a", "b")],
    "an acknowledged write is lost": [A, gone(21, 22)],
    "a value is empty after its put": [A, read(21, 22)],
    "an append is lost":
        [write(10, 11, 20, "a", "append"), write(30, 31, 40, "b", "append"), read(41, 42, "a")],
    "an append is there twice": [write(10, 11, 20, "a", "append"), read(21, 22, "a", "a")],
    "appends are in the wrong order":
        [write(10, 11, 20, "a", "append"), write(30, 31, 40, "b", "append"), read(41, 42, "b", "a")],
    "a removed file is there": [A, unlink(30, 31), read(32, 33, "a")],
    "a removal finds nothing where there is a file": [A, unlink(30, 31, "ENOENT")],
    "two make the same file": [make(1, 5), make(2, 6)],
    "a maker fails where nothing is": [make(1, 5, "EEXIST"), gone(6, 7)],
    "a replaced file comes back through a handle opened before":
        [A, Operation("open", 30, 31, handle="b"), replace(32, 33, "c"),
         Operation("put", 31, 40, "b", handle="b", began=31), read(41, 42, "b")],
}


@pytest.mark.parametrize("what", POSSIBLE)
def test_takes_what_is_possible(what):
    assert check_file("q", flat(*POSSIBLE[what]))[0] == []


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_finds_what_is_impossible(what):
    assert check_file("q", flat(*IMPOSSIBLE[what]))[0] != []


LOG = flat(write(10, 11, 20, "a", "append"), write(30, 31, 40, "b", "append"))


@pytest.mark.parametrize("reads, final, is_good", [
    ([], "ab", True), ([read(21, 22, "a"), read(32, 38, "a", "b")], "ab", True),
    ([], "a", False), ([], "ba", False), ([], "abb", False), ([], "abc", False),
    ([read(41, 42, "a")], "ab", False), ([read(41, 42, "b")], "ab", False),
    ([read(21, 22, "a", "b")], "ab", False)])
def test_logs(reads, final, is_good):
    assert (check_log("log", LOG + reads, tuple(final)) == []) == is_good


def add(begin, end, amount):
    return Operation("add", begin, end, amount)


def count(begin, end, value):
    return Operation("read", begin, end, value)


@pytest.mark.parametrize("reads, final, is_good", [
    ([count(1, 2, 0), count(25, 26, 5), count(35, 36, 5), count(36, 38, 12), count(41, 42, 12)], 12, True),
    ([], 5, False), ([], 19, False), ([count(21, 22, 0)], 12, False), ([count(41, 42, 5)], 12, False),
    ([count(32, 33, 12), count(34, 35, 5)], 12, False), ([count(21, 22, 12)], 12, False)])
def test_counters(reads, final, is_good):
    assert (check_counter("n", [add(10, 20, 5), add(30, 40, 7)] + reads, final) == []) == is_good


@pytest.mark.parametrize("versions, is_good", [
    ([(7, "b"), (5, "a")], True), ([(5, "b"), (7, "a")], False), ([(7, "b"), (7, "a")], False),
    ([(7, "a"), (5, "b")], False), ([(7, "b")], False), ([(7, "b"), (6, "a"), (5, "a")], False),
    ([(7, "b"), (6, "x"), (5, "a")], False)])
def test_histories(versions, is_good):
    puts = [o for o in flat(A, write(30, 31, 40, "b")) if o.kind == "put"]
    assert (check_history("q", puts, versions) == []) == is_good


def test_pieces_are_read_back_and_nothing_else_is():
    pieces = ("w0.1.0", "w1.2.5", "w0.3.300")
    data = b"".join(map(encode, pieces))
    assert decode(data) == pieces and decode(b"") == ()
    for damaged in (data[:-1], data[1:], data + b"x", data.replace(b"w1", b"w2", 1)[5:]):
        assert decode(damaged) == damaged
