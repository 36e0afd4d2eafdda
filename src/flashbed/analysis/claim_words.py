# SPDX-License-Identifier: Apache-2.0
"""What became of the claims, in plain sentences with the numbers that decided it.

Turns judgements into words and judges nothing. Must not know tables or HTML.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from flashbed.analysis.finding import Finding, Side
from flashbed.analysis.judgement import Judgement
from flashbed.analysis.model_error import SAME_LOAD, Source
from flashbed.analysis.words import Words, count, factor, figures, in_sentence, listing, metric_of, number, scale_of
from flashbed.study.relation import Band, Verdict

NARROW = 1.02
"""A band whose ends lie no further apart is told with more digits."""

MOST_REASONS = 2
"""So many reasons are told in a sentence; of more, only how many there are."""

_PLURAL = {
    Verdict.HOLDS: "hold",
    Verdict.REFUTED: "do not hold",
    Verdict.WITHIN_ERROR: "are within the model's error",
    Verdict.UNDECIDED: "are undecided",
    Verdict.UNKNOWN: "cannot be decided",
}
_SINGULAR = {
    Verdict.HOLDS: "holds",
    Verdict.REFUTED: "does not hold",
    Verdict.WITHIN_ERROR: "is within the model's error",
    Verdict.UNDECIDED: "is undecided",
    Verdict.UNKNOWN: "cannot be decided",
}
_CASES = {
    Verdict.HOLDS: ("bears it out", "bear it out"),
    Verdict.REFUTED: ("is against it", "are against it"),
    Verdict.WITHIN_ERROR: ("is within the model's error", "are within the model's error"),
    Verdict.UNDECIDED: ("is undecided", "are undecided"),
    Verdict.UNKNOWN: ("lacks results", "lack results"),
}
"""What a verdict says of one case, and of several."""

_DECIDES = {
    Verdict.HOLDS: "The closest is",
    Verdict.REFUTED: "The clearest against it is",
    Verdict.WITHIN_ERROR: "Least borne out is",
}


def summary(judgements: Sequence[Judgement]) -> str:
    """ "Of 9 claims, 5 hold, 2 do not hold, 1 is undecided and 1 cannot be decided." """
    verdicts = [judgement.verdict for judgement in judgements]
    return f"Of {count(len(verdicts), 'claim')}, {verdicts_in_words(verdicts)}."


def verdicts_in_words(verdicts: Sequence[Verdict]) -> str:
    """ "5 hold, 2 do not hold and 1 is undecided" """
    found = [(verdicts.count(verdict), verdict) for verdict in Verdict]
    return listing([f"{n} {(_SINGULAR if n == 1 else _PLURAL)[verdict]}" for n, verdict in found if n])


def evidence(judgement: Judgement, words: Words) -> str:
    """The verdict's reason: how many cases bear the claim out, and the comparison that decided."""
    if not judgement.findings:
        return f"Not decided: {judgement.reason}."
    text = _how_many(judgement)
    if judgement.verdict == Verdict.UNKNOWN:
        return text + _reasons(judgement.decisive, words)
    finding = judgement.deciding
    assert finding is not None  # a verdict is that of a finding
    if judgement.verdict == Verdict.UNDECIDED:
        return f"{text}The seeds do not agree on {told(finding, words)}."
    lead = "Here," if len(judgement.decisive) == 1 else _DECIDES[judgement.verdict]
    return f"{text}{lead} {told(finding, words)}."


def _how_many(judgement: Judgement) -> str:
    """How the cases stand, if there are several."""
    found = list(judgement.cases.values())
    if len(found) == 1:
        return ""
    if found.count(Verdict.HOLDS) == len(found):
        return f"Borne out in {'both' if len(found) == 2 else f'all {len(found)}'} cases. "
    if len(set(found)) == 1:
        return f"{'Both' if len(found) == 2 else f'All {len(found)}'} cases {_CASES[found[0]][1]}. "
    told_ = [f"{found.count(one)} {texts[found.count(one) != 1]}" for one, texts in _CASES.items() if one in found]
    return f"Of {len(found)} cases, {listing(told_)}. "


