# SPDX-License-Identifier: Apache-2.0
"""Cells whose guests are the same: one is run, the others take what came of it, except with the first seed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from flashbed.common.digest import digest_bytes
from flashbed.execution import attempt, measurement, measuring, repetition, same_guest
from flashbed.execution.repetition import Finished, Repetition
from flashbed.execution.store import Store
from flashbed.machine import guest_job
from flashbed.study.loading import load_study
from flashbed.study.plan import cell_inputs, key, plan

SCHEDULERS = """
    seeds = 3
    [axes]
    filesystem = [{filesystem}]
    scheduler = ["none", "cfq", "mq-deadline"]
    [workload]
    tool = "fio"
    pattern = "write"
    request = "4k"
    file = "1M"
"""


@pytest.fixture
def wanted(study_file):
    """`wanted(medium, filesystem)`: its repetitions, under three schedulers and with three seeds."""

    def make(medium: str, filesystem: str) -> Sequence[Repetition]:
        body = SCHEDULERS.format(filesystem=filesystem)
        made = []
        for cell in plan(load_study(study_file(body, medium=medium, seeds=None))):
            job = guest_job.files(cell, "")
            environment = {"job": digest_bytes(repr(sorted(job.items())).encode())}
            made.append(Repetition(cell, None, environment, key(cell, environment)))
        return made

    return make


def of_guest(one: Repetition) -> dict[str, bytes]:
    return {"out/fio.json": f"of {one.cell.seed}".encode()}


def finished(one: Repetition) -> Finished:
    kept = {"key": one.key, "outcome": "measured", "seed": one.cell.seed, "coordinates": dict(one.cell.coordinates)}
    return Finished(kept, {}, of_guest(one))


def test_what_lies_on_raw_flash_has_one_guest_for_all_schedulers(wanted) -> None:
    made = wanted("slc-nand-64m", '"jffs2"')
    twins = same_guest.twins(made, always_run=1)
    for one in made:
        others = [o.key for o in made if o.cell.seed == one.cell.seed and o.key != one.key]
        assert twins.get(one.key, []) == ([] if one.cell.seed == 1 else others)


def test_a_scheduler_that_the_guest_is_told_makes_another(wanted) -> None:
    assert not same_guest.twins(wanted("usb-stick-2g", '"ext2"'), always_run=1)


def test_another_file_system_is_another_guest_whatever_its_job_says(wanted) -> None:
    made = [Repetition(r.cell, r.image, {"job": "one"}, r.key) for r in wanted("slc-nand-64m", '"jffs2", "yaffs2"')]
    names = {r.key: r.cell.coordinates["filesystem"] for r in made}
    twins = same_guest.twins(made, always_run=1)
    assert twins
    assert all(names[key] == names[other] for key, others in twins.items() for other in others)


def test_each_guest_is_run_once_but_with_the_first_seed(wanted, tmp_path: Path, monkeypatch) -> None:
    """The others have the same artefacts, and in their results what is their own."""
    made, run = wanted("slc-nand-64m", '"jffs2"'), []

    def execute(one: Repetition, *_: object) -> Finished:
        run.append(one.cell.seed)
        return finished(one)

    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path))
    monkeypatch.setattr(repetition, "execute", execute)
    monkeypatch.setattr(measurement, "read", lambda kept, folder: dict(kept))
    store = Store(tmp_path / "results")
    with attempt.here(1) as site:
        twins = same_guest.twins(made, always_run=1)
        records = list(measuring.measure(store, made, site, attempt.Limits(1, 1), twins))
    assert run == [1, 1, 1, 2, 3]
    assert [record.repetition.key for record in records] == [one.key for one in made]
    for one in made:
        kept = store.get(one.key)
        assert {name: kept.read(name) for name in kept.names()} == of_guest(one)
        assert kept.result["key"] == one.key
        assert kept.result["coordinates"] == dict(one.cell.coordinates)
        first = next(o for o in made if o.cell.seed == one.cell.seed)
        was_run = one.cell.seed == 1 or one is first
        assert kept.result.get(same_guest.RUN_AS) == (None if was_run else first.key)
        assert was_run or kept.result["cell"] == cell_inputs(one.cell)


def test_what_failed_is_taken_by_nobody(wanted, tmp_path: Path) -> None:
    first, second = (one for one in wanted("slc-nand-64m", '"jffs2"')[3:5])
    store = Store(tmp_path)
    store.put(first.key, {}, {"outcome": "failed"})
    assert same_guest.taken_over(store, second, {second.key: [first.key]}) is None
    assert store.get(second.key) is None
