# SPDX-License-Identifier: Apache-2.0
"""Media that map erase groups and collect updates in logs: the cost of random writes, by the number of groups that they
go to and by their size.

G pages per group, L logs, W groups that are written to, requests of s pages.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from flashbed.profiles.profile import Medium
from pages.checks import CLOSE, Bench, Request, Row, media, plain
from pages.page_text import table

SAMPLE = 0.03
"""The allowed relative error of samples."""

STANDARD_ERROR = 0.01
"""The relative standard error of BAST's samples at random places, at most. Three of them are allowed."""

FEWEST_WRITES = 2000
"""The smallest number of writes of a sample, however small its standard error."""


@dataclass(frozen=True)
class Logs:
    """A medium with logs, and its parameters."""

    name: str
    medium: Medium
    page_bytes: int
    group_pages: int
    logs: int
    groups: int
    fast: bool
    shared: int
    """The logs that all groups share: for FAST all but the first, for BAST those for short writes."""
    short_pages: float
    """Requests of fewer pages go to the shared logs."""
    in_steps: bool
    """True if the oldest shared log is emptied while the newest one is filled."""

    @property
    def layer(self) -> str:
        return "FAST" if self.fast else "BAST"

    @property
    def own_logs(self) -> int:
        return self.logs - self.shared

    def shares(self, pages: float) -> bool:
        """True if requests of so many pages go to the shared logs."""
        return self.fast or pages < self.short_pages

    @property
    def group_bytes(self) -> int:
        return self.group_pages * self.page_bytes


def log_media() -> Iterator[Logs]:
    for name, medium, p in media("flash"):
        layer = medium.core_parameters.get("ftl")
        if layer not in ("bast", "fast"):
            continue
        pages = p["dies"] * p.get("planes", 1) * p.get("blocks_per_group", 1) * p["pages_per_block"]
        groups = p["capacity_bytes"] // (pages * p["page_bytes"])
        fast, logs = layer == "fast", p["log_blocks"]
        shared = logs - 1 if fast else p.get("shared_logs", 0)
        short_pages = p.get("short_write_bytes", 0) / p["page_bytes"]
        steps = p.get("merge_step_pages", 0) > 0
        yield Logs(name, medium, p["page_bytes"], pages, logs, groups, fast, shared, short_pages, steps)


def start(bench: Bench, m: Logs, groups: int) -> None:
    """Make a new medium, and write its first groups in order."""
    bench.start(m.medium)
    bench.go_on([("write", group * m.group_bytes, m.group_bytes) for group in range(groups)])


def pages_at_random(chance: random.Random, m: Logs, groups: int, count: int) -> list[Request]:
    """Return single pages, but never the first of a group, with which FAST would begin its sequential log."""
    places = (chance.randrange(groups) * m.group_pages + chance.randrange(1, m.group_pages) for _ in range(count))
    return [("write", place * m.page_bytes, m.page_bytes) for place in places]


def still_needed(m: Logs, groups: int, written: float = 1, later: float | None = None) -> float:
    """Return the probability that a part of a log holds a page of a group that was neither merged nor written again
    since.

    The part is the written share of a log of G pages. So many logs were written after it.
    """
    later = m.shared - 1 if later is None else later
    missed = 1 - 1 / (groups * (m.group_pages - 1))  # one address by one write
    holds_it: float = (1 - missed ** (written * m.group_pages)) * missed ** (later * m.group_pages)
    in_none: float = (1 - holds_it) ** (m.group_pages - 1)
    return 1 - in_none


def turns(m: Logs, groups: int) -> float:
    """Return the number of logs that are filled between two merges of a group."""
    if not m.in_steps:
        return m.shared - 1 + 1 / still_needed(m, groups)
    moments = [(i + 0.5) / 100 for i in range(100)]
    behind = [still_needed(m, groups, 1 - x, m.shared - 2 + 0.5) for x in moments]
    whole = [still_needed(m, groups, 1, m.shared - 2 + x) for x in moments]
    return m.shared - 1 + (1 - sum(behind) / 100) / (sum(whole) / 100)


def programs_by_groups(m: Logs, groups: int) -> float:
    """Return the programmed pages per written page: the page itself, and its share of a merge."""
    if m.shares(1):
        return 1 + groups / turns(m, groups)
    if groups <= m.own_logs:
        return 2
    return 1 + m.group_pages * (1 - m.own_logs / groups)


def enough(m: Logs, groups: int) -> tuple[int, int]:
    """Return the number of requests before and during the measurement: whole rounds of the logs, or enough merges.

    The share of the requests that find a log is binomial.
    """
    if m.shares(1):
        round_of_logs = m.shared * m.group_pages
        return 2 * round_of_logs, 20 * round_of_logs
    if groups <= m.own_logs:
        return 2 * groups * m.group_pages, 20 * groups * m.group_pages
    finds_log = m.own_logs / groups
    return 20 * m.own_logs, round(finds_log / (1 - finds_log) / STANDARD_ERROR**2)


def collapse(bench: Bench) -> tuple[str, list[Row]]:
    """Measure random writes of one page to more and more groups."""
    lines, rows = [], []
    for m in log_media():
        for groups in sorted({1, m.logs, m.logs + 1, 2 * m.logs, 4 * m.logs, 8 * m.logs}):
            chance = random.Random(1)
            start(bench, m, groups)
            before, counted = enough(m, groups)
            bench.go_on(pages_at_random(chance, m, groups, before))
            replayed = bench.measure(pages_at_random(chance, m, groups, counted))
            assert replayed.write_amplification is not None
            name = f"random pages of {groups} groups"
            expected = programs_by_groups(m, groups)
            row = Row(m.name, name, expected, m.layer, replayed.write_amplification, SAMPLE)
            lines.append(
                [
                    f"{m.name}, {m.layer}",
                    str(m.logs),
                    str(groups),
                    *(plain(value) for value in (row.expected, row.found)),
                    f"{row.error * 100:.2f} %",
                    f"{replayed.operations['write']['bytes_per_s'] / 1e6:.4f}",
                ]
            )
            rows.append(row)
    return table(["medium", "logs", "groups", "expected", "model", "off by", "MB/s"], lines), rows


