# SPDX-License-Identifier: Apache-2.0
"""What each option of a fragment costs: the kernel with it against the kernel without it.

Each variant that was measured is kept, so that a sweep that was stopped goes on where it was. Of the kernels that
flashbed has a list of prices for, it is taken from there (price_list.py). An option that cannot be changed alone says
why.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from flashbed.common.errors import InputError, SetupError
from flashbed.common.progress import stage
from flashbed.common.tomlfile import nearest
from flashbed_appliance.shrinking import price_list
from flashbed_appliance.shrinking.architecture import Architecture
from flashbed_appliance.shrinking.fragment import Fragment, Setting
from flashbed_appliance.shrinking.price_list import Figures
from flashbed_appliance.shrinking.variants import Asked, Bench, OptionChange, Variant

_log = logging.getLogger("flashbed")

SWITCHED = {"y": "n", "m": "n", "n": "y"}
"""The value that an option is compared with. One that is a number or a text has no price."""

NOT_MEASURED = "not measured yet"


@dataclass(frozen=True)
class Price:
    """What an option adds to a kernel that has all others as they are: of one that is left out, what it would add.

    `listed`: if it is from the list that flashbed comes with, the machine in which its RAM was measured
    (memory.identity).
    """

    setting: Setting
    figures: Figures
    listed: str = ""


def sweep(
    target: Architecture, wanted: Fragment, only: Sequence[str] = (), *, stored: bool = False, anew: bool = False
) -> list[Price]:
    """The price of each option of a fragment, or of those in `only`; options of a number or a text have none.

    `stored`: no variant is built, those that are not there have no figures. `anew`: nothing is taken from the list that
    flashbed comes with. Raises InputError for an option in `only` that is not in the fragment.
    """
    check(wanted, only)
    chosen = [one for one in wanted if one.value in SWITCHED and (not only or one.option in only)]
    bench = Bench(target)
    found = {} if anew else from_list(bench, wanted)
    found |= _measured(bench, wanted, [one for one in chosen if one.option not in found], stored=stored)
    return [found.get(one.option) or Price(one, Figures(why_not=NOT_MEASURED)) for one in chosen]


def from_list(bench: Bench, wanted: Fragment) -> dict[str, Price]:
    """What the list that flashbed comes with says of the options of this very kernel: nothing if it is another's."""
    file, recipe = price_list.file_of(bench.target.name), bench.recipe(wanted.text)
    if known := price_list.read(file, recipe):
        return {option: Price(wanted[option], one, known.machine) for option, one in known.figures.items()}
    if price_list.is_outdated(file, recipe):
        _log.warning("%s is of another source, patch or compiler than this host's: no price is taken from it", file)
    return {}


def renew_list(target: Architecture, wanted: Fragment, *, stored: bool) -> list[Price]:
    """A sweep, and the list that flashbed comes with written anew with all that is known.

    Raises InputError for a list that cannot be gone on with: it is of another kernel, its RAM was measured in another
    machine than this host has, or this host has measured an option otherwise.
    """
    bench, file = Bench(target), price_list.file_of(target.name)
    listed = from_list(bench, wanted)
    if file.exists() and not listed:
        raise InputError(f"{file}: is of another kernel; remove it, and a new one is begun")
    if others := {one.listed for one in listed.values()} - {bench.machine}:
        raise InputError(
            f"{file}: its RAM was measured in another machine; remove the list to begin a new one, or use that machine"
            f"\nthe list: {others.pop()}\nhere: {bench.machine}"
        )
    for one in sweep(target, wanted, list(listed), stored=True, anew=True) if listed else ():
        known = listed[one.setting.option].figures
        if one.figures.why_not != NOT_MEASURED and one.figures != known:
            raise InputError(
                f"{file}: {one.setting.option}: this host has measured otherwise; remove the line if the list is wrong"
                f"\nthe list: {known.told}\nhere: {one.figures.told}"
            )
    found = sweep(target, wanted, stored=stored)
    known_now = {one.setting.option: one.figures for one in found if one.figures.why_not != NOT_MEASURED}
    price_list.write(file, bench.recipe(wanted.text), bench.machine, known_now)
    return found


def _measured(bench: Bench, wanted: Fragment, chosen: Sequence[Setting], *, stored: bool) -> dict[str, Price]:
    """The prices of these options, without those that are not there if nothing is to be built."""
    if not chosen:
        return {}
    base = bench.stored(wanted.text) if stored else bench.base(wanted.text)
    if base is None:
        return {}
    if base.why_not:
        raise SetupError(f"the kernel that all are compared with: {base.why_not}")
    if base.trouble:
        raise SetupError(f"the kernel that all are compared with does not boot: {base.trouble}")
    asked = {one.option: _asked(wanted, one) for one in chosen}
    found = {
        option: variant for option, one in asked.items() if (variant := bench.stored(*one, boot=not stored)) is not None
    }
    if not stored and (missing := [option for option in asked if option not in found]):
        with stage(f"Prices of options for {bench.target.name}", total=len(missing)) as progress:
            for one, variant in bench.others(wanted.text, [asked[option] for option in missing]):
                found[one.change.option] = variant
                progress.advance()
    return {option: Price(wanted[option], figures(wanted[option], base, variant)) for option, variant in found.items()}


def check(wanted: Fragment, only: Sequence[str]) -> None:
    """Raises InputError for an option that the fragment does not set, and so has no price."""
    for option in only:
        if option not in wanted:
            close = nearest(option, (one.option for one in wanted))
            raise InputError(f"--option {option}: the fragment does not set it{close}")
        if wanted[option].value not in SWITCHED:
            raise InputError(f"--option {option}: is {wanted[option].value}; only what is y, m or left out has a price")


def _asked(wanted: Fragment, setting: Setting) -> Asked:
    change = OptionChange(setting.option, SWITCHED[setting.value])
    return Asked(wanted.changed(*change), change)


def figures(setting: Setting, base: Variant, other: Variant) -> Figures:
    """From the kernel as it is and the one in which only this option is otherwise."""
    if other.why_not:
        return Figures(why_not=other.why_not)
    sign = -1 if setting.value == "n" else 1
    free = None
    if base.free_kib is not None and other.free_kib is not None:
        free = sign * (other.free_kib - base.free_kib)
    return Figures(
        image=sign * (base.image - other.image),
        modules=sign * (sum(base.modules.values()) - sum(other.modules.values())),
        ram_kib=free,
        also=_also(setting.option, base.config, other.config),
    )


def _also(option: str, base: dict[str, str], other: dict[str, str]) -> tuple[str, ...]:
    names = {*base, *other} - {option}
    return tuple(sorted(name for name in names if base.get(name, "n") != other.get(name, "n")))
