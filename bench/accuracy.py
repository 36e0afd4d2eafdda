# SPDX-License-Identifier: Apache-2.0
"""Checks the models against measured devices of their class, and against what can be computed by hand or read in a
data sheet, and writes docs/accuracy.md.

    python bench/accuracy.py [--check]

Ends with status 1 if a figure is farther off than its table allows or, with --check, if the page is not what would be
written. Everything in the page is computed in virtual time: it is the same on each host. What a guest had a part in
depends on its kernel's package too, and may differ from the page by a few per cent.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import amplification
import like_devices
import log_blocks
import power_cuts
from checks import CLOSE, EXACT, Bench, Row, Section, as_rows, media

from flashbed.common import paths
from flashbed.image import hosttools
from flashbed.image.cache import Cache
from flashbed.profiles.profile import Medium

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs/accuracy.md"

DATA_SHEETS: dict[str, dict[str, tuple[float, str]]] = {
    "hdd-25-4200-ide-4g": {
        "seek to the next track, read, ms": (3, "DK228A-65, press release"),
        "average seek, read, ms": (12, "DK228A-65, press release"),
        "full stroke, read, ms": (24, "DK228A-65, press release"),
        "average latency of rotation, ms": (60e3 / 4200 / 2, "half of 60 s / 4200"),
    },
    "hdd-25-5400-ide-4g": {
        "seek to the next track, read, ms": (1.0, "Travelstar 5K320, table 7"),
        "seek to the next track, write, ms": (1.1, "Travelstar 5K320, table 7"),
        "average seek, read, ms": (12, "Travelstar 5K320, table 5"),
        "average seek, write, ms": (13, "Travelstar 5K320, table 5"),
        "full stroke, read, ms": (20, "Travelstar 5K320, table 6"),
        "full stroke, write, ms": (21, "Travelstar 5K320, table 6"),
        "average latency of rotation, ms": (60e3 / 5400 / 2, "half of 60 s / 5400"),
        "sustained rate, average of all zones, MB/s": (58, "review of the Momentus 5400.4"),
    },
    "hdd-35-7200-320g": {
        "seek to the next track, read, ms": (0.8, "Barracuda ES.2, Stallings, table 6.2"),
        "average seek, read, ms": (8.5, "Barracuda ES.2, Stallings, table 6.2"),
        "average latency of rotation, ms": (60e3 / 7200 / 2, "half of 60 s / 7200"),
        "sustained rate, outermost zone, MB/s": (78, "Seagate 7200.10 class"),
        "sustained rate, innermost zone, MB/s": (39, "half of the outermost"),
    },
}


FLASH_ALONE: dict[str, int | str] = {
    "ftl": "page",
    "blocks_per_group": 1,
    "log_blocks": 0,
    "write_buffer_bytes": 0,
    "planes": 1,
    "cache_operations": 0,
    "suspend_ns": 0,
    "read_ahead_bytes": 0,
    "slc_cache_bytes": 0,
    "one_shot": 0,
    "shared_logs": 0,
    "short_write_bytes": 0,
    "merge_step_pages": 0,
    "write_command_ns": 0,
    "write_lanes": 0,
}
"""Flash without what hides its operations behind each other or makes others of them."""


NOTHING = 1e-9
"""Time of a part that takes none, so that it is never the slowest."""


def alone(bench: Bench) -> dict[str, int | str]:
    known = {parameter["name"] for parameter in bench.tool.parameters}
    return {name: value for name, value in FLASH_ALONE.items() if name in known}


def operations(bench: Bench) -> Iterator[Row]:
    """Single page operations of flash, to the nanosecond. The first page of a block is a lower one."""
    for name, medium, p in media("flash"):
        page = p["page_bytes"]
        bus, link = up(page * p["bus_ps_per_byte"]), up(page * p["link_ps_per_byte"])
        by_hand = {
            "write a page": (p["command_ns"] + link + bus + p["program_ns"], "command + link + channel + program"),
            "read it": (p["command_ns"] + p["read_ns"] + bus + link, "command + array + channel + link"),
            "read a page never written": (p["command_ns"] + link, "command + link"),
            "discard it": (p["command_ns"], "command"),
        }
        requests = [("write", 0, page), ("read", 0, page), ("read", 8 * page, page), ("trim", 0, page)]
        seen, _ = bench.play(medium, requests, **alone(bench))
        for (what, (expected, source)), (submitted, done) in zip(by_hand.items(), seen, strict=True):
            yield Row(name, f"{what}, ns", expected, source, done - submitted, EXACT)


def up(ps: int) -> int:
    """Picoseconds as nanoseconds, rounded up."""
    return -(-ps // 1000)


def mean_ns(p: dict[str, int], operation: str) -> float:
    """Of the pages that share cells: lower, middle and upper ones, as many as a cell has bits."""
    names = [("",), ("", "_upper"), ("", "_middle", "_upper")][p.get("bits_per_cell", 1) - 1]
    times = [p.get(f"{operation}{name}_ns") or p[f"{operation}_ns"] for name in names]
    return sum(times) / len(times)


def sequential(bench: Bench) -> Iterator[Row]:
    """Rates of flash in order, in one large request, against what its slowest part can do."""
    for name, medium, p in media("flash"):
        size = min(64 << 20, p["capacity_bytes"] // 4)
        bus_ns = p["page_bytes"] * p["bus_ps_per_byte"] / 1e3
        parts = {
            "link": lambda op, p=p: 1e6 / (p["link_ps_per_byte"] or NOTHING),
            "channels": lambda op, p=p: 1e6 * p["channels"] / (p["bus_ps_per_byte"] or NOTHING),
            "dies": lambda op, p=p, bus_ns=bus_ns: 1e3 * p["dies"] * p["page_bytes"] / (bus_ns + mean_ns(p, op)),
        }
        requests = [("write", 0, size), ("read", 0, size)]
        seen, _ = bench.play(medium, requests, **alone(bench), command_ns=0)
        for op, (submitted, done) in zip(("program", "read"), seen, strict=True):
            slowest = min(parts, key=lambda part: parts[part](op))
            what = f"{'write' if op == 'program' else op} {size >> 20} MiB, MB/s"
            yield Row(name, what, parts[slowest](op), slowest, size / (done - submitted) * 1e3, CLOSE)


class Geometry:
    """Where cylinders begin: the formula of media/src/disk_geometry.c, once more."""

    def __init__(self, p: dict[str, int]) -> None:
        self.cylinders, self.heads = p["cylinders"], p["heads"]
        self._starts: list[tuple[int, int, int]] = []
        sector = 0
        for zone in range(p["zones"]):
            first, end = zone * self.cylinders // p["zones"], (zone + 1) * self.cylinders // p["zones"]
            difference = p["outer_sectors_per_track"] - p["inner_sectors_per_track"]
            sectors = p["outer_sectors_per_track"] - difference * zone // max(p["zones"] - 1, 1)
            self._starts.append((first, sector, sectors))
            sector += (end - first) * self.heads * sectors

    def offset(self, cylinder: int) -> int:
        """Of a cylinder's first sector, bytes."""
        first, sector, sectors = next(start for start in reversed(self._starts) if start[0] <= cylinder)
        return (sector + (cylinder - first) * self.heads * sectors) * 512

    def zone_middle(self, zone: int) -> int:
        """A cylinder in the middle of a zone."""
        ends = [start[0] for start in self._starts[1:]] + [self.cylinders]
        return (self._starts[zone][0] + ends[zone]) // 2

    @property
    def zones(self) -> int:
        return len(self._starts)


