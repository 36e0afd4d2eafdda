# SPDX-License-Identifier: Apache-2.0
"""The home of a campaign: a directory with a study and a cache of its own, and an undisturbed copy of it.

The guest comes from the user's cache. Its parts are links to there, and nothing is damaged through a link: `own_copy()`
replaces the link by a copy first. Each fault begins with a fresh home.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from faults import runs
from faults.runs import REPOSITORY, Begun, Ended
from flashbed.common import paths
from flashbed.execution import run
from flashbed.image import cache as image_cache
from flashbed.image import emulator, stores, toolchain
from flashbed.study.loading import load_study

MEDIUM = "usb-stick-2g:used_bytes=4M"
SYSTEM = "Desk"
LINKED_BYTES = 1 << 16
"""Larger files of the package directory are links."""

NEVER_COPIED = ("linux-", "emulator-")
"""Entries with many files: only those that the manifest lists are copied."""

ARCHIVES = ("debian-arm64", "debian-amd64")
"""The directories of Debian's packages for the guest, and for the compiler that runs on this host."""


class Bed:
    """The home of a campaign below `base`, a directory of its own."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.home, self.reference = base / "home", base / "reference"
        self.cache, self.report = self.home / "cache", self.home / "report"
        self.study = self.home / "company.toml"
        self.entries: list[Path] = []
        self.cached_s = self.full_s = 0.0
        """The time of a run with all results stored, and with none, in host seconds."""
        self._commands = 0

    # --- the undisturbed home ----------------------------------------------------------------------------------------

    def set_up(self) -> None:
        """Make the undisturbed home. Raises RuntimeError if a command fails without any fault."""
        user = paths.cache_root()
        shutil.rmtree(self.base, ignore_errors=True)
        shutil.copytree(Path(__file__).with_name("study"), self.home)
        self.cache.mkdir()
        for name in ("image", *ARCHIVES):
            (user / name).mkdir(parents=True, exist_ok=True)
            (self.cache / name).symlink_to(user / name)
        for words in (
            ("medium", "create", "kept", MEDIUM),
            ("medium", "precondition", "kept"),
            ("allow", self.study, "ext2-own"),
        ):
            self._must(*words)
        self.entries = self._entries_in_use()
        self._link_parts(user)
        begun = time.monotonic()
        self._must("run", self.study, "--out", self.report, "--jobs", "2")
        self.full_s = time.monotonic() - begun
        self._import()
        self._must("run", self.study, "--out", self.report)
        begun = time.monotonic()
        self._must("run", self.study, "--out", self.report)
        self.cached_s = time.monotonic() - begun
        self.home.rename(self.reference)

    def _must(self, *words: str | Path) -> None:
        done = self.begin(*words).end([0])
        if done.status:
            raise RuntimeError(f"undisturbed, `{' '.join(done.words)}` ended with {done.status}: {done.output}")

    def _entries_in_use(self) -> list[Path]:
        """Return the entries of the image that the study's cells use. Missing ones are built in the user's cache."""
        entries: dict[str, Path] = {}
        entry = image_cache.Cache.entry

        def noted(self: image_cache.Cache, *args: Any, **kwargs: Any) -> image_cache.Entry:
            used = entry(self, *args, **kwargs)
            entries[used.folder.name] = used.folder.resolve()
            return used

        with (
            mock.patch.dict(os.environ, FLASHBED_CACHE=str(self.cache)),
            mock.patch.object(image_cache.Cache, "entry", noted),
        ):
            run.prepare(load_study(self.study))
            emulator.program()
            toolchain.compiler(stores.open_cache(), stores.open_archive()).environment()
        return list(entries.values())

    def _link_parts(self, user: Path) -> None:
        """Replace the links to the user's directories by links to each entry in use and to each large package."""
        for name in ("image", *ARCHIVES):
            (self.cache / name).unlink()
        (self.cache / "image").mkdir()
        for entry in self.entries:
            (self.cache / "image" / entry.name).symlink_to(entry)
        for folder, folders, files in (level for name in ARCHIVES for level in os.walk(user / name)):
            folders[:] = [name for name in folders if name != "tmp"]
            there = Path(folder)
            here = self.cache / there.relative_to(user)
            here.mkdir()
            for file in (there / name for name in files if name != ".lock"):
                if file.stat().st_size > LINKED_BYTES:
                    (here / file.name).symlink_to(file)
                else:
                    shutil.copy2(file, here / file.name)

    def _import(self) -> None:
        """Import the guest's results as those of another computer."""
        jobs = self.base / "jobs"
        self._must("export", self.study, jobs)
        fio = json.loads(next((self.cache / "results/cells").glob("*/*/out/fio.json")).read_text())
        for job in json.loads((jobs / "flashbed-jobs.json").read_text())["jobs"]:
            fio["jobs"][0]["jobname"] = job["name"]
            to = jobs / job["folder"] / "results" / f"{job['name']}.json"
            to.parent.mkdir(exist_ok=True)
            to.write_text(json.dumps(fio))
        self._must("import", self.study, jobs, "--as", SYSTEM)

    # --- the disturbed home ------------------------------------------------------------------------------------------

    def renew(self) -> None:
        """Replace the home by a copy of the undisturbed one."""
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(self.reference, self.home, symlinks=True)

    def results(self) -> list[Path]:
        """Return the directories of all results."""
        return sorted(self.cache.glob("results/cells/*/*"))

    def forget(self, folders: Sequence[Path]) -> None:
        """Remove results."""
        for folder in folders:
            shutil.rmtree(folder)

    def entry_links(self) -> list[Path]:
        return sorted(path for path in (self.cache / "image").iterdir() if path.is_symlink())

    def own_copy(self, path: Path) -> Path:
        """Replace a link by a copy, if `path` or the entry of the image that contains it is one. Return `path`."""
        assert self.cache in path.parents
        link = next((at for at in (path, *path.parents) if at.is_symlink() and self.cache in at.parents), None)
        if link is not None:
            there = link.resolve()
            link.unlink()
            if there.is_file():
                shutil.copy2(there, link)
            elif there.name.startswith(NEVER_COPIED):
                _copy_products(there, link)
            else:
                shutil.copytree(there, link, symlinks=True)
        assert self.home.resolve() in path.resolve().parents, path
        return path

    def put_back(self, path: Path) -> None:
        """Restore an undisturbed file, or the entry of the image that contains it."""
        inside = path.relative_to(self.cache)
        if inside.parts[0] == "image":
            inside = Path(*inside.parts[:2])
        whole, here = self.reference / "cache" / inside, self.cache / inside
        if here.is_dir() and not here.is_symlink():
            shutil.rmtree(here)
        here.unlink(missing_ok=True)
        here.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(whole, here, follow_symlinks=False)

    # --- commands ----------------------------------------------------------------------------------------------------

    def begin(self, *words: str | Path, before: Sequence[str] = ()) -> Begun:
        """Start `flashbed WORDS` on this home."""
        self._commands += 1
        output = self.base / "output" / f"{self._commands % 100:02}"
        output.parent.mkdir(exist_ok=True)
        return runs.begin(self.cache, self.home, output, *words, before=before)

    def begin_run(self, jobs: int, before: Sequence[str] = ()) -> Begun:
        return self.begin(*self.run_words(jobs), before=before)

    def run_words(self, jobs: int) -> tuple[str, ...]:
        return ("run", str(self.study), "--out", str(self.report), "--jobs", str(jobs))

    def run(self, allowed: Sequence[int] = (0,), jobs: int = 2) -> Ended:
        """Run the study to its end."""
        return self.begin_run(jobs).end(allowed)

    def expected_s(self, missing: int, jobs: int) -> float:
        """Estimate the time of a run in host seconds. Moments of faults are drawn from it."""
        share = missing / max(len(list((self.reference / "cache/results/cells").glob("*/*"))), 1)
        return self.cached_s + (self.full_s - self.cached_s) * share * (1.6 if jobs == 1 else 1.0)

    def pace(self, took_s: float, missing: int) -> None:
        """Adjust the estimate to an undisturbed run, because this host may be busier now. The adjustment is damped,
        because a run may have built parts, too.
        """
        factor = min(max(took_s / self.expected_s(missing, 2), 0.2), 5) ** 0.5
        self.cached_s, self.full_s = self.cached_s * factor, self.full_s * factor


def _copy_products(there: Path, to: Path) -> None:
    """Copy an entry's manifest and the products that it lists."""
    manifest = there / image_cache.MANIFEST
    for name in (image_cache.MANIFEST, *json.loads(manifest.read_text())["products"]):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(there / name, to / name)


def commit() -> str:
    """Return this repository's commit, followed by "+" if tracked files differ from it."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(REPOSITORY), *words], capture_output=True, text=True)
        return done.stdout.strip()

    return git("rev-parse", "--short=12", "HEAD") + ("+" if git("status", "--porcelain", "-uno") else "")
