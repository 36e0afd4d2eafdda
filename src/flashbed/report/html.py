# SPDX-License-Identifier: Apache-2.0
"""Render the report as one HTML file that needs no network: text, tables, figures and the library that draws them.

The page itself is report.html.j2 with the templates that it includes, and the scripts.

Why plotly draws: measured beside bokeh 3.9 and vega-lite 6 (altair, vl-convert 1.9), its script is 4.8 MB (2.0 MB as it
is packed in the page) against 1.3 MB and 0.9 MB. But it loads in 10 ms and takes plain JSON, so nothing of it is
imported to draw, no id is random, and colours can follow the reader's theme. It zooms, pans, hovers and shows whiskers
without further code, as SVG that prints sharply. Bokeh draws on a canvas with colours fixed in Python, and numbers its
objects anew in each process. vl-convert is an 84 MB engine that takes 1.4 s to return its script.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from flashbed.analysis import Flow, flows
from flashbed.analysis.claim_words import summary
from flashbed.analysis.words import count, in_sentence, listing, metric_of
from flashbed.common.page import PageTable
from flashbed.common.units import rough_size
from flashbed.guest_output.assessment import Status
from flashbed.report import claims, conditions, evidence, lifetimes, program_costs, request_figures, tables
from flashbed.report.answers import Question, questions
from flashbed.report.cautions import Caution, cautions
from flashbed.report.claims import ShownClaim
from flashbed.report.display_names import fixed, legend
from flashbed.report.evidence import CheckSummary, Loss
from flashbed.report.figures import SLOTS, Drawing, drawings
from flashbed.report.folder import EXPORTS, digest_mark
from flashbed.report.matrix import TONES, Matrix
from flashbed.report.model import SCHEDULER, Report, no_scheduler
from flashbed.report.request_figures import RequestDrawing
from flashbed.report.tables import ReportTable

if TYPE_CHECKING:
    from markupsafe import Markup

    from flashbed.study.loading import Study

STYLES = ("report.css", "matrix.css", "print.css")
SCRIPTS = ("report.js", "matrix.js")


@dataclass(frozen=True)
class _Claims:
    """The section "Claims"; `in_answer` has a link and a line for each claim that the answer shows too."""

    summary: str
    overview: ReportTable
    shown: Sequence[ShownClaim]
    in_answer: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class _Evidence:
    """The section "Evidence". A table is None if the study has nothing to show in it."""

    outcomes: Mapping[Status, int]
    losses: Sequence[Loss]
    missing: Sequence[Loss]
    asks_of_loads: bool
    flows: ReportTable | None
    keeper: str
    swallowed: ReportTable | None
    checks: Sequence[CheckSummary]
    media: Sequence[tuple[str, str]]
    mounts: ReportTable | None
    not_durable: Sequence[tuple[str, str]]
    lives: ReportTable | None
    cuts: ReportTable | None
    repetitions: ReportTable
    manifest: Sequence[tuple[str, Sequence[tuple[str, str]]]]


@dataclass(frozen=True)
class _Page:
    """All that report.html.j2 and the templates that it includes show. A template knows each field by its name."""

    report: Report
    study: Study
    command: str
    questions: Sequence[Question]
    queues: str
    by_default: str
    names: Sequence[tuple[str, str]]
    claims: _Claims | None
    cautions: Sequence[Caution]
    drawings: Sequence[tuple[Drawing | RequestDrawing, ReportTable]]
    tables: Sequence[ReportTable]
    programs: Sequence[ReportTable]
    elsewhere: ReportTable | None
    left_out: Sequence[str]
    evidence: _Evidence
    facts: Sequence[tuple[str, str]]
    exports: Sequence[str]
    slots: int
    digest_mark: Markup
    style: Markup
    script: Markup
    plotly: Markup
    data: Markup


def render(report: Report, digest: str, command: str) -> str:
    """Return the report as one HTML file, with the digest of its inputs in the head. `command` writes it again."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("flashbed.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count"] = count
    environment.filters["unbroken"] = lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%")
    environment.filters["keys"] = _keys
    return environment.get_template("report.html.j2").render(vars(_page(report, digest, command)))


def _page(report: Report, digest: str, command: str) -> _Page:
    """Return all that the page shows."""
    from markupsafe import Markup

    study = report.study
    pictures = drawings(report)
    drawn_requests = request_figures.drawings(report)
    data = [*(drawing.data() for drawing in pictures), *(drawing.data() for drawing in drawn_requests)]
    flows_ = flows(report.results, report.fixed)
    return _Page(
        report=report,
        study=study,
        command=command,
        questions=questions(report),
        queues=_queues(report),
        by_default=_by_default(report),
        names=legend(study.library, report.words, study.labels, list(report.results.combinations())),
        claims=_claims(report),
        cautions=cautions(report, flows_),
        drawings=[
            *((drawing, tables.data_table(drawing)) for drawing in pictures),
            *((drawing, request_figures.table(drawing)) for drawing in drawn_requests),
        ],
        tables=tables.study_tables(report),
        programs=[
            table for table in (program_costs.where_time_goes(report), program_costs.costly_files(report)) if table
        ],
        elsewhere=tables.elsewhere_table(report) if report.elsewhere else None,
        left_out=report.left_out,
        evidence=_evidence(report, flows_),
        facts=_facts(report),
        exports=EXPORTS,
        slots=SLOTS,
        digest_mark=Markup(digest_mark(digest)),  # made of hex digits
        style=Markup("\n".join(map(_text, STYLES))),  # our own files
        script=Markup("\n".join(map(_text, SCRIPTS))),
        plotly=Markup(_plotly() if pictures or drawn_requests else ""),
        data=Markup(_json(data)),  # escaped there
    )


