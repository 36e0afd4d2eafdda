# SPDX-License-Identifier: Apache-2.0
"""Check power cuts on every medium with an oracle (media/tests/cuts.c): what a host may rely on after a restart."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from flashbed.common import paths
from flashbed.image.command import run
from pages.checks import BLOCK_MEDIA, EXACT, LIBRARY, Bench, Row
from pages.page_text import REPOSITORY, table

CUTS = 10_000


def _oracle() -> ModuleType:
    """Load the program media/tests/cuts.py, which imports nothing from its directory."""
    spec = importlib.util.spec_from_file_location("cuts", paths.media() / "tests/cuts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cuts = _oracle()


def on_every_medium(bench: Bench) -> tuple[str, list[Row]]:
    """Check each medium as it is, where no violation may be found, and as a medium that breaks its promises, where
    violations must be found.
    """
    build = REPOSITORY / "build/media"  # as of `make test`, which has compiled most of it
    run(["make", "-C", paths.media(), f"BUILD={build}", build / "cuts"])
    lines, rows = [], []
    for name in BLOCK_MEDIA:
        arguments = [f"{key}={value}" for key, value in LIBRARY.medium(name).core_parameters.items()]
        by_liar = {}
        for device, count, words, caught in cuts.trials(arguments, CUTS):
            by_liar[device], _ = cuts.cut(build / "cuts", count, words)
            violations = by_liar[device]["violations"]
            # Of a liar it matters that it is caught, not how often
            rows.append(
                Row(name, device or "as it is", caught, "oracle", violations > 0 if caught else violations, EXACT)
            )
        honest = by_liar[""]
        if LIBRARY.medium(name).kind == "flash":
            rows.append(Row(name, "no block was erased", 0, "oracle", not honest["erases"], EXACT))
        lines.append(
            [
                name,
                *(
                    f"{honest[key]:,}"
                    for key in ("requests", "erases", "kept", "lost", "torn", "unreadable", "violations")
                ),
                *(
                    f"{by_liar[device]['violations']:,}" if device in by_liar else ""
                    for device in ("ignoring flushes", "losing paired pages")
                ),
            ]
        )
    titles = ["medium", "requests", "erases", "kept", "lost", "torn", "unreadable", "violations"]
    return table([*titles, "ignoring flushes", "losing paired pages"], lines), rows


TEXT = f"""\
The check cuts the power of each medium {CUTS:,} times, at random moments of random requests, by seed. The media have
few blocks, so that collection or merges take part on all flash. The table counts parts of writes (a page, a run
of sectors) that were not known to be on the medium when its power went. After each cut, an oracle looks for all that
was promised. Data that was flushed, or was done on a medium without volatile cache, is there. Nothing is there that
was never written. Only data that was not safe is unreadable. A violation is a sector that breaks this; none is
allowed. The last columns are the same media as liars, which the same oracle must catch. They count the violations in
{cuts.LIAR_CUTS} cuts of a medium that ignores flushes, and in {cuts.PAIRED_CUTS:,} cuts of flash that loses finished
pages which share cells with a torn page. Liars have no capacitors, because with capacitors nothing that was under way
is lost."""
