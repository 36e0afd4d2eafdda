# SPDX-License-Identifier: Apache-2.0
"""From the results of a study to medians, spreads, comparisons and the answer in words.

Knows results and metrics, and must not know how they were made or how they are shown. Deterministic to the last bit:
no random numbers, no order that depends on hashing.
"""

from flashbed.analysis.advice import Advice, advice
from flashbed.analysis.answer import headline, sentence
from flashbed.analysis.claims import ClaimVerdict, Finding, Judgement, Side, judge, undecidable
from flashbed.analysis.comparison import Comparison, Group, Lead, Standing, compare
from flashbed.analysis.flow import Flow, flows
from flashbed.analysis.ratio import Numbers, is_ahead, ratio
from flashbed.analysis.results import MEASURED, MISSING, Combination, Repetition, Results, results_of
from flashbed.analysis.spread import Spread, spread
from flashbed.analysis.words import Words

__all__ = [
    "MEASURED",
    "MISSING",
    "Advice",
    "ClaimVerdict",
    "Combination",
    "Comparison",
    "Finding",
    "Flow",
    "Group",
    "Judgement",
    "Lead",
    "Numbers",
    "Repetition",
    "Results",
    "Side",
    "Spread",
    "Standing",
    "Words",
    "advice",
    "compare",
    "flows",
    "headline",
    "is_ahead",
    "judge",
    "ratio",
    "results_of",
    "sentence",
    "spread",
    "undecidable",
]
