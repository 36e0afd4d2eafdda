# SPDX-License-Identifier: Apache-2.0
"""A few cells of the shipped studies after papers, as they are, in guests: what their claims rest on can be measured.

Each slice is of the study's own axes, so a claim is judged here by the same words as in its report; cells that are not
in the slice are not there at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from flashbed.analysis import Judgement
from flashbed.common import paths
from flashbed.execution import run
from flashbed.report.inputs import ReportInputs
from flashbed.report.model import Report, report_of
from flashbed.study.loading import load_study


def measured(name: str, where: Mapping[str, Sequence[str]]) -> Report:
    """Measure the cells of a study with these values in guests, with the study's first seed. Return the report."""
    study = load_study(paths.studies() / f"{name}.toml")
    axes = {axis: tuple(v for v in values if v in where.get(axis, values)) for axis, values in study.axes.items()}
    assert all(axes.values()), "the slice names a value that the study does not have"
    part = replace(study, axes=axes, seeds=study.seeds[:1], request_figures=())
    report = report_of(ReportInputs(part, run.rows(run.run(part, jobs=1))))
    assert report.results.outcomes() == {"measured": len(list(part.combinations()))}
    return report


def judged(report: Report, begins: str) -> Judgement:
    """Return the judgement of the claim whose text begins with these words."""
    (judgement,) = [judgement_ for judgement_ in report.judgements() if judgement_.claim.text.startswith(begins)]
    return judgement


@pytest.fixture(autouse=True)
def _own_results(fresh_cache: Path) -> None:
    """Use a cache without results, so that each cell is measured."""


def test_choi2014_tells_a_write_that_memory_keeps_from_one_that_is_flushed() -> None:
    report = measured(
        "choi2014",
        {
            "filesystem": ["fat16:cluster=16k", "ext2:block=4k"],
            "medium": ["usb-stick-2g:used_bytes=1G"],
            "kernel": ["6.1"],
            "file": ["10M"],
            "flush": ["none", "fsync"],
            "pattern": ["write"],
            "request": ["4k", "64k"],
            "direct": ["false"],
            "allocate": ["true"],
        },
    )
    reached, requested = report.results.numbers("medium_written_bytes"), report.results.numbers("requested_bytes")
    flush = list(report.results.axes).index("flush")
    for cell, by_seed in reached.items():
        share = by_seed[1] / requested[cell][1]
        assert (share < 0.1) if cell[flush] == "none" else (share >= 1), cell
    # What is flushed runs at the stick's own speed, whatever the size of a request. What memory takes does not.
    claim = "The size of a request hardly matters for writes of either file system"
    assert judged(report, f"{claim} (flushed").verdict == "holds"
    kept = judged(report, f"{claim} (not waited for)")
    assert kept.verdict != "cannot be decided"
    assert len(kept.findings) == 2  # FAT16 and ext2, 64k against 4k


def test_choi2014_reads_from_memory_and_writes_through_close_as_a_desktop_does() -> None:
    report = measured(
        "choi2014",
        {
            "medium": ["usb-stick-2g:used_bytes=1G"],
            "filesystem": ["fat16:cluster=16k,flush=on", "ext2:block=4k"],
            "kernel": ["6.1"],
            "file": ["10M"],
            "pattern": ["randread", "write"],
            "flush": ["none", "close"],
            "cache": ["cold", "warm"],
            "request": ["64k"],
            "direct": ["false"],
        },
    )
    axes = list(report.results.axes)
    read = report.results.numbers("medium_read_bytes")
    for cell, by_seed in read.items():
        if cell[axes.index("pattern")] == "randread":
            assert (by_seed[1] < 0.01 * (10 << 20)) == (cell[axes.index("cache")] == "warm"), (cell, by_seed)
    took = {
        cell[axes.index("filesystem")]: by_seed[1]
        for cell, by_seed in report.results.numbers("runtime_s").items()
        if cell[axes.index("flush")] == "close"
    }
    # vfat waits for a tenth of a second once it has begun to write back; to ext2 a close is nothing
    assert took["fat16:cluster=16k,flush=on"] > 0.1 > 2 * took["ext2:block=4k"], took


def test_choi2014_counts_the_accesses_for_one_small_file() -> None:
    report = measured("choi2014-accesses", {})
    counts = {cell: by_seed[1] for cell, by_seed in report.results.numbers("medium_requests").items()}
    # A file of 1 KiB is a request, and its directory entry or inode another, at the least; the paper's most is 6.
    assert all(2 <= counted <= 20 for counted in counts.values()), counts
    assert judged(report, "Once mounted, too, writing a small file").verdict == "holds"
    mounted = {cell: by_seed[1] for cell, by_seed in report.results.numbers("medium_requests_with_mount").items()}
    # A mount reads the boot record or the super block, and what leads to the root directory, at the least; vfat counts
    # the folders in a root directory of 32 sectors, which it reads one by one
    of_mount = {cell: mounted[cell] - counts[cell] for cell in counts}
    assert all((33 if cell[0].startswith("fat16") else 2) <= many <= 40 for cell, many in of_mount.items()), of_mount


def test_lee2013_has_schedulers_where_there_is_a_queue_and_content_where_it_is_compressed() -> None:
    report = measured(
        "lee2013",
        {
            "filesystem": ["jffs2", "yaffs2"],
            "translation": ["none"],
            "scheduler": ["none", "cfq"],
            "file": ["1M"],
            "aged": ["0"],
        },
    )
    assert judged(report, "Writing, YAFFS2 is fastest with noop").verdict == "does not hold"
    seconds = {cell: by_seed[1] for cell, by_seed in report.results.numbers("write_s").items()}
    chip = {cell: by_seed[1] for cell, by_seed in report.results.numbers("medium_written_bytes").items()}
    constant, random = (
        (name, "none", content, "none", "1M", "0") for name, content in (("jffs2", "constant"), ("jffs2", "random"))
    )
    assert chip[constant] < 0.2 * chip[random]  # zlib leaves little of a word that repeats
    assert seconds[constant] < seconds[random]
    # YAFFS2 compresses nothing: the same pages, but for where the seed's other data end.
    assert chip["yaffs2", "none", "constant", "none", "1M", "0"] == pytest.approx(
        chip["yaffs2", "none", "random", "none", "1M", "0"], rel=0.01
    )


def test_lee2013_lays_nilfs2_on_a_layer_with_a_queue() -> None:
    report = measured(
        "lee2013",
        {
            "filesystem": ["nilfs2"],
            "translation": ["ftl-page"],
            "content": ["constant"],
            "scheduler": ["mq-deadline", "cfq"],
            "file": ["1M"],
        },
    )
    advice = judged(report, "For NILFS2 that writes deadline pays")
    assert advice.verdict != "cannot be decided"
    (finding,) = advice.findings
    assert finding.ratio is not None
    assert not report.queueless