PLAIN = {"segment_bytes": 0, "readahead_bytes": 0, "write_cache_bytes": 0, "reorder_depth": 1}
"""A disk without buffer and cache: what is seen is arm and platter."""


def seek_ms(bench: Bench, medium: Medium, geometry: Geometry, op: str, distances: Sequence[int]) -> float:
    """Mean of seeks over these distances, outwards and inwards."""
    requests = [("read", 0, 512)]
    for distance in distances:
        requests += [(op, geometry.offset(distance), 512), (op, 0, 512)]
    _, result = bench.play(medium, requests, capacity_bytes=geometry.offset(geometry.cylinders - 1) + 512, **PLAIN)
    return float(result["counters"]["disk_seek_ns"]) / result["counters"]["disk_seeks"] / 1e6


def all_pairs(cylinders: int, samples: int = 4000) -> list[int]:
    """Distances that stand for all pairs of cylinders: the quantiles of their distribution."""
    shares = (1 - (1 - (i + 0.5) / samples) ** 0.5 for i in range(samples))
    return [max(1, round(share * (cylinders - 1))) for share in shares]


def rate(bench: Bench, medium: Medium, geometry: Geometry, zones: Sequence[int]) -> float:
    """MB/s of reading 40 cylinders of each of these zones in requests of 128 KiB."""
    total = took = 0
    for zone in zones:
        middle = geometry.zone_middle(zone)
        begin, end = geometry.offset(middle), geometry.offset(middle + 40)
        requests = [("read", at, 1 << 17) for at in range(begin, end, 1 << 17)]
        seen, _ = bench.play(medium, requests, link_ps_per_byte=3334)
        # From the second request on: the first one seeks
        total += sum(length for _, _, length in requests[1:])
        took += seen[-1][1] - seen[0][1]
    return total / took * 1e3


