# SPDX-License-Identifier: Apache-2.0
"""Write docs/generated/papers.md from the stored results of the studies after papers: claims, verdicts and figures.

    python -m pages.papers [--check] [--partial] [--only STUDY...]

Runs nothing. If results are missing, the exit status is 1, and nothing is written. With --partial it writes the page,
and marks everything that depends on missing results as open. With --only it writes the parts of these studies, and
leaves the others as they are, because measuring all takes hours; papers.json keeps the part of each study for that. It
also needs the results of studies that judge claims of these. With --check it writes nothing, and the exit status is 1
if the page would change. Imported results are left out: they are from one machine, and the page is the same on all.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict

from flashbed.execution import run
from flashbed.report.inputs import ReportInputs
from flashbed.report.model import Report, report_of
from flashbed.report.papers import (
    StudyPart,
    companions,
    page,
    unexplained,
)
from flashbed.study.loading import Study, shipped_studies
from pages.page_text import REPOSITORY, written

PAGE = REPOSITORY / "docs/generated/papers.md"
PARTS = REPOSITORY / "pages/papers.json"
"""The part of the page on each study, by its name."""


def studies_after_papers() -> list[Study]:
    """Return the shipped studies that name a source and judge its claims."""
    return [study for study in shipped_studies() if study.source and study.claims]


def missing(reports: list[Report]) -> Iterator[str]:
    """Return a line for each study that lacks results, with the remedy."""
    for report in reports:
        lost = len(report.results.not_measured())
        if lost:
            name, planned = report.study.name, len(report.results.repetitions)
            yield f"{name}: {lost} of {planned} repetitions have no result; `flashbed run {name}`"


def kept_parts() -> dict[str, StudyPart]:
    """Return the parts of the page as it was written last, by study."""
    if not PARTS.is_file():
        return {}
    return {name: StudyPart.from_json(part) for name, part in json.loads(PARTS.read_text()).items()}


def main(words: list[str] | None = None) -> int:
    studies = studies_after_papers()
    about = "Write docs/generated/papers.md from the stored results of studies after papers."
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if the page would change")
    parser.add_argument("--partial", action="store_true", help="also without all results; what rests on them is open")
    parser.add_argument(
        "--only", nargs="+", metavar="STUDY", choices=[study.name for study in studies], help="of these studies alone"
    )
    options = parser.parse_args(words)
    wanted_studies = [study for study in studies if not options.only or study.name in options.only]
    parts = kept_parts() if options.only else {}
    if absent := [study.name for study in studies if study not in wanted_studies and study.name not in parts]:
        print(f"{PARTS.name} lacks {', '.join(absent)}; name them after --only too, or omit --only", file=sys.stderr)
        return 1
    to_write = {
        study.name: study
        for wanted_study in wanted_studies
        for study in (wanted_study, *companions(wanted_study, studies))
    }
    reports = {name: report_of(ReportInputs(study, run.rows(run.stored(study)))) for name, study in to_write.items()}
    lost = list(missing(list(reports.values())))
    for line in lost:
        print(line, file=sys.stderr)
    if lost and not options.partial:
        print("docs/generated/papers.md is not written; --partial writes it with gaps marked", file=sys.stderr)
        return 1
    for claim in unexplained([reports[study.name] for study in wanted_studies]):
        text = f"{claim.study}, claim {claim.number}, {claim.verdict}: the study does not say why ({claim.text})"
        print(text, file=sys.stderr)
    for study in wanted_studies:
        others = [reports[other.name] for other in companions(study, studies)]
        parts[study.name] = StudyPart.of(reports[study.name], others)
    ordered = {study.name: parts[study.name] for study in studies}
    if not options.check:
        PARTS.write_text(json.dumps(ordered, default=asdict, indent=1, ensure_ascii=False) + "\n")
    return 0 if written(PAGE, page(list(ordered.values())), check=options.check, target="papers") else 1


if __name__ == "__main__":
    sys.exit(main())
