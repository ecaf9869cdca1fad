# SPDX-License-Identifier: MIT
"""The judge of rows finds what cannot have been, and nothing else."""

import pytest

from rows import ABSENT, NEVER, Step, check_counter, check_log, check_row

PUT = Step("put", 0, 1, "q", "a")


def read(begin, end, *pieces, name="q"):
    return Step("read", begin, end, name, pieces or ABSENT)


@pytest.mark.parametrize("steps", [
    [PUT, read(2, 3, "a")],
    [PUT, Step("put", 2, 9, "q", "b"), read(3, 4, "a"), read(5, 6, "b")],
    [PUT, Step("append", 2, 3, "q", "b"), read(4, 5, "a", "b")],
    [PUT, Step("remove", 2, 3, "q"), Step("remove", 2, 3, "q"), read(4, 5)],
    [Step("remove", 2, 3, "q", failed="ENOENT")],
    [PUT, Step("rename", 2, 9, "q", "p"), Step("read", 3, 4, ("q", "p"), (("a",), ABSENT)),
     Step("read", 5, 6, ("q", "p"), (ABSENT, ("a",)))],
    [PUT, read(2, 20, "a"), Step("put", 3, 4, "q", "b"), Step("put", 5, 6, "q", "c"), read(7, 8, "c")],
    # Unknown: it happened late, or never.
    [PUT, Step("put", 2, NEVER, "q", "b"), read(3, 4, "a"), read(50, 51, "b")],
    [PUT, Step("put", 2, NEVER, "q", "b"), read(50, 51, "a")],
    [PUT, Step("remove", 2, NEVER, "q"), read(3, 4, "a"), read(50, 51)],
])
def test_what_can_be(steps):
    assert check_row(steps) == []


@pytest.mark.parametrize("steps", [
    [PUT, read(2, 3)],
    [PUT, Step("put", 2, 9, "q", "b"), read(3, 4, "b"), read(5, 6, "a")],
    [PUT, Step("append", 2, 3, "q", "b"), read(4, 5, "a")],
    [PUT, Step("remove", 2, 3, "q"), read(4, 5, "a")],
    [PUT, Step("remove", 2, 3, "q", failed="ENOENT")],
    [PUT, Step("rename", 2, 9, "q", "p"), Step("read", 3, 4, ("q", "p"), (("a",), ("a",)))],
    [PUT, Step("put", 2, NEVER, "q", "b"), read(3, 4, "b"), read(50, 51, "a")],
    # Made twice: what came in between is gone.
    [PUT, Step("put", 2, NEVER, "q", "b"), read(3, 4, "b"), Step("put", 5, 6, "q", "c"), read(7, 8, "c"),
     read(9, 10, "b")],
    [read(0, 1, "never put")],
])
def test_what_cannot_be(steps):
    assert len(check_row(steps)) == 1


def test_logs_and_counters_with_unknown_ends():
    log = [Step("append", 0, 1, "log", "a"), Step("append", 2, NEVER, "log", "b")]
    assert check_log("log", log, ["a"]) == check_log("log", log, ["a", "b"]) == []
    assert check_log("log", log, ["b"]) and check_log("log", log, ["a", "b", "b"])
    adds = [Step("add", 0, 1, "n", 5), Step("add", 2, NEVER, "n", 7)]
    assert check_counter("n", adds, 5) == check_counter("n", adds, 12) == []
    assert check_counter("n", adds, 19) and check_counter("n", adds, 7)
    assert check_counter("n", [*adds, Step("read", 3, 4, "n", 0)], 5)
