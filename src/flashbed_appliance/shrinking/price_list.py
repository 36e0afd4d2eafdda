# SPDX-License-Identifier: Apache-2.0
"""Read and write flashbed's own price lists. They save building a hundred kernels to learn what an option costs.

A list is of one kernel for each architecture. It applies to a kernel of the same source, patches, settings and
compiler. The first line of the file names these, as JSON; each further line is an option, so that a changed price
changes one line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from flashbed.common.digest import digest_json
from flashbed_appliance.data_files import appliance_data

FORMAT = 1

BuildInputs = Mapping[str, object]
"""Everything that a kernel depends on (building.recipe); `config` are its settings."""


@dataclass(frozen=True)
class Figures:
    """The cost of an option: bytes of the packed image, bytes of the packed modules, KiB of RAM.

    `also` has the options that change together with it. `why_not` is the reason if there are no figures.
    """

    image: int | None = None
    modules: int | None = None
    ram_kib: int | None = None
    also: tuple[str, ...] = ()
    why_not: str = ""

    @property
    def in_words(self) -> str:
        """Return the figures in words."""
        if self.why_not:
            return self.why_not
        ram = "RAM not known" if self.ram_kib is None else f"RAM {self.ram_kib:+,} KiB"
        return f"image {self.image:+,} bytes, modules {self.modules:+,} bytes, {ram}, with {len(self.also)} others"


def file_of(architecture: str) -> Path:
    """Return the path of flashbed's own list for an architecture; the file may be missing."""
    return appliance_data() / "kernel" / "prices" / f"{architecture}.jsonl"


@dataclass(frozen=True)
class PriceList:
    """A price list: the figures by option, and the machine in which RAM was measured (memory.identity)."""

    machine: str
    figures: Mapping[str, Figures]


def read(file: Path, recipe: BuildInputs) -> PriceList | None:
    """Read the list of the kernel of `recipe`; None if the file is missing or is of another kernel."""
    if not file.exists():
        return None
    first, *rows = map(json.loads, file.read_text().splitlines())
    if first["format"] != FORMAT or first["made_of"] != digest_json(recipe):
        return None
    figures = {row.pop("option"): Figures(**{**row, "also": tuple(row.get("also", ()))}) for row in rows}
    return PriceList(first["machine"], figures)


def is_outdated(file: Path, recipe: BuildInputs) -> bool:
    """True if the list is of a kernel with these settings, but of another source, patch or compiler."""
    if not file.exists() or read(file, recipe) is not None:
        return False
    return bool(json.loads(file.read_text().splitlines()[0])["settings"] == digest_json(recipe["config"]))


def write(file: Path, recipe: BuildInputs, machine: str, figures: Mapping[str, Figures]) -> None:
    """Write the list, sorted by option. Empty values are left out of a line."""
    digests = {"made_of": digest_json(recipe), "settings": digest_json(recipe["config"])}
    first: dict[str, object] = {"format": FORMAT, **digests, "machine": machine}
    rows = [{"option": option, **_without_empty(asdict(figures[option]))} for option in sorted(figures)]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(line)}\n" for line in (first, *rows)))


def _without_empty(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if value not in (None, (), "")}
