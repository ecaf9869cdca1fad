# SPDX-License-Identifier: MIT
"""Judges recorded histories: was what several processes saw of a file possible?

A history is a list of Operations with the times between which each took place. A file is linearizable if
every operation can be given a moment within its times so that, one after the other at these moments, all
of them have the outcome that they had. Every value and every appended piece is unique.

A write through a handle is two operations: the open, which makes the file where there is none, and the
put when it is closed, which does nothing where the file has been removed or replaced since. A reader that
was open before another handle began to write may see a mixture (the manual, "Reading"); such reads are
not judged.
"""

import bisect
import itertools
from typing import Any, NamedTuple

ABSENT = None
GONE = "gone"  # a file that has no name
MAY_BE_GONE = "may be gone"


class Operation(NamedTuple):
    kind: str  # read, open, make (exclusively), put, append, unlink, replace; add (to a counter)
    begin: int
    end: int
    value: Any = ABSENT  # pieces read, or the piece put, appended or renamed into place; ABSENT: no file
    handle: Any = None   # open, put, append: which
    failed: str = ""     # the errno's name: ENOENT of unlink, EEXIST of make
    began: int = 0       # put, append: when its writing had begun for sure


class State(NamedTuple):
    value: tuple | None = ABSENT
    file: Any = None           # which file has the name: the operation that made it
    handles: frozenset = frozenset()  # (handle, file) of those that are open
    done: frozenset = frozenset()     # operations that took place and have not returned


# ---- Files: what each operation does, or None where it cannot have had its outcome ---------------------


def apply_read(state, _, operation):
    return state if state.value == operation.value else None


def apply_open(state, number, operation):
    if state.value is ABSENT:
        state = state._replace(value=(), file=number)
    return state._replace(handles=state.handles | {(operation.handle, state.file)})


def apply_make(state, number, operation):
    if (state.value is ABSENT) == bool(operation.failed):
        return None
    return state if operation.failed else state._replace(value=(), file=number)


def apply_close(state, _, operation):
    handles = frozenset(h for h in state.handles if h[0] != operation.handle)
    if len(handles) == len(state.handles):  # the open has not taken place
        return None
    if (operation.handle, state.file) not in state.handles:  # removed, or replaced
        return state._replace(handles=handles)
    before = state.value if operation.kind == "append" else ()
    return state._replace(value=before + (operation.value,), handles=handles)


def apply_unlink(state, _, operation):
    if (state.value is ABSENT) != bool(operation.failed):
        return None
    return state._replace(value=ABSENT, file=None)


def apply_replace(state, number, operation):
    return state._replace(value=(operation.value,), file=number)


APPLY = {"read": apply_read, "open": apply_open, "make": apply_make, "put": apply_close,
         "append": apply_close, "unlink": apply_unlink, "replace": apply_replace}


def reach(state, number, pending):
    """The states in which operation `number` has just taken place, others of `pending` before it where
    that is needed; those that may as well come later are left for later."""
    found = set()
    seen = {state}
    left = [state]
    while left:
        state = left.pop()
        for other, operation in pending.items():
            if other in state.done:
                continue
            for after in outcomes(state, other, operation):
                if other == number:
                    found.add(after)
                    continue
                after = after._replace(done=after.done | {other})
                if after not in seen:
                    seen.add(after)
                    left.append(after)
    return found


def outcomes(state, number, operation):
    """The states that the operation may lead to."""
    after = APPLY[operation.kind](state, number, operation)
    if after is not None:
        yield after
    if operation.failed == MAY_BE_GONE:
        yield state._replace(handles=state.handles | {(operation.handle, GONE)})


def mark_late_opens(operations):
    """While an unlink or a rename is under way the kernel may still open what had the name before, although
    others have seen the change: what is written there goes with that file."""
    changes = sorted((o.begin, o.end) for o in operations if o.kind in ("unlink", "replace"))
    longest = max((end - begin for begin, end in changes), default=0)
    return [o._replace(failed=MAY_BE_GONE)
            if o.kind == "open" and overlaps(o, changes, longest) else o for o in operations]


def without_excused_reads(operations):
    """(the operations that are judged, how many are not)."""
    opens = {o.handle: o for o in operations if o.kind == "open"}
    writes = [(opens[o.handle].begin, o.began) for o in operations if o.kind in ("put", "append")]
    writes.sort()
    longest = max((began - begin for begin, began in writes), default=0)
    judged = []
    for operation in operations:
        if operation.kind == "read" and operation.value is not ABSENT:
            if overlaps(operation, writes, longest):
                continue
        judged.append(operation)
    return judged, len(operations) - len(judged)


def overlaps(operation, times, longest):
    """Whether one of the times, sorted (begin, end), none longer than that, meets the operation's."""
    low = bisect.bisect_left(times, (operation.begin - longest,))
    for begin, end in itertools.islice(times, low, None):
        if begin > operation.end:
            return False
        if end > operation.begin:
            return True
    return False


