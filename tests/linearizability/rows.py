# SPDX-License-Identifier: MIT
"""Judges recorded histories of rows that several clients write, some of which may never hear an answer.

A row is linearizable if every operation can be given a moment within its times so that, one after the
other at these moments, all of them have the outcome that they had. One whose outcome is unknown has no
end: it may have happened at any moment from its beginning on, or not at all. Every piece is unique.

    read     what the column had: the pieces of its value, or ABSENT; of several columns in one step, each
    put      the piece alone
    append   the piece behind what is there
    remove   with or without something there; with "ENOENT" there was nothing
    rename   the column's value to another one, in one step
"""

from typing import Any, NamedTuple

from checker import ABSENT, counts, order_problems

NEVER = 1 << 62  # when what is unknown ends
MOST_STATES = 20_000


class Step(NamedTuple):
    kind: str
    begin: int
    end: int
    name: Any = ""       # the column; of a read that sees several, all of them
    value: Any = ABSENT  # read: what was seen; put, append: the piece; rename: the other column; add: how much
    failed: str = ""
    is_whole: bool = False  # of a read: its value was one at some moment for sure


def after(row, step):
    """The row (name, value)... after the step; None where it cannot have had its outcome."""
    values = dict(row)
    if step.kind == "read":
        names, seen = ((step.name,), (step.value,)) if isinstance(step.name, str) else (step.name, step.value)
        return row if all(values.get(n, ABSENT) == s for n, s in zip(names, seen)) else None
    before = values.pop(step.name, ABSENT)
    if step.failed == "ENOENT":
        return row if before is ABSENT else None
    if step.kind == "put":
        values[step.name] = (step.value,)
    elif step.kind == "append":
        values[step.name] = (before or ()) + (step.value,)
    elif step.kind == "rename":
        if before is ABSENT:
            return None
        values[step.value] = before
    else:
        assert step.kind == "remove", step
    return tuple(sorted(values.items()))


def with_reads(row, done, pending):
    """The same, in which every read that fits has happened: it changes nothing, so that is never too early."""
    return row, done | {number for number, step in pending.items()
                        if step.kind == "read" and after(row, step) is not None}


def reach(state, number, pending):
    """The (row, what has happened and not ended) in which `number` has happened, others before it where
    that may be."""
    found, seen, left = set(), {state}, [state]
    while left:
        row, done = left.pop()
        if number in done:
            found.add((row, done - {number}))
            continue
        for other, step in pending.items():
            if other in done or step.kind == "read" or (changed := after(row, step)) is None:
                continue
            reached = with_reads(changed, done | {other}, pending)
            if reached not in seen and len(seen) <= MOST_STATES:
                seen.add(reached)
                left.append(reached)
    return found


def without_unseen(steps):
    """What may have been put, and nobody has seen, need not have been."""
    seen = {piece for s in steps if s.kind == "read"
            for value in ([s.value] if isinstance(s.name, str) else s.value) for piece in value or ()}
    return [s for s in steps if s.end != NEVER or s.kind not in ("put", "append") or s.value in seen]


def check_row(steps):
    """Problems of the history of a row that has nothing at its beginning."""
    steps = without_unseen(steps)
    events = sorted([(s.begin, 0, n) for n, s in enumerate(steps)] +
                    [(s.end, 1, n) for n, s in enumerate(steps) if s.end != NEVER])
    states = {((), frozenset())}
    pending = {}
    for _, is_end, number in events:
        if not is_end:
            pending[number] = steps[number]
            states = {with_reads(row, done, pending) for row, done in states}
            continue
        reached = set().union(*(reach(state, number, pending) for state in states))
        if not reached:
            rows = " or ".join(sorted({str(row) for row, _ in states})[:6])
            others = "\n    ".join(str(s) for n, s in pending.items() if n != number)
            return [f"no order explains\n    {steps[number]}\n  the row was {rows}; under way were\n    {others}"]
        if len(reached) > MOST_STATES:
            return [f"too many outcomes are unknown to judge {steps[number]}: {len(pending)} steps are open"]
        states = reached
        del pending[number]
    return []


def check_log(name, steps, final):
    """A column that is only appended to; `final` are its pieces at last."""
    appends = {s.value: s for s in steps if s.kind == "append"}
    problems = [f"{name}: {piece} is there {count} times" for piece, count in counts(final).items()
                if count != 1 or piece not in appends]
    problems += [f"{name}: {piece} is lost" for piece, s in appends.items()
                 if s.end != NEVER and piece not in final]
    if problems:
        return problems
    problems = order_problems(name, [appends[piece] for piece in final])
    place = {piece: number + 1 for number, piece in enumerate(final)}
    for read in (s for s in steps if s.kind == "read"):
        seen = tuple(read.value or ())
        due = max((place[p] for p, s in appends.items() if s.end < read.begin), default=0)
        if seen != tuple(final[:len(seen)]):
            problems.append(f"{name}: a read is no beginning of it: {read}")
        elif len(seen) < due or any(appends[piece].begin > read.end for piece in seen):
            problems.append(f"{name}: a read saw {len(seen)} pieces, {due} were due: {read}")
    return problems


def check_counter(name, steps, final):
    """What is added is greater than 0; it began with 0."""
    adds = [s for s in steps if s.kind == "add"]
    sums = {sum(s.value for s in adds if s.end != NEVER)}
    for unknown in (s for s in adds if s.end == NEVER):
        sums |= {one + unknown.value for one in sums}
    problems = [] if final in sums else [f"{name}: {final} is not one of {sorted(sums)[:10]}"]
    reads = [s for s in steps if s.kind == "read"]
    for read in reads:
        least = sum(s.value for s in adds if s.end < read.begin)
        most = sum(s.value for s in adds if s.begin < read.end)
        if not least <= read.value <= most:
            problems.append(f"{name}: it was between {least} and {most} at {read}")
    return problems + order_problems(name, sorted(reads, key=lambda s: (s.value, s.begin)))
