# SPDX-License-Identifier: Apache-2.0
"""The conditions of a measurement: which part of each medium the file systems saw and what the rest held, whether it
takes discards, what was done to a file system after mkfs, how each was mounted. Must not know HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

from flashbed.analysis.words import count, listing, number
from flashbed.common.units import rough_size
from flashbed.guest_output.filesystem_costs import AGED_EXTENTS, AGED_FILES, AGED_FILLED, AGED_WRITTEN
from flashbed.guest_output.medium_counters import DISCARDED
from flashbed.profiles.condition import AGED, MEANINGS, NEVER_WRITTEN
from flashbed.profiles.profile import Medium, flash_of
from flashbed.report.model import Report
from flashbed.report.tables import Head, ReportTable, Row, TableCell
from flashbed.result.columns import ResultRow

WRITES: Mapping[str, str] = {
    "allocates": "the file is new, and each write gives it blocks",
    "overwrites": "the file was written before, in order, and is overwritten",
}
"""Sentences for ResultRow.writes: how a write finds its file."""


def media(report: Report) -> list[tuple[str, str]]:
    """Return each medium of the study by name, with its condition as text."""
    profiles = [(name, report.study.library.medium(name)) for name in _names(report)]
    return [
        (
            report.words.value("medium", name),
            _condition(medium) + _discarded(report, name, medium) + _aged(report, name) + _new_device(report, name),
        )
        for name, medium in profiles
    ]


def new_devices(report: Report) -> str:
    """Return a sentence on the media whose figures are those of a new device, because less was written than their flash
    holds; "" if there are none.
    """
    new_of = {name: _new_of(report, name) for name in _names(report)}
    new_media = [report.words.value("medium", name) for name, (new, _) in new_of.items() if new]
    if not new_media:
        return ""
    all_ = all(new == measured for new, measured in new_of.values() if new)
    which = "The" if all_ else "Some"
    return (
        f"{which} figures are those of a new device ({listing(new_media)}): less was ever written than its flash "
        "holds, so that it need not have collected. One in use may write more slowly."
    )


def _discarded(report: Report, name: str, medium: Medium) -> str:
    """Return a sentence, after a space, on what was discarded before the measurement of a device that had been written:
    it is room to collect into. Return "" for a new device.
    """
    if medium.kind != "flash" or (medium.condition == NEVER_WRITTEN and medium.start is None):
        return ""
    most_by_filesystem = {
        title: max(numbers[DISCARDED] for numbers in metrics)
        for title, metrics in _by_filesystem(report, name, DISCARDED).items()
    }
    if not most_by_filesystem:
        return ""
    if not any(most_by_filesystem.values()):
        return " Nothing of it was discarded before the measurement."
    each = listing(
        [f"{rough_size(most) if most else 'nothing'} with {title}" for title, most in most_by_filesystem.items()]
    )
    causes = "mkfs, the mounts and the aging" if medium.condition == AGED else "mkfs and the mount"
    return f" Before the measurement {causes} discarded {each}; what is discarded is room to collect into."


def _aged(report: Report, name: str) -> str:
    """Return a sentence, after a space, on what was done to each file system after mkfs, in the mean of its
    repetitions; "" for new file systems.
    """
    each = [
        f"with {title} {number(_mean(metrics, AGED_FILES))} files fill {number(_mean(metrics, AGED_FILLED))} % of its "
        f"room, after {rough_size(_mean(metrics, AGED_WRITTEN))} were written to files"
        + (f" ({number(_mean(metrics, AGED_EXTENTS))} extents a file)" if AGED_EXTENTS in metrics[0] else "")
        for title, metrics in _by_filesystem(report, name, AGED_FILES).items()
    ]
    return f" Before the measurement the file system was aged: {listing(each)}." if each else ""


def _mean(rows: Sequence[Mapping[str, float]], metric: str) -> float:
    return fsum(metrics[metric] for metrics in rows) / len(rows)


def _by_filesystem(report: Report, medium: str, metric: str) -> dict[str, list[Mapping[str, float]]]:
    """Return the metrics of the repetitions on a medium that have `metric`, by the file system's title."""
    by_title: dict[str, list[Mapping[str, float]]] = {}
    for row in _measured_on(report, medium):
        if metric in row.metrics:
            coordinates = {**report.fixed, **report.results.coordinates(row.combination)}
            by_title.setdefault(report.words.value("filesystem", coordinates["filesystem"]), []).append(row.metrics)
    return by_title


def _names(report: Report) -> list[str]:
    """Return the media of the study by name."""
    return [name for name in report.results.axes.get("medium") or [report.fixed.get("medium", "")] if name]


