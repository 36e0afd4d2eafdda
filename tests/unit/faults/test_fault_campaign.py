# SPDX-License-Identifier: Apache-2.0
"""The fault campaign's own checks, applied to homes that were broken by hand."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from faults import damage, kinds, processes, runs
from faults.bed import Bed
from faults.verdict import judge
from tests.support.facts import Facts

KEY = "ab" + "0" * 62
RESULT = f"results/cells/ab/{KEY}"
FILES = {
    f"{RESULT}/result.json": "{}",
    f"{RESULT}/out/fio.json": "raw",
    "conditions/worn-0123456789abcdef/state.bin": "state",
    "media/kept/data.img": "content",
    "debian-arm64/packages.json": '{"fio": [["a", "b"]]}',
}


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    """Return an undisturbed home without a guest. One part of its image is a link to the user's part."""
    bed, user = Bed(tmp_path), tmp_path / "user/outbox-0123456789abcdef"
    for name, text in FILES.items():
        (bed.reference / "cache" / name).parent.mkdir(parents=True, exist_ok=True)
        (bed.reference / "cache" / name).write_text(text)
    (bed.reference / "report").mkdir()
    (bed.reference / "report/results.csv").write_text("a,b\n")
    user.mkdir(parents=True)
    (user / "outbox").write_text("library")
    (bed.reference / "cache/image").mkdir()
    (bed.reference / "cache/image" / user.name).symlink_to(user)
    bed.renew()
    return bed


def test_undisturbed_is_well(bed: Bed) -> None:
    assert (judge(bed).lost, judge(bed).kept) == ([], [])


def change(name: str, text: str) -> Callable[[Bed], object]:
    def act(bed: Bed) -> None:
        (bed.home / name).parent.mkdir(parents=True, exist_ok=True)
        (bed.home / name).write_text(text)

    return act


PART = "cache/image/outbox-0123456789abcdef"
LOST = {
    "a result": (change(f"cache/{RESULT}/result.json", '{"a": 1}'), f"differs: {RESULT}/result.json"),
    "raw output": (change(f"cache/{RESULT}/out/fio.json", "Raw"), "differs: "),
    "the report": (change("report/results.csv", "a,c\n"), "differs: report/results.csv"),
    "a file less": (lambda bed: (bed.cache / "media/kept/data.img").unlink(), "is gone: media/kept/data.img"),
    "a version": (change("cache/debian-arm64/packages.json", '{"fio": [["a", "c"]]}'), "differs: debian-arm64"),
    "work": (lambda bed: (bed.cache / "work/0123456789ab").mkdir(parents=True), "is left: work/0123456789ab"),
    "a claim": (change(f"cache/results/claims/{KEY}.lock", ""), f"lock: results/claims/{KEY}.lock"),
    "half a part": (change("cache/image/.cpio-base-0123456789abcdef.part/a", ""), "entry under way: "),
    "a second result": (change(f"cache/results/different/{KEY}.0123/result.json", ""), "two different results"),
    "an unknown file": (change("cache/new/thing", ""), "new/thing: a file of the cache that is of no kind"),
}


@pytest.mark.parametrize("file_kind", [*LOST])
def test_what_is_lost_is_seen(bed: Bed, file_kind: str) -> None:
    act, problem = LOST[file_kind]
    act(bed)
    assert [text for text in judge(bed).lost if problem in text], judge(bed).lost


def test_a_part_that_was_built_anew_must_be_the_same(bed: Bed) -> None:
    library = bed.home / PART / "outbox"
    bed.own_copy(library)
    assert judge(bed).lost == []
    library.write_text("another")
    assert judge(bed).lost == ["differs: image/outbox-0123456789abcdef/outbox"]


def test_a_part_that_had_no_listing_may_get_one(bed: Bed) -> None:
    before = bed.reference / "cache" / "image" / Path(PART).name / "MANIFEST.json"
    before.write_text('{"products": {"outbox": 7}}')
    manifest = bed.home / PART / "MANIFEST.json"
    bed.own_copy(manifest)
    manifest.write_text('{"listing": "0123", "products": {"outbox": 7}}')
    assert judge(bed).lost == []
    manifest.write_text('{"listing": "0123", "products": {"outbox": 8}}')
    assert judge(bed).lost == [f"differs: image/{Path(PART).name}/MANIFEST.json"]


def test_what_is_kept_for_a_person_is_told(bed: Bed) -> None:
    change(f"cache/results/quarantine/{KEY}.0123/result.json", "half")(bed)
    assert judge(bed).lost == []
    assert judge(bed).kept == [Facts(f"results/quarantine/{KEY}.0123/result.json")]


def test_a_process_that_is_left_is_seen(bed: Bed) -> None:
    left = subprocess.Popen(["sleep", "60"], env={"FLASHBED_CACHE": str(bed.cache)})
    try:
        assert [process.number for process in processes.left(bed.cache, 0.2)] == [left.pid]
    finally:
        left.kill()
        left.wait()
    assert processes.left(bed.cache, 0.2) == []


def test_qemu_that_is_asked_for_its_version_is_no_guest() -> None:
    """Such a QEMU ends at once, so a kill would hit nothing."""
    assert not processes.Process(1, "qemu-system-aar", "qemu-system-aarch64 --version ").is_guest
    assert processes.Process(1, "qemu-system-aar", "qemu-system-aarch64 -machine virt -kernel /x/Image ").is_guest
    assert not processes.Process(1, "timeout", "timeout 900 qemu-system-aarch64 -kernel /x/Image ").is_guest


@pytest.mark.parametrize("way", kinds.ALL)
def test_damage_never_reaches_the_user(bed: Bed, tmp_path: Path, way: str) -> None:
    library = bed.home / PART / "outbox"
    damage.damage(bed.own_copy(library), way, random.Random(1))
    assert not library.is_file() or library.read_bytes() != b"library"
    assert (tmp_path / "user/outbox-0123456789abcdef/outbox").read_bytes() == b"library"
    bed.put_back(library)
    assert judge(bed).lost == []


def test_each_kind_is_damaged_or_says_why_not() -> None:
    for kind in kinds.KINDS:
        assert bool(kind.ways) != bool(kind.why_not), kind.name
    assert kinds.kind_of(f"{RESULT}/out/requests.bin").name == "request log"
    with pytest.raises(kinds.Unknown, match=r"new/thing: .* add its kind there"):
        kinds.kind_of("new/thing")


def test_how_a_command_may_end() -> None:
    assert runs.documented() == {0, 1, 2, 3, 4, 5, 130}
    fine = runs.Ended(("run",), 0, "Report: x", frozenset({0}))
    assert fine.faults() == []
    assert runs.Ended(("run",), 3, "no tool", frozenset({0})).faults() == ["`run` ended with 3, not [0]: no tool"]
    assert runs.Ended(("run",), 4, " ", frozenset({4})).faults() == ["`run` ended with 4 without a word"]
    output = 'Traceback (most recent call last):\n  File "/x/src/flashbed/entry.py", line 1\n'
    assert "traceback" in runs.Ended(("run",), 0, output, frozenset({0})).faults()[0]
    assert "traceback" in runs.Ended(("run",), -2, output, frozenset({-2})).faults()[0]
    assert runs.Ended(("run",), -2, output.partition("\n")[0], frozenset({-2})).faults() == []
