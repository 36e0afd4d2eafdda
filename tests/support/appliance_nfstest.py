# SPDX-License-Identifier: Apache-2.0
"""nfstest, a suite for NFS that Debian 13 has as a package, put into a client's first file system with what it runs:
Python, the tools that mount, and tcpdump, all of Debian 12; and what it says of itself, read.

Nothing of it is kept in this repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.image import cpio, stores
from flashbed.image.debian import Packages
from flashbed.image.lockfile import File
from flashbed_appliance.nas import programs
from flashbed_appliance.shrinking import architecture
from tests.support.appliance_machines import unpacked
from tests.support.appliance_pair import CLIENT, SERVER

NFSTEST = File(
    "nfstest_3.2-3_all.deb",
    "8637801f0ac844818308276dbb4c2e4089ed6723d985ff079885f7fcd30145ae",
    440028,
    "debian pool/main/n/nfstest/nfstest_3.2-3_all.deb",
)
"""As the signed lists of Debian 13 (trixie) name it. Debian 12, which the lab is made of, has no such package."""

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
"""Of busybox: of the script below, and of what nfstest calls by a shell."""

HEAD = f"""\
export PATH=/usr/bin:/bin:/sbin HOME=/tmp HOSTNAME={CLIENT}
export PYTHONPATH=/usr/lib/python3/dist-packages PYTHONPYCACHEPREFIX=/tmp/compiled
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /mnt
cd /tmp
"""
GO_DOWN = "kill -USR2 1; sleep 60"

OPTIONS = "--notty --verbose none --tbsize 8k --trcdelay 1"
"""Nothing but results, and 8 MB for tcpdump instead of 192."""

USERS = "root:x:0:0::/:/bin/sh\ntcpdump:x:100:100::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"
"""tcpdump is that user as soon as it can."""

COUNTS = re.compile(r"(\d+) tests \((\d+) passed, \d+ failed\)$")
FAILED = re.compile(r"    FAIL: (.*?)(?: \(\d+ passed, \d+ failed\))?$")
"""Without the count of a test's parts, of which some are drawn by lot."""


@dataclass(frozen=True)
class Suite:
    """One program of nfstest, with its options, and what it has to say."""

    program: str
    options: str
    tests: int
    """Which it counts; one that did not run counts none."""

    failures: Sequence[tuple[str, str]] = ()
    """What fails, as it names it and in its order, and why."""


@dataclass(frozen=True)
class Result:
    """What a suite said: how many tests it made, how many passed, and which failed."""

    tests: int
    passed: int
    failed: tuple[str, ...]


def nodes(folder: Path, suites: Iterable[Suite]) -> list[cpio.Node]:
    """What a client needs beside its kernel; `folder` is for packages. The script that runs the suites is
    /bin/suites.sh.
    """
    target, cache = architecture.named("x86_64"), stores.open_cache()
    archive = programs.archive_of(target)
    archive.unpack(archive.fetch(["nfstest"], Packages((NFSTEST,))), folder / "nfstest")
    found = [*_below(folder / "nfstest/usr/bin", "/usr/bin"), *_below(folder / "nfstest/usr/lib", "/usr/lib")]
    for package in MODULES:
        found += _below(unpacked(package, folder / package) / "usr/lib/python3.11", "/usr/lib/python3.11")
    for package, program in WITH_LIBRARIES:
        found += _below(programs.with_libraries(cache, target, package, program), "")
    found += _below(unpacked("libtirpc-common", folder / "libtirpc-common") / "etc", "/etc")
    found.append(cpio.program("/bin/busybox", programs.busybox(cache, target).read_bytes()))
    found += [cpio.link(f"/bin/{tool}", "busybox") for tool in TOOLS.split()]
    found += [cpio.link("/usr/bin/python3", "python3.11"), cpio.link("/sbin/umount.nfs", "mount.nfs")]
    found += [cpio.folder("/mnt"), cpio.link("/etc/mtab", "/proc/mounts")]
    found.append(cpio.file("/etc/hosts", f"127.0.0.1 localhost\n{CLIENT} client\n{SERVER} nas\n".encode()))
    found.append(cpio.file("/etc/passwd", USERS.encode()))
    found.append(cpio.file("/etc/group", b"root:x:0:\ntcpdump:x:100:\nnogroup:x:65534:\n"))
    found.append(cpio.file("/bin/suites.sh", script(suites).encode()))
    return found


def script(suites: Iterable[Suite]) -> str:
    """For the client's console: each suite, between two lines that say which it is."""
    lines = [HEAD]
    for number, suite in enumerate(suites):
        call = f"{suite.program} --server {SERVER} --export /data {OPTIONS} {suite.options}"
        lines += ["echo", f"echo begin {number}", f"python3 /usr/bin/{call}"]
        lines += ["code=$?", "echo", f"echo end {number} $code"]
    return "\n".join([*lines, GO_DOWN, ""])


def differences(said: str, suites: Iterable[Suite]) -> list[str]:
    """Where the suites said something else than they should: a failure that is not known, a known one that is none any
    more, another number of tests, or no end at all.
    """
    lines = [line.rstrip() for line in said.splitlines()]
    return [told for number, suite in enumerate(suites) if (told := _difference(suite, _result(lines, number)))]


def _difference(suite: Suite, found: Result | None) -> str:
    known = tuple(name for name, _ in suite.failures)
    if found == Result(suite.tests, suite.tests - len(known), known):
        return ""
    return f"{suite.program} {suite.options}: {found}, and not {suite.tests} tests with {known}"


def _result(lines: Sequence[str], number: int) -> Result | None:
    ends = [place for place, line in enumerate(lines) if re.fullmatch(rf"end {number} [01]", line)]
    if f"begin {number}" not in lines or len(ends) != 1:
        return None
    own = lines[lines.index(f"begin {number}") : ends[0]]
    counted = [match for line in own if (match := COUNTS.match(line))]
    failed = tuple(match[1] for line in own if (match := FAILED.match(line)))
    return Result(int(counted[0][1]), int(counted[0][2]), failed) if len(counted) == 1 else None


def _below(root: Path, where: str) -> Iterator[cpio.Node]:
    """Files and links of a folder, to lie at `where`. All can be executed: which of them need it is not known here."""
    for path in sorted(root.rglob("*")):
        name = f"{where}/{path.relative_to(root)}"
        if path.is_symlink():
            yield cpio.link(name, str(path.readlink()))
        elif path.is_file():
            yield cpio.program(name, path.read_bytes())
