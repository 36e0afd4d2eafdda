# SPDX-License-Identifier: Apache-2.0
"""Writes docs/generated/papers.md from the stored results of the studies after papers: claims, verdicts and figures.

    python -m pages.papers [--check] [--partial] [--only STUDY...]

Runs nothing. Ends with status 1 and writes nothing if results are missing, but for --partial, which marks what rests on
them as open. With --only it writes the sections of these studies, and the others stay as they are: all of them take
hours to measure. It also wants the results of studies that judge sentences of these. With --check it writes nothing and
ends with status 1 if the page would change. Imported results are left out: they are of one machine, and the page is the
same on all.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from flashbed.execution import run
from flashbed.report.inputs import ReportInputs
from flashbed.report.model import Report, report_of
from flashbed.report.papers import heading, page, section, sections, unexplained
from flashbed.report.sentences import companions, rows, rows_in
from flashbed.study.loading import Study, shipped_studies
from pages.page_text import written

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs/generated/papers.md"


def studies_after_papers() -> list[Study]:
    """The shipped studies that name what they repeat, and judge its claims."""
    return [study for study in shipped_studies() if study.source and study.claims]


def missing(reports: list[Report]) -> Iterator[str]:
    """A line for each study that lacks results, with what to do."""
    for report in reports:
        lost = len(report.results.not_measured())
        if lost:
            name, planned = report.study.name, len(report.results.repetitions)
            yield f"{name}: {lost} of {planned} repetitions have no result; `flashbed run {name}`"


def main(words: list[str] | None = None) -> int:
    studies = studies_after_papers()
    about = "Write docs/generated/papers.md from the stored results of studies after papers."
    said = argparse.ArgumentParser(description=about)
    said.add_argument("--check", action="store_true", help="write nothing; status 1 if the page would change")
    said.add_argument("--partial", action="store_true", help="also without all results; what rests on them is open")
    said.add_argument(
        "--only", nargs="+", metavar="STUDY", choices=[study.name for study in studies], help="of these studies alone"
    )
    options = said.parse_args(words)
    asked = [study for study in studies if not options.only or study.name in options.only]
    wanted = {study.name: study for one in asked for study in (one, *companions(one, studies))}
    reports = {name: report_of(ReportInputs(study, run.rows(run.stored(study)))) for name, study in wanted.items()}
    lost = list(missing(list(reports.values())))
    for line in lost:
        print(line, file=sys.stderr)
    if lost and not options.partial:
        print("docs/generated/papers.md is not written; --partial writes it with gaps marked", file=sys.stderr)
        return 1
    for claim in unexplained([reports[study.name] for study in asked]):
        text = f"{claim.study}, claim {claim.number}, {claim.verdict}: the study does not say why ({claim.text})"
        print(text, file=sys.stderr)
    before = PAGE.read_text() if options.only else ""
    parts, lines = sections(before), rows_in(before)
    for study in asked:
        parts[heading(study)] = section(reports[study.name])
        lines[study.name] = rows(reports[study.name], [reports[other.name] for other in companions(study, studies)])
    text = page(
        [line for study in studies for line in lines.get(study.name, [])],
        [parts[heading(study)] for study in studies if heading(study) in parts],
    )
    return 0 if written(PAGE, text, check=options.check, target="papers") else 1


if __name__ == "__main__":
    sys.exit(main())