def _new_of(report: Report, medium: str) -> tuple[int, int]:
    """Return the number of repetitions in which the flash was still new, and the number of measured ones."""
    rows = _measured_on(report, medium)
    return sum(bool(r.fresh) for r in rows), len(rows)


def _measured_on(report: Report, medium: str) -> list[ResultRow]:
    """Return the measured repetitions on a medium."""
    rows = [r for r in report.results.repetitions if r.is_measured]
    if "medium" in report.results.axes:
        rows = [r for r in rows if report.results.coordinates(r.combination)["medium"] == medium]
    return rows


def _new_device(report: Report, medium: str) -> str:
    """Return a sentence, after a space, on the repetitions in which the flash was still new; "" if there are none."""
    new, measured = _new_of(report, medium)
    if not new:
        return ""
    which = "Each repetition" if new == measured else f"{new} of {count(measured, 'repetition')}"
    return (
        f" {which} ended before as much was ever programmed as the device holds: a figure of a new device, which "
        "need not have collected."
    )


def writes(report: Report) -> list[tuple[str, str]]:
    """Return whether writes allocated or overwrote, for each pattern that writes."""
    ways_of: dict[tuple[tuple[str, str], ...], dict[str, None]] = {}
    for repetition in report.results.repetitions:
        if repetition.writes:
            coordinates = {**report.fixed, **report.results.coordinates(repetition.combination)}
            place = tuple((axis, coordinates[axis]) for axis in ("pattern", "allocate") if axis in coordinates)
            ways_of.setdefault(place, {})[repetition.writes] = None
    return [
        (report.words.places(place) or "all loads", " or ".join(WRITES[way] for way in ways) + ".")
        for place, ways in ways_of.items()
    ]


def _condition(medium: Medium) -> str:
    """Return the condition of a medium as text."""
    capacity, used = medium.capacity_bytes, medium.used_bytes
    if medium.start is not None:
        return f"{_shown(capacity, used)}; it starts as a medium that was kept{_discards(medium)}.{_flash(medium)}"
    beyond = "is room to collect into" if medium.condition == NEVER_WRITTEN else "stays full"
    rest = f", and the rest {beyond}" if medium.kind == "flash" and 0 < used < capacity else ""
    before = f"; the whole device was {MEANINGS[medium.condition]}{rest}" if medium.kind == "flash" else ""
    return f"{_shown(capacity, used)}{before}{_discards(medium)}.{_flash(medium)}"


def _shown(capacity: int, used: int) -> str:
    """Return how much of the capacity the file system sees."""
    part = f"{rough_size(used)} of" if 0 < used < capacity else "All of its"
    return f"{part} {rough_size(capacity)} are shown"


def _flash(medium: Medium) -> str:
    """Return a sentence, after a space, on how much flash there is for the capacity; "" for a medium without."""
    flash = flash_of(medium)
    if flash is None:
        return ""
    if flash.caution:
        return f" It has {rough_size(flash.raw_bytes)} of flash: {flash.caution}."
    percent = number(flash.over_provisioning_percent)
    return f" It has {rough_size(flash.raw_bytes)} of flash, over-provisioning of {percent} %."


def _discards(medium: Medium) -> str:
    """Return a clause on whether a flash medium takes discards; "" for other media."""
    if medium.kind != "flash":
        return ""
    return "; it takes discards" if medium.parameters.get("discard", 1) else "; it takes no discards"


def mounts(report: Report) -> ReportTable | None:
    """Return a table of how the file systems were mounted, with a line for each way; None if it is not known."""
    axes = [axis for axis in ("filesystem", "medium") if axis in report.results.axes]
    ways_of: dict[tuple[str, ...], dict[str, None]] = {}
    for repetition in report.results.repetitions:
        if repetition.mounted:
            coordinates = report.results.coordinates(repetition.combination)
            ways_of.setdefault(tuple(coordinates[axis] for axis in axes), {})[repetition.mounted] = None
    if not ways_of:
        return None
    rows = []
    for place, ways in ways_of.items():
        heads = [Head(report.words.value(axis, value)) for axis, value in zip(axes, place, strict=True)]
        rows.append(Row(heads or [Head("All")], [TableCell("\n".join(ways))]))
    return ReportTable(
        caption="How the file systems were mounted",
        note="As the kernel has it in /proc/mounts, defaults too.",
        corner=[report.words.axis(axis).capitalize() for axis in axes] or [""],
        columns=["Mounted as"],
        rows=rows,
        kind="dense mounts",
    )
