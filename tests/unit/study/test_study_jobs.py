# SPDX-License-Identifier: Apache-2.0
"""Studies with a user's fio jobs, fixed or on an axis: each job is checked."""

from pathlib import Path

import pytest

from flashbed.result import columns
from flashbed.result.metrics import METRICS
from flashbed.study.format import SYSTEM
from flashbed.study.loading import load_study
from flashbed.study.plan import cell_inputs, plan
from tests.support.facts import Facts
from tests.support.samples import load, message, write, write_study

JOB = "[global]\nrw=${pattern}\nbs=${request}\nsize=8M\n[job]\n"


WITH_JOB = ('file  = "8M"\nflush = "fsync"', 'job = "my.fio"')


def test_a_job_of_the_users(tmp_path: Path) -> None:
    write(tmp_path / "my.fio", JOB)
    study = load(tmp_path, WITH_JOB)
    assert (study.job, study.workload) == ({"my.fio": JOB}, {})  # a text per file, because there may be several


def test_jobs_on_an_axis(tmp_path: Path) -> None:
    """Each cell has the text of its own job, and the same key as in a study that fixes this job."""
    write(tmp_path / "my.fio", JOB)
    write(tmp_path / "your.fio", JOB + "direct=1\n")
    fixed = write_study(tmp_path, WITH_JOB).read_text().partition("[answer]")[0]
    varied = fixed.replace('job = "my.fio"', "").replace("[axes]", '[axes]\njob = ["my.fio", "your.fio"]')
    cells = plan(load_study(write(tmp_path / "varied.toml", varied)))
    texts = {cell.coordinates["job"]: cell.workload.parameters["job"] for cell in cells}
    assert texts == {"my.fio": JOB, "your.fio": JOB + "direct=1\n"}
    assert all("job" not in cell.workload.parameters["variables"] for cell in cells)
    mine = [cell_inputs(cell) for cell in cells if cell.coordinates["job"] == "my.fio"]
    assert mine == [cell_inputs(cell) for cell in plan(load(tmp_path, WITH_JOB))]


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("[axes]", '[axes]\njob = ["my.fio", "no.fio"]')], "7: axes.job[1]: "),
        ([("[axes]", '[axes]\njob = ["my.fio", "odd.fio"]')], "7: axes.job[1]: "),
        ([("[axes]", '[axes]\njob = ["my.fio"]'), ('tool  = "fio"', 'tool = "bonnie"')], "7: axes.job: is only for"),
    ],
)
def test_each_job_on_an_axis_is_looked_at(tmp_path: Path, pairs: list[tuple[str, str]], expected: str) -> None:
    write(tmp_path / "my.fio", JOB)
    write(tmp_path / "odd.fio", JOB + "iodepth=${depth}\n")
    assert expected in message(tmp_path, ('file  = "8M"\nflush = "fsync"', ""), *pairs)


def test_a_job_is_fixed_or_varied(tmp_path: Path) -> None:
    write(tmp_path / "my.fio", JOB)
    both = WITH_JOB, ("[axes]", '[axes]\njob = ["my.fio"]')
    assert "workload.job: is fixed here and varied under [axes]" in message(tmp_path, *both)


@pytest.mark.parametrize(
    ("job", "pair", "expected"),
    [
        (JOB, ('"my.fio"', '"my.fio"\nflush = "none"'), "14: workload.flush: cannot stand beside job"),
        (JOB, ('"my.fio"', '"my.fio"\npattern = "read"'), "14: workload.pattern: "),
        (JOB, ('"my.fio"', '"your.fio"'), "cannot be read: No such file"),
        (JOB.replace("${pattern}", "read"), WITH_JOB, "8: axes.pattern: does not reach the job: "),
        (JOB.replace("${request}", "${reqest}"), WITH_JOB, 'uses ${reqest}, which is no axis; did you mean "request"?'),
        (JOB, ("request    =", "bandwidth ="), "9: axes.bandwidth: is the name of a column of the results"),
        (JOB.replace("rw=", "randseed=7\nrw="), WITH_JOB, "sets randseed, so that fio takes the same random numbers"),
        (JOB, ("request    =", '"a-b" ='), "9: axes.a-b: cannot be a variable of the job"),
    ],
)
def test_jobs_that_contradict(tmp_path: Path, job: str, pair: tuple[str, str], expected: str) -> None:
    write(tmp_path / "my.fio", job)
    pairs = [WITH_JOB] if pair == WITH_JOB else [WITH_JOB, pair]
    assert expected in message(tmp_path, *pairs)


def test_no_axis_of_a_job_is_a_column_of_the_results(tmp_path: Path) -> None:
    """An axis named `check` overwrote the checker's output, and the report said "was not run"."""
    write(tmp_path / "my.fio", JOB)
    for column in (*columns.names(), *columns.TABLES, *METRICS, "tool"):
        text = message(tmp_path, WITH_JOB, ("request    =", f"{column} ="))
        assert Facts(f"9: axes.{column}: ", "a column of the results").within(text)
    assert f"9: axes.{SYSTEM}: " in message(tmp_path, WITH_JOB, ("request    =", f"{SYSTEM} ="))
