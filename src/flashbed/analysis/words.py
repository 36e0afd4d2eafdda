# SPDX-License-Identifier: Apache-2.0
"""Write numbers and the values of axes for people: factors, figures with units, short names.

Knows the words of workloads and units. Must not know file systems, media or chips: the study names them, or a caller
that has read the profiles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flashbed.analysis.study_results import JointAxis, JointValue
from flashbed.profiles.library import Selector
from flashbed.result.metrics import METRICS, Metric
from flashbed.study.format import STACK

AXIS_WORDS = {
    "filesystem": ("file system", "file systems"),
    "medium": ("medium", "media"),
    "request": ("request size", "request sizes"),
    "file": ("file size", "file sizes"),
    "io_size": ("amount of I/O", "amounts of I/O"),
    "pattern": ("pattern", "patterns"),
    "scheduler": ("scheduler", "schedulers"),
    "translation": ("translation", "translations"),
    "board": ("board", "boards"),
    "kernel": ("kernel", "kernels"),
    "system": ("system", "systems"),
    "flush": ("flush of writes", "ways to flush writes"),
    "queue_depth": ("queue depth", "queue depths"),
    "processes": ("number of processes", "numbers of processes"),
    "direct": ("direct", "choices of direct"),
    "caches": ("caches", "states of the caches"),
    "content": ("content", "contents"),
    "allocate": ("allocation", "ways to allocate"),
}
"""Singular and plural of the axes that studies usually have."""

SPEAKING_AXES = (
    *("system", "pattern", "allocate", "flush", "direct", "caches", "content"),
    *("filesystem", "medium", "translation", "scheduler", "board"),
)
"""Axes whose values say by themselves what they are."""

VALUE_WORDS = {
    "pattern": {
        "read": "sequential read",
        "write": "sequential write",
        "randread": "random read",
        "randwrite": "random write",
        "rw": "sequential read and write",
        "randrw": "random read and write",
    },
    "flush": {
        "none": "not flushed",
        "close": "timed until it is closed",
        "fsync": "flushed at the end",
        "fsync-each": "flushed after each request",
    },
    "translation": {"none": "no translation"},
    "scheduler": {"none": "no scheduler"},
    "caches": {"kept": "caches kept", "cold": "caches dropped"},
    "content": {"constant": "constant bytes", "random": "random bytes"},
    "allocate": {"true": "allocating", "false": "overwriting"},
    "direct": {"true": "past the page cache", "false": "through the page cache"},
}
"""A workload's abbreviations, written out."""

READS = ("read", "randread")
"""Patterns that only read."""

OF_WRITES = ("flush", "allocate")
"""Axes that say how data is written; they are not named if all is reading."""

_PREPOSITIONS = ("beside", "on", "in", "with", "without", "through", "past", "after", "to")
"""The first words of places that need no "for". A study's own label may begin with one, such as "beside a writer"."""

ONLY_CELL = "the only cell"
"""The name of a cell in a study without axes."""

NOTHING = "none"
"""The value of an axis whose thing is absent; it is left out if several values are named together."""

UNIT_WORDS = {"us": "µs", "1/s": "requests/s"}

SCALES: dict[str, tuple[tuple[str, float], ...]] = {
    "us": (("µs", 1.0), ("ms", 1e3), ("s", 1e6)),
    "bytes": (("bytes", 1.0), ("KiB", 2.0**10), ("MiB", 2.0**20), ("GiB", 2.0**30)),
}
"""Units with their larger units; each with the number of small units in it."""


