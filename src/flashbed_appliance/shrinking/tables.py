# SPDX-License-Identifier: Apache-2.0
"""The tables of a report on a small kernel: rows of text, the same for a terminal, a page and HTML.

Knows no format; who prints them chooses one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flashbed.common.page import PageTable
from flashbed_appliance.shrinking.fragment import Fragment
from flashbed_appliance.shrinking.packing import SERVER, Sizes
from flashbed_appliance.shrinking.prices import Price
from flashbed_appliance.shrinking.sizes import Share

SMALL_BYTES = 4096
"""Folders with less in the image share a row."""

MOST_NAMED = 4

COLUMNS = ("built in", "module", "left out")


def number(value: int | None, *, signed: bool = False) -> str:
    """With commas between thousands; "-" for what is not known."""
    if value is None:
        return "-"
    return f"{value:+,}" if signed and value else f"{value:,}"


def size_table(sizes: Sizes) -> PageTable:
    """The image by program that packs it, and what counts as the kernel that serves."""
    rows = [("the kernel, not packed", number(sizes.raw), "")]
    for name, size in sorted(sizes.by.items(), key=lambda one: -one[1]):
        rows.append((f"packed by {name}", number(size), f"{100 * size / sizes.raw:.1f}"))
    rows += [(f"packed by {name}", f"not measured: {why}", "") for name, why in sizes.lacking.items()]
    rows.append(("the image as a loader takes it, xz", number(sizes.image), f"{100 * sizes.image / sizes.raw:.1f}"))
    parts = [name for name in sizes.modules if name in SERVER]
    what = f"with the modules {', '.join(parts)}" if parts else "the NFS server is in it"
    rows.append((f"image and NFS server, xz ({what})", number(sizes.server), ""))
    note = (
        "Not packed, a kernel holds filling, too, which packs to next to nothing: see the size by subsystem. x86_64's "
        "has several MB of it, so its percentages are not to be compared with another architecture's."
    )
    return PageTable("Size by compression", ("What", "bytes", "% of the kernel"), rows, note=note)


def module_table(sizes: Sizes) -> PageTable:
    """Each module as an .xz file."""
    rows = [(name, number(size)) for name, size in sorted(sizes.modules.items(), key=lambda one: -one[1])]
    return PageTable(
        "Modules, each packed by xz", ("module", "bytes"), [*rows, ("all", number(sum(sizes.modules.values())))]
    )


def subsystem_table(shares: Sequence[Share]) -> PageTable:
    """The largest folders of the source; the small ones in one row."""
    large = [share for share in shares if share.image >= SMALL_BYTES]
    small = [share for share in shares if share.image < SMALL_BYTES]
    rows = [_share_row(share.subsystem, [share]) for share in large]
    if small:
        rows.append(_share_row(f"{len(small)} others", small))
    rows.append(_share_row("all", shares))
    note = (
        "By the folder of the source that an object was built from. Packed alone: what xz makes of these bytes without "
        "the others. Zeroes take memory, and nothing in the image. Between sections: zeroes up to where the next one "
        "may begin. The linker's own: the same within sections, and tables that it makes."
    )
    return PageTable("Size by subsystem", ("Folder", "bytes", "of which packed alone", "zeroes"), rows, note=note)


def _share_row(name: str, some: Sequence[Share]) -> tuple[str, ...]:
    sums = (sum(one.image for one in some), sum(one.packed_alone for one in some), sum(one.zeroes for one in some))
    return (name, *map(number, sums))


def column_table(wanted: Fragment) -> PageTable:
    """What is built in, a module, left out: the groups of a fragment."""
    groups: dict[str, dict[str, list[str]]] = {}
    for one in wanted:
        column = one.column if one.column in COLUMNS else "built in"
        name = one.option.removeprefix("CONFIG_")
        named = name if one.column in COLUMNS else f"{name}={one.value}"
        groups.setdefault(one.group, {}).setdefault(column, []).append(named)
    rows = [(group, *(", ".join(found.get(column, ["-"])) for column in COLUMNS)) for group, found in groups.items()]
    return PageTable("What the kernel holds", ("Group", *COLUMNS), rows, left=4)


def price_table(prices: Iterable[Price]) -> PageTable:
    """The dearest first; then what has no price, and why."""
    known = sorted((one for one in prices if not one.figures.why_not), key=_total, reverse=True)
    rows = [
        (
            one.setting.option.removeprefix("CONFIG_"),
            one.setting.column,
            _also(one.figures.also),
            number(one.figures.image, signed=True),
            number(one.figures.modules, signed=True),
            number(one.figures.ram_kib, signed=True),
        )
        for one in known
    ]
    note = (
        "What the option adds to a kernel that has all others as they are, packed by xz; of one that is left out: what "
        "it would add. An image that unpacks itself grows in steps of 4,096 bytes: the price is of the packed kernel "
        "in it. RAM: what is free when the first program starts, which a kernel without some options does not come to. "
        "With it: other options that come and go with it, so that their price is in this one."
    )
    titles = ("Option", "it is", "with it", "image, bytes", "modules, bytes", "RAM, KiB")
    return PageTable("Price of each option", titles, rows, left=3, note=note)


def unpriced_table(prices: Iterable[Price]) -> PageTable:
    """Options that have no price, and why."""
    rows = [
        (one.setting.option.removeprefix("CONFIG_"), one.setting.column, one.figures.why_not)
        for one in prices
        if one.figures.why_not
    ]
    return PageTable("Options without a price", ("Option", "it is", "why"), rows, left=3)


def _total(price: Price) -> int:
    return (price.figures.image or 0) + (price.figures.modules or 0)


def _also(options: Sequence[str]) -> str:
    names = [option.removeprefix("CONFIG_") for option in options]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more or "-"
