# SPDX-License-Identifier: Apache-2.0
"""What stood below and above the file systems: which part of each medium they saw and what the rest held, whether it
takes discards, what a file system went through after mkfs, how each was mounted. Must not know HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

from flashbed.analysis.words import count, listing, number
from flashbed.common.units import rough_size
from flashbed.guest_output.filesystem import AGED_EXTENTS, AGED_FILES, AGED_FILLED, AGED_WRITTEN
from flashbed.guest_output.medium_counters import DISCARDED
from flashbed.profiles.condition import AGED, MEANINGS, Condition
from flashbed.profiles.profile import flash_of
from flashbed.report.model import Report
from flashbed.report.tables import Head, ReportTable, Row, TableCell
from flashbed.result.columns import ResultRow

WRITES: Mapping[str, str] = {
    "allocates": "the file is new, and each write gives it blocks",
    "overwrites": "the file was written before, in order, and is overwritten",
}
"""For people: how a write finds its file."""


def media(report: Report) -> list[tuple[str, str]]:
    """Each medium of the study by name, and in what condition it was."""
    found = [(name, report.study.library.medium(name)) for name in _names(report)]
    return [
        (
            report.words.value("medium", name),
            text + _discarded(report, name, medium) + _aged(report, name) + _fresh(report, name),
        )
        for name, medium in found
        if (text := _condition(medium))
    ]


def new(report: Report) -> str:
    """Whose figures are those of a new device, as a sentence: where less was written than its flash holds."""
    found = {name: _new_of(report, name) for name in _names(report)}
    told = [report.words.value("medium", name) for name, (fresh, _) in found.items() if fresh]
    if not told:
        return ""
    all_ = all(fresh == of for fresh, of in found.values() if fresh)
    which = "The" if all_ else "Some"
    return (
        f"{which} figures are those of a new device ({listing(told)}): less was ever written than its flash holds, so "
        "that it need not have collected. One in use may write more slowly."
    )


def _discarded(report: Report, name: str, medium: Any) -> str:
    """What was discarded of a device that had been written before it was measured, as a sentence with a space before
    it: it is room to collect into.
    """
    condition = getattr(medium, "condition", "fresh")
    if medium.kind != "flash" or (condition == "fresh" and getattr(medium, "start", None) is None):
        return ""
    told = {who: max(one[DISCARDED] for one in found) for who, found in _by_filesystem(report, name, DISCARDED).items()}
    if not told:
        return ""
    if not any(told.values()):
        return " Nothing of it was discarded before the measurement."
    each = listing([f"{rough_size(most) if most else 'nothing'} with {who}" for who, most in told.items()])
    who = "mkfs, the mounts and the aging" if condition == AGED else "mkfs and the mount"
    return f" Before the measurement {who} discarded {each}; what is discarded is room to collect into."


def _aged(report: Report, name: str) -> str:
    """What was done to each file system after mkfs, in the mean of its repetitions, as a sentence with a space before
    it; nothing for file systems that are new.
    """
    each = [
        f"with {who} {number(_mean(found, AGED_FILES))} files fill {number(_mean(found, AGED_FILLED))} % of its "
        f"room, after {rough_size(_mean(found, AGED_WRITTEN))} were written to files"
        + (f" ({number(_mean(found, AGED_EXTENTS))} extents a file)" if AGED_EXTENTS in found[0] else "")
        for who, found in _by_filesystem(report, name, AGED_FILES).items()
    ]
    return f" Before the measurement the file system was aged: {listing(each)}." if each else ""


def _mean(found: Sequence[Mapping[str, float]], metric: str) -> float:
    return fsum(one[metric] for one in found) / len(found)


def _by_filesystem(report: Report, medium: str, metric: str) -> dict[str, list[Mapping[str, float]]]:
    """The metrics of the repetitions on a medium that have `metric`, by the file system's title."""
    found: dict[str, list[Mapping[str, float]]] = {}
    for one in _told_of(report, medium):
        if metric in one.metrics:
            said = {**report.fixed, **report.results.coordinates(one.combination)}
            found.setdefault(report.words.value("filesystem", said["filesystem"]), []).append(one.metrics)
    return found


