#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws bench/results/*.jsonl as one picture, bench/results/picture.svg.

Each workload is a group of bars: the time of cellfs, of ext4 and of passthrough_ll, as ratios to the null
file system, which stores nothing and so is the least that FUSE costs. Logarithmic, shorter is faster.
"""
import html
import json
import math
import os
import statistics
import sys

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")
# suite, base, metric, title, targets, workloads
PANELS = [
    ("micro", "floor", "p50_us", "one operation, median", ["fs", "ext4", "pt_ll_tmpfs"],
     ["stat hot", "read hot", "read cold", "ls -l row cold", "walk+stat cold", "create", "overwrite", "append", "rename over",
      "create+fsync", "unlink"]),
    ("macro", "floor_free", "wall_s", "real programs", ["fs_free", "ext4", "pt_ll_free"],
     ["rsync in", "rsync in, no change", "rsync out, cold", "tar c, hot", "cp -r in", "find | wc, cold", "grep -r, hot", "du -s, hot", "rm -rf"]),
]
COLORS = ["#2a6f97", "#bcbcbc", "#e9b872"]
LEFT, WIDTH, BAR, GAP = 190, 560, 9, 10
LOWEST, HIGHEST = 0.05, 100.0


def ratios(suite, base, metric):
    """{(workload, target): median over rounds of the ratio to the base in the same round}"""
    path = f"{RESULTS}/{suite}.jsonl"
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        records = [json.loads(line) for line in f]
    # A listing is one call: its time counts per entry.
    whole = lambda phase: metric == "p50_us" and any(word in phase for word in ("table", "wide hot", "wide cold", "walk"))
    value = {(r["phase"], r["target"], r["round"]): r.get("per_us" if whole(r["phase"]) else metric) for r in records if not r.get("fail")}
    found = {}
    for (phase, target, number), measured in value.items():
        against = value.get((phase, base, number))
        if measured and against:
            found.setdefault((phase, target), []).append(measured / against)
    return {key: statistics.median(many) for key, many in found.items()}


def x_of(ratio):
    share = (math.log(min(max(ratio, LOWEST), HIGHEST)) - math.log(LOWEST)) / (math.log(HIGHEST) - math.log(LOWEST))
    return LEFT + share * WIDTH


class Picture:
    def __init__(self):
        self.parts, self.y = [], 30

    def text(self, x, y, text, anchor="start", style=""):
        self.parts.append(f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" {style}>{html.escape(text)}</text>')

    def panel(self, title, targets, workloads, values):
        self.text(LEFT, self.y, title, style='font-weight="bold"')
        top = self.y = self.y + 12
        for workload in workloads:
            if not any((workload, t) in values for t in targets):
                continue
            self.text(LEFT - 8, self.y + BAR * len(targets) / 2 + 4, workload, "end")
            for target, color in zip(targets, COLORS):
                ratio = values.get((workload, target))
                if ratio is not None:
                    self.parts.append(f'<rect x="{LEFT}" y="{self.y}" width="{max(1, x_of(ratio) - LEFT):.1f}" height="{BAR}" fill="{color}"/>')
                    self.text(x_of(ratio) + 4, self.y + BAR - 1, f"{ratio:.2f}", style='font-size="9"')
                self.y += BAR
            self.y += GAP
        for tick in (0.1, 1, 10, 100):
            dash = "" if tick == 1 else 'stroke-dasharray="2 3"'
            self.parts.append(f'<line x1="{x_of(tick):.1f}" x2="{x_of(tick):.1f}" y1="{top}" y2="{self.y}" stroke="#888" {dash}/>')
            self.text(x_of(tick), self.y + 12, f"{tick:g}x", "middle")
        self.y += 44

    def save(self, path):
        for i, (name, color) in enumerate(zip(("cellfs", "ext4 with journal", "passthrough_ll over tmpfs"), COLORS)):
            self.parts.append(f'<rect x="{LEFT + i * 190}" y="{self.y - 10}" width="12" height="12" fill="{color}"/>')
            self.text(LEFT + i * 190 + 18, self.y, name)
        self.text(LEFT, self.y + 22, "1x: a FUSE file system that stores nothing. Shorter is faster.")
        with open(path, "w") as f:
            f.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 60} {self.y + 36}" font-family="sans-serif" font-size="12">'
                    f'<rect width="100%" height="100%" fill="white"/>{"".join(self.parts)}</svg>\n')


def main():
    picture = Picture()
    for suite, base, metric, title, targets, workloads in PANELS:
        values = ratios(suite, base, metric)
        if values:
            picture.panel(title, targets, workloads, values)
    if not picture.parts:
        sys.exit("nothing to draw: run bench/run first")
    picture.save(f"{RESULTS}/picture.svg")


if __name__ == "__main__":
    main()
