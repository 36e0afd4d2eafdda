# SPDX-License-Identifier: Apache-2.0
"""Commits that the storage stack did not carry out: how they are found, and that no answer recommends such a stack."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from flashbed.analysis import Comparison, Load, Words, compare, doubt_of, doubts, lines, sentence
from flashbed.analysis.answer import doubt_words
from flashbed.comparing import presentation, result_set
from flashbed.comparing.compared_cells import compare_sets as side_by_side
from flashbed.guest_output.assessment import Status
from flashbed.guest_output.durability import Commits, Durability, durability
from flashbed.report.matrix import matrix
from flashbed.result.columns import ResultRow
from flashbed.workload.base import Workload
from flashbed.workload.bonnie import Bonnie
from flashbed.workload.bonnie_plus import BonniePlus
from flashbed.workload.fio.workload import Fio
from flashbed.workload.fxmark import Fxmark
from flashbed.workload.iozone import Iozone
from flashbed.workload.nfs import Nfs
from tests.support.facts import Facts
from tests.support.made_up_exports import write as exported
from tests.support.made_up_results import made_up_frame, made_up_study, rows_of
from tests.support.tabled import assessed, report_of, results_of
from tests.unit.report.written_report import written

LOST = "not durable: 0 flushes for 950 commits"
COMMITS = Commits(99)

CACHED: Mapping[str, Any] = {"kind": "flash", "write_buffer_bytes": 524288}
LYING = {**CACHED, "flush_ignored": 1}


# --- counted --------------------------------------------------------------------------------------------------------


def counters(flushes: int, fua: int) -> bytes:
    return f"/sys/block/mblk0/medium/host_flushes:{flushes}\n/sys/block/mblk0/medium/host_fua_writes:{fua}\n".encode()


def out(flushes: int, fua: int = 0, cache: str = "write back") -> dict[str, bytes]:
    """Return the files that a guest leaves; before the measurement there were 7 flushes and 3 FUA writes."""
    return {
        "counters.before": counters(7, 3),
        "counters.measured": counters(7 + flushes, 3 + fua),
        "write_cache.txt": f"{cache}\n".encode(),
    }


@pytest.mark.parametrize(
    ("commits", "files", "expected"),
    [
        (COMMITS, out(0), "not durable: 0 flushes for 99 commits"),
        (Commits(1), out(0), "not durable: 0 flushes for 1 commit"),
        (COMMITS, out(1), "not durable: 1 flush for 99 commits"),
        (COMMITS, out(98), "not durable: 98 flushes for 99 commits"),
        (COMMITS, out(99), "durable"),
        (COMMITS, out(0, fua=99), "durable"),
        (COMMITS, out(49, fua=50), "durable"),
        # Four processes may share each flush: 25 are enough for 99 commits, and 24 are not
        (Commits(99, 4), out(25), "durable"),
        (Commits(99, 4), out(24), "not durable: 24 flushes for 99 commits"),
        (Commits(0), out(0), ""),
    ],
)
def test_flushes_are_held_against_commits(commits: Commits, files: Mapping[str, bytes], expected: str) -> None:
    assert durability(commits, files, CACHED).text == expected


def test_a_medium_that_ignores_flushes_keeps_no_commit() -> None:
    assert durability(COMMITS, out(99), LYING).text == "not durable: the medium ignores flushes"
    assert durability(COMMITS, out(99), {**LYING, "write_buffer_bytes": 0}).text == ""


@pytest.mark.parametrize(
    ("medium", "cache", "expected"),
    [
        # Linux says "write back" of any eMMC that takes reliable writes, and "write through" of any SD card
        ({"kind": "flash", "write_buffer_bytes": 0}, "write back", ""),
        ({"kind": "flash"}, "write back", ""),
        ({**CACHED, "power_loss_protection": 1}, "write back", ""),
        (CACHED, "write through", LOST),
        ({"kind": "disk", "write_cache_bytes": 4096}, "write back", LOST),
        ({"kind": "disk"}, "write back", ""),
        ({"kind": "null"}, "write back", ""),
        # Linux reports the cache of a translation layer between a raw chip and the file system
        ({"kind": "nand"}, "write through", ""),
        ({"kind": "nand"}, "write back", LOST),
    ],
)
def test_the_medium_tells_whether_its_cache_is_volatile(medium: Mapping[str, Any], cache: str, expected: str) -> None:
    assert durability(Commits(950), out(0, cache=cache), medium).text == expected


def test_a_raw_chip_without_a_block_device_has_no_cache() -> None:
    assert durability(COMMITS, {}, {"kind": "nand"}).text == ""


def test_a_translations_block_device_counts_its_own_flushes() -> None:
    def of(flushes: int) -> str:
        files = {
            **out(0),
            "counters.before": b"/sys/x/flash_programmed_pages:1\n",
            "counters.measured": b"/sys/x/flash_programmed_pages:9\n",
            "block.before": b"16 1 124 5 66 56 75560 944 0 188 960 5 0 524296 3 9 6\n",
            "block.measured": f"16 1 124 5 66 56 75560 944 0 188 960 5 0 524296 3 {9 + flushes} 6\n".encode(),
        }
        return durability(COMMITS, files, {"kind": "nand"}).text

    assert (of(99), of(0)) == ("durable", "not durable: 0 flushes for 99 commits")


# --- asked ----------------------------------------------------------------------------------------------------------


def fio(*jobs: Mapping[str, Any], **options: str) -> dict[str, bytes]:
    """Return fio's JSON of jobs: each with the number of writes, the number of flushes between them, and its own
    options.
    """
    jobs_ = [
        {
            "jobname": job.get("name", "a"),
            "error": 0,
            "job options": job.get("options", {}),
            "read": {"total_ios": job.get("reads", 0)},
            "write": {"total_ios": job.get("writes", 0)},
            "sync": {"total_ios": 0, "lat_ns": {"N": job.get("syncs", 0)}},
        }
        for job in jobs
    ]
    return {"fio.json": json.dumps({"global options": options, "jobs": jobs_}).encode()}


@pytest.mark.parametrize(
    ("jobs", "options", "expected"),
    [
        ([{"writes": 100, "syncs": 99}], {"fdatasync": "1"}, Commits(99, 1)),
        ([{"writes": 100}], {}, Commits(0, 1)),
        ([{"writes": 100}], {"end_fsync": "1"}, Commits(1, 1)),
        ([{"writes": 100}], {"fsync_on_close": "1"}, Commits(1, 1)),
        ([{"writes": 100}], {"end_fsync": "0"}, Commits(0, 1)),
        # fio omits the flush at the end if the last call was one: the other flushes count
        ([{"writes": 100, "syncs": 99}], {"fsync": "1", "end_fsync": "1"}, Commits(99, 1)),
        ([{"writes": 100}], {"sync": "dsync"}, Commits(100, 1)),
        ([{"writes": 100, "options": {"sync": "1"}}], {"iodepth": "8", "ioengine": "libaio"}, Commits(100, 8)),
        # An engine of blocking calls has one call under way at a time: 2 flushes are too few for 99 commits
        ([{"writes": 100, "syncs": 99}], {"fsync": "1", "iodepth": "64"}, Commits(99, 1)),
        ([{"writes": 100, "syncs": 99, "options": {"ioengine": "mmap"}}], {"iodepth": "64"}, Commits(99, 1)),
        ([{"writes": 100}], {"sync": "none"}, Commits(0, 1)),
        ([{"reads": 100}], {"end_fsync": "1"}, Commits(0, 1)),
        ([{"writes": 400}], {"end_fsync": "1", "numjobs": "4", "group_reporting": "1"}, Commits(4, 4)),
        ([{"writes": 9, "syncs": 8}] * 4, {"numjobs": "4"}, Commits(32, 4)),
        ([{"writes": 9, "syncs": 8, "name": "background"}, {"reads": 9}], {}, Commits(8, 1)),
        ([{"writes": 9, "syncs": 8}], {"sync_file_range": "write:1"}, Commits(0, 1)),
        ([{"writes": 9, "syncs": 8}], {"sync_file_range": "write:1", "end_fsync": "1"}, Commits(1, 1)),
        ([{"writes": 9, "syncs": 8}], {"sync_file_range": "write:1", "sync": "1"}, Commits(9, 1)),
        # Four writes in each of ten loops: fio flushes the file again whenever it opens it
        ([{"writes": 40, "syncs": 48}], {"fsync": "1"}, Commits(39, 1)),
        ([{"writes": 640, "syncs": 29}], {"fsync": "32"}, Commits(19, 1)),
        ([{"writes": 640, "syncs": 320}], {"fsync": "32", "fdatasync": "2"}, Commits(319, 1)),
    ],
)
def test_what_fio_asked_for(jobs: list[dict[str, Any]], options: dict[str, str], expected: Commits) -> None:
    assert Fio().commits({}, fio(*jobs, **options)) == expected


def asked(tool: Workload, files: Mapping[str, bytes] | None = None, **values: Any) -> Commits:
    parameters = tool.parameters.model_validate(values).canonical()
    return tool.commits(parameters, files or {})


def test_what_the_other_tools_asked_for() -> None:
    two: dict[str, Any] = {"file": 1 << 20, "processes": 2}
    # Characters, blocks and the rewrite; phases that read are not flushed
    assert asked(Bonnie(), caches="flushed", **two) == asked(Bonnie(), caches="cold", **two) == Commits(6, 2)
    assert asked(Bonnie(), **two).asked == 0
    assert asked(BonniePlus(), **two) == Commits(6, 2)
    assert asked(BonniePlus(), per_character=0, **two) == Commits(4, 2)
    assert asked(Iozone(), include_flush=True, **two) == Commits(4, 2)
    assert asked(Iozone(), include_flush=True, tests="write,read", **two) == Commits(2, 2)
    assert asked(Iozone(), **two).asked == 0
    assert asked(Fxmark(), tests="read-private", file=1 << 20).asked == 0


def test_what_an_nfs_load_asked_for() -> None:
    """Any number of calls may share a flush, so only a count of 0 decides."""

    def commits_of(**operations: int) -> Commits:
        output = {"format": 1, "operations": {name: {"good": good} for name, good in operations.items()}}
        return asked(Nfs(), {"sfsload.json": json.dumps(output).encode()}, load=10)

    assert commits_of(write=90, commit=50, read=9) == Commits(50, 50)
    assert commits_of(write=70, read=9) == Commits(70, 70)
    assert commits_of(read=9) == Commits(0, 1)


# --- told -----------------------------------------------------------------------------------------------------------

FASTEST = {"fast": 9.0, "middle": 3.0, "slow": 1.0}


def compared(lost: Mapping[tuple[str, str], str], rates: Mapping[str, float] = FASTEST) -> tuple[Comparison, Words]:
    """Return a comparison over two patterns and two request sizes; `lost` is by file system and request size, at random
    writes.
    """
    rows = [
        {"filesystem": name, "pattern": pattern, "request": request, "seed": seed, "outcome": "measured"}
        | {"reason": "", "key": "k", "bandwidth": rate, "limit": "medium", "steady": "steady"}
        | {"durable": lost.get((name, request), "durable") if pattern == "randwrite" and seed == 2 else "durable"}
        for name, rate in rates.items()
        for pattern in ("write", "randwrite")
        for request in ("4k", "64k")
        for seed in (1, 2, 3)
    ]
    axes = {"filesystem": tuple(rates), "pattern": ("write", "randwrite"), "request": ("4k", "64k")}
    results = results_of(axes, rows)
    return compare(results, ("filesystem",), ("pattern",), "bandwidth", True, doubts(results, "bandwidth")), Words(axes)


def shown(comparison: Comparison, words: Words) -> tuple[list[str], list[str], list[tuple[str, str]]]:
    """Return the lines, the sentence on random writes, and its fields as (tone, text)."""
    loads = [Load(comparison, group) for group in comparison.groups]
    fields = matrix([loads], words).parts[0].rows[1].fields
    group = comparison.groups[1]
    return lines(loads, words), [sentence(comparison, group, words)], [(f.tone, f.text) for f in fields if f]


def test_the_fastest_that_lost_its_flushes_is_never_the_best() -> None:
    """One seed in one of two settings is enough, whatever the other seeds say."""
    lines_, text, fields = shown(*compared({("fast", "4k"): LOST}))
    assert lines_ == [
        Facts("NOT DURABLE", "fast for random write", "0 flushes for 950 commits"),
        Facts("fast is fastest", "sequential write", "3.0 times as fast", "middle"),
        Facts("middle is fastest", "random write", "3.0 times as fast as slow"),
    ]
    assert text == [
        Facts(
            "random write",
            "middle is 3.0 times as fast as slow",
            "at each of 2 request sizes",
            "NOT DURABLE, and not compared: fast",
            "0 flushes for 950 commits",
        )
    ]
    assert fields == [("lost", "not durable"), ("best", "best"), ("behind", "3.0× slower")]


def test_the_options_that_lost_the_commits_are_named() -> None:
    lines_, _, _ = shown(*compared({("ext4:nojournal", "4k"): LOST}, {"ext4:nojournal": 9.0, "f2fs": 3.0}))
    assert Facts("NOT DURABLE", "ext4 (nojournal) for random write").within(lines_[0])


def test_a_value_that_is_not_durable_is_not_in_doubt_and_bars_no_other() -> None:
    comparison, _ = compared({("fast", "4k"): LOST})
    group = comparison.groups[1]
    assert (group.winner, group.in_doubt, list(group.not_durable)) == (("middle",), [], [("fast",)])
    # The means are over both sizes, although the value that lost its commits kept them at 64k
    assert (len(group.settings), group.is_partial) == (2, False)


def test_the_only_durable_one_is_told_and_not_called_the_only_one_measured() -> None:
    lines_, text, fields = shown(*compared({("fast", "4k"): LOST}, {"fast": 9.0, "slow": 1.0}))
    assert lines_[2] == Facts("Only slow kept", "random write", "nothing to compare")
    assert Facts("random write", "only slow kept", "nothing to compare").within(text[0])
    assert fields == [("lost", "not durable"), ("plain", "1.00 MiB/s")]


def test_where_none_is_durable_nothing_is_recommended() -> None:
    lost = {(name, "4k"): "not durable: the medium ignores flushes" for name in FASTEST}
    lines_, text, fields = shown(*compared(lost))
    assert lines_[0] == Facts("NOT DURABLE", "fast, middle and slow for random write", "the medium ignores flushes")
    assert lines_[2] == Facts("Nothing to recommend", "random write")
    assert Facts("random write", "nothing that was measured kept").within(text[0])
    assert {tone for tone, _ in fields} == {"lost"}


@pytest.mark.parametrize("metric", ["bandwidth", "write_amplification", "mount_s", "random_seeks"])
def test_lost_commits_bar_every_metric(metric: str) -> None:
    row = ResultRow(("a",), 1, Status.MEASURED, metrics={metric: 1.0}, durable=assessed(Durability, LOST))
    doubt = doubt_of(row, metric)
    assert doubt
    assert (doubt.kind, doubt.bars) == ("not durable", True)
    assert doubt_words(doubt) == "commits of the load were lost (0 flushes for 950 commits)"


def test_newly_lost_commits_are_a_failure_of_a_comparison(tmp_path: Path) -> None:
    """It is none if A lost them too, or if A is too old to count them."""

    def lines_of(a: str | None, b: str) -> list[str]:
        def with_verdict(durable: str | None) -> Callable[[dict[str, Any]], object]:
            return lambda row: row.update({} if durable is None else {"durable": durable})

        folders = [
            exported(tmp_path / f"{number}{a}{b}"[:40], with_verdict(text)) for number, text in enumerate((a, b))
        ]
        return list(
            presentation.defect_lines(side_by_side(*(result_set.read_all(str(folder))[""] for folder in folders)))
        )

    assert lines_of("durable", LOST) == [
        Facts(f"{name}: ", "lost in B", "seeds 1, 2, 3", LOST) for name in ("ext2", "f2fs")
    ]
    assert (
        lines_of(LOST, LOST)
        == lines_of(None, LOST)
        == lines_of("durable", "durable")
        == lines_of(LOST, "durable")
        == []
    )


def test_a_report_says_so_first(tmp_path: Path) -> None:
    study = made_up_study()
    frame = made_up_frame(study).assign(durable="durable")
    frame.loc[(frame["filesystem"] == "f2fs") & (frame["pattern"] == "randwrite"), "durable"] = LOST
    page = written(tmp_path, study, frame)
    first = page.text[page.text.index("Before you rely on it") :].split("\n")[2:4]
    assert "NOT DURABLE in 3 cells" in " ".join(first)
    assert "Were the load’s commits carried out?" in page.text
    assert "durable" in (tmp_path / "results.csv").read_text().partition("\n")[0].split(",")
    kept = json.loads((tmp_path / "results.json").read_text())
    assert {row["durable"] for row in kept["repetitions"] if row["outcome"] == "measured"} == {"durable", LOST}
    report = report_of(study, rows_of(frame))
    assert len(report.not_durable) == 3
