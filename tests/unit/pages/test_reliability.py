# SPDX-License-Identifier: Apache-2.0
"""docs/generated/reliability.md: its figures are those of the records, and it names what was not carried out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pages import reliability
from pages import reliability_records as records
from pages.reliability_page import lost, page

MEDIA = """\
emmc, ignoring flushes: 300 cuts, 9,000 requests, 1 kept, 5 violations, 10 cuts per second
emmc: 10,000 cuts, 2,000,000 requests, 5 kept, 0 violations, 3,000 cuts per second
failing NAND, page: 10,000 cuts, 1,000,000 requests, 5 kept, 0 violations, 3,000 cuts per second
stick, losing paired pages: 300 cuts, 9,000 requests, 1 kept, 0 violations, 10 cuts per second
"""
LAYERS = "page: 1000 cuts and 34 in starts, 5 groups merged at starts\nbast: 10 cuts and 0 in starts, 1 groups merged\n"
YAFFS2 = "seed 1: 200 cuts (3 in erases, 9 in writes, 31 more in mounts), 7 steps\nseed 2: 5 cuts (0 in erases, 0 in \
writes, 1 more in mounts), 7 steps\n"
TURNS = (
    "1000 alternations: 5 steps of ours, 6 of the other, 334 cuts, 0 without room\n50 alternations: 5 steps of ours, \
6 of the other, 0 cuts, 0 without room\n"
)
GENERATED = """\
tests/e2e/test_generated_inputs.py::test_2000_studies_and_profiles:

  - during generate phase (90.2 seconds):
    - Typical runtimes: ~ 1-99 ms, of which ~ 1-20 ms in data generation
    - 2000 passing, 0 failing, and 32 invalid test cases
    - Events:
      * 61.50%, exit status 2
      * 38.50%, exit status 0

  - Stopped because settings.max_examples=2000

tests/e2e/test_generated_inputs.py::test_500_imports:

  - during generate phase (9.2 seconds):
    - 498 passing, 2 failing, and 0 invalid test cases
    - Events:
      * 100.00%, exit status 2
"""
LINE = {"group": "processes", "seed": 1, "moment": "measuring", "statuses": [-9, 0], "kept": [], "seconds": 30.0}
LOG = [
    {"campaign": {"commit": "HEAD", "seed": 1, "faults": 300}},
    {**LINE, "number": 0, "fault": "kill", "verdict": "well", "lost": []},
    {**LINE, "number": 1, "fault": "kill", "verdict": "lost", "lost": ["differs: a"], "kept": ["failure: b"]},
]
MENDED = {**LINE, "number": 1, "fault": "kill", "verdict": "well", "lost": []}


def test_what_commands_print_is_counted() -> None:
    honest = {"devices": 2, "cuts": 20_000, "requests": 3_000_000, "violations": 0}
    assert records.media_cuts(MEDIA) == {**honest, "liars": 2, "liars_caught": 1}
    assert records.layer_cuts(LAYERS) == {"cuts": 1044, "configurations": 2}
    assert records.yaffs2_cuts(YAFFS2) == {"cuts": 237, "configurations": 2}
    assert records.alternations(TURNS) == {"alternations": 1050, "cuts": 334, "configurations": 2}
    assert records.corpora("build/corpus-chip: 1043 inputs\nbuild/corpus-state: 7 inputs\n") == {"inputs": 1050}
    studies = {"passing": 2000, "failing": 0, "statuses_percent": {"0": 38.5, "2": 61.5}}
    imports = {"passing": 498, "failing": 2, "statuses_percent": {"2": 100.0}}
    assert records.generated(GENERATED) == {
        "tests": {"test_2000_studies_and_profiles": studies, "test_500_imports": imports}
    }


def test_a_log_of_a_campaign_is_counted(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(json.dumps(line) + "\n" for line in LOG))
    record = records.of_campaign(log)
    assert record["command"] == 'make faults OPTIONS="--seed 1 --faults 2"'
    assert record["counts"]["faults"] == {
        "kill": {"group": "processes", "tried": 2, "lost": 1, "moments": {"measuring": 2}, "statuses": {"-9": 2}}
    }
    assert (record["counts"]["kept"], record["counts"]["findings"]) == (1, ["differs: a"])
    text = page({"faults": json.loads(json.dumps(record))})
    assert "| kill | measuring: 2 | -9: 2 | 2 | 1 |" in text
    assert "| faults | 2 | 1 |" in text
    assert list(lost({"faults": record})) == ["faults: kill: 1 of 2 lost something"]
    log.write_text("".join(json.dumps(line) + "\n" for line in [*LOG, MENDED]))
    record = records.of_campaign(log)
    assert (record["counts"]["lost_at_first"], record["counts"]["findings"]) == (1, ["differs: a"])
    assert list(lost({"faults": record})) == []
    text = page({"faults": record})
    assert "| kill | measuring: 2 | -9: 2 | 2 | 0 |" in text
    assert "1 of them failed at first and were repeated" in text
    assert "- `differs: a`" in text


def test_what_was_never_carried_out_says_so() -> None:
    text = page({})
    assert text.count("not run") >= 10
    assert "| power cuts | 0, some not run | 0 |" in text
    fuzz = {"command": "make fuzz", "state": "media 0123", "status": "not run", "why": "clang is not installed"}
    assert "| `make fuzz` | media 0123 | not run: clang is not installed |" in page({"media fuzz": fuzz})


def test_a_command_that_failed_is_told() -> None:
    failed = {"command": "make cuts", "state": "media 0123", "status": 2, "cpu_seconds": 5, "counts": {"cuts": 7}}
    assert list(lost({"yaffs2 cuts": failed})) == ["yaffs2 cuts: `make cuts` ended with 2"]
    assert "| power cuts | 7, some not run | 1 |" in page({"yaffs2 cuts": failed})


def test_a_command_is_told_as_a_person_types_it() -> None:
    first, last = records.measures()[0], records.measures()[-1]
    assert first.text == "make -C media cuts"
    assert last.text.startswith("pytest -n 0 -m long")


def test_the_page_is_what_the_records_say(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["reliability.py", "--check"])
    assert reliability.main() == 0, capsys.readouterr().err
    monkeypatch.setattr(records, "read", lambda: {"media cuts": {"command": "x", "state": "media 0", "counts": {}}})
    assert reliability.main() == 1
    assert "run `make reliability`" in capsys.readouterr().err