@dataclass(frozen=True)
class Words:
    """The names that a report uses: `values` gives display names by axis and value as written in the study, `labels`
    the names that the study itself gives to values, `axis_labels` those for axes.
    """

    axes: Mapping[str, Sequence[str]]
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    axis_labels: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    in_words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Names for use in a sentence, such as "the disk", by axis and value, if the label is no name."""
    leaders: Mapping[str, str] = field(default_factory=dict)
    """Maps an axis whose value follows from another axis in each cell to that axis; the legend says what goes together.
    """

    def axis(self, name: str) -> str:
        """Return the name of an axis: "file system"."""
        if name in self.axis_labels:
            return self.axis_labels[name]
        return AXIS_WORDS.get(name, (name.replace("_", " "), ""))[0]

    def axis_plural(self, name: str) -> str:
        """Return the plural of an axis: "file systems"."""
        if name in self.axis_labels:
            return f"values of {self.axis_labels[name]}"
        return AXIS_WORDS.get(name, ("", f"values of {name.replace('_', ' ')}"))[1]

    def value(self, axis: str, value: str) -> str:
        """Return the study's label, else a given name, else the written-out word, else of a profile its name without
        the options if that is enough to distinguish it. Other values are returned as they are written, whatever they
        contain.
        """
        for names in (self.labels.get(axis, {}), self.values.get(axis, {}), VALUE_WORDS.get(axis, {})):
            if value in names:
                return names[value]
        if axis not in STACK:
            return value
        short = Selector.name_of(value)
        short_names = [Selector.name_of(other) for other in self.axes.get(axis, ()) if other != value]
        return value if short in short_names else short

    def joint_axis(self, axis: JointAxis) -> str:
        """Return the name of compared axes: "medium and file system". One that follows another of them is left out."""
        return listing([self.axis(name) for name in axis.axes if self.leaders.get(name) not in axis.axes])

    def joint_value(self, axis: JointAxis, value: JointValue) -> str:
        """Return a compared value: "A stick, ext2". Of several axes, those that follow another of them are left out, as
        are absent things.
        """
        if len(axis.axes) == 1:
            return self.value(axis.axes[0], value[0])
        pairs = zip(axis.axes, value, strict=True)
        shown = [pair for pair in pairs if pair[1] != NOTHING and self.leaders.get(pair[0]) not in axis.axes]
        return ", ".join(self.value(*pair) for pair in shown) or joint_text(value)

    def named(self, axis: JointAxis, value: JointValue) -> str:
        """Return a compared value as the subject of a sentence."""
        single = self.in_words.get(axis.axes[0], {}).get(value[0]) if len(axis.axes) == 1 else None
        return single or self.joint_value(axis, value)

    def speaks(self, axis: str, value: str) -> bool:
        """True if a value says by itself what it is."""
        return axis in SPEAKING_AXES or value in self.labels.get(axis, {})

    def place(self, axis: str, value: str) -> str:
        """Return a value with as much of its axis as a reader needs: "random write", but "file size 10M"."""
        word = self.value(axis, value)
        return word if self.speaks(axis, value) else f"{self.axis(axis)} {word}"

    def several(self, axis: str, values: Sequence[str]) -> str:
        """Return several values of an axis: "random read and random write", "file size 10M and 100M"."""
        if len(values) > 1 and not any(self.speaks(axis, value) for value in values):
            return f"{self.axis(axis)} {listing([self.value(axis, value) for value in values])}"
        return listing([self.place(axis, value) for value in values])

    def is_idle(self, axis: str, stated: Mapping[str, Sequence[str]]) -> bool:
        """True if an axis means nothing beside the other axes in `stated`: it follows another; there is nothing to
        flush if all is reading, and nothing is left to flush of what goes past the page cache; a file system on no
        translation is the file system.
        """
        if self.leaders.get(axis) in stated:
            return True
        if axis == "translation" and "filesystem" in stated and set(stated[axis]) == {NOTHING}:
            return True
        patterns = stated.get("pattern", ())
        only_reads = bool(patterns) and all(pattern in READS for pattern in patterns)
        is_direct = axis == "flush" and set(stated.get("direct", ())) == {"true"} and set(stated[axis]) == {NOTHING}
        return is_direct or (axis in OF_WRITES and only_reads)

    def places(self, coordinates: Mapping[str, str] | Sequence[tuple[str, str]]) -> str:
        """Return the values of several axes, without those that mean nothing beside the others."""
        pairs = list(coordinates.items() if isinstance(coordinates, Mapping) else coordinates)
        stated = {axis: (value,) for axis, value in pairs}
        return ", ".join(self.place(axis, value) for axis, value in pairs if not self.is_idle(axis, stated))

    def cell(self, coordinates: Mapping[str, str]) -> str:
        """Return the name of a cell: "ext2, random write, request size 4k"."""
        return self.places(coordinates) or ONLY_CELL


def joint_text(parts: Sequence[str]) -> str:
    """Return a joint value, or the names of its axes, in a single text."""
    return " + ".join(parts)


def metric_of(name: str) -> Metric:
    """Return a metric by name; an undeclared one gets its bare name as title."""
    return METRICS.get(name) or Metric(name, name.replace("_", " ").capitalize(), "", None)


def factor(ratio: float) -> str:
    """Return a ratio in as many digits as a reader can use: 0.97, 1.31, 3.1, 12, 1,200; "∞" if infinite."""
    if ratio == math.inf:
        return "∞"
    if ratio < 1.995:
        return f"{ratio:.2f}" if ratio >= 0.0995 else f"{ratio:.2g}"
    return f"{ratio:.1f}" if ratio < 9.95 else f"{_rounded(ratio, 2):,.0f}"


def percent_more(ratio: float) -> str:
    """Return how much more a ratio is: "4 %" for 1.04."""
    return f"{(ratio - 1) * 100:.0f} %"


def factors(low: float, high: float) -> str:
    """Return one factor or a range: "1.31", "1.31 to 4.0"."""
    return factor(low) if factor(low) == factor(high) else f"{factor(low)} to {factor(high)}"


def percents(low: float, high: float) -> str:
    """Return one percentage or a range: "3 %", "3 to 8 %"."""
    ends = percent_more(low), percent_more(high)
    return ends[1] if ends[0] == ends[1] else f"{ends[0].removesuffix(' %')} to {ends[1]}"


@dataclass(frozen=True)
class Scale:
    """The unit in which a column or an axis shows its numbers; `size` is one of it in the metric's own unit."""

    unit: str
    size: float = 1.0

    def number(self, value: float) -> str:
        """Return a value of the metric in this unit, without the unit."""
        return number(value / self.size)

    def figure(self, value: float) -> str:
        """Return a value of the metric in this unit, with the unit."""
        return f"{self.number(value)} {self.unit}".rstrip()

    def title(self, metric: Metric) -> str:
        """Return the metric's title with this unit."""
        return f"{metric.title} ({self.unit})" if self.unit else metric.title


