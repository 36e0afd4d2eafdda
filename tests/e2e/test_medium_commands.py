# SPDX-License-Identifier: Apache-2.0
"""A medium's life by command: made, aged, looked at, started from; and refused where it does not fit."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from flashbed.result import evaluation
from flashbed.result.result import Result
from tests.support.facts import Facts
from tests.support.fixture_types import Flashbed, StudyWriter

SMALL = "usb-stick-2g:used_bytes=64M"

STUDY = """
    [workload]
    tool = "fio"
    pattern = "write"
    request = "64k"
    file = "1M"
    flush = "fsync"
"""

CELLS_FAILED, BAD_INPUT = 1, 2
"""Exit statuses. A kept medium that a cell cannot start from ends that cell alone."""


def life_counters(result: Path) -> Mapping[str, int]:
    """Return the medium's counters over its whole life, of the result in the file `result`."""
    stored = Result.from_json(json.loads(result.read_text()))
    return evaluation.with_measurement(stored, result.parent).measurement.medium["life"]


def refused(done: subprocess.CompletedProcess[str], words: str, status: int = BAD_INPUT) -> None:
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert words in done.stderr


def test_a_life(flashbed: Flashbed, study_file: StudyWriter, tmp_path: Path, fresh_cache: Path) -> None:
    created = flashbed("medium", "create", "worn", SMALL)
    assert created.returncode == 0, created.stderr
    assert str(fresh_cache / "media/worn") in created.stdout
    refused(flashbed("medium", "create", "worn", SMALL), "exists already")

    aged = flashbed("medium", "precondition", "worn", "--overwrite", "2", "--seed", "7")
    assert aged.returncode == 0, aged.stderr
    assert "filled in order, 128k a request" in aged.stdout
    assert "2 times its size overwritten at random, 4k a request, seed 7" in aged.stdout
    assert aged.stdout.count("write amplification") == 2

    inspected = flashbed("medium", "inspect", "worn")
    assert inspected.returncode == 0, inspected.stderr
    for words in (f"profile  {SMALL}", "made     filled in order", "erase_count_max"):
        assert words in inspected.stdout, inspected.stdout
    assert re.search(r"host_written_bytes +201326592 +bytes", inspected.stdout)

    run = flashbed("run", study_file(STUDY, filesystem="ext2", medium=f"{SMALL},from=worn"))
    assert run.returncode == 0, run.stderr
    (result,) = (fresh_cache / "results").rglob("result.json")
    assert life_counters(result)["host_written_bytes"] > 201326592
    # The medium itself is as it was: any number of cells can start from it
    assert flashbed("medium", "inspect", "worn").stdout == inspected.stdout


def test_a_power_cut(flashbed: Flashbed, study_file: StudyWriter, fresh_cache: Path) -> None:
    assert flashbed("medium", "create", "whole", SMALL).returncode == 0
    whole = flashbed("medium", "inspect", "whole").stdout
    assert re.search(r"off +false", whole)
    cut = flashbed("medium", "cut", "whole", "--at-request", "3", "--seed", "1", "--as", "cut")
    assert cut.returncode == 0, cut.stderr
    match = re.search(r"power cut at request 3, .*, seed 1: (\d+) parts .* torn, (\d+) sectors unrea", cut.stdout)
    assert match, cut.stdout
    assert int(match[1]) > 0, "early on no merge is in the way: a page is programmed most of the time"
    assert "media/cut: " in cut.stdout
    assert flashbed("medium", "inspect", "whole").stdout == whole, "the medium itself is as it was"
    inspected = flashbed("medium", "inspect", "cut").stdout
    assert f"made     {match[0]}" in inspected
    assert re.search(r"off +true", inspected)
    assert re.search(rf"unreadable_sectors +{match[2]} *\n", inspected)
    assert re.search(r"restarts +0 ", inspected)

    # By the same seed the same medium
    assert flashbed("medium", "cut", "whole", "--at-request", "3", "--seed", "1").returncode == 0
    for file in ("state.bin", "data.img"):
        assert (fresh_cache / "media/whole" / file).read_bytes() == (fresh_cache / "media/cut" / file).read_bytes()

    run = flashbed("run", study_file(STUDY, filesystem="ext2", medium=f"{SMALL},from=cut"))
    assert run.returncode == 0, run.stderr
    (result,) = (fresh_cache / "results").rglob("result.json")
    assert life_counters(result)["restarts"] == 1


