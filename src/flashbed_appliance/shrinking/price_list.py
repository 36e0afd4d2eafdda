# SPDX-License-Identifier: Apache-2.0
"""The prices that flashbed comes with, so that nobody has to build a hundred kernels to read what an option costs.

They are of one kernel for each architecture, and are of use where a kernel is made of the same: source, patches,
settings and compiler. A file has a line of JSON for that, and one for each option, so that a change of one price is a
change of one line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from flashbed.common import paths
from flashbed.common.digest import digest_json

FORMAT = 1

Recipe = Mapping[str, object]
"""All that a kernel is made of (building.recipe), its settings as `config`."""


@dataclass(frozen=True)
class Figures:
    """What an option costs: bytes of the packed image, bytes of the packed modules, KiB of RAM. `also`: options that
    come and go with it. `why_not`: why there are none of these.
    """

    image: int | None = None
    modules: int | None = None
    ram_kib: int | None = None
    also: tuple[str, ...] = ()
    why_not: str = ""

    @property
    def told(self) -> str:
        """For people."""
        if self.why_not:
            return self.why_not
        ram = "RAM not known" if self.ram_kib is None else f"RAM {self.ram_kib:+,} KiB"
        return f"image {self.image:+,} bytes, modules {self.modules:+,} bytes, {ram}, with {len(self.also)} others"


def file_of(architecture: str) -> Path:
    """The list of an architecture that flashbed comes with; there need not be one."""
    return paths.appliance() / "kernel" / "prices" / f"{architecture}.jsonl"


@dataclass(frozen=True)
class PriceList:
    """Figures by option, and the machine in which memory was measured (memory.identity)."""

    machine: str
    figures: Mapping[str, Figures]


def read(file: Path, recipe: Recipe) -> PriceList | None:
    """The list of a kernel that is made of `recipe`; None if there is none, or it is another kernel's."""
    if not file.exists():
        return None
    first, *rows = map(json.loads, file.read_text().splitlines())
    if first["format"] != FORMAT or first["made_of"] != digest_json(recipe):
        return None
    figures = {row.pop("option"): Figures(**{**row, "also": tuple(row.get("also", ()))}) for row in rows}
    return PriceList(first["machine"], figures)


def is_outdated(file: Path, recipe: Recipe) -> bool:
    """Whether the list is of a kernel of these settings that was made of another source or by another compiler."""
    if not file.exists() or read(file, recipe) is not None:
        return False
    return bool(json.loads(file.read_text().splitlines()[0])["settings"] == digest_json(recipe["config"]))


def write(file: Path, recipe: Recipe, machine: str, figures: Mapping[str, Figures]) -> None:
    """The list anew, in the order of its options. What is nothing is left out of a line."""
    digests = {"made_of": digest_json(recipe), "settings": digest_json(recipe["config"])}
    first: dict[str, object] = {"format": FORMAT, **digests, "machine": machine}
    rows = [{"option": option, **_told(asdict(figures[option]))} for option in sorted(figures)]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(line)}\n" for line in (first, *rows)))


def _told(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if value not in (None, (), "")}
