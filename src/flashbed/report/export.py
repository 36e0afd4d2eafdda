# SPDX-License-Identifier: Apache-2.0
"""Export the results for other programs: CSV, Parquet and JSON, each byte-identical for the same results.

Must not know HTML. The JSON is strict: a number that is not finite becomes null.
"""

from __future__ import annotations

import io
import json
import math
import re
from typing import TYPE_CHECKING, Any

from flashbed.analysis import Comparison, Finding, Group, Judgement, Lead, Results, lines, sentence
from flashbed.analysis.answer import doubt_words
from flashbed.analysis.claim_words import evidence, missing_words
from flashbed.analysis.words import joint_text, metric_of
from flashbed.report import on_terminal
from flashbed.report.answers import loads_of
from flashbed.report.evidence import manifest_document
from flashbed.report.model import Report
from flashbed.report.trust import trust
from flashbed.result.columns import ASSESSMENTS, assessments, columns_of, values
from flashbed.study.format import Answer

if TYPE_CHECKING:
    import pandas

SIGNIFICANT_DIGITS = 12
"""The digits of computed numbers: the last bits of a logarithm differ between C libraries."""

_FORMULA = re.compile(r"['=@\t\r]|[+-](?![0-9.]+$)")
"""The beginnings of a text that a spreadsheet may execute (OWASP, "CSV injection"), or that is marked already. A number
with a sign is no such text.
"""


def frame_of(results: Results) -> pandas.DataFrame:
    """Return the results table in the order of the study. A repetition that was planned and never ran has a row too."""
    import pandas

    repetitions = results.repetitions
    columns: dict[str, Any] = {
        axis: pandas.Series([r.combination[place] for r in repetitions], dtype="str")
        for place, axis in enumerate(results.axes)
    }
    for column in columns_of(repetitions):
        columns[column.name] = pandas.Series([column.shown(r) for r in repetitions], dtype=column.kind)
    for name in results.metrics:
        columns[name] = pandas.Series([r.metrics.get(name, math.nan) for r in repetitions], dtype="float64")
    return pandas.DataFrame(columns)


def csv_bytes(frame: pandas.DataFrame) -> bytes:
    """Return the table as CSV, each number in the shortest text that reads back as the same number.

    A text that a spreadsheet would take for a formula has a "'" before it, as has one that begins with "'". Without
    that first "'", a text is as the study has it.
    """
    texts = frame.select_dtypes(exclude="number")
    return frame.assign(**texts.map(_no_formula)).to_csv(index=False, lineterminator="\n").encode()


def _no_formula(value: Any) -> Any:
    """Return a text that no spreadsheet carries out; other values unchanged."""
    if not isinstance(value, str):
        return value
    marked = f"'{value}" if _FORMULA.match(value) else value
    return marked.replace("\r", "\\r")  # a raw one would end the row: Python's writer does not quote it


