# SPDX-License-Identifier: MIT
"""Processes list a directory while others make and remove names in it: whatever the kernel kept of whose
listing, each listing has every name that did not change, once."""

import os
import random
import subprocess
import sys

import pytest

LISTINGS = int(os.environ.get("CELLFS_LISTINGS", "1500"))  # of each process; a long run takes millions
STEADY = 400
LISTERS = 3

# The lister ends with the first wrong listing; what it prints is the problem.
LISTER = """
import os, sys
path, prefix, count, listings = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
wanted = sorted("%s%04d" % (prefix, i) for i in range(count))
for number in range(listings):
    names = os.listdir(path)
    steady = sorted(n for n in names if n.startswith(prefix))
    if steady != wanted:
        missing = sorted(set(wanted) - set(steady))
        twice = sorted(n for n in set(steady) if steady.count(n) > 1)
        sys.exit("listing %d of %d names lacks %s and has twice %s" % (number, len(names), missing, twice))
    if len(set(names)) != len(names):
        sys.exit("listing %d has a passing name twice" % number)
"""

CHANGER = """
import os, random, sys
path, prefix, seed, width = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
dice = random.Random(seed)
names = set()
while True:
    name = prefix + "%0*d" % (width, dice.randrange(5000))
    if name in names or (len(names) >= 40):
        name = name if name in names else dice.choice(sorted(names))
        os.unlink(os.path.join(path, name))
        names.remove(name)
    else:
        os.close(os.open(os.path.join(path, name), os.O_CREAT | os.O_WRONLY | os.O_TRUNC))
        names.add(name)
"""

# What one process has made or removed, it must see in its own next listing, whoever lists beside it.
KEEPER = """
import os, sys
path, name, listings = sys.argv[1], sys.argv[2], int(sys.argv[3])
full = os.path.join(path, name)
for number in range(listings):
    with open(full, "w") as file:
        file.write("v")
    if os.listdir(path).count(name) != 1:
        sys.exit("%s is not listed after it was made, try %d" % (name, number))
    os.unlink(full)
    if name in os.listdir(path):
        sys.exit("%s is listed after it was removed, try %d" % (name, number))
"""

# A row stays when its last file goes; a row beside it that comes and goes makes the kernel list anew.
EMPTIER = """
import os, sys
path, other = sys.argv[1:]
while True:
    with open(path, "w") as file:
        file.write("v")
    os.mkdir(other)
    os.unlink(path)
    os.rmdir(other)
"""


def start(program, *arguments):
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)],
                            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def race(listers, changers):
    """What the listers complain of."""
    running = [start(*changer) for changer in changers]
    listing = [start(*lister) for lister in listers]
    try:
        return [error for lister in listing if (error := lister.communicate()[1])]
    finally:
        for process in running + listing:
            process.kill()
            process.wait()


def test_a_process_sees_its_own_changes_in_listings_beside_others(family):
    for i in range(STEADY // 4):
        (family / f"k{i:04}").write_text("v")
    assert race([(KEEPER, family, f"b{i}", LISTINGS // 2) for i in range(2)] +
                [(LISTER, family, "k", STEADY // 4, LISTINGS)] * 2, []) == []


def test_a_row_stays_listed_while_its_last_file_comes_and_goes(mount):
    rows = [mount.family(row=f"k{i:04}") for i in range(8)]
    for row in rows[1:]:
        (row / "q").write_text("v")
    assert race([(LISTER, mount / "default/t", "k", len(rows), LISTINGS)] * 2,
                [(EMPTIER, rows[0] / "q", mount / "default/t/other")]) == []


# With names of one length a listing often ends with a page of the kernel's.
@pytest.mark.parametrize("width", [4, 30])
def test_listings_beside_changes_have_each_lasting_name_once(family, width):
    for i in range(STEADY):
        (family / f"k{i:04}").write_text("v")
    seed = int(os.environ.get("CELLFS_SEED", "0")) or random.randrange(1 << 30)
    print(f"seed {seed}: CELLFS_SEED repeats it")
    problems = race([(LISTER, family, "k", STEADY, LISTINGS)] * LISTERS,
                    [(CHANGER, family, prefix, seed + i, width) for i, prefix in enumerate("az")])
    assert problems == []
