# SPDX-License-Identifier: Apache-2.0
"""How the lab calls bonnie++, and what it computes from its output. The CSV lines are from a guest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed.guest_output import medium_counters
from flashbed.study.loading import load_study
from flashbed.workload.base import WorkloadOutputError
from flashbed.workload.bonnie_plus import BonniePlus, BonniePlusParameters
from tests.support.samples import write_study

REST = ",,,,,,,,,,,,,,,,,,14674us,169us,43us,9346us,10us,16us,,,,,,\n"
ALONE = "1.98,2.00a,flashbed,1,1,8M,,300,5,524,95,12622,4,10575,2,873,99,+++++,+++,+++++,+++" + REST
FIRST = "1.98,2.00a,flashbed,1,1,8M,,300,5,261,47,6354,2,3981,0,436,50,+++++,+++,+++++,+++" + REST
SECOND = "1.98,2.00a,flashbed,1,2,8M,,300,5,261,47,6364,2,4945,0,437,50,+++++,+++,385.1,1" + REST


def metrics(*lines: str) -> dict[str, float]:
    return BonniePlus().metrics({"bonnie.csv": "".join(lines).encode()})


def parameters(**values: object) -> dict[str, object]:
    return BonniePlusParameters.model_validate({"file": "8M", **values}).canonical()


def test_rates_and_loads() -> None:
    computed = metrics(ALONE)
    assert computed["char_output"] == 524 / 1024
    assert computed["block_output"] == 12622 / 1024
    assert computed["rewrite"] == 10575 / 1024
    assert computed["char_input"] == 873 / 1024
    assert (computed["char_output_cpu_percent"], computed["rewrite_cpu_percent"]) == (95, 2)


def test_what_was_too_fast_is_absent() -> None:
    assert {"block_input", "block_input_cpu_percent", "random_seeks"}.isdisjoint(metrics(ALONE))
    assert metrics(SECOND)["random_seeks"] == 385.1
    assert metrics(SECOND)["random_seeks_cpu_percent"] == 1 / 5
    assert "random_seeks" not in metrics(FIRST, SECOND)


def test_processes_count_together() -> None:
    both = metrics(FIRST, SECOND)
    assert both["block_output"] == (6354 + 6364) / 1024
    assert both["char_input_cpu_percent"] == 100


def test_what_was_not_done_is_absent() -> None:
    blocks_only = "1.98,2.00a,flashbed,1,1,8M,,300,5,,,12622,4,10575,2,,,30000,40,1500,90" + REST
    assert metrics(blocks_only).keys() == {
        name + ending
        for name in ("block_output", "rewrite", "block_input", "random_seeks")
        for ending in ("", "_cpu_percent")
    }


@pytest.mark.parametrize("text", ["", "1.98,2.00a,flashbed,1,1,8M", ALONE.replace("524", "fast")])
def test_output_that_cannot_be_read_is_told(text: str) -> None:
    with pytest.raises(WorkloadOutputError, match=r"bonnie\.csv"):
        metrics(text)


def test_the_call() -> None:
    canonical = parameters(file="40M", chunk="4k", per_character="1M", seeks=4000, seek_processes=3, flush="fsync-each")
    script = BonniePlus().files(canonical, 7)["measure"].decode()
    assert " -f1 -s 40:4096:4000:3 -b -z $((1792 + k))" in script
    assert " -r 0 " in script
    assert " -D" not in script
    direct = BonniePlus().files(parameters(per_character=0, direct="true"), 7)["measure"].decode()
    assert " -f0 -s 8:8192:8192:5 -D -z" in direct


def test_phases_and_the_bytes_they_ask_for() -> None:
    canonical = parameters(processes="2", per_character="1M", seeks=300)
    phases = [(phase.name, phase.direction, phase.requested_bytes) for phase in BonniePlus().phases(canonical)]
    assert phases == [
        ("char_output", "write", 2 << 20),
        ("block_output", "write", 16 << 20),
        ("rewrite", "either", 32 << 20),
        ("char_input", "read", 2 << 20),
        ("block_input", "read", 16 << 20),
        ("random_seeks", "read", 2 * 300 * 8192),
    ]
    small = {phase.name: phase.requested_bytes for phase in BonniePlus().phases(parameters(file="1M"))}
    assert small["char_input"] == 1 << 20
    blocks_only = [phase.name for phase in BonniePlus().phases(parameters(per_character=0))]
    assert blocks_only == ["block_output", "rewrite", "block_input", "random_seeks"]


def test_a_phase_lasts_until_the_next_mark() -> None:
    out = {
        "counters.first": b"/sys/a/reads:1\n",
        "counters.second": b"/sys/a/reads:10\n",
        "counters.measured": b"/sys/a/reads:100\n",
    }
    assert medium_counters.marked(out, ["first", "second"]) == {"first": {"reads": 9}, "second": {"reads": 90}}
    assert medium_counters.marked(out, []) == {}
    ended = {**out, "counters.first.ended": b"/sys/a/reads:7\n"}
    assert medium_counters.marked(ended, ["first", "second"]) == {"first": {"reads": 6}, "second": {"reads": 90}}


SAMPLE = ('pattern    = ["read", "write"]\nrequest    = ["4k", "64k"]', 'chunk = ["4k", "8k"]')
TOOL = 'tool  = "fio"\nfile  = "8M"\nflush = "fsync"'


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        ('file = "8M"\npattern = "read"', "13: workload.pattern: is no parameter of bonnie++"),
        ('file = "8M"\njob = "my.fio"', '13: workload.job: is only for tool = "fio", not for "bonnie++"'),
        ('file = "8M"\nflush = "none"', '13: workload.flush: must be "fsync" or "fsync-each", not "none"'),
        ('file = "8193k"', "12: workload.file: bonnie++ counts in MiB, so 8193k must be a multiple of 1M"),
        ('file = "8M"\ndirect = true', "13: workload.direct: true needs per_character = 0"),
        ('file = "3000M"', "12: workload.file: file = 3000M has no room on stick"),
    ],
)
def test_contradictions(tmp_path: Path, workload: str, expected: str) -> None:
    path = write_study(tmp_path, SAMPLE, (TOOL, f'tool = "bonnie++"\n{workload}'))
    path.write_text(path.read_text().partition("[answer]")[0])
    with pytest.raises(InputError) as error:
        load_study(path)
    assert expected in str(error.value)


def test_a_block_is_a_power_of_two() -> None:
    validated = BonniePlusParameters.model_validate({"file": "8M", "chunk": "6k"})
    assert [problem.keys for problem in validated.problems()] == [("chunk",)]


def test_no_process_of_one_seed_is_one_of_another() -> None:
    def numbers(seed: int) -> set[int]:
        script = BonniePlus().files(parameters(processes=256), seed)["measure"].decode()
        [first] = re.findall(r"-z \$\(\((\d+) \+ k\)\)", script)
        return {int(first) + k for k in range(256)}

    assert not numbers(1) & numbers(2)
