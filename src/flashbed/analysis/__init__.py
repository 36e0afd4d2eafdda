# SPDX-License-Identifier: Apache-2.0
"""Turn the results of a study into medians, spreads, comparisons, verdicts on claims, and the answer in words.

Knows results and metrics. Must not know how they were made or how they are shown. Deterministic to the last bit: no
random numbers, no order that depends on hashing.
"""

from flashbed.analysis.answer import sentence
from flashbed.analysis.comparison import compare, with_erase_counts
from flashbed.analysis.decisive import Doubt, amount_axis, doubt_of, doubts, steadiness_unknown, unsteady_cells
from flashbed.analysis.finding import Finding, Side
from flashbed.analysis.groups import Comparison, Group, Lead, Standing
from flashbed.analysis.judgement import Judgement, judge, undecidable
from flashbed.analysis.lines import AnswerLines, Load, answer_lines, lines, shortened
from flashbed.analysis.ratio import Numbers, Spread, is_ahead, ratio, spread
from flashbed.analysis.study_results import Flow, Results, flows, results_of
from flashbed.analysis.words import Words

__all__ = [
    "AnswerLines",
    "Comparison",
    "Doubt",
    "Finding",
    "Flow",
    "Group",
    "Judgement",
    "Lead",
    "Load",
    "Numbers",
    "Results",
    "Side",
    "Spread",
    "Standing",
    "Words",
    "amount_axis",
    "answer_lines",
    "compare",
    "doubt_of",
    "doubts",
    "flows",
    "is_ahead",
    "judge",
    "lines",
    "ratio",
    "results_of",
    "sentence",
    "shortened",
    "spread",
    "steadiness_unknown",
    "undecidable",
    "unsteady_cells",
    "with_erase_counts",
]
