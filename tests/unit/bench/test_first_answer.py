# SPDX-License-Identifier: Apache-2.0
"""bench/first_answer.py splits the output of `make run` into stages."""

from __future__ import annotations

from bench import first_answer

OUTPUT = [
    ("I: success\n", 5.0),
    ("bench: a new clone\n", 10.0),
    ("Building dependency tree...\n", 10.2),
    ("setup: Python environment in .venv\n", 10.5),
    ("Building fbmedia ...\n", 30.0),
    ("Building the emulator (once) ...\n", 35.0),
    ("Measuring: 3/64, about 200 s left\n", 310.0),
    ("Measuring: 9/64, about 180 s left\n", 320.0),
    ("Report: /r/report.html\n", 410.0),
    ("bench: CPU seconds: 500.25 60.5\n", 411.0),
    ("bench: it ran\n", 411.0),
]
OF_IMAGE = [
    ("bench: an image\n", 416.0),
    ("Measuring: 3/64, about 100 s left\n", 450.0),
    ("bench: ran from the image\n", 500.0),
]


def test_a_stage_ends_with_the_first_line_of_the_next_one() -> None:
    seconds = first_answer.stages(OUTPUT)
    assert seconds == {"setup": 20.0, "build": 280.0, "measure": 101.0, "in all": 401.0}


def test_the_image_is_not_part_of_the_first_answer() -> None:
    seconds = first_answer.stages(OUTPUT + OF_IMAGE)
    assert seconds == {**first_answer.stages(OUTPUT), "image export": 5.0, "from an image": 84.0}


def test_cpu_seconds_are_those_of_make_run() -> None:
    assert first_answer.cpu_s(OUTPUT + OF_IMAGE) == 560.75
