#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sustained.py [--build DIR] [--work DIR] [--memory MIB] [--cells N] [--bytes N] [--order ORDER]...

What a store keeps up that grows beyond memory, beside RocksDB with the same write buffers: bench/sustained and
bench/sustained_rocksdb in turn, each in a memory cgroup of its own with its page cache in it, as a table of ratios.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

GROUPS = pathlib.Path("/sys/fs/cgroup")


@contextlib.contextmanager
def memory_group(mebibytes):
    """A file that takes the ids of processes that share so much memory."""
    is_old = (GROUPS / "memory").is_dir()
    group = (GROUPS / "memory" if is_old else GROUPS) / f"cellfs-bench-{os.getpid()}"
    if not is_old:
        with contextlib.suppress(OSError):
            (GROUPS / "cgroup.subtree_control").write_text("+memory")
    group.mkdir()
    try:
        (group / ("memory.limit_in_bytes" if is_old else "memory.max")).write_text(str(mebibytes << 20))
        yield group / "cgroup.procs"
    finally:
        for _ in range(20):
            with contextlib.suppress(OSError):
                group.rmdir()
                break
            time.sleep(0.1)


def bytes_below(directory):
    return sum(path.stat().st_blocks * 512 for path in directory.rglob("*") if path.is_file())


def run(program, options, order):
    directory = options.work / program.name
    shutil.rmtree(directory, ignore_errors=True)
    options.work.mkdir(parents=True, exist_ok=True)
    call = [program, directory, "--order", order, "--cells", options.cells, "--bytes", options.bytes, "--batch", options.batch]
    try:
        with memory_group(options.memory) as group:
            process = subprocess.Popen(["sh", "-c", 'echo $$ >"$0" && exec "$@"', group, *map(str, call)], stdout=subprocess.PIPE, text=True)
            lines = []
            for line in process.stdout:
                lines.append(line)
                print(f"  {program.name}: {line}", end="", file=sys.stderr, flush=True)
            if process.wait() != 0:
                raise SystemExit(f"{program.name} failed")
        figures = json.loads(lines[-1])
        figures["bytes"] = bytes_below(directory)
        return figures
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def row(order, options, ours, theirs):
    def ratio(name):
        return f"{ours[name] / max(theirs[name], 1e-9):.2f}"

    slowest = ours["slowest_million"] / ours["rate"] if ours["slowest_million"] else 1
    name = f"{order}, {options.cells:,}" + ("" if options.bytes == 100 else f" of {options.bytes:,} bytes")
    return (f"| {name} | {ours['rate']:,.0f} | {ratio('rate')} | {slowest:.2f} | {ours['longest_wait_ms']:.0f} ms; {theirs['longest_wait_ms']:.0f} ms | "
            f"{ours['read_us']:.1f} us; {ratio('read_us')} | {ours['scan_us']:.2f} us; {ratio('scan_us')} | {ratio('bytes')} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[2])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/sustained"))
    parser.add_argument("--memory", type=int, default=1536)
    parser.add_argument("--cells", type=int, default=16_000_000)
    parser.add_argument("--bytes", type=int, default=100)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--order", action="append", choices=["random", "ascending", "series", "overwrite"])
    options = parser.parse_args()
    programs = [options.build / "bench" / name for name in ("sustained", "sustained_rocksdb")]
    missing = [str(program) for program in programs if not program.exists()]
    if missing:
        raise SystemExit(f"{' and '.join(missing)}: not built; librocksdb-dev is needed, and -Dbench=true")
    print("| order, cells | a second | of RocksDB's rate | slowest million of the mean | longest wait; RocksDB's | a read; ratio | a cell of a scan; ratio | bytes; ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for order in options.order or ["random", "overwrite", "ascending", "series"]:
        ours, theirs = (run(program, options, order) for program in programs)
        print(row(order, options, ours, theirs), flush=True)


if __name__ == "__main__":
    main()