def _reasons(findings: Sequence[Finding], words: Words) -> str:
    """Each reason once, with the first comparison that it spoilt."""
    by_reason: dict[str, list[Finding]] = {}
    for finding in findings:
        by_reason.setdefault(finding.reason, []).append(finding)
    told_ = []
    for reason, spoilt in list(by_reason.items())[:MOST_REASONS]:
        others = f" and {count(len(spoilt) - 1, 'more comparison')}" if len(spoilt) > 1 else ""
        told_.append(f"{_place(spoilt[0], words)}{others} ({reason})")
    more = f", and {len(by_reason) - MOST_REASONS} more reasons" if len(by_reason) > MOST_REASONS else ""
    return f"There is nothing to go by for {'; '.join(told_)}{more}."


def told(finding: Finding, words: Words) -> str:
    """ "ext2 against FAT16 at random write: 1.31 times (1.28 to 1.35 over 3 seeds), where at least 1.08 is asked" """
    assert finding.ratio is not None
    what, exact = _place(finding, words), is_narrow(finding.band)
    if pair := beside_zero(finding):
        return f"{what}: {pair}{_seeds(finding)}, where a ratio of {asked(finding.band)} is asked"
    if (bound := finding.left.bound) and (known := finding.left.spread):
        end = known.high if bound == "at most" else known.low
        return f"{what}: {bound} {scale_of(metric_of(finding.metric), [end]).figure(end)}"
    same = finding.ratio.minimum == finding.ratio.maximum == 1
    found = "the same" if same else f"{ratio_text(finding.ratio.median, exact)} times"
    return f"{what}: {found}{_seeds(finding)}, where {asked(finding.band)} is asked"


def beside_zero(finding: Finding) -> str:
    """Where one of the two is 0, both in words, for their ratio is no number: "none at all, against 1"; else ""."""
    sides = finding.left.spread, finding.right.spread
    if finding.ratio is None or finding.ratio.median not in (0.0, math.inf) or not all(sides):
        return ""
    medians = [one.median for one in sides if one]
    scale = scale_of(metric_of(finding.metric), medians)
    return ", against ".join(figures([median], scale) for median in medians)


def compared(finding: Finding, words: Words) -> str:
    """The two sides: "ext2 against FAT16", "CPU load against 95"."""
    title = metric_of(finding.metric).title
    if finding.right.cell is None and not finding.right.coordinates:
        return f"{title} against {number(finding.right.printed.value if finding.right.printed else math.nan)}"
    what = "the ratio at " if finding.is_gap else ""
    return f"{what}{side(finding.left, words)} against {what and 'that at '}{side(finding.right, words)}"


def side(one: Side, words: Words) -> str:
    """What tells a side from the other."""
    return words.places(one.coordinates)


def _place(finding: Finding, words: Words) -> str:
    """A comparison with its metric and its case, as far as they tell it from others."""
    tells_metric = finding.has_several_metrics and finding.right.coordinates
    metric = f" in {in_sentence(metric_of(finding.metric).title)}" if tells_metric else ""
    place = words.places(finding.case)
    return f"{compared(finding, words)}{metric}{f' at {place}' if place else ''}"


def is_narrow(band: Band) -> bool:
    """Whether two digits behind the point are too few to tell a ratio from its ends."""
    return 0 < band.low < band.high < band.low * NARROW


def asked(band: Band) -> str:
    """The band in numbers."""
    exact = is_narrow(band)
    if band.high == math.inf:
        return f"at least {ratio_text(band.low)}"
    if band.low == 0:
        return f"at most {ratio_text(band.high)}"
    if band.low == band.high:
        return "exactly 1" if band.low == 1 else ratio_text(band.low)
    return f"{ratio_text(band.low, exact)} to {ratio_text(band.high, exact)}"


def ratio_text(ratio: float, exact: bool = False) -> str:
    """As many digits as a reader can use, but never 1.00 for what is not one; two more if they are wanted."""
    if ratio == math.inf:
        return factor(ratio)
    text = f"{ratio:.4g}" if exact else factor(ratio)
    digits = 4
    while float(text.replace(",", "")) == 1 != ratio and digits <= 17:
        text = f"{ratio:.{digits}g}"
        digits += 1
    return text


