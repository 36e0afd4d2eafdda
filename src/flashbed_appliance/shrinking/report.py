# SPDX-License-Identifier: Apache-2.0
"""Report on kernels: one kernel with the price of each of its options, or two kernels side by side.

Builds missing kernels. Must not know how a report is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flashbed.common.page import PageTable
from flashbed_appliance.shrinking import (
    architecture,
    comparison,
    kernel_build,
    memory,
    packing,
    prices,
    purposes,
    tables,
)
from flashbed_appliance.shrinking.kernel_build import VERSION


@dataclass(frozen=True)
class KernelReport:
    """A report: its title, the lines before the tables, and the tables."""

    title: str
    lines: Sequence[str]
    tables: Sequence[PageTable]


def of_one(word: str, name: str, only: Sequence[str] = (), *, measure: bool = True, anew: bool = False) -> KernelReport:
    """Report on the kernel for `word` (see purposes.py) on the architecture `name`: options, sizes, prices.

    `only` limits the price sweep to these options. Without `measure` only stored prices are shown. With `anew` no price
    is taken from flashbed's own list.
    """
    target = architecture.named(name)
    fragments = purposes.wanted(word, target)
    prices.check(fragments, only)
    kernel = kernel_build.build_settings(target, fragments)
    sizes = packing.sizes(kernel)
    priced = prices.sweep(target, fragments, only, stored=not measure, anew=anew)
    lines = [
        f"Linux {VERSION} ({kernel.package_version}), allnoconfig and the settings of {word}, {target.compiler}.",
        f"Image and NFS server, packed by xz: {sizes.server:,} bytes.",
    ]
    if listed := [price.listed for price in priced if price.listed]:
        of_another = "" if memory.identity(target) in listed else "; their RAM was measured in another QEMU"
        lines.append(
            f"{len(listed)} of {len(priced)} prices are from flashbed's own list, measured with the same source, "
            f"settings and compiler{of_another}; --anew measures them on this host."
        )
    shown = [
        tables.size_table(sizes),
        tables.module_table(sizes),
        tables.subsystem_table(comparison.shares_of(kernel)),
        tables.price_table(priced),
        tables.unpriced_table(priced),
        tables.column_table(fragments),
    ]
    return KernelReport(f"A small kernel for {word} on {name}", lines, shown)


def of_two(a: str, b: str, name: str) -> KernelReport:
    """Compare the kernels of two fragment lists on the architecture `name`."""
    target = architecture.named(name)
    fragments = {word: purposes.wanted(word, target) for word in (a, b)}  # check both before one is built
    # Build both before one is packed
    kernels = {word: kernel_build.build_settings(target, fragments[word]) for word in (a, b)}
    sides = [comparison.side(word, fragments[word], kernels[word]) for word in (a, b)]
    lines = [f"Linux {VERSION}, allnoconfig and the settings of each, {target.compiler}."]
    return KernelReport(f"{a} and {b} on {name}", lines, comparison.tables(*sides))
