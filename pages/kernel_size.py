# SPDX-License-Identifier: Apache-2.0
"""Builds the appliance's kernels, measures what their options cost, and writes docs/kernel-size.md.

    python pages/kernel_size.py [--check] [--stored]

With --check nothing is written; it ends with status 1 if the page is not what would be written. With --stored no
price is measured that is not there; the page then says so of each option that has none. Sizes are the same on every
host with the same compiler.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from page_text import table, written

from flashbed.common.page import Table
from flashbed.shrinking import architecture, building, comparison, fragment, packing, prices, tables
from flashbed.shrinking.building import VERSION, SmallKernel
from flashbed.shrinking.packing import Sizes

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs/kernel-size.md"

MOST_BYTES = 1_100_000
"""What the kernel that serves may have, packed by xz."""

TEXT = """\
# How small the appliance's kernel is

Written by `make kernel-size` from builds and boots; do not edit. What is measured, and how, and what such a kernel
lacks: [small-kernels.md](small-kernels.md). Linux {version} ({package}) of Debian, with the patches that are listed
there. What is *not packed* holds the filling between sections and within them; x86_64's is mostly that, as code, data
that is only read and other data begin at multiples of 2 MiB there. Filling packs to next to nothing.

{summary}
{sections}"""


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if the page would change")
    parser.add_argument("--stored", action="store_true", help="measure no price that is not there")
    chosen = parser.parse_args()
    return 0 if written(PAGE, _page(stored=chosen.stored), check=chosen.check, target="kernel-size") else 1


def _page(*, stored: bool) -> str:
    built = {name: building.build(name) for name in sorted(architecture.ALL)}
    found = {name: packing.sizes(kernel) for name, kernel in built.items()}
    sections = "".join(_section(name, built[name], found[name], stored=stored) for name in built)
    package = next(iter(built.values())).package_version
    return TEXT.format(version=VERSION, package=package, summary=_summary(found), sections=sections)


def _summary(found: dict[str, Sizes]) -> str:
    rows = [
        (
            name,
            tables.number(one.raw),
            tables.number(one.image),
            tables.number(one.server),
            tables.number(MOST_BYTES - one.server, signed=True),
        )
        for name, one in found.items()
    ]
    limit = f"below {MOST_BYTES:,}"
    return table(("architecture", "not packed", "image, xz", "image and NFS server, xz", limit), rows)


def _section(name: str, kernel: SmallKernel, found: Sizes, *, stored: bool) -> str:
    wanted = fragment.read(building.nas_fragments(name))
    priced = prices.sweep(architecture.named(name), wanted, stored=stored)
    shown = [
        tables.size_table(found),
        tables.subsystem_table(comparison.shares_of(kernel)),
        tables.price_table(priced),
        tables.unpriced_table(priced),
        tables.module_table(found),
        tables.column_table(wanted),
    ]
    return f"## {name}\n\n" + "".join(_markdown(one) for one in shown if one.rows)


def _markdown(one: Table) -> str:
    note = f"\n{one.note}\n" if one.note else ""
    left: Sequence[int] = range(one.left)
    return f"### {one.title}\n\n{table(one.columns, one.rows, left=left)}{note}\n"


if __name__ == "__main__":
    sys.exit(main())
