# SPDX-License-Identifier: Apache-2.0
"""The sentences about a pack whose contents do not belong together, and about a guest with another result."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashbed.common.digest import digest_file, digest_json
from flashbed.common.errors import SetupError
from flashbed.execution.cut_campaign import MOMENTS
from flashbed.machine.outcomes import Outcome
from flashbed.packs import gathering
from flashbed.replay import verifying
from flashbed.replay.recipe import Cuts, Recipe
from flashbed.replay.verifying import differences_of
from tests.support.facts import Facts
from tests.unit.replay.made_up_pack import KEY_VERSION, recipe, result

KEPT = {"result.json": b"{}", "console.log": b"one\ntwo\n", "out/fio.json": b"a\nb\n", "out/raw": b"\xff\x00\x01"}


def outcome(**changed: Any) -> Outcome:
    files = {"fio.json": b"a\nb\n", "raw": b"\xff\x00\x01"}
    fields = {"status": "measured", "reason": "", "console": b"one\ntwo\n", "files": files, "medium_check": ""}
    return Outcome(**{**fields, **changed})


def test_results_that_belong_to_their_pack_raise_no_doubt() -> None:
    assert not list(verifying.doubts(recipe(), result(), KEY_VERSION))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda r: r["cell"].update(filesystem="ext4"), "the result's key does not match its inputs"),
        (lambda r: r["cell"].update(seed=8), "the result has seed 7, and its inputs have 8"),
        (lambda r: r.update(key="0"), "the result belongs to another repetition"),
        (
            lambda r: r["environment"].update(machine="-machine virt -seed 8"),
            "the machine is not the measured one: 7 instead of 8",
        ),
        (lambda r: r["environment"].update(kernel="0" * 64), "the kernel is not the measured one: "),
        (lambda r: r["environment"].update(base="0" * 64), "the archive base is not the measured one: "),
        (lambda r: r["environment"].pop("base"), "the archive base was not part of the measurement"),
        (lambda r: r["environment"].update(root="0" * 64), "the root of programs is not the measured one: "),
    ],
)
def test_what_was_changed_is_said(change: Callable[[dict[str, Any]], object], sentence: str) -> None:
    changed = result()
    change(changed)
    assert any(sentence in doubt for doubt in verifying.doubts(recipe(), changed, KEY_VERSION))


CUTS = Cuts(number=3, seed=7, job="c" * 64, checks=(("check", "d" * 64),))


def measured_with(cuts: int, moments: str) -> dict[str, Any]:
    """Return the result of a repetition with power cuts, with the key of its inputs."""
    of = result()
    of["cell"]["power_cuts"] = cuts
    of["environment"]["moments"] = moments
    of["key"] = digest_json({"version": KEY_VERSION, "cell": of["cell"], "environment": of["environment"]})
    return of


@pytest.mark.parametrize(
    ("cuts", "number", "moments", "sentences"),
    [
        (CUTS, 3, MOMENTS, []),
        (replace(CUTS, number=2), 3, MOMENTS, ["the power is cut 2 times, and was cut 3 times"]),
        (None, 3, MOMENTS, ["the power is cut 0 times, and was cut 3 times"]),
        (replace(CUTS, seed=8), 3, MOMENTS, ["the moments of the power cuts come from seed 8, and came from 7"]),
        (CUTS, 3, "all at the end", ["the moments of the power cuts are drawn by another rule"]),
    ],
)
def test_power_cuts_that_were_not_measured_are_said(
    cuts: Cuts | None, number: int, moments: str, sentences: list[str]
) -> None:
    measured = measured_with(number, moments)
    cut = replace(recipe(), key=measured["key"], cuts=cuts)
    assert Recipe.from_json(json.loads(json.dumps(cut.to_json()))) == cut
    assert list(verifying.doubts(cut, measured, KEY_VERSION)) == sentences


def test_a_kernel_put_in_place_of_another_is_said_in_one_sentence() -> None:
    (doubt,) = verifying.doubts(replace(recipe(), kernel="f" * 64), result(), KEY_VERSION)
    assert doubt == Facts("the kernel is not the measured one", "ffffffffffff", recipe().kernel[:12])


def test_the_same_bytes_differ_in_nothing() -> None:
    assert differences_of(KEPT, {"outcome": "measured", "check": ""}, outcome()) == []


@pytest.mark.parametrize(
    ("other", "sentences"),
    [
        ({"status": "guest failed", "reason": "panic"}, ["was measured, and is guest failed here: panic"]),
        ({"medium_check": "lost  block\n"}, ['the checker said clean, and says "lost  block"']),
        ({"medium_check": None}, ["the checker said clean, and says nothing (not checked)"]),
        ({"console": b"one\nTWO\n"}, ["console.log: line 2 was two, and is TWO"]),
        ({"console": b"one\n"}, ["console.log: had 2 lines, and has 1"]),
        ({"files": {"fio.json": b"a\nb\n"}}, ["out/raw: is missing"]),
        ({"files": {"fio.json": b"a\nb\n", "raw": b"\xff\x00\x02", "x": b""}},
         ["out/raw: 3 bytes, 3 here, and they differ from byte 2 on", "out/x: is new"]),
    ],
)  # fmt: skip
def test_what_differs_is_said(other: dict[str, Any], sentences: list[str]) -> None:
    assert differences_of(KEPT, {"outcome": "measured", "check": ""}, outcome(**other)) == sentences


def test_of_much_that_differs_the_first_is_said_and_the_rest_counted() -> None:
    more = outcome(files={f"{number}": b"" for number in range(9)})
    sentences = differences_of(KEPT, {"outcome": "measured", "check": ""}, more)
    assert (len(sentences), sentences[-1]) == (5, "and 7 more")


def repetition_of(cell: int, seed: int) -> Recipe:
    return replace(recipe(), key=f"{cell} {seed}", label=f"{cell}, seed {seed}")


def sampled(cells: int, seeds: int, sample_size: int | None) -> list[tuple[int, int]]:
    """Return cell and seed of each repetition in a sample. A study has all cells with the first seed, then all with the
    second.
    """
    places = {f"{cell} {seed}": (cell, seed) for seed in range(seeds) for cell in range(cells)}
    study = [repetition_of(*place) for place in places.values()]
    results = {key: {"coordinates": {"filesystem": str(cell)}} for key, (cell, _) in places.items()}
    return [places[chosen.key] for chosen in verifying.sample(study, results, sample_size)]


@given(st.integers(1, 100), st.integers(1, 3), st.integers(1, 300))
def test_a_sample_is_spread_over_the_cells_of_a_study(cells: int, seeds: int, sample_size: int) -> None:
    chosen = [cell for cell, _ in sampled(cells, seeds, sample_size)]
    assert len(chosen) == len(set(chosen)) == min(cells, sample_size)
    gaps = [b - a for a, b in pairwise(chosen)]
    assert not gaps or max(gaps) - min(gaps) <= 1


def test_the_seeds_take_turns_in_a_sample() -> None:
    assert [seed for _, seed in sampled(4, 2, 4)] == [0, 1, 0, 1]
    assert len(sampled(4, 2, None)) == 8


def test_a_program_is_packed_with_its_libraries() -> None:
    packed = gathering.linked(Path("/bin/ls").resolve())
    assert packed.loader is not None
    assert "libc.so.6" in packed.libraries
    assert all(path.is_file() for path in packed.files)


def test_a_script_cannot_be_packed(tmp_path: Path) -> None:
    (tmp_path / "fsck.own").write_text("#!/bin/sh\n")
    with pytest.raises(SetupError, match=r"fsck\.own: is a script"):
        gathering.linked(tmp_path / "fsck.own")


def test_each_file_is_named_with_its_digest_and_its_package(tmp_path: Path) -> None:
    (tmp_path / "built").write_text("by the lab")
    program = Path("/bin/ls").resolve()
    of_none, of_one = sorted(
        gathering.packages([tmp_path / "built", program, program]), key=lambda line: "coreutils" in line
    )
    assert of_none == f"{digest_file(tmp_path / 'built')}  built  no known package"
    assert of_one.startswith(f"{digest_file(program)}  ls  coreutils ")
    assert "(source coreutils " in of_one