def programs_by_size(m: Logs, pages: int) -> float:
    missed = 1 if m.fast else 1 - m.own_logs / m.groups
    share = pages / m.group_pages
    spared = share**2 if share == 1 or not (m.fast and m.in_steps) else share**2 / 2
    return 1 + missed / share * (1 - spared)


def enough_writes(m: Logs, pages: int) -> int:
    """Return the number of writes during the measurement.

    On BAST, a write of the share q of a group costs 1 + M (1 - q B) / q pages for each page. M is 1 if the write finds
    no log, and B is 1 if it begins its group; else they are 0. The probability that B is 1 is q.
    """
    if m.fast:
        return max(2000, 40 * m.logs * m.group_pages // pages)
    missed, q = 1 - m.own_logs / m.groups, pages / m.group_pages
    mean = programs_by_size(m, pages)
    variance = missed * (1 - 2 * q**2 + q**3) / q**2 - (mean - 1) ** 2
    return max(FEWEST_WRITES, round(variance / mean**2 / STANDARD_ERROR**2))


def sizes(m: Logs) -> list[int]:
    """Return the pages per request: every fourth power of two, half a group, a group. For FAST, sizes at which a log's
    pieces seldom meet.
    """
    smallest = m.group_pages // 8 if m.fast else max(1, int(m.short_pages))
    pages = {m.group_pages, m.group_pages // 2}
    while smallest < m.group_pages:
        pages.add(smallest)
        smallest *= 4
    return sorted(pages)


def sweep(bench: Bench) -> tuple[str, list[Row]]:
    """Measure random writes over the whole medium, aligned to their size, from a page to an erase group."""
    lines, rows = [], []
    for m in log_media():
        start(bench, m, m.groups)
        bench.keep()
        for pages in sizes(m):
            chance, size = random.Random(1), pages * m.page_bytes
            count = enough_writes(m, pages)
            bench.go_back()
            places = [chance.randrange(m.groups * m.group_pages // pages) for _ in range(count + count // 4)]
            requests = [("write", place * size, size) for place in places]
            bench.go_on(requests[: count // 4])
            replayed = bench.measure(requests[count // 4 :])
            assert replayed.write_amplification is not None
            name = f"random writes of {size >> 10} KiB"
            allowed = CLOSE if pages == m.group_pages else SAMPLE
            row = Row(m.name, name, programs_by_size(m, pages), m.layer, replayed.write_amplification, allowed)
            lines.append(
                [
                    f"{m.name}, {m.layer}",
                    str(size >> 10),
                    *(plain(value) for value in (row.expected, row.found)),
                    f"{row.error * 100:.2f} %",
                    f"{replayed.operations['write']['bytes_per_s'] / 1e6:.4f}",
                ]
            )
            rows.append(row)
    return table(["medium", "KiB a request", "expected", "model", "off by", "MB/s"], lines), rows


COLLAPSE_TEXT = """\
The load writes single pages at random places of W groups of G pages, which were all written before. The figures are the
pages that are programmed per page written. The model must be within 3 %.

- BAST with a log for each group merges a log when it is full: G copies for G writes, so 2.
- BAST with L logs for more than L groups: a write finds its group's log with probability L / W, whichever log makes
  way. Otherwise it costs a merge: 1 + G (1 - L / W). There are so many writes that the standard error of this
  probability moves the figure by at most 1 %.
- FAST shares its N = L - 1 random logs among all groups. When the oldest log makes way, each group of which it still
  holds a page is merged. That group is not merged again before the log that is written next is the oldest, N turns
  later. That log then holds a page of the group with probability p = 1 - (1 - w)^(G-1), where
  w = (1 - m^G) m^((N-1)G) and m = 1 - 1 / (W (G-1)): the page was written there, and not again since. The figure is
  1 + W / (N - 1 + 1 / p), which is 1 + W / N if G is much larger than W.
- BAST with shared logs for short writes treats these logs as FAST does.
- Some media empty the oldest log in steps while they fill the newest. Then a merge comes one turn sooner if the part of
  the newest log that is filled after the group's last merge holds a page of the group. With the average probability q
  of that, the figure is 1 + W / (N - 1 + (1 - q) / p), and w counts half a log less that was written since."""

SWEEP_TEXT = """\
The load writes s pages at a time, aligned to their size, at random places of the whole medium. Nearly every write finds
no log, and costs a merge of G pages. The written pages themselves are not copied if the write begins its group, which
has the probability s / G: 1 + G / s (1 - (s / G)^2). The model must be within 3 %, and within 1 % at the size of a
group, at which all merges are switches and nothing is copied.

- BAST: the second term is multiplied by the share of the writes that find no log. There are so many writes that the
  figure's standard error is at most 1 %.
- FAST is measured from G / 8 on. Smaller pieces of the same group often meet in a log, and share a merge.
- FAST that completes its sequential log in steps: every second write that begins a group finds that log incomplete, and
  goes to a random log. The figure is 1 + G / s (1 - (s / G)^2 / 2)."""
