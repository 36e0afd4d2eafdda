# SPDX-License-Identifier: Apache-2.0
"""The command that reports whether a change of the lab changes a result (tests/support/same_results.py)."""

from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.study.loading import load_study
from flashbed.study.slicing import narrowed
from tests.support.same_results import SLICES, differences, main, slices_of

BEFORE = b"pattern,seed,key,bandwidth\nread,1,k1,2.5\nwrite,1,k2,1.5\n"


def test_other_keys_are_no_difference() -> None:
    assert list(differences(BEFORE, BEFORE.replace(b"k1", b"k7"))) == []


@pytest.mark.parametrize(
    ("after", "lines"),
    [
        (BEFORE.replace(b"2.5", b"2.50"), ["line 2, bandwidth: '2.5' before, '2.50' after"]),
        (BEFORE.replace(b"write,1,k2,1.5\n", b""), ["2 rows before, 1 after"]),
        (BEFORE.replace(b"seed,", b"sown,"), ["columns that are gone: seed", "columns that are new: sown"]),
        (BEFORE.replace(b"\nread,1", b'\n"read",1'), ["the bytes differ, though no value does that both have"]),
        (b"pattern,key,seed,bandwidth\nread,k1,1,2.5\nwrite,k2,1,1.5\n", ["the columns have another order"]),
    ],
)
def test_any_other_byte_is_a_difference(after: bytes, lines: list[str]) -> None:
    assert list(differences(BEFORE, after))[: len(lines)] == lines


def test_each_shipped_study_has_a_slice_that_the_study_has() -> None:
    slices = slices_of()
    assert sorted(slices) == sorted(file.stem for file in paths.studies().glob("*.toml")), SLICES
    for name, where in slices.items():
        assert 1 <= len(list(narrowed(load_study(paths.studies() / f"{name}.toml"), where).combinations())) <= 4


def side(folder: Path, table: str) -> Path:
    """Make an environment whose flashbed writes this table."""
    command = folder / "bin" / "flashbed"
    command.parent.mkdir(parents=True)
    command.write_text(
        f'#!/bin/sh\nwhile [ "$1" != --out ]; do shift; done\nmkdir -p "$2"\n{table} > "$2/results.csv"\n'
    )
    command.chmod(0o755)
    return folder


def test_it_ends_by_what_it_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "cache"))
    places = {
        name: str(side(tmp_path / name, f"printf 'seed,key,bandwidth\\n1,{key},{value}\\n'"))
        for name, key, value in (("a", "7" * 64, 1), ("b", "8" * 64, 1), ("c", "7" * 64, 2))
    }
    assert main([places["a"], places["b"], "quick"]) == 0
    assert main([places["a"], places["c"], "--work", str(tmp_path), "quick"]) == 1
    broken = side(tmp_path / "d", "exit 3;")
    assert main([places["a"], str(broken), "quick"]) == 2
    assert main([places["a"], str(tmp_path), "quick"]) == 2
