# SPDX-License-Identifier: Apache-2.0
"""Measure YAFFS2 in guests, and write docs/generated/yaffs2-figures.md.

    python -m pages.yaffs2 [--check] [--quick]

The exit status is 1 if figures contradict each other or, with --check, if the page would change. With --quick it
measures the first row of each table, in half a minute, compares it with the page, and writes nothing. All times are
virtual, so the page is the same on every host with the same package of Linux.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from pages import yaffs2_checks, yaffs2_mount, yaffs2_quick, yaffs2_time
from pages.page_text import REPOSITORY, written

PAGE = REPOSITORY / "docs/generated/yaffs2-figures.md"

TEXT = """\
# YAFFS2 in figures

Written by `make yaffs2-figures`; do not edit. All times are virtual and the same on every host.

## Mount: time and memory

On `arm64-1000`; one file, or many of 4 KiB, on an erased chip.

{mounts}
- *Unmounted*: mounted after an unmount. *Cut*: mounted after the power went, in the midst of the {cut}th program or
  erase of a small file that was written beside the contents.
- *Pages*: reads of the chip, most of them of tags only. *KiB*: what the kernel then holds more than before and cannot
  give away at once; good to some tens of KiB, for what others free meanwhile counts too.
- Times and memory are the lab's `mount_s` and `mount_memory_bytes`: with the start of the `mount` program, and without
  the search of Linux's driver for bad blocks.

What does not depend on the contents, and what each MiB in one file adds, by the least and the most contents. Those
between lie within {percent:.0f} % of that line after a cut. The memory is that after a cut.

{growth}
- `slc-nand-256m` has a checkpoint after an unmount, which tells where each page of each file lies: so it grows a
  little. After a cut a scan reads the first and the last page of each block, to see which are in use; then, of those,
  the summary or, with `disable-summary`, the tags of each page.
- `slc-nand-64m`, as YAFFS1, has neither: each mount is a scan of the tags of all pages in use, and of an erased block's
  first page.
- Most of the memory that does not depend on the contents are tables of objects and of names, whose size is the chip's.

## Where the time goes

`{chip}`, fio, buffered, a file of {mib} MiB in order: written new with an fsync at the end, and read with cold caches.
*Limit*: what array and bus of the chip alone allow, page after page: bytes of a page / (time in the array + all cycles
on the bus), by the profile. The parts from *chip* to *idle* are shares of the run and all of it.

{times}
- **chip**: the array busy with reads, programs and erases, by the medium's counters. Whatever the CPU does in that time
  lies within.
- **bus**: pages read and programmed, by the medium's counters, each with all bytes of page and spare area and the
  cycles of its commands, by the time of a byte. A read of tags alone counts as one of the whole page; there are few.
  On `arm64-1000` the controller moves the bytes, on `arm64-250-pio` the CPU.
- **MTD, ECC**: calls of the module into MTD (`mtd_ns` in its counters), less chip and bus: Linux's NAND framework,
  Hamming codes, sleeping and waking up, interrupts. These cannot be told apart here.
- **module**: the module's lock held (`inside_ns`), less its calls into MTD: the file system itself, and its copies of
  data.
- **CPU elsewhere**: the CPU busy outside of both: system calls, page cache, VFS, fio, interrupts, the notes at both
  ends. These cannot be told apart here.
- **idle**: the CPU idle, and not in a call into MTD.
- *CPU idle*: all idleness of the CPU, also in calls into MTD.

The medium's counters, the module's clock and the kernel's idle times are independent of each other. The page is
written only if three conditions hold: the parts add up to the run; no part is negative; and the CPU was idle in MTD for
no longer than the chip kept it waiting (and the bus, where the controller moves data). A run begins and ends with the
notes of the counters, so it is a little longer than fio's own run time, from which MiB/s are computed.
"""


def page(folder: Path) -> tuple[str, list[str]]:
    """Return the page, and the contradictions in its figures."""
    mounts, times = list(yaffs2_mount.rows(folder)), list(yaffs2_time.rows(folder))
    text = TEXT.format(
        cut=yaffs2_mount.CUT_AFTER,
        percent=100 * yaffs2_checks.PROPORTIONAL,
        mounts=yaffs2_checks.mounts(mounts),
        growth=yaffs2_checks.growth(mounts),
        chip=yaffs2_time.CHIP,
        mib=yaffs2_time.FILE_MIB,
        times=yaffs2_checks.times(times),
    )
    return text, [*yaffs2_checks.wrong_mounts(mounts), *yaffs2_checks.wrong_times(times)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Measure YAFFS2 in guests, and write docs/generated/yaffs2-figures.md."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if the page would change")
    parser.add_argument("--quick", action="store_true", help="only the first row of each table; writes nothing")
    options = parser.parse_args()
    if options.quick:
        with tempfile.TemporaryDirectory() as folder:
            other = yaffs2_quick.otherwise(PAGE.read_text(), yaffs2_quick.first_rows(Path(folder)))
        for line in other:
            print(f"docs/generated/{PAGE.name} does not have, or has with other figures: {line}", file=sys.stderr)
        return 1 if other else 0
    with tempfile.TemporaryDirectory() as folder:
        text, wrong = page(Path(folder))
    for line in wrong:
        print(line, file=sys.stderr)
    if wrong:
        return 1
    return 0 if written(PAGE, text, check=options.check, target="yaffs2-figures") else 1


if __name__ == "__main__":
    sys.exit(main())
