# SPDX-License-Identifier: Apache-2.0
"""Claims in a study: each mistake is reported with its line, and each claim of a shipped study can be decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.analysis import judge
from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.study.loading import load_study
from flashbed.study.relation import band
from tests.support.claim_samples import EVERYWHERE, made_up
from tests.support.samples import write_study
from tests.support.tabled import results_of

CLAIM = """
[[claim]]
text     = "ext2 writes faster."
metric   = "bandwidth"
where    = { pattern = "write" }
compare  = [{ filesystem = "ext2" }, { filesystem = "fat16" }]
relation = ">"
by       = "at least 8 %"
printed  = [{ at = { filesystem = "ext2" }, value = 2 }, { at = { filesystem = "fat16" }, value = 1 }]
"""


def in_study(folder: Path, *pairs: tuple[str, str]) -> Path:
    text = CLAIM
    for old, new in pairs:
        assert old in text or old == "seeds      = 2"
        text = text.replace(old, new, 1)
    top = [pair for pair in pairs if pair[0] == "seeds      = 2"]
    return write_study(folder, *top, ('metric  = "iops"\n', 'metric  = "iops"\n' + text))


def test_a_sound_claim_has_its_values_in_full(tmp_path: Path) -> None:
    (claim,) = load_study(in_study(tmp_path)).claims
    assert claim.compare == [{"filesystem": ("ext2:block=4k",)}, {"filesystem": ("fat16:cluster=32k",)}]
    assert claim.where == {"pattern": ("write",)}
    assert claim.printed[1].at == {"filesystem": ("fat16:cluster=32k",)}


BY = 'by       = "at least 8 %"'
FLAT = f'relation = ">"\n{BY}'


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("compare  =", "compar =", '38: claim[0].compar: no such key; did you mean "compare"?'),
        ('metric   = "bandwidth"', "", "34: claim[0].metric: is missing"),
        ('"bandwidth"', '"bandwith"', '36: claim[0].metric: no metric "bandwith"; did you mean "bandwidth"'),
        ('"write"', '"wirte"', '37: claim[0].where.pattern: "wirte" is not on the axis "pattern"; did'),
        ('"ext2"', '"ext3"', '38: claim[0].compare[0].filesystem: "ext3" is not on the axis'),
        ("{ filesystem", "{ filesytem", '38: claim[0].compare[0].filesytem: "filesytem" is no axis of this study; did'),
        ('relation = ">"', 'relation = "=>"', '39: claim[0].relation: "=>" is no relation of compare; did you mean'),
        ('relation = ">"', 'relation = ["<", "<"]', "39: claim[0].relation: has 2 entries; give one"),
        (BY, 'by = "8"', '40: claim[0].by: "8": must be such as "at least 8 %"'),
        (BY, 'by = "within 8 %"', '40: claim[0].by: "within 8 %": "within" goes with "=" and "flat"'),
        (BY, 'along = "request"', "40: claim[0].along: cannot stand beside compare: make two claims of it"),
        (BY, "value = 3", "40: claim[0].value: cannot stand beside compare: make two claims of it"),
        ('{ filesystem = "ext2" }, ', "", "38: claim[0].compare: has one selection; give two or more"),
        ('{ pattern = "write" }', '{ filesystem = "ext2" }', "37: claim[0].where.filesystem: is compared already"),
        ('"fat16" }]', '"ext2" }]', "38: claim[0].compare[1]: takes cells that the one before it takes too"),
        (BY, 'cells = "some"', '40: claim[0].cells: must be "every", "almost every", "most" or "av'),
        ('{ filesystem = "fat16" }, value', '{ patern = "read" }, value', '41: claim[0].printed[1].at.patern: '),
        ('{ filesystem = "fat16" }, value', '{ pattern = "read" }, value', "41: claim[0].printed[1].at: is no"),
        ('{ filesystem = "fat16" }, value', '{ filesystem = "ext2" }, value', "41: claim[0].printed[1]: stands"),
        ('value = 1', 'value = 1, metric = "iops"', '41: claim[0].printed[1].metric: "iops" is no metric'),
        ('"bandwidth"', '["bandwidth", "iops"]', "41: claim[0].printed[0]: has no metric; it is one of"),
        ('"fat16" }]', '"fat16", request = "4k" }]', '38: claim[0].compare[1]: one names "request" and another does'),
        ('{ pattern = "write" }', '{ system = "Linux" }', "34: claim[0]: compares systems: name them at the top"),
        (BY, 'over = "request"', '40: claim[0].over: says how to average; it goes with cells = "average"'),
        (BY, 'average = "time"', '40: claim[0].average: says how to average; it goes with cells = "average"'),
        (BY, 'cells = "average"\naverage = "time"', '41: claim[0].average: "time" is for times, and bandwidth is none'),
        (BY, 'cells = "average"\nover = "reqest"', '41: claim[0].over: "reqest" is no axis of this study; did'),
        (BY, 'cells = "average"\nover = "filesystem"', '41: claim[0].over: "filesystem" is compared already'),
        (BY, 'gap_along = "request"', '39: claim[0].relation: ">" is no relation of gap_along'),
        (FLAT, 'relation = "flat"\ngap_along = "reqest"', '40: claim[0].gap_along: "reqest" is no axis of this'),
        (FLAT, 'relation = "flat"\ngap_along = "pattern"', '40: claim[0].gap_along: "pattern" has one value here'),
        (BY, 'why = { "is false" = "x" }', '40: claim[0].why'),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    path = in_study(tmp_path, (old, new))
    with pytest.raises(InputError) as caught:
        load_study(path)
    assert expected in caught.value.message.replace(f"{path}:", "")


def test_a_claim_needs_something_to_decide_it(tmp_path: Path) -> None:
    lines = [line for line in CLAIM.splitlines(keepends=True) if line.startswith("compare")]
    path = in_study(tmp_path, (lines[0], ""))
    with pytest.raises(InputError, match=r"claim\[0\]: .*compare, along or value"):
        load_study(path)


def test_sides_that_never_meet_are_told(tmp_path: Path) -> None:
    skip = 'skip = [{ filesystem = "ext2", request = "4k" }, { filesystem = "fat16", request = "64k" }]\nseeds = 2'
    path = in_study(tmp_path, ("seeds      = 2", skip))
    with pytest.raises(InputError, match="no partner in the one before it: they differ in request"):
        load_study(path)


def test_claims_about_systems_that_are_imported(tmp_path: Path) -> None:
    systems = ("seeds      = 2", 'systems = ["Linux", "Windows XP"]\nseeds = 2')
    compared = [
        ('{ filesystem = "ext2" }, { filesystem = "fat16" }', '{ system = "Linux" }, { system = "Windows XP" }'),
        ('at = { filesystem = "ext2" }', 'at = { system = "Linux" }'),
        ('at = { filesystem = "fat16" }', 'at = { system = "Windows XP" }'),
    ]
    (claim,) = load_study(in_study(tmp_path, systems, *compared)).claims
    assert claim.compare[1] == {"system": ("Windows XP",)}
    compared[0] = (compared[0][0], compared[0][1].replace("XP", "PX"))
    with pytest.raises(InputError, match='axis "system"; did you mean "Windows XP"'):
        load_study(in_study(tmp_path, systems, *compared))


# --- the shipped studies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(paths.studies().glob("*.toml")), ids=lambda path: path.stem)
def test_each_claim_of_a_shipped_study_can_be_decided(path: Path) -> None:
    study = load_study(path)
    results = made_up(study)
    texts = [claim_.text for claim_ in study.claims]
    assert len(texts) == len({*texts})  # a table by verdict cannot distinguish two claims of the same text
    for claim in study.claims:
        if not claim.is_about_systems:
            holds = set(claim.relation) <= {"=", "flat", ">=", "<="}  # equal cells are not behind, either
            if claim.value is not None:
                ratio = EVERYWHERE / claim.value
                holds = bool(band(claim.relation[0], "".join(claim.by)).holds(ratio, ratio))
            assert judge(claim, results).verdict == ("holds" if holds else "does not hold"), claim.text
            assert judge(claim, results_of(study.axes, [])).verdict == "cannot be decided", claim.text
