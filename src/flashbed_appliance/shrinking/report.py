# SPDX-License-Identifier: Apache-2.0
"""Reports on kernels: one kernel with the price of each of its options, and two side by side.

Builds what is missing. Must not know how a report is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flashbed.common.page import PageTable
from flashbed_appliance.shrinking import architecture, building, comparison, memory, packing, prices, purposes, tables
from flashbed_appliance.shrinking.building import VERSION


@dataclass(frozen=True)
class KernelReport:
    """A title, what must be said before the tables, and the tables."""

    title: str
    lines: Sequence[str]
    tables: Sequence[PageTable]


def of_one(word: str, name: str, only: Sequence[str] = (), *, measure: bool = True, anew: bool = False) -> KernelReport:
    """What a kernel for `word` (see purposes.py) holds, how large it is and why, on one architecture.

    `only` limits the sweep of prices to these options; without `measure` no price is measured that is not there, and
    with `anew` none is taken from the list that flashbed comes with.
    """
    target = architecture.named(name)
    wanted = purposes.wanted(word, target)
    prices.check(wanted, only)
    kernel = building.build_settings(target, wanted)
    found = packing.sizes(kernel)
    priced = prices.sweep(target, wanted, only, stored=not measure, anew=anew)
    lines = [
        f"Linux {VERSION} ({kernel.package_version}), allnoconfig and the settings of {word}, {target.compiler}.",
        f"Image and NFS server, packed by xz: {found.server:,} bytes.",
    ]
    if listed := [one.listed for one in priced if one.listed]:
        of_another = "" if memory.identity(target) in listed else "; their RAM is of another QEMU than this host's"
        lines.append(
            f"{len(listed)} of {len(priced)} prices are from flashbed's own list, measured with the same source, "
            f"settings and compiler{of_another}; --anew measures them on this host."
        )
    shown = [
        tables.size_table(found),
        tables.module_table(found),
        tables.subsystem_table(comparison.shares_of(kernel)),
        tables.price_table(priced),
        tables.unpriced_table(priced),
        tables.column_table(wanted),
    ]
    return KernelReport(f"A small kernel for {word} on {name}", lines, shown)


def of_two(a: str, b: str, name: str) -> KernelReport:
    """Where the kernels for two words differ, on one architecture."""
    target = architecture.named(name)
    wanted = {word: purposes.wanted(word, target) for word in (a, b)}  # both are right before one is built
    kernels = {word: building.build_settings(target, wanted[word]) for word in (a, b)}  # both, before one is packed
    sides = [comparison.side(word, wanted[word], kernels[word]) for word in (a, b)]
    lines = [f"Linux {VERSION}, allnoconfig and the settings of each, {target.compiler}."]
    return KernelReport(f"{a} and {b} on {name}", lines, comparison.tables(*sides))
