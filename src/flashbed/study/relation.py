# SPDX-License-Identifier: Apache-2.0
"""The relations of a claim: the words for how two numbers compare, the band in which their ratio must lie, and the
verdicts.

"ext2 > fat16, at least 8 %" requires that ext2 / fat16 is 1.08 or more. Words are matched, never executed. Must not
know studies, cells or how a ratio is computed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The verdicts on a claim. The values are keys of a claim's `why`; claim_words.py has the words for people."""

    HOLDS = "holds"
    REFUTED = "does not hold"
    WITHIN_ERROR = "within the model's error"
    """Real devices may decide the claim either way, though they differ from the models by no more than the stated
    error.
    """
    UNDECIDED = "undecided"
    """The seeds disagree."""
    UNKNOWN = "cannot be decided"
    """Some cell was not measured."""


RELATIONS = (">", "<", "=", ">=", "<=", ">>", "<<")
"""Relations of left to right. ">=" means not behind; a doubled sign means by far."""

TRENDS = ("rises", "falls", "flat")
"""Relations along an axis."""

LEVELS = (">", "<", "=", ">=", "<=")
"""Relations of a number to a fixed value."""

CLEAR = 1.01
"""The least factor that counts as a difference: 1 %, as in the report's comparisons."""

FAR = 2.0
"""The least factor that counts as far ahead. Below it there is no large difference."""

ABOUT_FACTOR = 1.1
"""The largest factor, up or down, that "about" covers, in every claim: about equal is about 1; about 6 % is 5.5 % to
6.6 %. No sentence has its own width, so none can be made to fit.
"""

FEW = 0.1
"""The largest share of cases that counts as few exceptions."""

SAMENESS = {"no difference": CLEAR, "about": ABOUT_FACTOR, "no large difference": FAR}
"""Words for sameness, and the largest factor of each."""

_SIGNS = {"rises": ">", "falls": "<", "flat": "="}
_NUMBER = r"(\d+(?:\.\d+)?)"
_FORMS = re.compile(rf"(at least|at most|within|about)? ?{_NUMBER}(?: to {_NUMBER})? ?(%|times)")
_HELP = 'must be such as "at least 8 %", "at most 2 times", "3 to 4 times" or "within 10 %"'


@dataclass(frozen=True)
class Band:
    """A range of a ratio, ends included."""

    low: float
    high: float

    @property
    def is_exact(self) -> bool:
        """Return True if the band requires sameness to the last digit."""
        return self.low == self.high

    def holds(self, low: float, high: float) -> bool | None:
        """Return True if the interval lies within the band, False if it lies outside, None if it overlaps an end."""
        if self.low <= low and high <= self.high:
            return True
        return False if high < self.low or low > self.high else None


def band(relation: str, by: str = "", clear: float = CLEAR) -> Band:
    """Return the band of left / right. `relation` is one of RELATIONS or TRENDS. Raises ValueError for an unknown `by`.

    Percent are of the right number: "< at least 8 %" requires 0.92 times it or less. Times count from the smaller
    number: "< at least 3 times" requires a third.
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
        raise ValueError(f'"{by}" goes only with "=" and "flat"')
    match = _FORMS.fullmatch(by)
    if match is None or (match[1] and match[3]) or not (match[1] or match[3]):
        raise ValueError(_HELP)
    if match[3] and float(match[2]) >= float(match[3]):
        raise ValueError(
            f'"{by}" goes from the smaller number to the larger; write "{match[3]} to {match[2]} {match[4]}"'
        )
    if (match[1] == "within") != (sign == "="):
        raise ValueError('"within" goes with "=" and "flat", and these with nothing else')
    numbers = [float(number) for number in (match[2], match[3]) if number]
    if sign == "=":
        most = _factor(numbers[0], match[4], up=True)
        return Band(1 / most, most)
    up = sign[0] == ">"
    if match[1] == "about":
        numbers = [numbers[0] / ABOUT_FACTOR, numbers[0] * ABOUT_FACTOR]
    ends = [_factor(number, match[4], up) for number in numbers]
    if match[1] in ("at least", "at most"):
        no_difference = clear if up else 1 / clear
        ends.append(math.inf if match[1] == "at least" and up else 0.0 if match[1] == "at least" else no_difference)
        if match[1] == "at most" and (ends[0] < no_difference) == up:
            raise ValueError(f"less than {CLEAR - 1:.0%} counts as equal; use = with within")
    return Band(min(ends), max(ends))


def _not_behind(sign: str, by: str, clear: float) -> Band:
    """Return the band of ">=": above, or equal, or with "about" about equal. "<=" is the reverse."""
    if by not in ("", "about"):
        raise ValueError(f'"{sign}" takes no number: say "about", or nothing')
    most = ABOUT_FACTOR if by else clear
    return Band(1 / most, math.inf) if sign == ">=" else Band(0.0, most)


def each(words: Sequence[str], steps: int) -> Sequence[str]:
    """Return a claim's word for each of `steps` steps, from no word, one for all, or one for each."""
    return words if len(words) == steps else (list(words) or [""]) * steps


def _factor(number: float, unit: str, up: bool) -> float:
    """Return the ratio of "8 %" or "3 times"."""
    if unit == "times":
        if number < 1:
            raise ValueError(f'"{number:g} times" must be 1 or more; for less than that, reverse the relation')
        return number if up else 1 / number
    if not up and number >= 100:
        raise ValueError(f"nothing is {number:g} % below; say it in times")
    return 1 + number / 100 if up else 1 - number / 100
