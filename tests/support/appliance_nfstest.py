# SPDX-License-Identifier: Apache-2.0
"""nfstest, an NFS test suite that Debian 13 has as a package, in a client's first file system with its dependencies:
Python, the mount tools and tcpdump, all of Debian 12. Its output is parsed here.

This repository has no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.image import cpio, stores
from flashbed.image.debian import Packages
from flashbed.image.lockfile import ArchiveFile
from flashbed_appliance.nas import programs
from flashbed_appliance.shrinking import architecture
from tests.support.appliance_machines import unpacked
from tests.support.appliance_pair import CLIENT, SERVER

NFSTEST = ArchiveFile(
    "nfstest_3.2-3_all.deb",
    "8637801f0ac844818308276dbb4c2e4089ed6723d985ff079885f7fcd30145ae",
    440028,
    "debian pool/main/n/nfstest/nfstest_3.2-3_all.deb",
)
"""The entry in the signed lists of Debian 13 (trixie). Debian 12, from which the lab is built, has no such package."""

MODULES = ("libpython3.11-minimal", "libpython3.11-stdlib")
WITH_LIBRARIES = (
    ("python3.11-minimal", "/usr/bin/python3.11"),
    ("libpython3.11-stdlib", "/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so"),
    ("mount", "/bin/mount"),
    ("mount", "/bin/umount"),
    ("nfs-common", "/sbin/mount.nfs"),
    ("tcpdump", "/usr/bin/tcpdump"),
)
TOOLS = "awk cat date echo ip kill mkdir ps rm sh sleep"
"""Tools of busybox for the script below, and for nfstest's calls of a shell."""

HEAD = f"""\
export PATH=/usr/bin:/bin:/sbin HOME=/tmp HOSTNAME={CLIENT}
export PYTHONPATH=/usr/lib/python3/dist-packages PYTHONPYCACHEPREFIX=/tmp/compiled
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /mnt
cd /tmp
"""
GO_DOWN = "kill -USR2 1; sleep 60"

OPTIONS = "--notty --verbose none --tbsize 8k --trcdelay 1"
"""Only results, and 8 MB for tcpdump instead of 192 MB."""

USERS = "root:x:0:0::/:/bin/sh\ntcpdump:x:100:100::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"
"""tcpdump changes to this user."""

COUNTS = re.compile(r"(\d+) tests \((\d+) passed, \d+ failed\)$")
FAILED = re.compile(r"    FAIL: (.*?)(?: \(\d+ passed, \d+ failed\))?$")
"""Without the number of a test's parts, some of which are chosen at random."""


@dataclass(frozen=True)
class Suite:
    """A program of nfstest with its options, and the expected result."""

    program: str
    options: str
    tests: int
    """The number of tests; a suite that did not run counts none."""

    failures: Sequence[tuple[str, str]] = ()
    """The tests that fail, by nfstest's names and in its order, each with the reason."""


@dataclass(frozen=True)
class Result:
    """The result of a suite: how many tests it ran, how many passed, and which failed."""

    tests: int
    passed: int
    failed: tuple[str, ...]


def nodes(folder: Path, suites: Iterable[Suite]) -> list[cpio.Node]:
    """Return the files of a client except its kernel. `folder` is for packages. /bin/suites.sh runs the suites."""
    target, cache = architecture.named("x86_64"), stores.open_cache()
    archive = programs.archive_of(target)
    archive.unpack(archive.fetch(["nfstest"], Packages((NFSTEST,))), folder / "nfstest")
    files = [*_below(folder / "nfstest/usr/bin", "/usr/bin"), *_below(folder / "nfstest/usr/lib", "/usr/lib")]
    for package in MODULES:
        files += _below(unpacked(package, folder / package) / "usr/lib/python3.11", "/usr/lib/python3.11")
    for package, program in WITH_LIBRARIES:
        files += _below(programs.with_libraries(cache, target, package, program), "")
    files += _below(unpacked("libtirpc-common", folder / "libtirpc-common") / "etc", "/etc")
    files.append(cpio.program("/bin/busybox", programs.busybox(cache, target).read_bytes()))
    files += [cpio.link(f"/bin/{tool}", "busybox") for tool in TOOLS.split()]
    files += [cpio.link("/usr/bin/python3", "python3.11"), cpio.link("/sbin/umount.nfs", "mount.nfs")]
    files += [cpio.folder("/mnt"), cpio.link("/etc/mtab", "/proc/mounts")]
    files.append(cpio.file("/etc/hosts", f"127.0.0.1 localhost\n{CLIENT} client\n{SERVER} nas\n".encode()))
    files.append(cpio.file("/etc/passwd", USERS.encode()))
    files.append(cpio.file("/etc/group", b"root:x:0:\ntcpdump:x:100:\nnogroup:x:65534:\n"))
    files.append(cpio.file("/bin/suites.sh", script(suites).encode()))
    return files


def script(suites: Iterable[Suite]) -> str:
    """Return the script for the client's console. It prints a line with the suite's number before and after each
    suite.
    """
    lines = [HEAD]
    for number, suite in enumerate(suites):
        call = f"{suite.program} --server {SERVER} --export /data {OPTIONS} {suite.options}"
        lines += ["echo", f"echo begin {number}", f"python3 /usr/bin/{call}"]
        lines += ["code=$?", "echo", f"echo end {number} $code"]
    return "\n".join([*lines, GO_DOWN, ""])


def differences(output: str, suites: Iterable[Suite]) -> list[str]:
    """Return a line for each suite with another result than expected: an unknown failure, a known failure that is gone,
    another number of tests, or no end.
    """
    lines = [line.rstrip() for line in output.splitlines()]
    return [
        difference for number, suite in enumerate(suites) if (difference := _difference(suite, _result(lines, number)))
    ]


def _difference(suite: Suite, result: Result | None) -> str:
    known_failures = tuple(name for name, _ in suite.failures)
    if result == Result(suite.tests, suite.tests - len(known_failures), known_failures):
        return ""
    return f"{suite.program} {suite.options}: {result}, and not {suite.tests} tests with {known_failures}"


def _result(lines: Sequence[str], number: int) -> Result | None:
    ends = [place for place, line in enumerate(lines) if re.fullmatch(rf"end {number} [01]", line)]
    if f"begin {number}" not in lines or len(ends) != 1:
        return None
    own = lines[lines.index(f"begin {number}") : ends[0]]
    counted = [match for line in own if (match := COUNTS.match(line))]
    failed = tuple(match[1] for line in own if (match := FAILED.match(line)))
    return Result(int(counted[0][1]), int(counted[0][2]), failed) if len(counted) == 1 else None


def _below(root: Path, directory: str) -> Iterator[cpio.Node]:
    """Yield the files and links of a directory, to be placed in `directory`. All are executable, because it is unknown
    which need to be.
    """
    for path in sorted(root.rglob("*")):
        name = f"{directory}/{path.relative_to(root)}"
        if path.is_symlink():
            yield cpio.link(name, str(path.readlink()))
        elif path.is_file():
            yield cpio.program(name, path.read_bytes())
