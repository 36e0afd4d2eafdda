# SPDX-License-Identifier: Apache-2.0
"""Build the appliance's kernels, measure the prices of their options, and write docs/generated/kernel-size.md and
flashbed's own price lists, appliance/kernel/prices/.

    python -m pages.kernel_size [--check] [--stored]

With --check nothing is written, and the exit status is 1 if the page would change. With --stored no missing price is
measured; the page marks options without a price. Prices in a list are not measured again. A price that this host
measured and that differs from the list is an error. Sizes are the same on every host with the same compiler and, if
packed, the same xz.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from flashbed.common.errors import FlashbedError
from flashbed.common.page import PageTable
from flashbed.execution import pinning
from flashbed.image import command, debian_kernel, guest_image
from flashbed.profiles.kernel_choice import NAS_KERNELS
from flashbed_appliance.shrinking import architecture, comparison, fragment, kernel_build, packing, prices, tables
from flashbed_appliance.shrinking.fragment import Fragment
from flashbed_appliance.shrinking.kernel_build import VERSION, SmallKernel
from flashbed_appliance.shrinking.packing import Sizes
from flashbed_appliance.shrinking.prices import Price
from pages.page_text import REPOSITORY, table, written

PAGE = REPOSITORY / "docs/generated/kernel-size.md"

MOST_BYTES = 1_100_000
"""The largest allowed size of the serving kernel, packed by xz, in bytes."""

TEXT = """\
# How small the appliance's kernel is

Written by `make kernel-size` from builds and boots; do not edit. [small-kernels.md](../small-kernels.md) explains the
measurement, the patches, and what such a kernel lacks. The kernel is Debian's Linux {version} ({package}) with these
patches. The unpacked size includes padding between and within sections, which packs to almost nothing. On x86_64 most
of the unpacked size is padding, because code, read-only data and other data begin at multiples of 2 MiB.

{summary}
{sections}## Kernels of lee2002

[The study](../nfs.md) compares two kernels, both for arm64: Debian's as Debian installs it, and the lab's smallest one
with an NFS server. The latter also has what cells need: two CPUs, PCI, modules, namespaces, a link's delay. They are
packed by xz as above, modules one by one. *Modules* are those that the study loads: the disk's driver, ext4 (which also
serves ext2), and the NFS server. The link's two modules are not counted.

{compared}"""

OF_THE_LINK = ("sch_netem", "veth")
"""Modules of the link between the study's two machines."""


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if the page would change")
    parser.add_argument("--stored", action="store_true", help="measure no price that is not there")
    chosen = parser.parse_args()
    sweep = partial(prices.sweep, stored=True) if chosen.check else partial(prices.renew_list, stored=chosen.stored)
    try:
        priced = {name: sweep(architecture.named(name), _wanted(name)) for name in sorted(architecture.ALL)}
    except FlashbedError as error:
        sys.exit(error.message)
    return 0 if written(PAGE, _page(priced), check=chosen.check, target="kernel-size") else 1


def _wanted(name: str) -> Fragment:
    return fragment.read(kernel_build.nas_fragments(name))


def _page(priced: dict[str, list[Price]]) -> str:
    built = {name: kernel_build.build(name) for name in priced}
    sizes = {name: packing.sizes(kernel) for name, kernel in built.items()}
    sections = "".join(_section(name, built[name], sizes[name], priced[name]) for name in built)
    package = next(iter(built.values())).package_version
    compared = table(
        ("kernel", "image", "image, xz", "modules", "modules, xz", "in all, xz"), [*map(_compared, NAS_KERNELS)]
    )
    return TEXT.format(version=VERSION, package=package, summary=_summary(sizes), sections=sections, compared=compared)


def _compared(version: str) -> tuple[str, ...]:
    """Return the row of a kernel of the lab: its bytes, unpacked and packed."""
    sets = pinning.sets_of_guests(version)
    kernel = guest_image.build(version, sets).kernel
    of_study = (
        {file.source for program_set in sets for file in debian_kernel.loaded(kernel, program_set)}
        if kernel.modules
        else set()
    )
    modules = [file for file in sorted(of_study) if file.stem not in OF_THE_LINK]
    xz = packing.programs(architecture.named("arm64"))[packing.XZ]
    packed = [command.packed_bytes(file, xz) for file in (kernel.image, *modules)]
    plain = [kernel.image.stat().st_size, sum(file.stat().st_size for file in modules)]
    return (f"`{version}`", *map(tables.number, (plain[0], packed[0], plain[1], sum(packed[1:]), sum(packed))))


def _summary(sizes: dict[str, Sizes]) -> str:
    rows = [
        (
            name,
            tables.number(size.raw),
            tables.number(size.image),
            tables.number(size.server),
            tables.number(MOST_BYTES - size.server, signed=True),
        )
        for name, size in sizes.items()
    ]
    limit = f"below {MOST_BYTES:,}"
    return table(("architecture", "not packed", "image, xz", "image and NFS server, xz", limit), rows)


def _section(name: str, kernel: SmallKernel, size: Sizes, priced: Sequence[Price]) -> str:
    shown = [
        tables.size_table(size),
        tables.subsystem_table(comparison.shares_of(kernel)),
        tables.price_table(priced),
        tables.unpriced_table(priced),
        tables.module_table(size),
        tables.column_table(_wanted(name)),
    ]
    return f"## {name}\n\n" + "".join(_markdown(page_table) for page_table in shown if page_table.rows)


def _markdown(page_table: PageTable) -> str:
    note = f"\n{page_table.note}\n" if page_table.note else ""
    left: Sequence[int] = range(page_table.left)
    return f"### {page_table.title}\n\n{table(page_table.columns, page_table.rows, left=left)}{note}\n"


if __name__ == "__main__":
    sys.exit(main())
