# SPDX-License-Identifier: Apache-2.0
"""A module that a study brings is built, loaded and measured: a file system and a scheduler under names of their own,
and a changed copy of one of the lab's in its place. What the guest says of it counts, not what the profile says.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flashbed.execution import run
from flashbed.study.loading import load_study
from tests.support import guest_rig, own_cache, own_module
from tests.support.edits import replace_once
from tests.support.fixture_types import Measure, StudyWriter
from tests.support.own_cache import said

ALL_BEFORE = "1 repetitions, all measured before"

RETURN = "\treturn ram_aops.write_end("

VERSION = "cat /sys/module/cfq/version >/out/version\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the study. Its cache is also the cache of this process."""
    monkeypatch.setenv("FLASHBED_CACHE", str(own_cache.make(tmp_path)))
    return tmp_path


def told(home: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((home / "report/results.json").read_text())
    return document


def test_a_file_system_of_ones_own_is_measured_and_its_source_is_in_its_key(
    home: Path, study_file: StudyWriter
) -> None:
    study = study_file(guest_rig.STUDY, name="my", filesystem="mine")
    source = own_module.small(home)
    refused = own_cache.flashbed(home, "run", "my.toml")
    assert refused.returncode == 2
    assert f"module_source: make -C {source}" in refused.stderr
    assert "flashbed allow my.toml mine" in refused.stderr
    said(home, "allow", "my.toml", "mine")

    assert "all measured" not in said(home, "run", "my.toml", "--out", "report")
    first = told(home)
    [row] = first["repetitions"]
    assert row["mounted"].startswith("mine rw,")
    [(repetition, digest)] = [
        (planned, planned.environment["module-mine"]) for planned in run.prepare(load_study(study))
    ]
    assert first["manifest"]["modules of your own"] == {"mine": f"{own_module.SOURCE} {digest[:12]}"}
    assert digest[:12] in (home / "report/report.html").read_text()

    # A comment and another place change no byte of the module, a line of code does
    replace_once(source / "file.c", own_module.WRITE_END, f"/* Of a page. */\n\n{own_module.WRITE_END}")
    source.rename(home / "elsewhere")
    replace_once(home / "profiles/filesystems/mine.toml", own_module.SOURCE, "elsewhere")
    said(home, "allow", "my.toml", "mine")
    assert ALL_BEFORE in said(home, "run", "my.toml", "--out", "report")
    slower = f"\tfor (int turn = 0; turn < 9999; turn++) barrier();\n{RETURN}"
    replace_once(home / "elsewhere/file.c", RETURN, slower)
    [changed] = run.prepare(load_study(study))
    assert {name for name in repetition.environment if repetition.environment[name] != changed.environment[name]} == {
        "module-mine"
    }
    assert ALL_BEFORE not in said(home, "run", "my.toml", "--out", "report")
    assert told(home)["repetitions"][0]["counted"]["cpu_ns"] > row["counted"]["cpu_ns"]
    assert told(home)["manifest"]["modules of your own"] != first["manifest"]["modules of your own"]


def test_a_changed_copy_takes_the_place_of_the_labs(home: Path, study_file: StudyWriter) -> None:
    study = study_file(guest_rig.STUDY, filesystem="ext2", scheduler="cfq")
    [labs] = run.prepare(load_study(study))
    source = own_module.scheduler(home, "cfq")
    replace_once(source / "cfq_main.c", "MODULE_LICENSE(", 'MODULE_VERSION("mine");\nMODULE_LICENSE(')
    rig = guest_rig.new(study, home / "guest")
    assert rig.planned.key != labs.key
    assert guest_rig.boot(rig, measure=VERSION).files["version"] == b"mine\n"


def test_a_scheduler_of_ones_own_is_in_the_queue(home: Path, study_file: StudyWriter, measure: Measure) -> None:
    own_module.scheduler(home)
    [repetition] = run.prepare(
        load_study(study_file(guest_rig.STUDY, filesystem="ext2", scheduler="mine:slice_idle=0"))
    )
    finished = measure(repetition, home / "guest")
    assert b"/queue/scheduler:" in finished.files["out/scheduler.txt"]
    assert b"[mine]" in finished.files["out/scheduler.txt"]
