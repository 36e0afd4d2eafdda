# SPDX-License-Identifier: Apache-2.0
"""Check whether the storage stack carried out the commits that a load requested, by comparing commits with flushes of
the medium.

A commit is a call after which the load expects its data to survive a power cut: fsync(), fdatasync(), a write to a file
opened with O_SYNC, an NFS COMMIT. If the medium has a volatile write cache, a commit needs a flush of it or a write
that bypasses it (FUA). Linux is not asked whether there is such a cache: its driver of eMMC reports "write back" for
each medium with reliable writes, even without a cache, and drops the flushes (mmc_blk_alloc_req() and
mmc_blk_mq_issue_rq() in drivers/mmc/core/block.c). Commits that run at the same time may share one flush. Two commits
of one process never do: the second begins after the first has returned. So a stack that carried out all commits sent at
least

    flushes >= commits / commits that run at a time

If fewer came, some commits returned before their data were durable. The rule counts flushes from any cause, so it never
calls a durable stack "not durable", and it can overlook a few lost commits. A commit of a file without new data needs
no flush: if a load may make such commits, the verdict is "durable" or "not known". Must not know file systems by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any, NamedTuple

from flashbed.guest_output import medium_counters
from flashbed.guest_output.assessment import Assessment, State


class Durability(Assessment):
    """Whether commits were carried out: DURABLE, NOT_DURABLE or NOT_KNOWN. Empty if no commit was requested, or
    none needs a flush.
    """


WRITE_CACHE = "write_cache.txt"
"""Linux's word for the block device's cache (queue/write_cache). The file is absent without a block device."""

_WRITE_BACK = b"write back"

_FLUSHES, _FUA_WRITES = "host_flushes", "host_fua_writes"
_FLUSHES_OF_BLOCK = 15
"""The field of the flushes in a block device's stat file (Documentation/block/stat.rst)."""


class Commits(NamedTuple):
    """How many commits a load requested, and at most how many of them ran at the same time."""

    asked: int
    at_a_time: int = 1
    may_be_empty: bool = False
    """True if some of the commits may be of files that have no new data."""


NO_COMMITS = Commits(0)


def commits_of_calls(spans: Iterable[tuple[int, int]]) -> Commits:
    """Return the commits by flushes of files that succeeded, each with its begin and end. At most as many ran at a time
    as overlapped; some may be of files without new data.
    """
    moments = sorted(moment for begin_ns, end_ns in spans for moment in ((begin_ns, 1), (end_ns, -1)))
    at_a_time = accumulate(step for _, step in moments)
    return Commits(len(moments) // 2, max(at_a_time, default=1) or 1, may_be_empty=True)


def durability(commits: Commits, out: Mapping[str, bytes], medium: Mapping[str, Any]) -> Durability:
    """Return the verdict. `medium` has the parameters of the medium's model, and its kind. Raises KeyError or
    ValueError.
    """
    if not commits.asked or not _has_volatile_cache(medium, out):
        return Durability()
    if medium.get("flush_ignored"):
        return Durability(State.NOT_DURABLE, "the medium ignores flushes")
    flushes = _flushes(out)
    if flushes * commits.at_a_time >= commits.asked:
        return Durability(State.DURABLE)
    counted = f"{_count(flushes, 'flush', 'flushes')} for {_count(commits.asked, 'commit', 'commits')}"
    if commits.may_be_empty:
        return Durability(State.NOT_KNOWN, f"{counted}, some of which may be of files without new data")
    return Durability(State.NOT_DURABLE, counted)


def _has_volatile_cache(medium: Mapping[str, Any], out: Mapping[str, bytes]) -> bool:
    """Return the same as fb_volatile_cache() in media/include/fb_params.h. For a raw chip, the translation's driver
    says whether it has a cache.
    """
    match medium["kind"]:
        case "disk":
            return bool(medium.get("write_cache_bytes"))
        case "flash":
            return bool(medium.get("write_buffer_bytes")) and not medium.get("power_loss_protection")
        case "nand":
            return WRITE_CACHE in out and out[WRITE_CACHE].strip() == _WRITE_BACK
    return False


def _flushes(out: Mapping[str, bytes]) -> int:
    """Return the flushes and FUA writes that the medium got under the load; for a translation, the flushes of its block
    device.
    """
    load = medium_counters.of_load(out)
    if _FLUSHES in load:
        return load[_FLUSHES] + load[_FUA_WRITES]
    before, measured = (
        int(out[name].split()[_FLUSHES_OF_BLOCK])
        for name in (medium_counters.BLOCK_BEFORE, medium_counters.BLOCK_MEASURED)
    )
    return measured - before


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}"
