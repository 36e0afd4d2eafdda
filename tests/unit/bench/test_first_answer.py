# SPDX-License-Identifier: Apache-2.0
"""bench/first_answer.py splits the output of `make run` into stages."""

from __future__ import annotations

from bench import first_answer

OUTPUT = [
    ("setup: Python environment in .venv\n", 0.5),
    ("Building fbmedia ...\n", 20.0),
    ("Building the emulator (once) ...\n", 25.0),
    ("Measuring: 3/64, about 200 s left\n", 300.0),
    ("Measuring: 9/64, about 180 s left\n", 310.0),
    ("Report: /r/report.html\n", 400.0),
]


def test_a_stage_ends_with_the_first_line_of_the_next_one() -> None:
    seconds = first_answer.stages(OUTPUT, 401.0)
    assert seconds == {"setup": 20.0, "build": 280.0, "measure": 101.0, "in all": 401.0}


def test_the_last_stage_takes_what_no_line_ends() -> None:
    assert first_answer.stages(OUTPUT[:1], 30.0) == {"measure": 30.0, "in all": 30.0}
