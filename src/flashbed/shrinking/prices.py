# SPDX-License-Identifier: Apache-2.0
"""What each option of a fragment costs: the kernel is built with it and without it, packed, and booted.

One variant after the other, in the folder of objects that all kernels of an architecture share; each is kept by
content, so that a sweep that was stopped goes on where it was. An option that cannot be changed alone says why.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from flashbed import image
from flashbed.common.errors import InputError, SetupError
from flashbed.common.progress import Stage, stage
from flashbed.common.tomlfile import nearest
from flashbed.image.cache import Cache, Entry
from flashbed.shrinking import building, fragment, memory, packing
from flashbed.shrinking.architecture import Architecture
from flashbed.shrinking.building import SmallKernel
from flashbed.shrinking.fragment import Fragment, Setting

FILE = "price.json"

SWITCHED = {"y": "n", "m": "n", "n": "y"}
"""The value that an option is compared with. One that is a number or a text has no price."""


@dataclass(frozen=True)
class Variant:
    """A kernel that was measured: bytes packed with xz, KiB free when programs start; `why_not` instead if there is
    none. `config`: what it says of each option.
    """

    image: int = 0
    raw: int = 0
    modules: dict[str, int] = field(default_factory=dict)
    free_kib: int | None = None
    why_not: str = ""
    config: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Price:
    """What an option adds to a kernel that has all others as they are: of one that is left out, what it would add.

    `also`: other options that come and go with it, so that their price is in this one.
    """

    setting: Setting
    image: int | None = None
    modules: int | None = None
    ram_kib: int | None = None
    also: tuple[str, ...] = ()
    why_not: str = ""


def sweep(target: Architecture, wanted: Fragment, only: Sequence[str] = (), *, stored: bool = False) -> list[Price]:
    """The price of each option of a fragment, or of those in `only`; options of a number or a text have none.

    `stored`: no variant is built, those that are not there have no figures. Raises InputError for an option in `only`
    that is not in the fragment.
    """
    check(wanted, only)
    chosen = [one for one in wanted if one.value in SWITCHED and (not only or one.option in only)]
    bench = _Bench(target, stored=stored)
    base = bench.measure(wanted.text, None)
    if base is None:
        return [Price(one, why_not="not measured yet") for one in chosen]
    if base.why_not:
        raise SetupError(f"the kernel that all are compared with: {base.why_not}")
    with stage(f"Prices of options for {target.name}", total=len(chosen)) as progress:
        return list(_prices(bench, wanted, base, chosen, progress))


def check(wanted: Fragment, only: Sequence[str]) -> None:
    """Raises InputError for an option that the fragment does not set, and so has no price."""
    for option in only:
        if option not in wanted:
            close = nearest(option, (one.option for one in wanted))
            raise InputError(f"--option {option}: the fragment does not set it{close}")
        if wanted[option].value not in SWITCHED:
            raise InputError(f"--option {option}: is {wanted[option].value}; only what is y, m or left out has a price")


def _prices(
    bench: _Bench, wanted: Fragment, base: Variant, chosen: Iterable[Setting], progress: Stage
) -> Iterable[Price]:
    for setting in chosen:
        other = SWITCHED[setting.value]
        variant = bench.measure(wanted.changed(setting.option, other), (setting.option, other))
        progress.advance()
        yield Price(setting, why_not="not measured yet") if variant is None else price(setting, base, variant)


def price(setting: Setting, base: Variant, other: Variant) -> Price:
    """From the kernel as it is and the one in which only this option is otherwise."""
    if other.why_not:
        return Price(setting, why_not=other.why_not)
    sign = -1 if setting.value == "n" else 1
    free = None
    if base.free_kib is not None and other.free_kib is not None:
        free = sign * (other.free_kib - base.free_kib)
    return Price(
        setting,
        image=sign * (base.image - other.image),
        modules=sign * (sum(base.modules.values()) - sum(other.modules.values())),
        ram_kib=free,
        also=_also(setting.option, base.config, other.config),
    )


def _also(option: str, base: dict[str, str], other: dict[str, str]) -> tuple[str, ...]:
    names = {*base, *other} - {option}
    return tuple(sorted(name for name in names if base.get(name, "n") != other.get(name, "n")))


class _Bench:
    """Builds and measures variants for one architecture, one at a time."""

    def __init__(self, target: Architecture, *, stored: bool) -> None:
        self._target = target
        self._cache, archive = image.open_cache(image.BuiltOnly if stored else Cache), image.open_archive()
        self._source, _ = building.unpacked_source(self._cache, archive)
        self._machine = memory.identity(target)

    def measure(self, settings: str, changed: tuple[str, str] | None) -> Variant | None:
        """The kernel of these settings, of which `changed` tells an option and the value that it must have. None if it
        is not there, and nothing is to be built.
        """
        recipe = {**building.recipe(self._target, self._source, settings), "machine": self._machine, "changed": changed}

        def fill(folder: Path) -> None:
            with building.objects_of(self._target, self._cache) as objects:
                found = self._built(objects, settings, changed, folder)
            (folder / FILE).write_text(json.dumps(asdict(found), indent=1, sort_keys=True))

        try:
            entry = self._cache.entry(f"linux-price-{self._target.name}", recipe, fill, products=[FILE])
        except image.NotBuilt:
            return None
        return Variant(**_read(entry))

    def _built(self, objects: Path, settings: str, changed: tuple[str, str] | None, folder: Path) -> Variant:
        building.configure(self._target, self._source.folder, objects, settings)
        config = fragment.values((objects / ".config").read_text())
        if changed and (got := config.get(changed[0], "n")) != changed[1]:
            return Variant(why_not=_refused(changed[1], got))
        try:
            building.compile_kernel(self._target, self._source.folder, objects, lambda: None)
        except SetupError as error:
            if "Killed" in error.message or "rror" not in _last(error.message):
                raise  # the host's fault, and no word on the option
            return Variant(why_not=f"the kernel does not build: {_last(error.message)}")
        parts = folder / "parts"
        parts.mkdir()
        building.collect(self._target, objects, parts)
        kernel = SmallKernel(self._target, Entry(parts, {}), "")
        sizes = packing.sizes(kernel, every=False)
        try:
            left = memory.left(self._target, kernel.image)
        except SetupError as error:
            return Variant(why_not=f"does not boot: {_last(error.message)}")
        finally:
            building.remove(parts)
        return Variant(sizes.image, sizes.raw, sizes.modules, left.free_kib if left else None, "", config)


def _read(entry: Entry) -> dict[str, Any]:
    return dict(json.loads(entry.path(FILE).read_text()))


def _refused(wanted: str, got: str) -> str:
    if wanted == "n":
        return f"cannot be left out: another option or the architecture makes it {got}"
    return f"cannot be {wanted} alone: an option that it depends on is left out, or this architecture has none"


def _last(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    telling = [line for line in lines if "rror" in line and "make" not in line] or lines[-1:]
    return telling[0][:160] if telling else ""
