# SPDX-License-Identifier: Apache-2.0
"""Translation layers in software in a guest: file systems for block devices live on a bare chip, all that was written
is there after the layer was taken down and started anew, and the figures agree with the chip's own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from flashbed.execution import run
from flashbed.execution.repetition import Finished
from flashbed.guest_output import wear
from flashbed.study.loading import load_study
from tests.support import guest_rig
from tests.support.fixture_types import Measure, StudyWriter

FinishedOn = Callable[..., Finished]

WORKLOAD = '[workload]\ntool = "fio"\npattern = "randwrite"\nrequest = "4k"\nfile = "4M"\nflush = "fsync"\n'

# Written before the layer is started anew, a third of it twice, and read after it
PREPARE = """
head -c 3000000 /dev/urandom >/mnt/file
sync
head -c 1000000 /dev/urandom | dd of=/mnt/file bs=4k seek=400 conv=notrunc
md5sum /mnt/file >/out/before
"""

MEASURE = "md5sum /mnt/file >/out/after\n"


@pytest.fixture
def finished(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> FinishedOn:
    """Return a function that measures a cell on a chip: `finished(translation, filesystem)`. The chip has bad blocks,
    except for mtdblock.
    """

    def call(translation: str, filesystem: str, medium: str = "slc-nand-64m") -> Finished:
        study = study_file(WORKLOAD, translation=translation, filesystem=filesystem, medium=medium)
        (repetition,) = run.prepare(load_study(study))
        done = measure(repetition, tmp_path / "work")
        inspection = repetition.image.media_tool.inspect(tmp_path / "work" / "state.bin")
        done.files["inspect.json"] = json.dumps(asdict(inspection)).encode()
        return done

    return call


def numbers(done: Finished, name: str) -> dict[str, int]:
    """Return the counters by name, from lines such as "bad_blocks:23"."""
    pairs = (line.rsplit(":", 1) for line in done.files[f"out/{name}"].decode().splitlines())
    return {path.rsplit("/", 1)[-1]: int(value) for path, value in pairs}


def agrees_with_the_chip(done: Finished) -> dict[str, float]:
    """Wear and write amplification, from what the chip's own state says after the guest is gone."""
    metrics = dict(done.result.measurement.metrics)
    inspection: dict[str, Any] = json.loads(done.files["inspect.json"])
    assert inspection["fault"] is None
    assert inspection["counters"]["violations"] == 0
    assert metrics["wear_max"] == inspection["wear"]["erase_count_max"]
    assert metrics["wear_mean"] == pytest.approx(inspection["wear"]["erase_count_mean"], abs=1e-3)
    assert ("tbw_bytes" in metrics) is (metrics["overwrites"] >= wear.ENOUGH_OVERWRITES)
    assert metrics.get("tbw_bytes", 0) <= metrics.get("tbw_level_bytes", 0)
    assert metrics["total_write_amplification"] >= metrics["write_amplification"] >= 1
    assert metrics["mount_s"] > 0
    return metrics


def holds(done: Finished) -> None:
    metrics = agrees_with_the_chip(done)
    layer = numbers(done, "translation.finished")
    assert layer["bad_blocks"] == layer["lost_pages"] == 0
    # The layer's tables are in one piece, for which Linux takes the next power of two if it has that; the rest is small
    assert 0 < layer["memory_bytes"] < metrics["mount_memory_bytes"] < layer["memory_bytes"] + (2 << 20)
    assert metrics["written_bytes"] == metrics["requested_bytes"] == 4 << 20


def test_ext2_lives_on_the_page_mapped_layer(finished: FinishedOn) -> None:
    holds(finished("ftl-page", "ext2:block=4k"))


@pytest.mark.long
@pytest.mark.parametrize("layer", ["ftl-bast", "ftl-fast"])
def test_ext2_lives_on_the_log_block_layers(finished: FinishedOn, layer: str) -> None:
    holds(finished(layer, "ext2:block=4k"))


@pytest.mark.long
@pytest.mark.parametrize("layer", ["ftl-page", "ftl-bast", "ftl-fast"])
@pytest.mark.parametrize(
    ("filesystem", "medium"), [("fat16", "slc-nand-64m"), ("nilfs2", "slc-nand-256m"), ("ext2", "slc-nand-256m")]
)
def test_other_file_systems_live_on_each_layer(finished: FinishedOn, layer: str, filesystem: str, medium: str) -> None:
    holds(finished(layer, filesystem, medium))


@pytest.mark.long
def test_ext2_lives_on_mtdblock_on_a_flawless_chip(finished: FinishedOn) -> None:
    agrees_with_the_chip(finished("mtdblock", "ext2:block=4k", "slc-nand-64m:factory_bad_blocks=0"))


@pytest.mark.long
@pytest.mark.parametrize("layer", ["ftl-page", "ftl-bast", "ftl-fast"])
def test_what_was_written_outlives_a_restart(study_file: StudyWriter, tmp_path: Path, layer: str) -> None:
    study = study_file(WORKLOAD, translation=layer, filesystem="ext2", medium="slc-nand-64m")
    outcome = guest_rig.boot(guest_rig.new(study, tmp_path / "work"), prepare=PREPARE, measure=MEASURE)
    assert outcome.files["before"] == outcome.files["after"] != b""