def test_a_cut_by_time_and_by_seed(flashbed: Flashbed) -> None:
    assert flashbed("medium", "create", "x", SMALL).returncode == 0
    cut = flashbed("medium", "cut", "x", "--after", "20ms", "--request", "64k")
    assert cut.returncode == 0, cut.stderr
    assert Facts("0.020000 s", "while overwritten at random", "64k", "seed 1").within(cut.stdout)
    drawn = [flashbed("medium", "cut", "x", "--seed", seed).stdout for seed in "12"]
    first, second = (int(re.findall(r"at request (\d+)", text)[0]) for text in drawn)
    assert first != second
    assert 1 <= first <= 16384
    inspected = flashbed("medium", "inspect", "x").stdout
    assert inspected.count("made     power cut") == 3
    assert re.search(r"restarts +2 ", inspected), "the second and the third began with one"

    refused(flashbed("medium", "cut", "y"), "no medium here")
    refused(flashbed("medium", "cut", "x", "--at-request", "16385"), "only 16384 requests; choose an earlier")
    refused(flashbed("medium", "cut", "x", "--after", "100000s"), "all 16384 requests are done before that")
    refused(flashbed("medium", "cut", "x", "--after", "soon"), '--after soon: "soon" is not a duration')
    refused(flashbed("medium", "cut", "x", "--after", "1ms", "--at-request", "3"), "give one of them")
    refused(flashbed("medium", "cut", "x", "--request", "1000"), "not whole sectors")
    refused(flashbed("medium", "cut", "x", "--as", "x"), "exists already")
    refused(flashbed("medium", "cut", "x", "--as", "z", "--after", "100000s"), "all 16384 requests")
    refused(flashbed("medium", "inspect", "z"), "no medium here")
    assert flashbed("medium", "inspect", "x").stdout == inspected, "what is refused changes nothing"


def test_a_medium_ages(flashbed: Flashbed) -> None:
    assert flashbed("medium", "create", "x", SMALL).returncode == 0
    aged = flashbed("medium", "age", "x", "--days", "365")
    assert aged.returncode == 0, aged.stderr
    assert "media/x: 365 days switched off" in aged.stdout
    assert flashbed("medium", "age", "x", "--days", "1").returncode == 0
    inspected = flashbed("medium", "inspect", "x").stdout
    assert "made     365 days switched off" in inspected
    assert re.search(r"age_days +366\.0", inspected), inspected

    refused(flashbed("medium", "age", "y", "--days", "1"), "no medium here")
    refused(flashbed("medium", "age", "x", "--days", "40000"), "must be 36500 or less")
    refused(flashbed("medium", "age", "x", "--days", "-1"), "--days")
    refused(flashbed("medium", "age", "x"), "--days")
    assert flashbed("medium", "inspect", "x").stdout == inspected


def test_another_profile_is_refused(flashbed: Flashbed, study_file: StudyWriter, tmp_path: Path) -> None:
    assert flashbed("medium", "create", "./mine", SMALL).returncode == 0
    run = flashbed("run", study_file(STUDY, filesystem="ext2", medium=f"{SMALL},read_ns=1,from=./mine"))
    refused(run, "mine/state.bin: another medium: its read_ns is ", CELLS_FAILED)


