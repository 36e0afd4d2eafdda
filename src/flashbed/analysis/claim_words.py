# SPDX-License-Identifier: Apache-2.0
"""Put judgements of claims into sentences, with the numbers that decided.

Judges nothing. Must not know tables or HTML.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from flashbed.analysis.finding import Finding, MissingRatio, NoMetric, NoRatio, NotMeasured, OpenBounds, Side
from flashbed.analysis.judgement import Judgement
from flashbed.analysis.model_error import SAME_LOAD, Source
from flashbed.analysis.words import Words, count, factor, figures, in_sentence, listing, metric_of, number, scale_of
from flashbed.study.relation import Band, Verdict

NARROW = 1.02
"""A band whose ends lie no further apart is shown with more digits."""

MOST_REASONS = 2
"""The most reasons that a sentence names; of more, it says how many there are."""

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
"""The verb of a verdict on one case, and on several."""

_DECIDES = {
    Verdict.HOLDS: "The closest is",
    Verdict.REFUTED: "The clearest against it is",
    Verdict.WITHIN_ERROR: "Least borne out is",
}


def summary(judgements: Sequence[Judgement]) -> str:
    """Return a sentence such as "Of 3 claims, 1 holds, 1 does not hold and 1 is undecided"."""
    verdicts = [judgement.verdict for judgement in judgements]
    return f"Of {count(len(verdicts), 'claim')}, {verdicts_in_words(verdicts)}."


def verdicts_in_words(verdicts: Sequence[Verdict]) -> str:
    """Return the number of each verdict: "5 hold, 2 do not hold and 1 is undecided"."""
    counts = [(verdicts.count(verdict), verdict) for verdict in Verdict]
    return listing([f"{n} {(_SINGULAR if n == 1 else _PLURAL)[verdict]}" for n, verdict in counts if n])


def evidence(judgement: Judgement, words: Words) -> str:
    """Return the reason of the verdict: how many cases bear the claim out, and the comparison that decided."""
    if not judgement.findings:
        return f"Not decided: {unjudged_words(judgement)}."
    text = _how_many(judgement)
    if judgement.verdict == Verdict.UNKNOWN:
        return text + _reasons(judgement.decisive, words)
    finding = judgement.deciding
    assert finding is not None  # a verdict is that of a finding
    if judgement.verdict == Verdict.UNDECIDED:
        return f"{text}The seeds do not agree on {finding_words(finding, words)}."
    lead = "Here," if len(judgement.decisive) == 1 else _DECIDES[judgement.verdict]
    return f"{text}{lead} {finding_words(finding, words)}."


def _how_many(judgement: Judgement) -> str:
    """Return a sentence on the verdicts of the cases, with a space after it; "" for a single case."""
    verdicts = list(judgement.cases.values())
    if len(verdicts) == 1:
        return ""
    if verdicts.count(Verdict.HOLDS) == len(verdicts):
        return f"Borne out in {'both' if len(verdicts) == 2 else f'all {len(verdicts)}'} cases. "
    if len(set(verdicts)) == 1:
        return f"{'Both' if len(verdicts) == 2 else f'All {len(verdicts)}'} cases {_CASES[verdicts[0]][1]}. "
    parts = [
        f"{verdicts.count(verdict)} {texts[verdicts.count(verdict) != 1]}"
        for verdict, texts in _CASES.items()
        if verdict in verdicts
    ]
    return f"Of {len(verdicts)} cases, {listing(parts)}. "


def _reasons(findings: Sequence[Finding], words: Words) -> str:
    """Return a sentence with each reason, and the first comparison that lacks a ratio for it."""
    by_reason: dict[str, list[Finding]] = {}
    for finding in findings:
        by_reason.setdefault(missing_words(finding.missing), []).append(finding)
    parts = []
    for reason, spoilt in list(by_reason.items())[:MOST_REASONS]:
        others = f" and {count(len(spoilt) - 1, 'more comparison')}" if len(spoilt) > 1 else ""
        parts.append(f"{_place(spoilt[0], words)}{others} ({reason})")
    more = f", and {len(by_reason) - MOST_REASONS} more reasons" if len(by_reason) > MOST_REASONS else ""
    return f"There is nothing to go by for {'; '.join(parts)}{more}."


_NO_RATIO = {
    NoRatio.BELOW_ZERO: "a number below zero has no ratio",
    NoRatio.NO_COMMON_SEED: "the two have no seed in common",
    NoRatio.ZERO_IN_GAP: "a ratio of which one number is 0 has no size that could change",
}


def missing_words(missing: MissingRatio | None) -> str:
    """Return a clause on why a comparison has no ratio; "" for None."""
    if isinstance(missing, NotMeasured):
        return f"{missing.outcome}: {missing.reason}" if missing.reason else missing.outcome.value
    if isinstance(missing, NoMetric):
        return f"it has no {missing.metric}"
    if isinstance(missing, OpenBounds):
        return _open_bounds(missing)
    return _NO_RATIO[missing] if missing else ""


def _open_bounds(of: OpenBounds) -> str:
    """Return a clause such as "not known yet: at most 9.4 years"."""
    least, most = of.bounds.least.values(), of.bounds.most.values()
    scale = scale_of(metric_of(of.metric), [*least, *most])
    clauses = [f"at least {scale.figure(min(least))}"] if least else []
    clauses += [f"at most {scale.figure(max(most))}"] if most else []
    return f"not known yet: {' and '.join(clauses)}"


def unjudged_words(judgement: Judgement) -> str:
    """Return a clause on why there is nothing to judge a claim by; "" if there is."""
    if judgement.unjudged is None:
        return ""
    if systems := judgement.unjudged.not_imported:
        return f"no results of {listing(systems)} are imported (flashbed export, flashbed import)"
    return "none of its cells is among the results"


def finding_words(finding: Finding, words: Words) -> str:
    """Return a clause: "ext2 against FAT16 at random write: 1.31 times (1.28 to 1.35 over 3 seeds), where at least 1.08
    is asked".
    """
    assert finding.ratio is not None
    place, exact = _place(finding, words), is_narrow(finding.band)
    if pair := zero_words(finding):
        return f"{place}: {pair}{_seeds(finding)}, where a ratio of {band_words(finding.band)} is asked"
    if (bound := finding.left.bound) and (known := finding.left.spread):
        end = known.high if bound == "at most" else known.low
        return f"{place}: {bound} {scale_of(metric_of(finding.metric), [end]).figure(end)}"
    same = finding.ratio.minimum == finding.ratio.maximum == 1
    times = "the same" if same else f"{ratio_text(finding.ratio.median, exact)} times"
    return f"{place}: {times}{_seeds(finding)}, where {band_words(finding.band)} is asked"


def zero_words(finding: Finding) -> str:
    """Return both figures in words if one of them is 0, as their ratio is no number: "none at all, against 1". Return
    "" if neither is.
    """
    sides = finding.left.spread, finding.right.spread
    if finding.ratio is None or finding.ratio.median not in (0.0, math.inf) or not all(sides):
        return ""
    medians = [spread.median for spread in sides if spread]
    scale = scale_of(metric_of(finding.metric), medians)
    return ", against ".join(figures([median], scale) for median in medians)


def sides_words(finding: Finding, words: Words) -> str:
    """Return the two sides: "ext2 against FAT16", "CPU load against 95"."""
    title = metric_of(finding.metric).title
    if finding.right.cell is None and not finding.right.coordinates:
        return f"{title} against {number(finding.right.printed.value if finding.right.printed else math.nan)}"
    at = "the ratio at " if finding.is_gap else ""
    return f"{at}{side_words(finding.left, words)} against {at and 'that at '}{side_words(finding.right, words)}"


def side_words(side: Side, words: Words) -> str:
    """Return the coordinates that distinguish a side from the other."""
    return words.places(side.coordinates)


def _place(finding: Finding, words: Words) -> str:
    """Return a comparison with its metric and its case, as far as they distinguish it from others."""
    tells_metric = finding.has_several_metrics and finding.right.coordinates
    metric = f" in {in_sentence(metric_of(finding.metric).title)}" if tells_metric else ""
    place = words.places(finding.case)
    return f"{sides_words(finding, words)}{metric}{f' at {place}' if place else ''}"


def is_narrow(band: Band) -> bool:
    """True if two digits after the decimal point are too few to tell a ratio from the ends of the band."""
    return 0 < band.low < band.high < band.low * NARROW


def band_words(band: Band) -> str:
    """Return the band in numbers: "at least 1.08", "0.99 to 1.01"."""
    exact = is_narrow(band)
    if band.high == math.inf:
        return f"at least {ratio_text(band.low)}"
    if band.low == 0:
        return f"at most {ratio_text(band.high)}"
    if band.low == band.high:
        return "exactly 1" if band.low == 1 else ratio_text(band.low)
    return f"{ratio_text(band.low, exact)} to {ratio_text(band.high, exact)}"


def ratio_text(ratio: float, exact: bool = False) -> str:
    """Return as many digits as a reader can use, but never "1.00" for another number; two more digits if `exact`."""
    if ratio == math.inf:
        return factor(ratio)
    text = f"{ratio:.4g}" if exact else factor(ratio)
    digits = 4
    while float(text.replace(",", "")) == 1 != ratio and digits <= 17:
        text = f"{ratio:.{digits}g}"
        digits += 1
    return text


def _seeds(finding: Finding) -> str:
    """Return the interval and the number of seeds, in parentheses."""
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


def geometric_words(judgement: Judgement) -> str:
    """Return a sentence on the geometric mean of the single ratios, which says whether it gives the same verdict.
    Return "" unless the ratio is one of mean times.
    """
    finding = judgement.deciding
    if finding is None or finding.geometric is None:
        return ""
    mean = ratio_text(finding.geometric.median, is_narrow(finding.band))
    if finding.geometric_verdict == finding.verdict:
        return f"The geometric mean of the single ratios is {mean} and says the same."
    otherwise = _SINGULAR[finding.geometric_verdict or Verdict.UNDECIDED]
    return f"The geometric mean of the single ratios is {mean}: by that, it {otherwise}."


def error_words(judgement: Judgement) -> str:
    """Return a sentence on the range that the models' errors leave open, and on their sources. Return "" unless that is
    the verdict.
    """
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
    """Return a clause: "usb-stick-2g is up to 2.9 times off in sequential writes"."""
    if source.is_too_fast:
        return f"the CPU of {source.of} is up to {source.factor:.2g} times too fast"
    return f"{source.of} is up to {source.factor:.2g} times off in {plural(source.load)}"


def plural(load: str) -> str:
    """Return a kind of load in the plural."""
    return "writes flushed one by one" if load == "flush" else f"{load}s"


def printed_words(judgement: Judgement, words: Words) -> str:
    """Return sentences on the paper's own figures: those that are invalid, and the verdict on the others."""
    parts = []
    invalid = judgement.invalid
    if invalid:
        unit = f" {judgement.claim.unit}".rstrip()
        values = listing([f"{figure.value:,.12g}{unit} ({figure.invalid})" for figure in invalid])
        parts.append(f"Invalid in the paper: {values}.")
    if judgement.printed_verdict is not None:
        verb = "bear the claim out" if judgement.printed_verdict == Verdict.HOLDS else "do not bear the claim out"
        which = ", where they are valid," if invalid else ""
        parts.append(f"The paper's own figures{which} {verb}{_against(judgement, words)}.")
    return " ".join(parts)


def _against(judgement: Judgement, words: Words) -> str:
    """Return the finding that refutes the claim in the paper itself: ": deadline against none is 0.9342 times (13.21 :
    14.14), where 0.978 to 0.9818 is asked". Return "" if none does.
    """
    finding = judgement.printed_against
    if finding is None or finding.printed_ratio is None or judgement.printed_verdict != Verdict.REFUTED:
        return ""
    pair = [side.printed.value for side in (finding.left, finding.right) if side.printed]
    figures = f" ({' : '.join(f'{value:,.12g}' for value in pair)})" if len(pair) == 2 else ""
    times = ratio_text(finding.printed_ratio, is_narrow(finding.band))
    return f": {_place(finding, words)} is {times} times{figures}, where {band_words(finding.band)} is asked"
