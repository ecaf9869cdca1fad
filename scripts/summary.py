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
import re
import sys
import xml.etree.ElementTree as ElementTree

FAILED = {"FAIL", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS"}
PYTEST_END = re.compile(r" in \d+\.\d+s")
PYTEST_WORDS = {"passed": "passed", "skipped": "skipped", "xfailed": "skipped",
                "failed": "failed", "error": "failed", "errors": "failed"}


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
    """(name, result, output) of each program."""
    for line in log.read_text().splitlines():
        entry = json.loads(line)
        yield entry["name"], entry["result"], entry.get("stdout", "")


def pytest_cases(output):
    """(the case's name, its outcome) by what pytest -q says at its end; nothing for other programs."""
    lines = output.splitlines()
    if not lines or not PYTEST_END.search(lines[-1]):
        return
    for number, word in re.findall(r"(\d+) (\w+)", lines[-1]):
        outcome = PYTEST_WORDS.get(word)
        if outcome == "failed":
            continue
        yield from [("", outcome)] * (int(number) if outcome else 0)
    for line in lines:
        if line.startswith(("FAILED ", "ERROR ")):
            yield line.split(" - ")[0], "failed"


def count(build, counts, failures):
    def note(program, name, outcome):
        counts[outcome] += 1
        if outcome == "failed":
            failures.append(f"{build}: {name}")
            failed_programs.add(program)

    logs = build / "meson-logs"
    failed_programs = set()
    by_program = {}
    for program, name, outcome in cases_of(logs / "testlog.junit.xml"):
        by_program.setdefault(program, []).append((name, outcome))
    for program, _, output in programs_of(logs / "testlog.json"):
        cases = list(pytest_cases(output))
        if cases:
            by_program[program] = [(f"{program} {name}", outcome) for name, outcome in cases]
    for program, cases in by_program.items():
        for name, outcome in cases:
            note(program, name, outcome)
    for program, result, _ in programs_of(logs / "testlog.json"):
        told = any(p == program or p.startswith(program + ".") for p in failed_programs)
        if result in FAILED and not told:
            note(program, f"{program}: {result}", "failed")


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