def rotation_ms(bench: Bench, medium: Medium) -> float:
    """Mean wait for a sector of one track."""
    chance, sectors = random.Random(1), medium.numbers()["outer_sectors_per_track"]
    requests = [("read", chance.randrange(sectors) * 512, 512) for _ in range(50_000)]
    _, result = bench.play(medium, requests, **PLAIN)
    return float(result["counters"]["disk_rotation_ns"]) / len(requests) / 1e6


def disks(bench: Bench) -> Iterator[Row]:
    """Disks against their data sheets."""
    for name, medium, p in media("disk"):
        g = Geometry(p)
        last = g.cylinders - 1
        measures: dict[str, Callable[[], float]] = {
            "seek to the next track, read, ms": lambda m=medium, g=g: seek_ms(bench, m, g, "read", [1]),
            "seek to the next track, write, ms": lambda m=medium, g=g: seek_ms(bench, m, g, "write", [1]),
            "average seek, read, ms": lambda m=medium, g=g: seek_ms(bench, m, g, "read", all_pairs(g.cylinders)),
            "average seek, write, ms": lambda m=medium, g=g: seek_ms(bench, m, g, "write", all_pairs(g.cylinders)),
            "full stroke, read, ms": lambda m=medium, g=g, last=last: seek_ms(bench, m, g, "read", [last]),
            "full stroke, write, ms": lambda m=medium, g=g, last=last: seek_ms(bench, m, g, "write", [last]),
            "average latency of rotation, ms": lambda m=medium: rotation_ms(bench, m),
            "sustained rate, average of all zones, MB/s": lambda m=medium, g=g: rate(bench, m, g, range(g.zones)),
            "sustained rate, outermost zone, MB/s": lambda m=medium, g=g: rate(bench, m, g, [0]),
            "sustained rate, innermost zone, MB/s": lambda m=medium, g=g: rate(bench, m, g, [g.zones - 1]),
        }
        for what, (expected, source) in DATA_SHEETS[name].items():
            yield Row(name, what, expected, source, measures[what](), CLOSE)


def zones(bench: Bench) -> Iterator[Row]:
    """Each fourth zone against Hitachi's formula for the sustained rate (Deskstar 7K500 specification, 4.4.4)."""
    for name, medium, p in media("disk"):
        g = Geometry(p)
        revolution_ms = 60e3 / p["rpm"]
        settle = p["write_settle_ns"]
        switches_ms = ((g.heads - 1) * (p["head_switch_ns"] + settle) + p["seek_track_ns"] + settle) / 1e6
        for zone in range(0, g.zones, 5):
            cylinder_bytes = g.offset(g.zone_middle(zone) + 1) - g.offset(g.zone_middle(zone))
            expected = cylinder_bytes / (g.heads * revolution_ms + switches_ms) / 1e3
            yield Row(name, f"zone {zone}, MB/s", expected, "A / (B + C + D)", rate(bench, medium, g, [zone]), CLOSE)


