# SPDX-License-Identifier: Apache-2.0
"""The words in which a claim says how two numbers compare, the band in which their ratio must then lie, and what may
become of the claim.

"ext2 > fat16, at least 8 %" asks that ext2 / fat16 is 1.08 or more. Words are matched, never executed. Must not know
studies, cells or how a ratio is found.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What may become of a claim. The values are keys of a claim's `why`; claim_words.py has the words for people."""

    HOLDS = "holds"
    REFUTED = "does not hold"
    WITHIN_ERROR = "within the model's error"
    """Real devices that differ from the models by no more than the models' stated error decide it either way."""
    UNDECIDED = "undecided"
    """The seeds disagree."""
    UNKNOWN = "cannot be decided"
    """Something was not measured."""


RELATIONS = (">", "<", "=", ">=", "<=", ">>", "<<")
"""Of left to right; ">=" is not behind, the doubled ones mean by far."""

TRENDS = ("rises", "falls", "flat")
"""Along an axis."""

LEVELS = (">", "<", "=", ">=", "<=")
"""Of a number to a fixed value."""

CLEAR = 1.01
"""What is above or below at all is so by 1 %, as in the report's comparisons: less is no difference."""

FAR = 2.0
"""What is far ahead is so by this factor; between what lies less apart there is no large difference."""

ABOUT = 1.1
"""The one rule for "about": what is about a number is that number by a factor of no more than this, up or down. About
equal is about 1; about 6 % is 5.5 % to 6.6 %. No sentence gets a width of its own, so none can be made to fit.
"""

FEW = 0.1
"""Of cases: a few exceptions are no more than this share."""

SAMENESS = {"no difference": CLEAR, "about": ABOUT, "no large difference": FAR}
"""Words for what lies together, and the factor by which it may lie apart."""

_SIGNS = {"rises": ">", "falls": "<", "flat": "="}
_NUMBER = r"(\d+(?:\.\d+)?)"
_FORMS = re.compile(rf"(at least|at most|within|about)? ?{_NUMBER}(?: to {_NUMBER})? ?(%|times)")
_HELP = 'must be such as "at least 8 %", "at most 2 times", "3 to 4 times" or "within 10 %"'


@dataclass(frozen=True)
class Band:
    """Where a ratio must lie, ends included."""

    low: float
    high: float

    @property
    def is_exact(self) -> bool:
        """Whether it asks for sameness to the last digit."""
        return self.low == self.high

    def holds(self, low: float, high: float) -> bool | None:
        """Whether an interval lies within; None if it does so in part only."""
        if self.low <= low and high <= self.high:
            return True
        return False if high < self.low or low > self.high else None


def band(relation: str, by: str = "", clear: float = CLEAR) -> Band:
    """The band of left / right. `relation` is one of RELATIONS or TRENDS. Raises ValueError for an unknown `by`.

    Percent are of the right number: "< at least 8 %" asks for 0.92 times it or less. Times count from the smaller one:
    "< at least 3 times" asks for a third.
    """
    sign, by = _SIGNS.get(relation, relation), by.strip()
    if sign in (">=", "<="):
        return _not_behind(sign, by, clear)
    if sign == "=" and (not by or by in SAMENESS):
        most = SAMENESS[by or "about"]
        return Band(1 / most, most)
    if not by:
        least = FAR if len(sign) > 1 else clear
        return Band(least, math.inf) if sign[0] == ">" else Band(0.0, 1 / least)
    if by in SAMENESS:
        raise ValueError(f'"{by}" goes with "=" and "flat", and with nothing else')
    found = _FORMS.fullmatch(by)
    if found is None or (found[1] and found[3]) or not (found[1] or found[3]):
        raise ValueError(_HELP)
    if found[3] and float(found[2]) >= float(found[3]):
        raise ValueError(
            f'"{by}" goes from the smaller number to the larger; write "{found[3]} to {found[2]} {found[4]}"'
        )
    if (found[1] == "within") != (sign == "="):
        raise ValueError('"within" goes with "=" and "flat", and these with nothing else')
    numbers = [float(number) for number in (found[2], found[3]) if number]
    if sign == "=":
        most = _factor(numbers[0], found[4], up=True)
        return Band(1 / most, most)
    up = sign[0] == ">"
    if found[1] == "about":
        numbers = [numbers[0] / ABOUT, numbers[0] * ABOUT]
    ends = [_factor(number, found[4], up) for number in numbers]
    if found[1] in ("at least", "at most"):
        none = clear if up else 1 / clear
        ends.append(math.inf if found[1] == "at least" and up else 0.0 if found[1] == "at least" else none)
        if found[1] == "at most" and (ends[0] < none) == up:
            raise ValueError(f"less than {CLEAR - 1:.0%} counts as equal; use = with within")
    return Band(min(ends), max(ends))


def _not_behind(sign: str, by: str, clear: float) -> Band:
    """ ">=" is above, or equal, or with "about" about equal; "<=" the other way round."""
    if by not in ("", "about"):
        raise ValueError(f'"{sign}" takes no number: say "about", or nothing')
    most = ABOUT if by else clear
    return Band(1 / most, math.inf) if sign == ">=" else Band(0.0, most)


def each(said: Sequence[str], steps: int) -> Sequence[str]:
    """What a claim says for each of its steps, from nothing, one word for all, or one each."""
    return said if len(said) == steps else (list(said) or [""]) * steps


def _factor(number: float, unit: str, up: bool) -> float:
    """The ratio that stands for "8 %" or "3 times"."""
    if unit == "times":
        if number < 1:
            raise ValueError(
                f'"{number:g} times" must be 1 or more; a relation the other way round says less than that'
            )
        return number if up else 1 / number
    if not up and number >= 100:
        raise ValueError(f"nothing is {number:g} % below; say it in times")
    return 1 + number / 100 if up else 1 - number / 100