def _names(report: Report) -> list[str]:
    return [name for name in report.results.axes.get("medium") or [report.fixed.get("medium", "")] if name]


def _new_of(report: Report, medium: str) -> tuple[int, int]:
    """In how many repetitions the flash was still new, and of how many that were measured."""
    told = _told_of(report, medium)
    return sum(bool(r.fresh) for r in told), len(told)


def _told_of(report: Report, medium: str) -> list[ResultRow]:
    """The repetitions that were measured on a medium."""
    told = [r for r in report.results.repetitions if r.is_measured]
    if "medium" in report.results.axes:
        told = [r for r in told if report.results.coordinates(r.combination)["medium"] == medium]
    return told


def _fresh(report: Report, medium: str) -> str:
    """In how many repetitions the flash was still new, so that its figures are those of a new device."""
    fresh, of = _new_of(report, medium)
    if not fresh:
        return ""
    which = "Each repetition" if fresh == of else f"{fresh} of {count(of, 'repetition')}"
    return (
        f" {which} ended before as much was ever programmed as the device holds: a figure of a new device, which "
        "need not have collected."
    )


def writes(report: Report) -> list[tuple[str, str]]:
    """For the patterns that write, whether they allocated or overwrote."""
    found: dict[tuple[tuple[str, str], ...], dict[str, None]] = {}
    for repetition in report.results.repetitions:
        if repetition.writes:
            said = {**report.fixed, **report.results.coordinates(repetition.combination)}
            place = tuple((axis, said[axis]) for axis in ("pattern", "allocate") if axis in said)
            found.setdefault(place, {})[repetition.writes] = None
    return [
        (report.words.places(place) or "all loads", " or ".join(WRITES[way] for way in ways) + ".")
        for place, ways in found.items()
    ]


def _condition(medium: Any) -> str:
    """Nothing for a medium of which only the name is known."""
    capacity, used = getattr(medium, "capacity_bytes", 0), getattr(medium, "used_bytes", 0)
    if not capacity:
        return ""
    if getattr(medium, "start", None) is not None:
        return f"{_shown(capacity, used)}; it starts as a medium that was kept{_discards(medium)}.{_flash(medium)}"
    condition: Condition = getattr(medium, "condition", "fresh")
    beyond = "is room to collect into" if condition == "fresh" else "stays full"
    rest = f", and the rest {beyond}" if medium.kind == "flash" and 0 < used < capacity else ""
    before = f"; the whole device was {MEANINGS[condition]}{rest}" if medium.kind == "flash" else ""
    return f"{_shown(capacity, used)}{before}{_discards(medium)}.{_flash(medium)}"


def _shown(capacity: int, used: int) -> str:
    part = f"{rough_size(used)} of" if 0 < used < capacity else "All of its"
    return f"{part} {rough_size(capacity)} are shown"


def _flash(medium: Any) -> str:
    """How much flash there is for the capacity, as a sentence with a space before it."""
    flash = flash_of(medium)
    if flash is None:
        return ""
    if flash.caution:
        return f" It has {rough_size(flash.raw_bytes)} of flash: {flash.caution}."
    percent = number(flash.over_provisioning_percent)
    return f" It has {rough_size(flash.raw_bytes)} of flash, over-provisioning of {percent} %."


def _discards(medium: Any) -> str:
    if medium.kind != "flash":
        return ""
    return "; it takes discards" if medium.parameters.get("discard", 1) else "; it takes no discards"


def mounts(report: Report) -> ReportTable | None:
    """How the file systems were mounted: a line for each way, of all their cells."""
    axes = [axis for axis in ("filesystem", "medium") if axis in report.results.axes]
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for repetition in report.results.repetitions:
        if repetition.mounted:
            said = report.results.coordinates(repetition.combination)
            found.setdefault(tuple(said[axis] for axis in axes), {})[repetition.mounted] = None
    if not found:
        return None
    rows = []
    for place, ways in found.items():
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
