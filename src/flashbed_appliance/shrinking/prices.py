# SPDX-License-Identifier: Apache-2.0
"""Price each option of a fragment: compare the kernel with it and the kernel without it.

Measured variants are cached, so an interrupted sweep resumes where it stopped. For a kernel that flashbed has a price
list for, prices come from the list (price_list.py). An option that cannot be changed alone has a reason instead.
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
from flashbed_appliance.shrinking.fragment import ConfigSetting, Fragment
from flashbed_appliance.shrinking.price_list import Figures
from flashbed_appliance.shrinking.variants import Asked, Bench, OptionChange, Variant

_log = logging.getLogger("flashbed")

SWITCHED = {"y": "n", "m": "n", "n": "y"}
"""The value that an option is switched to for its price. An option with a number or a string has no price."""

NOT_MEASURED = "not measured yet"


@dataclass(frozen=True)
class Price:
    """The figures that an option adds to a kernel if all others stay, or would add if it is left out.

    If the price is from flashbed's own list, `listed` is the machine in which its RAM was measured (memory.identity).
    """

    setting: ConfigSetting
    figures: Figures
    listed: str = ""


def sweep(
    target: Architecture, wanted: Fragment, only: Sequence[str] = (), *, stored: bool = False, anew: bool = False
) -> list[Price]:
    """Return the price of each option of a fragment, or of those in `only`. Numbers and strings have no price.

    With `stored` no variant is built, and missing ones have no figures. With `anew` nothing is taken from flashbed's
    own list. Raises InputError for an option in `only` that is not in the fragment.
    """
    check(wanted, only)
    chosen = [setting for setting in wanted if setting.value in SWITCHED and (not only or setting.option in only)]
    bench = Bench(target)
    priced = {} if anew else from_list(bench, wanted)
    priced |= _measured(bench, wanted, [setting for setting in chosen if setting.option not in priced], stored=stored)
    return [priced.get(setting.option) or Price(setting, Figures(why_not=NOT_MEASURED)) for setting in chosen]


def from_list(bench: Bench, wanted: Fragment) -> dict[str, Price]:
    """Return the prices of flashbed's own list by option; none if the list is of another kernel."""
    file, recipe = price_list.file_of(bench.target.name), bench.recipe(wanted.text)
    if known := price_list.read(file, recipe):
        return {option: Price(wanted[option], listed, known.machine) for option, listed in known.figures.items()}
    if price_list.is_outdated(file, recipe):
        _log.warning("%s has another source, patch or compiler than this host's kernel: its prices are not used", file)
    return {}


def renew_list(target: Architecture, wanted: Fragment, *, stored: bool) -> list[Price]:
    """Run a sweep, and rewrite flashbed's own list with all known prices.

    Raises InputError for a list that cannot be extended: it is of another kernel, its RAM was measured in another
    machine than this host's, or this host has measured other figures for an option.
    """
    bench, file = Bench(target), price_list.file_of(target.name)
    listed = from_list(bench, wanted)
    if file.exists() and not listed:
        raise InputError(f"{file}: is of another kernel; remove it to begin a new list")
    if others := {price.listed for price in listed.values()} - {bench.machine}:
        raise InputError(
            f"{file}: its RAM was measured in another machine; remove the list to begin a new one, or use that machine"
            f"\nin the list: {others.pop()}\nhere: {bench.machine}"
        )
    for price in sweep(target, wanted, list(listed), stored=True, anew=True) if listed else ():
        known = listed[price.setting.option].figures
        if price.figures.why_not != NOT_MEASURED and price.figures != known:
            raise InputError(
                f"{file}: {price.setting.option}: this host measured other figures; "
                "remove the line if the list is wrong"
                f"\nin the list: {known.in_words}\nhere: {price.figures.in_words}"
            )
    prices = sweep(target, wanted, stored=stored)
    known_now = {price.setting.option: price.figures for price in prices if price.figures.why_not != NOT_MEASURED}
    price_list.write(file, bench.recipe(wanted.text), bench.machine, known_now)
    return prices


def _measured(bench: Bench, wanted: Fragment, chosen: Sequence[ConfigSetting], *, stored: bool) -> dict[str, Price]:
    """Return the prices of these options; with `stored`, only those that were measured before."""
    if not chosen:
        return {}
    base = bench.stored(wanted.text) if stored else bench.base(wanted.text)
    if base is None:
        return {}
    if base.why_not:
        raise SetupError(f"the base kernel: {base.why_not}")
    if base.trouble:
        raise SetupError(f"the base kernel does not boot: {base.trouble}")
    asked = {setting.option: _asked(wanted, setting) for setting in chosen}
    variants = {
        option: variant
        for option, question in asked.items()
        if (variant := bench.stored(*question, boot=not stored)) is not None
    }
    if not stored and (missing := [option for option in asked if option not in variants]):
        with stage(f"Prices of options for {bench.target.name}", total=len(missing)) as progress:
            for question, variant in bench.others(wanted.text, [asked[option] for option in missing]):
                variants[question.change.option] = variant
                progress.advance()
    return {
        option: Price(wanted[option], figures(wanted[option], base, variant)) for option, variant in variants.items()
    }


def check(wanted: Fragment, only: Sequence[str]) -> None:
    """Raise InputError for an option in `only` that has no price: the fragment does not set it, or not to y, m or n."""
    for option in only:
        if option not in wanted:
            close = nearest(option, (setting.option for setting in wanted))
            raise InputError(f"--option {option}: the fragment does not set it{close}")
        if wanted[option].value not in SWITCHED:
            raise InputError(
                f"--option {option}: its value is {wanted[option].value}; only an option that is y, m or left out has "
                "a price"
            )


def _asked(wanted: Fragment, setting: ConfigSetting) -> Asked:
    change = OptionChange(setting.option, SWITCHED[setting.value])
    return Asked(wanted.changed(*change), change)


def figures(setting: ConfigSetting, base: Variant, other: Variant) -> Figures:
    """Return an option's figures from the base kernel and the variant in which only this option differs."""
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