def test_a_truncated_medium_is_refused(flashbed: Flashbed, study_file: StudyWriter, tmp_path: Path) -> None:
    assert flashbed("medium", "create", "./mine", SMALL).returncode == 0
    study = study_file(STUDY, filesystem="ext2", medium=f"{SMALL},from=./mine")
    data, state = tmp_path / "mine/data.img", tmp_path / "mine/state.bin"
    with data.open("r+b") as file:
        file.truncate(1 << 20)
    refused(flashbed("run", study), "data.img: truncated: 1048576 bytes instead of 67108864", CELLS_FAILED)
    with state.open("r+b") as file:
        file.truncate(1 << 16)
    refused(flashbed("run", study), "state.bin: truncated: smaller than the medium it describes", CELLS_FAILED)
    refused(flashbed("medium", "inspect", "./mine"), "truncated", status=4)


def test_an_old_medium_is_refused(flashbed: Flashbed, study_file: StudyWriter, tmp_path: Path) -> None:
    assert flashbed("medium", "create", "./mine", SMALL).returncode == 0
    with (tmp_path / "mine/state.bin").open("r+b") as file:
        file.seek(8)
        file.write(b"\x01")
    run = flashbed("run", study_file(STUDY, filesystem="ext2", medium=f"{SMALL},from=./mine"))
    refused(run, "state.bin: made by another version of the media core", CELLS_FAILED)


def test_wrong_words(flashbed: Flashbed, tmp_path: Path) -> None:
    refused(flashbed("medium", "create", "x", "usb-stikc-2g"), 'did you mean "usb-stick-2g"?')
    refused(flashbed("medium", "create", "x", "usb-stick-2g:read_ns=x"), "read_ns")
    refused(flashbed("medium", "inspect", "x"), "no medium here")
    refused(flashbed("medium", "precondition", "x"), "no medium here")
    assert flashbed("medium", "create", "x", SMALL).returncode == 0
    refused(flashbed("medium", "precondition", "x", "--request", "many"), '"many" is not a size')
    refused(flashbed("medium", "precondition", "x", "--request", "1000"), "not whole sectors")


def test_parameters_of_a_profile_with_the_values_that_it_has(flashbed: Flashbed) -> None:
    """Only kinds were taken."""
    done = flashbed("medium", "params", "sd-good:used_bytes=64M")
    assert done.returncode == 0
    listed = done.stdout.splitlines()
    assert listed[0] == Facts("kind = flash", "flash, disk, null, nand", "must be there")
    # 64 * 2^20, as the option says; an SD card has one command at a time; what a profile does not say has its default
    assert Facts("used_bytes = 67108864", "0 to 17592186044416 bytes", "0", "flash, disk, null").within(listed)
    assert Facts("queue_depth = 1", "1 to 1024", "must be there", "flash, disk, null").within(listed)
    assert Facts("sector_bytes = 512", "512 to 4096 bytes", "512", "flash, disk, null").within(listed)
    assert not any(line.startswith("rpm") for line in listed)
    assert len(listed) == len(flashbed("medium", "params", "flash").stdout.splitlines())


def test_parameters_of_what_is_neither_kind_nor_profile(flashbed: Flashbed) -> None:
    for name, message in (
        ("sd-god", 'neither a kind nor a profile of a medium: "sd-god"; did you mean "sd-good"'),
        ("disc", 'neither a kind nor a profile of a medium: "disc"; did you mean "disk"?'),
        ("", 'neither a kind nor a profile of a medium: ""'),
        (":", 'neither a kind nor a profile of a medium: ":"'),
        ("sd-good:foo=1", '"sd-good": no setting "foo"'),
        ("sd-good:used_bytes=64Q", "is not a size"),
        ("sd-good:used_bytes=64000001", "used_bytes"),
    ):
        done = flashbed("medium", "params", name)
        assert done.returncode == 2
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_the_root_is_no_medium(flashbed: Flashbed) -> None:
    for name in ("/", "//"):
        done = flashbed("medium", "create", name, SMALL)
        assert done.returncode == 2
        assert done.stderr.startswith(f"flashbed: medium {name}: is the root directory")
