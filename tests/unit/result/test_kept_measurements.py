# SPDX-License-Identifier: Apache-2.0
"""result/evaluation.py: what was worked out is kept, as long as neither the code nor the output changes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from flashbed.common.digest import digest_bytes
from flashbed.guest_output.assessment import State
from flashbed.guest_output.durability import Durability
from flashbed.guest_output.program_calls import CallSummary, CostlyFile, Spent
from flashbed.guest_output.steadiness import Series, Settling
from flashbed.result import evaluation
from flashbed.result.result import Measurement, Result
from flashbed.result.store import DIGESTS
from tests.unit.result.test_result import DOCUMENT

MEASURED = Measurement(
    mounted="ext2 rw",
    durable=Durability(State.NOT_DURABLE, "1 flush for 2 commits"),
    settled=Settling(State.SETTLED),
    metrics={"bandwidth": 0.1 + 0.2, "iops": math.nextafter(1e9, 2e9), "lat": 5e-324},
    medium={"synced": {"flash_programmed_pages": 1 << 60}},
    counted={"cpu_ns": 7},
    series=[Series(1.5, (0.1, 2.0), 4096.0, "reader")],
    calls=CallSummary({Spent.FLUSH: 3, Spent.OWN_CPU: 1 << 60}, [CostlyFile("/mnt/a", 3, 2, 1, 5, 1)]),
)


class Store:
    """A result in a cache of its own, and how often its output was read."""

    def __init__(self, root: Path) -> None:
        self.root, self.read_count = root, 0
        self.folder = root / "results" / "ab" / "key"
        (self.folder / "out").mkdir(parents=True)
        self.put("{}")
        board = {"pio_sector_ns": 0, "nand_cycle_ps": 0}
        cell = {**DOCUMENT["cell"], "board": board, "workload": {"tool": "fio", "parameters": {}}}
        self.document = {**DOCUMENT, "cell": cell}

    def put(self, output: str) -> None:
        """Put an output there as the store does. What is changed later is found by the store's own digests."""
        (self.folder / "out" / "fio.json").write_text(output)
        (self.folder / DIGESTS).write_text(f"{digest_bytes(output.encode())}  out/fio.json\n")

    def evaluate(self, *_: Any) -> Measurement:
        self.read_count += 1
        return MEASURED

    def read(self, folder: Path | None = None) -> Result:
        return evaluation.with_measurement(Result.from_json(self.document), folder or self.folder)

    def kept(self) -> list[Path]:
        return [path for path in (self.root / "measurements").rglob("*") if path.is_file()]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    made = Store(tmp_path)
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path))
    monkeypatch.setattr(evaluation, "evaluate", made.evaluate)
    return made


def test_it_is_worked_out_once_and_is_the_same_to_the_last_bit(store: Store) -> None:
    first, second = store.read(), store.read()
    assert first == second
    assert second.measurement == MEASURED
    assert store.read_count == 1


def test_other_code_works_it_out_anew_and_removes_the_rest(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.read()
    monkeypatch.setattr(evaluation, "digest_code", lambda: "f" * 64)
    store.read()
    assert store.read_count == 2
    assert [path.parents[1].name for path in store.kept()] == ["f" * 16]


@pytest.mark.parametrize("text", ['{"a": 1}', "[]"])
def test_another_output_is_worked_out_anew(store: Store, text: str) -> None:
    store.read()
    store.put(text)
    store.read()
    assert (store.read_count, len(store.kept())) == (2, 1)


@pytest.mark.parametrize("damage", ["", "{", '{"metrics": {"bandwidth": "much"}}', "[" * 100_000])
def test_a_damaged_one_is_worked_out_anew(store: Store, damage: str) -> None:
    store.read()
    [kept] = store.kept()
    kept.write_text(damage)
    assert store.read().measurement == MEASURED
    assert store.read_count == 2


def test_another_figure_in_the_kept_file_is_not_believed(store: Store) -> None:
    store.read()
    [kept] = store.kept()
    kept.write_bytes(kept.read_bytes().replace(b'"cpu_ns":7', b'"cpu_ns":8'))
    assert store.read().measurement == MEASURED
    assert store.read_count == 2
    assert len(store.kept()) == 1


def test_outside_of_the_store_nothing_is_kept(store: Store, tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "out").mkdir(parents=True)
    for _ in range(2):
        store.read(tmp_path / "elsewhere")
    assert (store.read_count, store.kept()) == (2, [])


def test_a_cache_that_cannot_be_written_is_read_all_the_same(store: Store) -> None:
    (store.root / "measurements").write_text("a file where a directory should be")
    assert store.read().measurement == MEASURED


def test_a_file_that_goes_while_it_is_read_is_missing(store: Store) -> None:
    out = evaluation.OutFiles(store.folder / "out")
    assert list(out) == ["fio.json"]
    (store.folder / "out" / "fio.json").unlink()
    with pytest.raises(KeyError, match=r"fio\.json"):
        out["fio.json"]


def test_what_was_read_stays(store: Store) -> None:
    out = evaluation.OutFiles(store.folder / "out")
    assert (out["fio.json"], "other" in out, out.get("other")) == (b"{}", False, None)
    (store.folder / "out" / "fio.json").unlink()
    assert out["fio.json"] == b"{}"
    assert list(evaluation.OutFiles(store.folder / "nothing")) == []
