# SPDX-License-Identifier: Apache-2.0
"""Faults of the host: a full disk, a limit on the size of files, a read-only cache. Each runs in a user and mount name
space of its own, so it needs no root.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from functools import cache

from faults.bed import Bed
from faults.fault import Fault, Note, disturbed
from faults.runs import HUNG_S

IN_A_SPACE = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")

READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" || exit 99; exec "$@"'

FULL = """
home=$0 disk=$1 left=$2 after=$3; shift 3
mount -t tmpfs -o size=160M tmpfs "$disk" && cp -a "$home/." "$disk/" && mount --bind "$disk" "$home" || exit 99
free=$(df --output=avail -B1 "$disk" | tail -n 1)
[ "$free" -le "$left" ] || head -c $((free - left)) /dev/zero > "$disk/filler"
cd "$home"
"$@"; status=$?
rm -f "$disk/filler"
rm -rf "$after"; cp -a "$disk" "$after" || exit 98
exit $status
"""
"""Run a command with the home on a disk of its own that has LEFT free bytes. Copy the disk's final content to AFTER."""


@cache
def has_spaces() -> bool:
    """Return True if users of this host may make name spaces."""
    return subprocess.run([*IN_A_SPACE, "true"], capture_output=True).returncode == 0


def full_disk(bed: Bed, chance: random.Random, note: Note) -> None:
    """Limit the free space on the disk of cache and report: from nothing to more than is needed."""
    missing = disturbed(bed, chance)
    left = int(2 ** chance.uniform(12, 26))
    note.detail = f"{missing} results missing, {left} bytes left"
    note.moment = "from its start"
    disk, after = bed.base / "disk", bed.base / "after"
    disk.mkdir(exist_ok=True)
    words = bed.run_words(chance.randint(1, 2))
    # The home is the disk's only within the space, so that the words for the shell come before the command
    space = (*IN_A_SPACE, FULL, str(bed.home), str(disk), str(left), str(after))
    run = bed.begin(*words, before=space)
    note.end(run, (0, 1, 4), HUNG_S)  # a cell whose medium does not fit fails alone
    shutil.rmtree(bed.home)
    after.rename(bed.home)


def small_files(bed: Bed, chance: random.Random, note: Note) -> None:
    """Limit the size of files, as a quota does. SIGXFSZ ends a C program that exceeds the limit."""
    missing = disturbed(bed, chance)
    limit = int(2 ** chance.uniform(9, 25))
    note.detail = f"{missing} results missing, files of {limit} bytes at most"
    note.moment = "from its start"
    run = bed.begin_run(chance.randint(1, 2), before=("prlimit", f"--fsize={limit}"))
    note.end(run, (0, 4))


def read_only(bed: Bed, chance: random.Random, note: Note) -> None:
    """Mount the cache read-only."""
    missing = disturbed(bed, chance)
    note.detail, note.moment = f"{missing} results missing", "from its start"
    space = (*IN_A_SPACE, READ_ONLY, str(bed.cache))
    note.end(bed.begin_run(1, before=space), (4,))


FAULTS = (
    Fault("disk full", 10, full_disk, "host"),
    Fault("files limited in size", 8, small_files, "host"),
    Fault("cache read-only", 3, read_only, "host"),
)
