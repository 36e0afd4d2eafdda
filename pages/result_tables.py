# SPDX-License-Identifier: Apache-2.0
"""Write the tables of results in the pages of docs/ from the stored results. pages/result_tables.toml declares them.

    python -m pages.result_tables [--check] [--only STUDY...]

A table's place in a page is a pair of comments, `<!-- result-table NAME -->` and `<!-- /result-table -->`. The command
runs nothing. If results of a study are missing, it names the study, does not write the pages that show it, and ends
with status 1. With --check it writes nothing, and the status is 1 if a page would change. With --only it renews the
tables of these studies alone. Figures are formatted as in a report.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from bench import study_cost
from bench.study_cost import StudyCost
from flashbed.analysis import Spread
from flashbed.analysis.decisive import is_of_the_load
from flashbed.analysis.ratio import WIDE_FACTOR
from flashbed.analysis.words import Scale, capitalized, count, in_sentence, metric_of, number, scale_of
from flashbed.common.errors import InputError
from flashbed.common.tomlfile import TomlFile
from flashbed.execution import run
from flashbed.report.inputs import ReportInputs
from flashbed.report.model import Report, report_of
from flashbed.result.columns import Combination
from flashbed.study.format import Names, Selection
from flashbed.study.loading import shipped_studies
from pages.page_text import REPOSITORY, table, wrapped, written
from pages.papers import missing

DOCS = REPOSITORY / "docs"
DECLARED = Path(__file__).with_suffix(".toml")
COSTS = "study-costs"
"""The name of the table of what each study costs, which bench/study_cost.py records."""
PLACE = re.compile(r"(<!-- result-table ([\w-]+) -->\n)(?:(?!<!--).)*(<!-- /result-table -->)", re.DOTALL)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Column(_Strict):
    """A metric of the cells with these values; its title in the table if that of the metric does not tell enough. With
    `divides` the figure is this number divided by the metric.
    """

    metric: str
    where: Selection = Field(default_factory=dict)
    title: str = ""
    divides: float = Field(default=0.0, ge=0.0)


class Declared(_Strict):
    """A table: its rows are the values of some axes, its columns those of the axis `across`, once for each column."""

    study: str
    where: Selection = Field(default_factory=dict)
    rows: Names = Field(min_length=1)
    across: str = ""
    columns: tuple[Column, ...] = Field(min_length=1)


class DeclaredTables(_Strict):
    """The declaration of all tables, by name."""

    table: dict[str, Declared]


@dataclass(frozen=True)
class _Shown:
    """A column of a table with its cells, by the values of the rows."""

    column: Column
    head: str
    cells: Mapping[Combination, Combination]


def declared_tables() -> dict[str, Declared]:
    """Return the declared tables. Raises InputError."""
    return dict(TomlFile.read(DECLARED).validate(DeclaredTables).table)


@cache
def stored_report(study_name: str) -> Report:
    """Return the report of what is stored of a shipped study."""
    (study,) = [study for study in shipped_studies() if study.name == study_name]
    return report_of(ReportInputs(study, run.rows(run.stored(study))))


def result_table(report: Report, wanted: Declared) -> str:
    """Return a table with a line on how to read it. Raises InputError if two cells share a place."""
    columns = [shown for column in wanted.columns for shown in _columns(report, wanted, column)]
    rows = list(dict.fromkeys(row for shown in columns for row in shown.cells))
    metrics = list(dict.fromkeys(column.metric for column in wanted.columns))
    spreads = {metric: report.results.spreads(metric) for metric in metrics}
    shown_spreads = {
        metric: [
            spreads[metric][cell]
            for shown in columns
            if shown.column.metric == metric
            for cell in shown.cells.values()
            if cell in spreads[metric]
        ]
        for metric in metrics
    }
    scales = {name: scale_of(metric_of(name), [s.maximum for s in of_it]) for name, of_it in shown_spreads.items()}
    lines = [
        [
            *_row_heads(report, wanted.rows, row),
            *(_figure(report, shown, spreads[shown.column.metric], row, scales) for shown in columns),
        ]
        for row in rows
    ]
    heads = [capitalized(report.words.axis(axis)) for axis in wanted.rows]
    several = len(metrics) > 1
    titles = [
        shown.head + (_unit(scales[shown.column.metric]) if several and not shown.column.divides else "")
        for shown in columns
    ]
    reading = _reading(report, wanted, scales, shown_spreads, "\n".join(map(str, lines)))
    return f"{table([*heads, *titles], lines, left=range(len(heads)))}\n{wrapped(reading)}"


def _unit(scale: Scale) -> str:
    return f" ({scale.unit})" if scale.unit else ""


def _columns(report: Report, wanted: Declared, column: Column) -> Iterable[_Shown]:
    """Return a column of the declaration, or one for each value of the axis across."""
    axes = list(report.results.axes)
    places = [axes.index(axis) for axis in wanted.rows]
    by_value: dict[str, dict[Combination, Combination]] = {}
    for cell in report.results.combinations({**wanted.where, **column.where}):
        value = cell[axes.index(wanted.across)] if wanted.across else ""
        row = tuple(cell[place] for place in places)
        if row in by_value.setdefault(value, {}):
            raise InputError(f"{DECLARED}: of {wanted.study}, several cells are at {row}: name an axis more in `where`")
        by_value[value][row] = cell
    if not by_value:
        raise InputError(f"{DECLARED}: {wanted.study} has no cells with {dict(wanted.where)} and {dict(column.where)}")
    title = column.title or metric_of(column.metric).title
    if not wanted.across:
        return [_Shown(column, title, by_value[""])]
    own_title = f"{title}, " if len(wanted.columns) > 1 else ""
    order = {value: place for place, value in enumerate(report.results.axes[wanted.across])}
    return [
        _Shown(column, f"{own_title}{report.words.place(wanted.across, value)}", by_value[value])
        for value in sorted(by_value, key=order.__getitem__)
    ]


def _row_heads(report: Report, axes: Names, row: Combination) -> list[str]:
    stated = {axis: (value,) for axis, value in zip(axes, row, strict=True)}
    return [
        "" if report.words.is_idle(axis, stated) else report.words.value(axis, value)
        for axis, value in zip(axes, row, strict=True)
    ]


def _figure(
    report: Report,
    shown: _Shown,
    spreads: Mapping[Combination, Spread],
    row: Combination,
    scales: Mapping[str, Scale],
) -> str:
    """Return the median of a cell, or the range of its seeds if that is wide, with what limits trust in it."""
    metric, cell = shown.column.metric, shown.cells.get(row)
    if cell is None or cell not in spreads:
        return ""
    spread, divided = spreads[cell], shown.column.divides
    ends = spread.minimum, spread.maximum, spread.median
    if divided:
        low, high, middle = (number(divided / end) for end in (ends[1], ends[0], ends[2]))
    else:
        low, high, middle = map(scales[metric].number, ends)
    text = f"{low} to {high}" if spread.is_wide else middle
    doubt = report.doubts(metric).get(cell)
    if is_of_the_load(metric) and cell in report.unsteady:
        return f"~{text}"
    return f"{text} ({doubt.kind})" if doubt and doubt.bars else text


def _reading(
    report: Report,
    wanted: Declared,
    scales: Mapping[str, Scale],
    spreads: Mapping[str, Iterable[Spread]],
    text: str,
) -> str:
    """Return a line below the table: where its figures are from, their unit, and what they are."""
    metrics = [f"{in_sentence(metric_of(name).title)}{_unit(scale)}" for name, scale in scales.items()]
    unit = f" of {metrics[0]}" if len(metrics) == 1 else ""
    seeds = len(report.study.seeds)
    how = f"a figure{unit} is the median over {count(seeds, 'seed')}" if seeds > 1 else f"figures{unit} of one seed"
    if any(spread.is_wide for of_metric in spreads.values() for spread in of_metric):
        how += f", or smallest and largest if these are {WIDE_FACTOR} times apart or more"
    unsteady = "; ~ marks a rate that was not steady" if "'~" in text else ""
    return f"From `flashbed run {wanted.study}`: {how}{unsteady}."


def costs_table() -> str:
    """Return the table of what each recorded study costs this project's host."""
    lines = [
        (f"`{name}`", _of_all(cost), _minutes(cost.whole_cpu_s), _minutes(cost.whole_cpu_s / 2))
        for name, cost in study_cost.recorded().items()
    ]
    reading = (
        "From `python -m bench.study_cost`: the CPU time of measuring all repetitions, without building the guest. If "
        "only some repetitions were timed, the CPU time of the others is computed from theirs. The time on 2 cores is "
        "computed: half of the CPU time."
    )
    return f"{table(('Study', 'Repetitions', 'CPU time', 'On 2 cores'), lines)}\n{wrapped(reading)}"


