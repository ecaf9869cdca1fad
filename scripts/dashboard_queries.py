# SPDX-License-Identifier: MIT
"""As much of Prometheus' language as the dashboard has: metrics with their labels, rate, sum by, histogram_quantile,
time(), + - * / > and `and`. What it does not know it refuses, so that a panel with something new is seen.

    samples = Samples(); samples.add(time, text_of_metrics)
    evaluate('sum by (kind) (rate(x_total{a=~"b|c"}[5m]))', samples, time) == [({"kind": "read"}, 17.0), ...]
"""

import bisect
import re

WINDOW = 10  # seconds, whatever the range says
LINE = re.compile(r"^([a-zA-Z_:]\w*)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
TOKEN = re.compile(r'\s*(?:(\d+(?:\.\d+)?)|([a-zA-Z_]\w*)|(=~|[-+*/>(){}\[\],=])|"((?:[^"\\]|\\.)*)")')


class Samples:
    """{name: {labels: {time: value}}}, of all metrics at all times."""

    def __init__(self):
        self.times, self.series = [], {}

    def add(self, at, text):
        self.times.append(at)
        for line in text.splitlines():
            if found := LINE.match(line):
                labels = tuple(sorted(LABEL.findall(found[2] or "")))
                self.series.setdefault(found[1], {}).setdefault(labels, {})[at] = float(found[3])

    def before(self, at, seconds):
        """The first time of those within that many seconds before."""
        return self.times[bisect.bisect_left(self.times, at - seconds)]


def tokens(text):
    at, found = 0, []
    while at < len(text.rstrip()):
        match = TOKEN.match(text, at)
        assert match, f"not understood: {text[at:]}"
        number, word, sign, string = match.groups()
        found.append(("number", float(number)) if number else ("word", word) if word else ("sign", sign) if sign else ("string", string))
        at = match.end()
    return [*found, ("end", None)]


class Query:
    def __init__(self, text, samples, at):
        self.tokens, self.samples, self.at = tokens(text), samples, at

    def next(self, value=None):
        kind, found = self.tokens.pop(0)
        assert value is None or found == value, f"{value} is expected before {found}"
        return kind, found

    def takes(self, value):
        if self.tokens[0] in (("sign", value), ("word", value)):
            self.tokens.pop(0)
            return True
        return False

    # Each gives a number, or {labels: value}; the loosest first.
    def whole(self):
        left = self.compared()
        while self.takes("and"):
            right = self.compared()
            left = {labels: value for labels, value in left.items() if labels in right}
        return left

    def compared(self):
        left = self.added()
        while self.takes(">"):
            right = self.added()
            left = {labels: value for labels, value in left.items() if value > right}
        return left

    def added(self):
        left = self.divided()
        while self.tokens[0] in (("sign", "+"), ("sign", "-")):
            sign = 1 if self.next()[1] == "+" else -1
            left = both(left, self.divided(), lambda a, b, sign=sign: a + sign * b)
        return left

    def divided(self):
        left = self.value()
        while self.tokens[0] in (("sign", "/"), ("sign", "*")):
            if self.next()[1] == "*":
                left = both(left, self.value(), lambda a, b: a * b)
            else:
                left = both(left, self.value(), lambda a, b: a / b if b else float("nan"))
        return left

    def value(self):
        kind, found = self.next()
        if kind == "number":
            return found
        if found == "(":
            value = self.whole()
            self.next(")")
            return value
        assert kind == "word", f"{found} is not understood"
        if self.tokens[0] == ("sign", "(") or found == "sum":
            return getattr(self, "call_" + found)()
        return {labels: times[self.at] for labels, times in self.select(found).items() if self.at in times}

    def select(self, name):
        """{labels: {time: value}} of the metric, as far as the labels are as braces say."""
        wanted = []
        if self.takes("{"):
            while not self.takes("}"):
                label = self.next()[1]
                is_pattern = self.next()[1] == "=~"
                wanted.append((label, self.next()[1] if is_pattern else re.escape(self.next()[1])))
                self.takes(",")
        found = self.samples.series.get(name, {})
        return {labels: times for labels, times in found.items()
                if all(re.fullmatch(pattern, dict(labels).get(label, "")) for label, pattern in wanted)}

    def call_time(self):
        self.next("(")
        self.next(")")
        return self.at

    def call_rate(self):
        self.next("(")
        series = self.select(self.next()[1])
        self.next("[")
        while not self.takes("]"):
            self.next()
        self.next(")")
        first = self.samples.before(self.at, WINDOW)
        return {labels: (times[self.at] - times.get(first, 0)) / (self.at - first)
                for labels, times in series.items() if self.at in times and first < self.at}

    def call_sum(self):
        self.next("by")
        self.next("(")
        kept = set()
        while not self.takes(")"):
            kept.add(self.next()[1])
            self.takes(",")
        self.next("(")
        values = self.whole()
        self.next(")")
        sums = {}
        for labels, value in values.items():
            key = tuple(label for label in labels if label[0] in kept)
            sums[key] = sums.get(key, 0) + value
        return sums

    def call_histogram_quantile(self):
        self.next("(")
        part = self.next()[1]
        self.next(",")
        buckets = {}
        for labels, value in self.whole().items():
            others = tuple(label for label in labels if label[0] != "le")
            buckets.setdefault(others, []).append((float(dict(labels)["le"].replace("+Inf", "inf")), value))
        self.next(")")
        return {labels: quantile(part, sorted(counts)) for labels, counts in buckets.items() if max(counts)[1] > 0}


def both(left, right, operation):
    """Of series those of the same labels; a number goes with all."""
    if isinstance(left, dict) and isinstance(right, dict):
        return {labels: operation(value, right[labels]) for labels, value in left.items() if labels in right}
    if isinstance(left, dict):
        return {labels: operation(value, right) for labels, value in left.items()}
    if isinstance(right, dict):
        return {labels: operation(left, value) for labels, value in right.items()}
    return operation(left, right)


def quantile(part, counts):
    """As Prometheus does it: within a bucket evenly."""
    wanted, below, begin = part * counts[-1][1], 0, 0
    for end, count in counts:
        if count >= wanted and count > below:
            return begin if end == float("inf") else begin + (end - begin) * (wanted - below) / (count - below)
        begin, below = end, count
    return begin


def evaluate(text, samples, at):
    """[(labels, value)] at that time, which is one of the samples'."""
    query = Query(text, samples, at)
    value = query.whole()
    query.next(None)
    assert not query.tokens, f"more than is understood: {text}"
    values = value if isinstance(value, dict) else {(): value}
    return [(dict(labels), number) for labels, number in values.items() if number == number]