def check_file(name, operations):
    """(problems, reads not judged) of the history of one name, which does not exist at its beginning."""
    judged, excused = without_excused_reads(mark_late_opens(operations))
    events = sorted(itertools.chain(
        ((o.begin, 0, number) for number, o in enumerate(judged)),
        ((o.end, 1, number) for number, o in enumerate(judged))))
    states = {State()}
    pending = {}
    for _, is_end, number in events:
        if not is_end:
            pending[number] = judged[number]
            continue
        after = set()
        for state in states:
            if number in state.done:
                after.add(state._replace(done=state.done - {number}))
            else:
                after |= reach(state, number, pending)
        if not after:
            return [describe(name, judged[number], states, pending, operations)], excused
        states = after
        del pending[number]
    return [], excused


RECENT = 10_000_000  # nanoseconds


def describe(name, operation, states, pending, operations):
    values = " or ".join(sorted({str(state.value) for state in states})[:6])
    others = "\n    ".join(str(o) for o in pending.values() if o is not operation)
    recent = "\n    ".join(
        f"{o.begin - operation.begin:+} to {o.end - operation.begin:+}: {o.kind} {o.value} {o.handle or ''}"
        f" {o.failed}" for o in sorted(operations, key=lambda o: o.begin)
        if o.end > operation.begin - RECENT and o.begin < operation.end)
    return (f"{name}: no order explains\n    {operation}\n  the value was {values}; "
            f"under way were\n    {others}\n  shortly before it, in nanoseconds,\n    {recent}")


# ---- Files that only grow, counters, histories ---------------------------------------------------------


def check_log(name, operations, final):
    """Appends and reads of a file that nothing else changes; `final` is what it holds at last. A read is
    the pieces that it saw."""
    appends = {o.value: o for o in operations if o.kind == "append"}
    problems = [f"{name}: {piece} is there {count} times"
                for piece, count in counts(final).items() if count != 1 or piece not in appends]
    place = {piece: number for number, piece in enumerate(final)}
    problems += [f"{name}: {piece} is lost" for piece in appends if piece not in place]
    if problems:
        return problems
    problems = order_problems(name, [appends[piece] for piece in final])
    judged, _ = without_excused_reads(operations)
    by_end = sorted((o.end, place[o.value] + 1) for o in appends.values())
    ends = [end for end, _ in by_end]
    due_by_end = [0, *itertools.accumulate((due for _, due in by_end), max)]
    for read in (o for o in judged if o.kind == "read"):
        seen = tuple(read.value or ())
        due = due_by_end[bisect.bisect_left(ends, read.begin)]
        if seen != tuple(final[:len(seen)]):
            problems.append(f"{name}: a read is no beginning of it: {read}")
        elif len(seen) < due or any(appends[piece].begin > read.end for piece in seen):
            problems.append(f"{name}: a read saw {len(seen)} pieces, {due} were due: {read}")
    return problems


def counts(pieces):
    found = {}
    for piece in pieces:
        found[piece] = found.get(piece, 0) + 1
    return found


def order_problems(name, operations):
    """What came first must not be ordered last."""
    problems = []
    latest = None
    for operation in operations:
        if latest is not None and operation.end < latest.begin:
            problems.append(f"{name}: {operation.value} ended before {latest.value} began, comes after it")
        if latest is None or operation.begin > latest.begin:
            latest = operation
    return problems


def check_counter(name, operations, final):
    """`operations` are of the kinds add, whose values are greater than 0, and read; it began with 0."""
    adds = [o for o in operations if o.kind == "add"]
    reads = [o for o in operations if o.kind == "read"]
    total = sum(o.value for o in adds)
    problems = [] if final == total else [f"{name}: {final} instead of {total}"]
    begun, sums_begun = sums_by(adds, lambda o: o.begin)
    ended, sums_ended = sums_by(adds, lambda o: o.end)
    for read in reads:
        least = sums_ended[bisect.bisect_left(ended, read.begin)]
        most = sums_begun[bisect.bisect_right(begun, read.end)]
        if not least <= read.value <= most:
            problems.append(f"{name}: it was between {least} and {most} at {read}")
    return problems + order_problems(name, sorted(reads, key=lambda o: (o.value, o.begin)))


def sums_by(operations, time):
    """(the times, the sums of the values before the first, after the first, ...)."""
    ordered = sorted(operations, key=time)
    return ([time(o) for o in ordered],
            [0, *itertools.accumulate(o.value for o in ordered)])


def check_history(name, operations, versions):
    """`versions` are [(timestamp, piece)] as listed, newest first; `operations` all that were put."""
    problems = []
    stamps = [stamp for stamp, _ in versions]
    if any(newer <= older for newer, older in itertools.pairwise(stamps)):
        problems.append(f"{name}: the history is not in strict order: {stamps}")
    put = {o.value: o for o in operations}
    found = counts(piece for _, piece in versions)
    problems += [f"{name}: the version {piece} is there {count} times, or was never put"
                 for piece, count in found.items() if count != 1 or piece not in put]
    problems += [f"{name}: the version {piece} is lost" for piece in put if piece not in found]
    if problems:
        return problems
    return order_problems(name, [put[piece] for _, piece in reversed(versions)])