SECTIONS: Sequence[tuple[str, str, Section]] = (
    (
        "Single operations of flash",
        "Exact. Page-mapped, without write buffer, planes and cache operations: one operation by itself.",
        as_rows(operations),
    ),
    (
        "Sequential rates of flash without planes, buffer and caches",
        "In one request, a page at a time on each die, against the slowest part of the path; within 1 %. It is the\n"
        "arithmetic of the path and no device's rate: what the shipped profiles do, with planes, buffer and caches,\n"
        "is in the part above.",
        as_rows(sequential),
    ),
    ("Write amplification of greedy collection", amplification.GREEDY_TEXT, amplification.greedily),
    (
        "Write amplification by the number of blocks looked at",
        amplification.CHOICES_TEXT,
        as_rows(amplification.by_choice),
    ),
    ("Random writes beyond the logs", log_blocks.COLLAPSE_TEXT, log_blocks.collapse),
    ("Random writes up to the erase group", log_blocks.SWEEP_TEXT, log_blocks.sweep),
    ("Disks against their data sheets", "Within 1 %.", as_rows(disks)),
    (
        "Zones of disks",
        "Against cylinder bytes / (head switches + cylinder change + revolutions); within 1 %.",
        as_rows(zones),
    ),
    ("Power cuts", power_cuts.TEXT, power_cuts.on_every_medium),
)


HEAD = """\
# How accurate the models are

Written by `make accuracy`; do not edit. The first part tells how like the devices the shipped profiles are: read it to
know how far to believe a figure of a study. The second tells that the models compute what they should, by arithmetic
and data sheets: read it to know that a difference between two figures is not the model's mistake. Each figure is of
virtual time and the same on every host. How fast the models run is another matter: `make bench`.
"""

ARITHMETIC = """\
## What the models compute, against arithmetic
Parts of the models by themselves, mostly with other parts taken away so that a formula fits, each against that formula,
a closed form or a data sheet. An error here is a mistake in the code.
"""

SAME_ANSWERS = """\
### Guest against host
Random fio phases on the block device, beside an ext2: every request that the kernel module got, replayed by
`flashbed-replay` from the same state. The time at which each is done is the same to the nanosecond, and the state left
behind to the byte. `make test` does it for each medium with more than 500 requests, `make test-long` with many more.
How many requests a guest makes depends on its kernel, so no count is given here.
"""


def page(folder: Path) -> tuple[str, list[str]]:
    """The page, and what is farther off than allowed."""
    tool = hosttools.build(Cache(paths.cache_root() / "image"))
    with ThreadPoolExecutor(1) as pool:
        # Beside the sections: their work is in processes of their own
        of_devices = pool.submit(like_devices.write, Bench(tool, _new(folder, "like")), _new(folder, "guests"))
        bench = Bench(tool, _new(folder, "bench"))
        checked = [(title, text, *section(bench)) for title, text, section in SECTIONS]
        devices, bad = of_devices.result()
    parts = [HEAD, devices, ARITHMETIC]
    for title, text, lines, rows in checked:
        bad += [
            f"{row.medium}: {row.what}: {row.found} instead of {row.expected}, {row.error:.2%} off"
            for row in rows
            if not row.good
        ]
        parts.append(f"### {title}\n{text}\n\n{lines}")
    return "\n".join([*parts, SAME_ANSWERS]), bad


def _new(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


def main() -> int:
    said = argparse.ArgumentParser(description="Run what docs/accuracy.md compares, and write it.")
    said.add_argument("--check", action="store_true", help="write nothing; status 1 if the page would change")
    options = said.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text, bad = page(Path(folder))
    for line in bad:
        print(line, file=sys.stderr)
    if not options.check:
        PAGE.write_text(text)
        return 1 if bad else 0
    different = like_devices.differences(PAGE.read_text(), text)
    if different:
        print(f"{PAGE.relative_to(REPOSITORY)} is not what the models do now; run `make accuracy`", file=sys.stderr)
        print("\n".join(different[:10]), file=sys.stderr)
    return 1 if bad or different else 0


if __name__ == "__main__":
    sys.exit(main())