def _seeds(finding: Finding) -> str:
    ratio, (low, high) = finding.ratio, finding.interval
    assert ratio is not None
    if ratio.n == 1:
        return " (one seed)"
    kind = "95 % confidence, " if ratio.is_confidence and not finding.band.is_exact else ""
    exact = is_narrow(finding.band)
    ends = ratio_text(low, exact), ratio_text(high, exact)
    if ends[0] == ends[1]:
        return f" (with each of {ratio.n} seeds)" if not kind else f" ({kind}{ratio.n} seeds)"
    return f" ({ends[0]} to {ends[1]}, {kind}{ratio.n} seeds)"


def beside_words(judgement: Judgement) -> str:
    """Of mean times: what the geometric mean of the single ratios would have said, where that is something else."""
    finding = judgement.deciding
    if finding is None or finding.geometric is None:
        return ""
    mean = ratio_text(finding.geometric.median, is_narrow(finding.band))
    if finding.geometric_verdict == finding.verdict:
        return f"The geometric mean of the single ratios is {mean} and says the same."
    otherwise = _SINGULAR[finding.geometric_verdict or Verdict.UNDECIDED]
    return f"The geometric mean of the single ratios is {mean}: by that, it {otherwise}."


def error_words(judgement: Judgement) -> str:
    """What the models' errors leave open of the ratio that decides, and whose they are; only if that is the verdict."""
    finding = judgement.deciding
    if judgement.verdict != Verdict.WITHIN_ERROR or finding is None or finding.error is None:
        return ""
    exact = is_narrow(finding.band)
    low, high = (ratio_text(end, exact) for end in finding.error.widened(*finding.interval))
    if not finding.error.sources:
        rest = f"{100 * (SAME_LOAD - 1):.0f} %"
        return f"Both sides load the same model alike, so its error cancels but for {rest}: {low} to {high} times."
    return f"The models leave {low} to {high} times open: {listing([source_words(s) for s in finding.error.sources])}."


def source_words(source: Source) -> str:
    """ "usb-stick-2g is up to 2.9 times off in sequential writes" """
    if source.is_too_fast:
        return f"the CPU of {source.of} is up to {source.factor:.2g} times too fast"
    return f"{source.of} is up to {source.factor:.2g} times off in {plural(source.load)}"


def plural(load: str) -> str:
    """The kinds of load as a sentence has them."""
    return "writes flushed one by one" if load == "flush" else f"{load}s"


def printed_words(judgement: Judgement, words: Words) -> str:
    """What the paper's own figures say of its claim; if they refute it, with the two that do."""
    told_ = []
    invalid = judgement.invalid
    if invalid:
        unit = f" {judgement.claim.unit}".rstrip()
        values = listing([f"{figure.value:,.12g}{unit} ({figure.invalid})" for figure in invalid])
        told_.append(f"Invalid in the paper: {values}.")
    if judgement.printed_verdict is not None:
        verb = "bear the claim out" if judgement.printed_verdict == Verdict.HOLDS else "do not bear the claim out"
        which = ", where they are valid," if invalid else ""
        told_.append(f"The paper's own figures{which} {verb}{_against(judgement, words)}.")
    return " ".join(told_)


def _against(judgement: Judgement, words: Words) -> str:
    """ ": deadline against none is 0.9342 times (13.21 : 14.14), where 0.978 to 0.9818 is asked" """
    finding = judgement.printed_against
    if finding is None or finding.printed_ratio is None or judgement.printed_verdict != Verdict.REFUTED:
        return ""
    pair = [one.printed.value for one in (finding.left, finding.right) if one.printed]
    figures = f" ({' : '.join(f'{value:,.12g}' for value in pair)})" if len(pair) == 2 else ""
    found = ratio_text(finding.printed_ratio, is_narrow(finding.band))
    return f": {_place(finding, words)} is {found} times{figures}, where {asked(finding.band)} is asked"