def scale_of(metric: Metric, values: Iterable[float]) -> Scale:
    """Return the largest unit in which the largest value is still above ten, so that columns need few digits."""
    largest = max((abs(value) for value in values), default=0.0)
    steps = SCALES.get(metric.unit, ((UNIT_WORDS.get(metric.unit, metric.unit), 1.0),))
    fitting = [Scale(unit, size) for unit, size in steps if largest >= 10 * size]
    return fitting[-1] if fitting else Scale(*steps[0])


def number(value: float) -> str:
    """Return three significant digits without an exponent: 0.0123, 12.3, 12,300."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = max(0, 2 - math.floor(math.log10(abs(_rounded(value, 3)))))
    return f"{_rounded(value, 3):,.{min(decimals, 9)}f}"


def figures(values: Sequence[float], scale: Scale) -> str:
    """Return one number, or the range of several, with its unit; "none at all" if all are 0."""
    counts = not scale.unit and all(value == int(value) for value in values)
    low, high = (f"{end:,.0f}" if counts else scale.number(end) for end in (min(values), max(values)))
    if not max(values):
        return "none at all"
    return f"{high if low == high else f'{low} to {high}'} {scale.unit}".rstrip()


def direction(metric: Metric) -> str:
    """Return a sentence on which numbers are good: "Lower is better." Return "" if neither is."""
    return f"{metric.better.capitalize()} is better." if metric.better else ""


def in_sentence(title: str) -> str:
    """Return a title for use within a sentence: "Block output" becomes "block output", "CPU load" stays."""
    return title if title[:2].isupper() else f"{title[:1].lower()}{title[1:]}"


def capitalized(text: str) -> str:
    """Return a text with a capital first letter and the other letters unchanged: "file size" becomes "File size"."""
    return text[:1].upper() + text[1:]


def beginning(name: str) -> str:
    """Return a name for the beginning of a sentence: an article gets a capital, a name stays unchanged."""
    return f"The {name.removeprefix('the ')}" if name.startswith("the ") else name


def before_place(place: str) -> str:
    """Return "for ", or "" if the place begins with a preposition itself."""
    return "" if place.partition(" ")[0] in _PREPOSITIONS else "for "


def as_condition(place: str) -> str:
    """Return the beginning of a sentence about a place: "For random write", "Beside a writer"."""
    return capitalized(f"{before_place(place)}{place}")


def listing(items: Sequence[str], last: str = "and") -> str:
    """Return "a, b and c"; of items that contain commas "a, b; c; and d"."""
    if len(items) > 2 and any(", " in item for item in items):
        return f"{'; '.join(items[:-1])}; {last} {items[-1]}"
    return f" {last} ".join(filter(None, (", ".join(items[:-1]), items[-1]))) if items else ""


def count(n: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: "1 seed", "3 seeds"."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
