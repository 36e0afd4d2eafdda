# SPDX-License-Identifier: Apache-2.0
"""List every kind of file that a cache holds, with its path, and what must happen if it is damaged.

A file of an unlisted kind is an error of the campaign: a change that makes the lab keep another file adds its kind
here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Comes = Literal["mended", "told", "unseen"]
"""The expected consequence of damage. mended: the next run makes the same bytes again. told: the run names the file and
ends with 2, or with 1 if only a cell is affected; the user restores the file. unseen: a run does not read the file.
"""

ALL = ("truncated", "emptied", "a byte flipped", "overwritten", "zeroed", "removed")
SHORT = ("truncated", "emptied", "removed")


@dataclass(frozen=True)
class Kind:
    """Files of one kind.

    `place` is a pattern of their paths below the cache. `ways` are the ways of damage that the campaign tries; without
    any, `why_not` gives the reason. `comes` is the expected consequence, and `weight` the relative frequency.
    """

    name: str
    place: str
    ways: Sequence[str] = ()
    why_not: str = ""
    comes: Comes = "mended"
    weight: float = 1.0


ENTRY = r"image/[^/.][^/]*"

KINDS = (
    Kind("result", r"results/cells/../\w{64}/result\.json", ALL),
    Kind("digests of a result", r"results/cells/../\w{64}/digests\.txt", ALL),
    Kind("measurement worked out", r"measurements/\w{16}/../\w{64}", ALL),
    Kind("console", r"results/cells/../\w{64}/console\.log", ALL),
    Kind("request log", r"results/cells/../\w{64}/out/requests\.bin", ALL),
    Kind("raw output", r"results/cells/../\w{64}/out/.+", ALL),
    Kind("damaged result set aside", r"results/quarantine/.+", why_not="kept aside"),
    Kind("second result that differs", r"results/different/.+", why_not="must never be there"),
    Kind("lock", r"(.*/)?(\.[^/]+|results|[0-9a-f]{12}|[0-9a-f]{64})?\.lock", why_not="left by killed runs"),
    Kind("work under way", r"(work|results/tmp|failures/\.tmp|debian-\w+/tmp)/.+", why_not="left by killed runs"),
    Kind("file of a cluster", r"shared/\w{64}(\.\w{8}\.part|/.+)", why_not="only of runs with --workers"),
    Kind("failure", r"failures/\w{64}/.+", ALL, comes="unseen"),
    Kind("state of a condition", r"conditions/\w+-\w{16}/state\.bin", ALL, weight=2),
    Kind("manifest of a condition", r"conditions/\w+-\w{16}/MANIFEST\.json", ALL),
    Kind("entry under way", r"(conditions|image)/\.[^/]+\.(part|old)/.+", why_not="left by killed runs"),
    Kind("state of a kept medium", r"media/[^/.][^/]*/state\.bin", ALL, comes="told"),
    # A content with another byte is another medium, with another key: what any tool of the host may have done
    Kind("content of a kept medium", r"media/[^/.][^/]*/data\.img", SHORT, comes="told"),
    Kind("story of a kept medium", r"media/[^/.][^/]*/medium\.json", SHORT, comes="told"),
    Kind("kept medium under way", r"media/(\.[^/]+|[^/]+/[^/]+\.new)", why_not="left by killed runs"),
    Kind("leave to run a command", r"allowed/\w{64}", ALL, comes="told"),
    Kind(
        "imported rows",
        r"elsewhere/[^/]+/[^/]+/rows\.json",
        ("truncated", "emptied", "overwritten", "zeroed"),
        comes="told",
    ),
    Kind("imported file", r"elsewhere/[^/]+/[^/.][^/]*/(?!rows\.json).+", ALL, comes="unseen", weight=0.5),
    Kind("owner of imports", r"elsewhere/[^/]+/study\.json", ALL, comes="unseen", weight=0.5),
    Kind("import under way", r"elsewhere/[^/]+/\..+", why_not="left by killed runs"),
    # These are built in minutes: the campaign sees that the damage is noticed, stops the build, and puts it back
    Kind("Linux", r"image/linux-[^/]+/.+", ("truncated", "a byte flipped", "removed"), weight=0.5),
    Kind("emulator", r"image/emulator-[^/]+/.+", ("truncated", "a byte flipped", "removed"), weight=0.5),
    # Started only when something is to be compiled
    Kind("compiler", r"image/compiler-[^/]+/.+", SHORT, comes="unseen", weight=0.3),
    # A minute of compiling each
    Kind("fio of the guest", r"image/fio-[^/]+/(fio|MANIFEST\.json)", ALL, weight=0.15),
    Kind("sysroot's product", r"image/sysroot-[^/]+/usr/(include/stdio\.h|lib/aarch64-linux-gnu/libc\.a)", ALL),
    Kind("sysroot", r"image/sysroot-[^/]+/(?!MANIFEST\.json|FILES\.txt).+", SHORT, weight=2),
    Kind("archive of the guest", r"image/cpio-[^/]+/archive\.cpio", ALL, weight=2),
    Kind(
        "program of the guest",
        r"image/(programs-[^/]+/root/.+|outbox-[^/]+/outbox|medium-[^/]+/medium|receive-[^/]+/receive)",
        ALL,
    ),
    Kind(
        "module of the guest",
        r"image/(media_|kernel-|iosched|yaffs2)[^/]*/([^/]+\.ko|Module\.symvers)",
        ALL,
        weight=0.7,
    ),
    Kind("program of the host", r"image/fbmedia-[^/]+/(?!MANIFEST).+", ALL),
    Kind("manifest of a part", rf"{ENTRY}/MANIFEST\.json", ALL),
    Kind("list of the sysroot's files", r"image/sysroot-[^/]+/FILES\.txt", ALL),
    Kind("list of a part's files", rf"{ENTRY}/FILES\.txt", why_not="`flashbed image build` looks at it, and no run"),
    Kind("versions of packages", r"debian-\w+/packages\.json", ("truncated", "emptied", "overwritten", "zeroed")),
    Kind("package", r"debian-arm64/cache/archives/[^/]+\.deb", ALL, weight=0.5),
    Kind("source of the emulator", r"debian-arm64/sources/qemu[^/]+", why_not="read by a build of minutes only"),
    Kind("source", r"debian-arm64/sources/[^/]+", ALL, weight=0.3),
    Kind("package of the compiler", r"debian-amd64/(cache/archives|sources)/[^/]+\.\w+", SHORT, "", "unseen", 0.3),
    # Read when a package is asked for that is not noted, and not by a run that has all
    Kind(
        "apt's own",
        r"debian-\w+/(apt\.conf|status|sources\.list|state/.+|(cache/.*)?lock(-frontend)?|cache/.+bin)",
        ALL,
        comes="unseen",
    ),
)
"""The first kind whose pattern matches counts."""

KEPT = frozenset({"damaged result set aside", "failure"})
"""Kinds that a fault may add to the cache, for a person to look at (docs/design.md)."""


class Unknown(Exception):
    """A file of no kind."""


def kind_of(path: str) -> Kind:
    """Return the kind of a file from its path below the cache. Raises Unknown."""
    for kind in KINDS:
        if re.fullmatch(kind.place, path):
            return kind
    raise Unknown(f"{path}: a file of the cache that is of no kind in faults/kinds.py; add its kind there")


def by_kind(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return sorted paths by the names of their kinds. Raises Unknown."""
    paths_by_kind: dict[str, list[str]] = {}
    for path in sorted(paths):
        paths_by_kind.setdefault(kind_of(path).name, []).append(path)
    return paths_by_kind