def _by_default(report: Report) -> str:
    """Return a sentence on what the answer compares, if the study's file does not say; else ""."""
    answer = report.study.answer
    if answer is None or "answer" not in report.study.by_default:
        return ""
    compared = listing([report.words.axis_plural(axis) for axis in answer.compare])
    apart = listing([report.words.axis(axis) for axis in answer.by])
    for_each = f", for each {apart} apart" if apart else ""
    metrics = listing([in_sentence(metric_of(name).title) for name in answer.metric])
    return f"The study’s file has no [answer], so its {compared} are compared by {metrics}{for_each}."


def _queues(report: Report) -> str:
    """Return a sentence on cells without a scheduler, if the study compares schedulers; else ""."""
    compared = any(SCHEDULER in question.compare for question in report.questions)
    return no_scheduler(report, report.results.combinations()) if compared else ""


def _keys(pictures: Sequence[Matrix]) -> list[tuple[str, str, str]]:
    """Return the tones of all pictures, each with its sign and its meaning."""
    used = {key for picture in pictures for key in picture.key}
    keys = [(tone, *meaning) for tone, meaning in TONES.items() if (tone, *meaning) in used]
    one_seed = [("one-seed", "", "one seed")] if any(picture.has_one_seed for picture in pictures) else []
    return [*keys, *one_seed]


def _claims(report: Report) -> _Claims | None:
    """Return the section on claims; None if the study has none."""
    judgements = report.judgements()
    if not judgements:
        return None
    return _Claims(
        summary=summary(judgements),
        overview=claims.overview(report, judgements),
        shown=claims.shown(report, judgements),
        in_answer=claims.in_answer(report, judgements),
    )


def _facts(report: Report) -> list[tuple[str, str]]:
    """Return what the study fixes, for the head of the page."""
    words = report.words
    load = report.study.bytes_per_day
    return [
        *((words.axis(name), fixed(report.study.library, words, name, value)) for name, value in report.fixed.items()),
        *([("written a day", rough_size(load))] if load else []),
    ]


def _evidence(report: Report, flows_: Sequence[Flow]) -> _Evidence:
    """Return the section on evidence."""
    swallowed = evidence.swallowed(flows_) if report.asks_of_loads else []
    keeper = report.keeper(flow.combination for flow in swallowed)
    return _Evidence(
        outcomes=report.results.outcomes(),
        losses=evidence.losses(report),
        missing=evidence.missing(report),
        asks_of_loads=report.asks_of_loads,
        flows=evidence.flow_table(report, flows_, "Bytes asked for and bytes at the medium") if flows_ else None,
        keeper=keeper,
        swallowed=evidence.flow_table(report, swallowed, f"Where {keeper} kept the bytes") if swallowed else None,
        checks=evidence.check_summaries(report),
        media=[*conditions.media(report), *conditions.writes(report)],
        mounts=conditions.mounts(report),
        not_durable=evidence.not_durable(report),
        lives=lifetimes.table(report),
        cuts=evidence.power_cuts(report),
        repetitions=evidence.repetition_table(report),
        manifest=evidence.manifest_rows(report.manifest),
    )


def _json(data: object) -> str:
    """Return JSON for a script element: without a character that could end it."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


@cache
def _text(name: str) -> str:
    return files("flashbed.report").joinpath(name).read_text(encoding="utf-8")


@cache
def _plotly() -> str:
    """Return plotly.js as gzip in base64: 2 MB instead of 4.8 MB in each report. report.js unpacks it. Level 9 would
    save 4 KB, and takes half as long again.
    """
    from plotly.offline import get_plotlyjs

    return b64encode(gzip.compress(get_plotlyjs().encode(), compresslevel=6, mtime=0)).decode()


PAGE_STYLES = ("report.css", "page.css", "print.css")

MOST_OPEN_LINES = 10
"""The most highlighted lines that are shown at once; the rest is folded."""


def render_page(
    title: str, lines: Sequence[str], tables: Sequence[PageTable], lead: Sequence[str] = (), *, is_bad: bool = False
) -> str:
    """Return lines and tables of text as one HTML file in the style of reports. `lead` are highlighted lines; `is_bad`
    says whether they report a problem.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("flashbed.report", ".")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    folder = Path(__file__).parent
    return environment.get_template("page.html.j2").render(
        title=title,
        lines=lines,
        lead=lead,
        is_bad=is_bad,
        most_open=MOST_OPEN_LINES,
        tables=tables,
        style=Markup("\n".join((folder / name).read_text(encoding="utf-8") for name in PAGE_STYLES)),  # our own files
    )
