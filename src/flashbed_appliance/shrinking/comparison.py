# SPDX-License-Identifier: Apache-2.0
"""Compare two kernels: which options differ, and the effect on the image and on each source directory.

Knows kernels that were built from fragments; the caller chooses the fragments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flashbed.common.page import PageTable
from flashbed_appliance.shrinking import fragment, kernel_build, packing, sizes
from flashbed_appliance.shrinking.fragment import Fragment
from flashbed_appliance.shrinking.kernel_build import SmallKernel
from flashbed_appliance.shrinking.packing import Sizes
from flashbed_appliance.shrinking.sizes import Share
from flashbed_appliance.shrinking.tables import number


@dataclass(frozen=True)
class KernelSide:
    """One of two kernels: its name, its fragment, and the configuration and sizes of the result."""

    name: str
    wanted: Fragment
    config: Mapping[str, str]
    sizes: Sizes
    shares: Sequence[Share]


def side(name: str, wanted: Fragment, kernel: SmallKernel) -> KernelSide:
    """Measure a built kernel for a comparison."""
    config = fragment.values(kernel.config.read_text())
    return KernelSide(name, wanted, config, packing.sizes(kernel), shares_of(kernel))


def shares_of(kernel: SmallKernel) -> list[Share]:
    """Return the share of each source directory in a built kernel."""
    linker_map = kernel.entry.path(kernel_build.MAP).read_text()
    return sizes.shares(linker_map, kernel.entry.path(kernel_build.VMLINUX), kernel.raw)


def tables(a: KernelSide, b: KernelSide) -> list[PageTable]:
    """Return the tables of differences: sizes, source directories, groups of options, options."""
    return [_sizes(a, b), _subsystems(a, b), _groups(a, b), _options(a, b)]


def differing(a: KernelSide, b: KernelSide) -> dict[str, tuple[str, str]]:
    """Return the options that differ, with both values; n if a kernel does not know the option."""
    names = sorted({*a.config, *b.config})
    both = {name: (a.config.get(name, "n"), b.config.get(name, "n")) for name in names}
    return {name: values for name, values in both.items() if values[0] != values[1]}


def _sizes(a: KernelSide, b: KernelSide) -> PageTable:
    rows = [
        _row("the kernel, not packed", a.sizes.raw, b.sizes.raw),
        *(_row(f"packed by {name}", a.sizes.by[name], b.sizes.by[name]) for name in a.sizes.by if name in b.sizes.by),
        _row("image, xz", a.sizes.image, b.sizes.image),
        _row("image and NFS server, xz", a.sizes.server, b.sizes.server),
        _row("all modules, xz", sum(a.sizes.modules.values()), sum(b.sizes.modules.values())),
    ]
    lacking = ", ".join(f"{name} ({why})" for name, why in {**a.sizes.lacking, **b.sizes.lacking}.items())
    note = f"Not measured: {lacking}." if lacking else ""
    return PageTable("Sizes in bytes", ("What", a.name, b.name, "difference"), rows, note=note)


def _subsystems(a: KernelSide, b: KernelSide) -> PageTable:
    left, right = ({share.subsystem: share.image for share in side.shares} for side in (a, b))
    names = sorted({*left, *right}, key=lambda name: -abs(right.get(name, 0) - left.get(name, 0)))
    rows = [_row(name, left.get(name, 0), right.get(name, 0)) for name in names]
    changed = [row for row in rows if row[3] != "0"]
    return PageTable("Bytes by folder of the source, not packed", ("Folder", a.name, b.name, "difference"), changed)


def _groups(a: KernelSide, b: KernelSide) -> PageTable:
    """Return the number of differing options by group. An option that no fragment names follows from others."""
    counted = Counter(_group(a, b, option) for option in differing(a, b))
    rows = [(group, number(count)) for group, count in counted.most_common()]
    return PageTable("Options that differ, by group", ("Group", "options"), rows)


def _options(a: KernelSide, b: KernelSide) -> PageTable:
    rows = [
        (_group(a, b, option), option.removeprefix("CONFIG_"), left, right)
        for option, (left, right) in differing(a, b).items()
    ]
    return PageTable("Options that differ", ("Group", "Option", a.name, b.name), sorted(rows), left=4)


FOLLOWS = "follows from others"


def _group(a: KernelSide, b: KernelSide, option: str) -> str:
    return next((side.wanted[option].group for side in (b, a) if option in side.wanted), FOLLOWS)


def _row(name: str, left: int, right: int) -> tuple[str, ...]:
    return (name, number(left), number(right), number(right - left, signed=True))
