# SPDX-License-Identifier: Apache-2.0
"""A report's statements on the life of flash."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from flashbed.analysis.claim_words import evidence
from flashbed.common import paths
from flashbed.report import lifetimes
from flashbed.study.format import Claim
from flashbed.study.loading import load_study
from tests.support.facts import Facts
from tests.support.made_up_limits import limited, report
from tests.support.made_up_results import MANIFEST, made_up_study, rows_of
from tests.support.tabled import bring_up_to_date, report_of


def test_years_stand_with_their_interval_or_as_not_known_yet(tmp_path: Path) -> None:
    study = replace(made_up_study(), bytes_per_day=1 << 30)
    frame = limited(study)
    f2fs = frame["filesystem"] == "f2fs"
    frame.loc[f2fs, "lifetime_years"] = frame.loc[f2fs, "seed"] + 4.0
    frame.loc[f2fs, "lifetime_level_years"] = 9.0
    report_ = report_of(study, rows_of(frame))
    table = lifetimes.table(report_)
    assert table is not None
    assert table.caption == "Years at 1.00 GiB a day"
    by_cell = {tuple(head.text for head in row.heads): row.cells for row in table.rows}
    years = by_cell["F2FS", "random write", "16k"][1]
    assert (years.text, years.note) == ("6.00", "5.00 – 7.00")
    assert [cell.text for cell in by_cell["ext2", "random write", "16k"]] == ["12.5", "not known yet", "not known yet"]
    page = bring_up_to_date(study, rows_of(frame), MANIFEST, tmp_path).read_text()
    assert "How long does it last?" in page
    assert "<dt>written a day</dt><dd>1.00 GiB</dd>" in page


def test_a_life_is_known_to_an_erase() -> None:
    """12.5 overwrites in the mean, and the first block is at its end twice as soon: 25 erases, of which one is 4 %."""
    study = made_up_study()
    frame = limited(study)
    frame["tbw_bytes"], frame["tbw_level_bytes"] = 1e12, 2e12
    assert lifetimes.resolution(report_of(study, rows_of(frame))) == ""
    assert study.answer
    report_ = replace(study, answer=study.answer.model_copy(update={"metric": ("tbw_bytes",)}))
    sentence = lifetimes.resolution(report_of(report_, rows_of(frame)))
    assert Facts("whole erases", "up to 4 %").within(sentence)


def test_a_life_that_is_asked_for_and_not_known_is_told_with_its_bounds() -> None:
    study = replace(made_up_study(), bytes_per_day=1 << 30)
    frame = limited(study)
    frame["lifetime_most_years"] = 4.4
    assert lifetimes.not_known(report_of(study, rows_of(frame))) == ""
    assert study.answer
    report_ = replace(study, answer=study.answer.model_copy(update={"metric": ("lifetime_years",)}))
    f2fs = frame["filesystem"] == "f2fs"
    frame.loc[f2fs, "lifetime_years"] = 4.0
    frame.loc[frame["filesystem"] == "ext2:block=4k", "lifetime_most_years"] = 2.2
    assert lifetimes.not_known(report_of(report_, rows_of(frame))) == Facts(
        "not known yet in 32 cells", "overwritten 10 times", "at most 4.40 years"
    )
    frame.loc[~f2fs, "lifetime_years"] = 3.0
    assert lifetimes.not_known(report_of(report_, rows_of(frame))) == ""


def test_a_lead_that_an_erase_on_either_side_could_make_is_none() -> None:
    """F2FS's first block has 18 erases against ext2's 20, in each seed: with 19 against 19 both would last as long.
    With 17 against 20 the lead is reported, for TBW and for years. The years of an even wear have no such count in
    them.
    """
    study = made_up_study()
    answer = study.answer
    assert answer

    def verdict(erases: dict[str, int], metric: str = "tbw_bytes") -> set[str]:
        frame = limited(study)
        count = frame["filesystem"].map({name: float(number) for name, number in erases.items()})
        frame["tbw_bytes"], frame["tbw_level_bytes"] = 20e12 / count, 20e12 / 12.5  # each block 12.5 in the mean
        frame["lifetime_years"], frame["lifetime_level_years"] = 20 / count, 20 / count
        answer_ = answer.model_copy(update={"metric": (metric,)})
        report = report_of(replace(study, answer=answer_), rows_of(frame))
        [comparison] = report.comparisons(answer_)
        return {lead.verdict for group in comparison.groups for lead in group.leads}

    others = {"ext2:block=4k": 20, "fat16:cluster=32k": 20}
    near, far = {"f2fs": 18, **others}, {"f2fs": 17, **others}
    assert verdict(near) == verdict(near, "lifetime_years") == {"even"}
    assert verdict(far) == verdict(far, "lifetime_years") == {"ahead"}
    assert verdict(near, "lifetime_level_years") == {"ahead"}


def test_without_a_load_no_years_are_told() -> None:
    assert lifetimes.table(report()) is None


def test_the_lifetime_study_asks_for_less_than_its_numbers_allow() -> None:
    """With five years, the answer is known before measuring: 16,777,216 bytes x 100,000 erases carry 4.28 years."""
    study = load_study(paths.studies() / "lifetime.toml")
    parameters = study.library.medium(study.fixed["medium"]).parameters
    assert study.bytes_per_day
    most = int(parameters["capacity_bytes"]) * int(parameters["endurance_erases"]) / (study.bytes_per_day * 365.25)
    assert round(most, 2) == 4.28
    assert [claim.value for claim in study.claims] == [round(most / 2, 2)] * 2


def claimed(least: float | None, most: float | None, relation: str = ">", value: float = 7.0) -> tuple[str, str, str]:
    """Return the verdict, the sentence and the table of lives for the claim "it lasts `value` years", given the bounds
    of a life that is not known yet.
    """
    study = replace(
        made_up_study(),
        bytes_per_day=1 << 30,
        axes={"filesystem": ("ext2",)},
        claims=(Claim(text="It lasts.", metric=("lifetime_years",), value=value, relation=(relation,)),),
    )
    row = {"filesystem": "ext2", "outcome": "measured", "reason": "", "key": "k", "check": "", "overwrites": 0.4}
    bounds = {"lifetime_least_years": least, "lifetime_most_years": most}
    rows = [{**row, "seed": seed, **{k: v for k, v in bounds.items() if v is not None}} for seed in study.seeds]
    made = report_of(study, rows)
    [judgement] = made.judgements()
    table = lifetimes.table(made)
    assert table is not None
    return judgement.verdict, evidence(judgement, made.words), table.rows[0].cells[1].note


def test_bounds_decide_before_a_life_is_known() -> None:
    assert [*claimed(None, 0.4385)] == [
        "does not hold",
        Facts("first block is worn out", "7.00", "at most 0.439 years"),
        "at most 0.439",
    ]
    assert [*claimed(12.0, 40.0)[:2]] == ["holds", Facts("first block is worn out", "7.00", "at least 12.0 years")]
    assert [*claimed(None, 0.4385, "<")[:2]] == [
        "holds",
        Facts("first block is worn out", "7.00", "at most 0.439 years"),
    ]
    assert claimed(12.0, 40.0, "<")[1].endswith("at least 12.0 years.")
    verdict, text, years = claimed(3.0, 9.0)
    assert (verdict, years) == ("cannot be decided", "at least 3.00, at most 9.00")
    assert "(not known yet: at least 3.00 years and at most 9.00 years)" in text
    assert claimed(None, None)[1].endswith("(it has no lifetime_years).")
