# SPDX-License-Identifier: Apache-2.0
"""Make the tables of a report on a small kernel: rows of text, the same for a terminal, a page and HTML.

Knows no output format.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flashbed.common.page import PageTable
from flashbed_appliance.shrinking.fragment import Fragment
from flashbed_appliance.shrinking.packing import SERVER, Sizes
from flashbed_appliance.shrinking.prices import Price
from flashbed_appliance.shrinking.sizes import Share

SMALL_BYTES = 4096
"""Source directories with fewer bytes in the image share a row."""

MOST_NAMED = 4

COLUMNS = ("built in", "module", "left out")


def number(value: int | None, *, signed: bool = False) -> str:
    """Return the number with commas between thousands; "-" if it is not known."""
    if value is None:
        return "-"
    return f"{value:+,}" if signed and value else f"{value:,}"


def size_table(sizes: Sizes) -> PageTable:
    """Return the table of the kernel's size by packing program, with the size of image and NFS server."""
    rows = [("the kernel, not packed", number(sizes.raw), "")]
    for name, size in sorted(sizes.by.items(), key=lambda item: -item[1]):
        rows.append((f"packed by {name}", number(size), f"{100 * size / sizes.raw:.1f}"))
    rows += [(f"packed by {name}", f"not measured: {why}", "") for name, why in sizes.lacking.items()]
    rows.append(("the image as a loader takes it, xz", number(sizes.image), f"{100 * sizes.image / sizes.raw:.1f}"))
    parts = [name for name in sizes.modules if name in SERVER]
    difference = f"with the modules {', '.join(parts)}" if parts else "the NFS server is in it"
    rows.append((f"image and NFS server, xz ({difference})", number(sizes.server), ""))
    note = (
        "An unpacked kernel contains padding, which packs to almost nothing: see the size by subsystem. x86_64's has "
        "several MB of it, so do not compare its percentages with another architecture's."
    )
    return PageTable("Size by compression", ("What", "bytes", "% of the kernel"), rows, note=note)


def module_table(sizes: Sizes) -> PageTable:
    """Return the table of each module's size as an .xz file."""
    rows = [(name, number(size)) for name, size in sorted(sizes.modules.items(), key=lambda item: -item[1])]
    return PageTable(
        "Modules, each packed by xz", ("module", "bytes"), [*rows, ("all", number(sum(sizes.modules.values())))]
    )


def subsystem_table(shares: Sequence[Share]) -> PageTable:
    """Return the table of the largest source directories; the small ones share a row."""
    large = [share for share in shares if share.image >= SMALL_BYTES]
    small = [share for share in shares if share.image < SMALL_BYTES]
    rows = [_share_row(share.subsystem, [share]) for share in large]
    if small:
        rows.append(_share_row(f"{len(small)} others", small))
    rows.append(_share_row("all", shares))
    note = (
        "By the source directory of each object. Packed alone: the size that xz makes of these bytes without the "
        "others. Zeroes take memory, but no space in the image. Between sections: zeroes up to the alignment of the "
        "next section. The linker's own: padding within sections, and tables that the linker makes."
    )
    return PageTable("Size by subsystem", ("Folder", "bytes", "of which packed alone", "zeroes"), rows, note=note)


def _share_row(name: str, together: Sequence[Share]) -> tuple[str, ...]:
    image = sum(share.image for share in together)
    packed_alone = sum(share.packed_alone for share in together)
    zeroes = sum(share.zeroes for share in together)
    return (name, number(image), number(packed_alone), number(zeroes))


def column_table(wanted: Fragment) -> PageTable:
    """Return the table of a fragment's groups: which options are built in, modules or left out."""
    groups: dict[str, dict[str, list[str]]] = {}
    for setting in wanted:
        column = setting.column if setting.column in COLUMNS else "built in"
        name = setting.option.removeprefix("CONFIG_")
        named = name if setting.column in COLUMNS else f"{name}={setting.value}"
        groups.setdefault(setting.group, {}).setdefault(column, []).append(named)
    rows = [
        (group, *(", ".join(by_column.get(column, ["-"])) for column in COLUMNS)) for group, by_column in groups.items()
    ]
    return PageTable("What the kernel holds", ("Group", *COLUMNS), rows, left=4)


def price_table(prices: Iterable[Price]) -> PageTable:
    """Return the table of options with a price, the most expensive first."""
    known = sorted((price for price in prices if not price.figures.why_not), key=_total, reverse=True)
    rows = [
        (
            price.setting.option.removeprefix("CONFIG_"),
            price.setting.column,
            _also(price.figures.also),
            number(price.figures.image, signed=True),
            number(price.figures.modules, signed=True),
            number(price.figures.ram_kib, signed=True),
        )
        for price in known
    ]
    note = (
        "The bytes that the option adds to the kernel, packed by xz, if all other options stay; for an option that is "
        "left out, the bytes that it would add. An image that unpacks itself grows in steps of 4,096 bytes, so the "
        "price is that of the packed kernel in it. RAM: the memory that the option uses when the first program starts; "
        "without some options the kernel does not start it. With it: options that change together with this one, so "
        "that this price includes theirs."
    )
    titles = ("Option", "it is", "with it", "image, bytes", "modules, bytes", "RAM, KiB")
    return PageTable("Price of each option", titles, rows, left=3, note=note)


def unpriced_table(prices: Iterable[Price]) -> PageTable:
    """Return the table of options without a price, with the reason."""
    rows = [
        (price.setting.option.removeprefix("CONFIG_"), price.setting.column, price.figures.why_not)
        for price in prices
        if price.figures.why_not
    ]
    return PageTable("Options without a price", ("Option", "it is", "why"), rows, left=3)


def _total(price: Price) -> int:
    return (price.figures.image or 0) + (price.figures.modules or 0)


def _also(options: Sequence[str]) -> str:
    names = [option.removeprefix("CONFIG_") for option in options]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more or "-"