def parquet_bytes(frame: pandas.DataFrame) -> bytes:
    """Return the table as Parquet, with types."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer, engine="pyarrow", index=False, compression="zstd")
    return buffer.getvalue()


def json_bytes(report: Report) -> bytes:
    """Return the study's question and answer, the manifest, and every repetition as JSON."""
    answer = report.study.answer
    columns = columns_of(report.results.repetitions)
    answers = [_answer(report, answer, comparison) for comparison in report.comparisons(answer)] if answer else []
    document = {
        "study": {
            "name": report.study.name,
            "title": report.study.title,
            "question": report.study.question,
            "source": report.study.source,
            "axes": report.results.axes,
            "fixed": report.fixed,
            "seeds": report.study.seeds,
        },
        "told": on_terminal.lines(report),
        "outcomes": report.results.outcomes(),
        "answer": answers[0] if answers else None,
        "answers": answers,
        "claims": [_claim(report, judgement) for judgement in report.judgements()],
        "elsewhere": _elsewhere(report),
        "metrics": {
            name: {"title": metric_of(name).title, "unit": metric_of(name).unit, "better": metric_of(name).better}
            for name in report.results.metrics
        },
        "manifest": manifest_document(report.manifest),
        "repetitions": [
            {
                **report.results.coordinates(repetition.combination),
                **values(repetition, columns),
                "metrics": {name: repetition.metrics.get(name) for name in report.results.metrics},
                "counted": repetition.counted,
                ASSESSMENTS: assessments(repetition, columns),
            }
            for repetition in report.results.repetitions
        ],
    }
    return (json.dumps(pure(document), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _answer(report: Report, answer: Answer, comparison: Comparison) -> dict[str, Any]:
    """Return the answer by one metric."""
    return {
        "compare": joint_text(comparison.compare.axes),
        "by": comparison.by,
        "metric": comparison.metric,
        "lines": lines(loads_of(report, answer, comparison), report.words),
        "groups": [_group(report, comparison, group) for group in comparison.groups],
    }


def _elsewhere(report: Report) -> list[dict[str, Any]]:
    """Return what other systems measured, in real time."""
    if report.elsewhere is None:
        return []
    return [
        {
            **report.elsewhere.coordinates(repetition.combination),
            "seed": repetition.seed,
            "time": "real",
            "metrics": dict(repetition.metrics),
        }
        for repetition in report.elsewhere.repetitions
        if repetition.is_measured
    ]


def _claim(report: Report, judgement: Judgement) -> dict[str, Any]:
    """Return a judged claim."""
    return {
        "text": judgement.claim.text,
        "source": judgement.claim.source,
        "own": judgement.claim.own,
        "sentence": judgement.claim.sentence,
        "condition": judgement.claim.condition,
        "verdict": judgement.verdict,
        "evidence": evidence(judgement, report.words),
        "printed_verdict": judgement.printed_verdict,
        "why": judgement.why,
        "trust": trust(report, judgement).short,
        "cases": len(judgement.cases),
        "findings": [_finding(finding) for finding in judgement.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    """Return a finding. Numbers that are missing are None."""
    ratio = finding.ratio
    return {
        "case": dict(finding.case),
        "metric": finding.metric,
        "left": dict(finding.left.coordinates),
        "right": dict(finding.right.coordinates),
        "medians": [side.spread.median if side.spread else None for side in (finding.left, finding.right)],
        "ratio": _rounded(ratio.median) if ratio else None,
        "interval": [_rounded(end) for end in finding.interval] if ratio else None,
        "seeds": ratio.n if ratio else 0,
        "asked": [_rounded(finding.band.low), _rounded(finding.band.high)],
        "model_leaves": _model_leaves(finding),
        "printed_ratio": None if finding.printed_ratio is None else _rounded(finding.printed_ratio),
        "verdict": finding.verdict,
        "reason": missing_words(finding.missing),
    }


def _model_leaves(finding: Finding) -> list[Any] | None:
    """Return the interval in which the ratio of real devices may lie; None if no model's error is in it."""
    if finding.error is None or finding.ratio is None:
        return None
    return [_rounded(end) for end in finding.error.widened(*finding.interval)]


def _group(report: Report, comparison: Comparison, group: Group) -> dict[str, Any]:
    """Return a group of a comparison."""
    return {
        "at": dict(group.at),
        "sentence": sentence(comparison, group, report.words),
        "best": joint_text(group.best) if group.best else None,
        "winner": joint_text(group.winner) if group.winner else None,
        "leads": [_lead(lead) for lead in group.leads],
        "settings": len(group.settings),
        "settings_planned": group.settings_planned,
        "left_out": [joint_text(value) for value in group.left_out],
        "doubts": [
            {"value": joint_text(value), "at": dict(setting), "kind": doubt.kind, "why": doubt_words(doubt)}
            for (value, setting), doubt in group.doubts.items()
        ],
    }


def _lead(lead: Lead) -> dict[str, Any]:
    return {
        "over": joint_text(lead.over),
        "factor": _rounded(lead.factor),
        "lowest": _rounded(lead.lowest),
        "highest": _rounded(lead.highest),
        "verdict": lead.verdict,
        "ahead_at": [dict(setting) for setting in lead.ahead_at],
        "behind_at": [dict(setting) for setting in lead.behind_at],
        "zeros": [{"at": dict(at), "best": best, "over": over} for at, (best, over) in lead.zeros.items()],
    }


def _rounded(value: float) -> float:
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}")


def pure(value: Any) -> Any:
    """Return a value with JSON types only. A value that is neither a scalar nor a container becomes its text."""
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(name): pure(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [pure(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)
