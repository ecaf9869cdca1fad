#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sums up the test logs of Meson's build directories: names what failed, then one line alone

    N passed, N failed[, N skipped]

    scripts/summary.py [--skipped N] BUILD_DIRECTORY...

Counts test cases, as the JUnit log has them; a program that failed although none of its cases did (it
crashed at its end, or leaked) counts as one more failure. Exits with 1 where something failed or nothing ran.
"""

import argparse
import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

FAILED = {"FAIL", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS"}


def outcome_of(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def cases_of(log):
    """(the program's name in Meson, the case's name, its outcome) of each case."""
    for suite in ElementTree.parse(log).getroot().iter("testsuite"):
        # "cellfs.cellfs:engine / engine_filter.FilterTest"; programs without cases share "cellfs"
        program = suite.get("name").partition(".")[2]
        for case in suite.iter("testcase"):
            name = case.get("name")
            yield program or name, f"{program} {name}".strip(), outcome_of(case)


def programs_of(log):
    """(name, result) of each program."""
    for line in log.read_text().splitlines():
        entry = json.loads(line)
        yield entry["name"], entry["result"]


def count(build, counts, failures):
    logs = build / "meson-logs"
    failed_programs = []
    for program, name, outcome in cases_of(logs / "testlog.junit.xml"):
        counts[outcome] += 1
        if outcome == "failed":
            failures.append(f"{build}: {name}")
            failed_programs.append(program)
    for name, result in programs_of(logs / "testlog.json"):
        told = any(p == name or p.startswith(name + ".") for p in failed_programs)
        if result in FAILED and not told:
            counts["failed"] += 1
            failures.append(f"{build}: {name}: {result}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skipped", type=int, default=0, help="programs left out altogether")
    parser.add_argument("build", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    counts = {"passed": 0, "failed": 0, "skipped": arguments.skipped}
    failures = []
    for build in arguments.build:
        count(build, counts, failures)
    for failure in failures:
        print(f"FAILED {failure}")
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