def _of_all(cost: StudyCost) -> str:
    timed = "" if cost.measured == cost.repetitions else f" ({cost.measured:,} timed)"
    return f"{cost.repetitions:,}{timed}"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:,.0f} min" if seconds >= 600 else f"{seconds / 60:.1f} min"


def renewed(page: str, tables: Mapping[str, str]) -> str:
    """Return the page with these tables, by name; places of other names stay."""
    return PLACE.sub(
        lambda place: f"{place[1]}\n{tables[place[2]]}\n{place[3]}" if place[2] in tables else place[0], page
    )


def names_in(page: str) -> list[str]:
    """Return the names of the tables of a page."""
    return [name for _, name, _ in PLACE.findall(page)]


def main(words: list[str] | None = None) -> int:
    declared, costs = declared_tables(), {COSTS: costs_table()}
    names = sorted({wanted.study for wanted in declared.values()})
    parser = argparse.ArgumentParser(description="Write the tables of results in docs/ from the stored results.")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if a page would change")
    parser.add_argument("--only", nargs="+", metavar="STUDY", choices=names, help="the tables of these studies alone")
    options = parser.parse_args(words)
    status = 0
    for path in sorted(DOCS.glob("*.md")):
        before = path.read_text()
        wanted = {name: declared[name] for name in names_in(before) if name != COSTS}
        wanted = {name: one for name, one in wanted.items() if not options.only or one.study in options.only}
        studies = dict.fromkeys(one.study for one in wanted.values())
        lost = list(missing([stored_report(study) for study in studies]))
        if lost:
            print(*lost, f"docs/{path.name} is not written", sep="\n", file=sys.stderr)
            status = 1
            continue
        tables = {name: result_table(stored_report(one.study), one) for name, one in wanted.items()}
        if not written(path, renewed(before, costs | tables), check=options.check, target="result-tables"):
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
