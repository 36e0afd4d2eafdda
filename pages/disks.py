# SPDX-License-Identifier: Apache-2.0
"""Compare disks with their data sheets, and their zones with the formula of the sustained rate."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from flashbed.profiles.profile import Medium
from pages.checks import CLOSE, Bench, Row, media

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


class Geometry:
    """The first sectors of cylinders, by the formula of media/src/disk_geometry.c, implemented again."""

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
        """Return the offset of a cylinder's first sector in bytes."""
        first, sector, sectors = next(start for start in reversed(self._starts) if start[0] <= cylinder)
        return (sector + (cylinder - first) * self.heads * sectors) * 512

    def zone_middle(self, zone: int) -> int:
        """Return a cylinder in the middle of a zone."""
        ends = [start[0] for start in self._starts[1:]] + [self.cylinders]
        return (self._starts[zone][0] + ends[zone]) // 2

    @property
    def zones(self) -> int:
        return len(self._starts)


PLAIN = {"segment_bytes": 0, "readahead_bytes": 0, "write_cache_bytes": 0, "reorder_depth": 1}
"""Parameters of a disk without buffer and cache, so that only arm and platter count."""


def seek_ms(bench: Bench, medium: Medium, geometry: Geometry, op: str, distances: Sequence[int]) -> float:
    """Return the mean time of seeks over these distances in ms, outwards and inwards."""
    requests = [("read", 0, 512)]
    for distance in distances:
        requests += [(op, geometry.offset(distance), 512), (op, 0, 512)]
    _, result = bench.play(medium, requests, capacity_bytes=geometry.offset(geometry.cylinders - 1) + 512, **PLAIN)
    mean_ns: float = result.counters["disk_seek_ns"] / result.counters["disk_seeks"]
    return mean_ns / 1e6


def all_pairs(cylinders: int, samples: int = 4000) -> list[int]:
    """Return distances that represent all pairs of cylinders: the quantiles of their distribution."""
    shares = (1 - (1 - (i + 0.5) / samples) ** 0.5 for i in range(samples))
    return [max(1, round(share * (cylinders - 1))) for share in shares]


def rate(bench: Bench, medium: Medium, geometry: Geometry, zones: Sequence[int]) -> float:
    """Return the rate in MB/s of reading 40 cylinders of each of these zones in requests of 128 KiB."""
    total = took = 0
    for zone in zones:
        middle = geometry.zone_middle(zone)
        begin, end = geometry.offset(middle), geometry.offset(middle + 40)
        requests = [("read", at, 1 << 17) for at in range(begin, end, 1 << 17)]
        times, _ = bench.play(medium, requests, link_ps_per_byte=3334)
        # From the second request on: the first one seeks
        total += sum(length for _, _, length in requests[1:])
        took += times[-1][1] - times[0][1]
    return total / took * 1e3


def rotation_ms(bench: Bench, medium: Medium) -> float:
    """Return the mean wait for a sector of one track in ms."""
    chance, sectors = random.Random(1), medium.numbers()["outer_sectors_per_track"]
    requests = [("read", chance.randrange(sectors) * 512, 512) for _ in range(50_000)]
    _, result = bench.play(medium, requests, **PLAIN)
    return float(result.counters["disk_rotation_ns"]) / len(requests) / 1e6


def measures(bench: Bench, medium: Medium, g: Geometry) -> dict[str, Callable[[], float]]:
    """Return the figures that data sheets state for a disk, and how each is measured."""
    last = g.cylinders - 1

    def seek(op: str, distances: Sequence[int]) -> Callable[[], float]:
        return lambda: seek_ms(bench, medium, g, op, distances)

    def rate_of(zones: Sequence[int]) -> Callable[[], float]:
        return lambda: rate(bench, medium, g, zones)

    return {
        "seek to the next track, read, ms": seek("read", [1]),
        "seek to the next track, write, ms": seek("write", [1]),
        "average seek, read, ms": seek("read", all_pairs(g.cylinders)),
        "average seek, write, ms": seek("write", all_pairs(g.cylinders)),
        "full stroke, read, ms": seek("read", [last]),
        "full stroke, write, ms": seek("write", [last]),
        "average latency of rotation, ms": lambda: rotation_ms(bench, medium),
        "sustained rate, average of all zones, MB/s": rate_of(range(g.zones)),
        "sustained rate, outermost zone, MB/s": rate_of([0]),
        "sustained rate, innermost zone, MB/s": rate_of([g.zones - 1]),
    }


def against_sheets(bench: Bench) -> Iterator[Row]:
    """Compare disks with their data sheets."""
    for name, medium, p in media("disk"):
        how = measures(bench, medium, Geometry(p))
        for quantity, (expected, source) in DATA_SHEETS[name].items():
            yield Row(name, quantity, expected, source, how[quantity](), CLOSE)


def zones(bench: Bench) -> Iterator[Row]:
    """Compare every fourth zone with Hitachi's formula for the sustained rate (Deskstar 7K500 specification, 4.4.4)."""
    for name, medium, p in media("disk"):
        g = Geometry(p)
        revolution_ms = 60e3 / p["rpm"]
        settle = p["write_settle_ns"]
        switches_ms = ((g.heads - 1) * (p["head_switch_ns"] + settle) + p["seek_track_ns"] + settle) / 1e6
        for zone in range(0, g.zones, 5):
            cylinder_bytes = g.offset(g.zone_middle(zone) + 1) - g.offset(g.zone_middle(zone))
            expected = cylinder_bytes / (g.heads * revolution_ms + switches_ms) / 1e3
            yield Row(name, f"zone {zone}, MB/s", expected, "A / (B + C + D)", rate(bench, medium, g, [zone]), CLOSE)
