# SPDX-License-Identifier: Apache-2.0
"""Kernels that differ from one another in an option: each built, packed, booted, and kept by what it was made of.

The first is compiled where all kernels of an architecture are. For the others there are workbenches: folders that have
the objects of the first before each of them, so that it compiles only what its option changes.
"""

from __future__ import annotations

import json
import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

from flashbed import image
from flashbed.common import locks
from flashbed.common.errors import InterruptedByUser, SetupError
from flashbed.image.cache import Cache, Entry
from flashbed.image.command import run
from flashbed.shrinking import building, fragment, memory, packing
from flashbed.shrinking.architecture import Architecture
from flashbed.shrinking.building import SmallKernel

FILE = "price.json"


@dataclass(frozen=True)
class Variant:
    """A kernel that was measured: bytes packed with xz, KiB free when programs start; `why_not` instead if there is
    none. `config`: what it says of each option.
    """

    image: int = 0
    raw: int = 0
    modules: dict[str, int] = field(default_factory=dict)
    free_kib: int | None = None
    why_not: str = ""
    config: dict[str, str] = field(default_factory=dict)


class Change(NamedTuple):
    """An option, and the value that it must have in a kernel."""

    option: str
    value: str


class Asked(NamedTuple):
    """A kernel's settings, and what was changed in them."""

    settings: str
    change: Change


@dataclass(frozen=True)
class Workbench:
    """A folder in which a kernel was compiled, and where a copy of it is to be.

    The copy is put back to where it was compiled: Linux's build notes tools of its own by their whole path, and
    compiles every file anew for a tool that seems to be another.
    """

    objects: Path
    copy: Path

    def restored(self) -> Path:
        """The folder as it was the first time this was called."""
        source, to = (self.copy, self.objects) if self.copy.exists() else (self.objects, self.copy)
        locks.remove(to)
        run(["cp", "-a", "--reflink=auto", source, to])
        return self.objects


class Bench:
    """Builds and measures the variants of one architecture."""

    def __init__(self, target: Architecture) -> None:
        self._target = target
        self._cache, archive = image.open_cache(), image.open_archive()
        self._source, _ = building.unpacked_source(self._cache, archive)
        self._machine = memory.identity(target)

    def stored(self, settings: str, change: Change | None = None) -> Variant | None:
        """What was measured of the kernel of these settings; None if nothing was."""
        try:
            return self._entry(settings, change, _nothing, image.open_cache(image.BuiltOnly))
        except image.NotBuilt:
            return None

    def base(self, settings: str) -> Variant:
        """The kernel that others are compared with."""

        def fill(folder: Path) -> None:
            with building.objects_of(self._target, self._cache) as objects:
                building.configure(self._target, self._source.folder, objects, settings)
                _keep(folder, self._built(objects, folder, lambda: None, os.cpu_count() or 1))

        return self._entry(settings, None, fill)

    def others(self, base: str, asked: Sequence[Asked]) -> Iterator[Variant]:
        """The kernels that are asked for, in that order; as many at a time as this host has CPUs."""
        if not asked:
            return
        stop = threading.Event()

        def step() -> None:
            if stop.is_set():
                raise InterruptedByUser("stopped")

        free: queue.SimpleQueue[Workbench] = queue.SimpleQueue()

        def build(one: Asked) -> Variant:
            workbench = free.get()
            try:
                return self._other(one, workbench, step)
            finally:
                free.put(workbench)

        count = min(os.cpu_count() or 1, len(asked))
        with self._workbenches(base, count, step) as workbenches, ThreadPoolExecutor(count) as pool:
            for workbench in workbenches:
                free.put(workbench)
            under_way = [pool.submit(build, one) for one in asked]
            try:
                for future in under_way:
                    yield future.result()
            except BaseException:
                stop.set()
                pool.shutdown(cancel_futures=True)
                raise

    @contextmanager
    def _workbenches(self, base: str, count: int, step: Callable[[], None]) -> Iterator[list[Workbench]]:
        """So many, for nobody else as long. Where all kernels are compiled stays free for others."""
        with ExitStack() as held:
            scratch = held.enter_context(locks.scratch(self._cache.root / "variants"))
            numbers = range(1, count + 1)
            folders = [held.enter_context(building.objects_of(self._target, self._cache, n)) for n in numbers]
            for objects in folders:
                building.configure(self._target, self._source.folder, objects, base)
                building.compile_kernel(self._target, self._source.folder, objects, step)
            yield [Workbench(objects, scratch / objects.name) for objects in folders]

    def _other(self, asked: Asked, workbench: Workbench, step: Callable[[], None]) -> Variant:
        """In a thread of its own. `step` is called again and again, and may raise."""

        def fill(folder: Path) -> None:
            step()
            objects = workbench.restored()
            building.configure(self._target, self._source.folder, objects, asked.settings)
            got = fragment.values((objects / ".config").read_text()).get(asked.change.option, "n")
            if got != asked.change.value:
                found = Variant(why_not=_refused(asked.change.value, got))
            else:
                found = self._built(objects, folder, step, jobs=1)
            _keep(folder, found)

        return self._entry(asked.settings, asked.change, fill)

    def _entry(
        self, settings: str, change: Change | None, fill: Callable[[Path], None], cache: Cache | None = None
    ) -> Variant:
        recipe = {**building.recipe(self._target, self._source, settings), "machine": self._machine, "changed": change}
        entry = (cache or self._cache).entry(f"linux-price-{self._target.name}", recipe, fill, products=[FILE])
        return Variant(**json.loads(entry.path(FILE).read_text()))

    def _built(self, objects: Path, folder: Path, step: Callable[[], None], jobs: int) -> Variant:
        try:
            building.compile_kernel(self._target, self._source.folder, objects, step, jobs)
        except SetupError as error:
            if "Killed" in error.message or "rror" not in _last(error.message):
                raise  # the host's fault, and no word on the option
            return Variant(why_not=f"the kernel does not build: {_last(error.message)}")
        step()
        parts = folder / "parts"
        parts.mkdir()
        building.collect(self._target, objects, parts)
        kernel = SmallKernel(self._target, Entry(parts, {}), "")
        sizes = packing.sizes(kernel, every=False)
        try:
            left = memory.left(self._target, kernel.image)
        except SetupError as error:
            return Variant(why_not=f"does not boot: {_last(error.message)}")
        finally:
            locks.remove(parts)
        config = fragment.values((objects / ".config").read_text())
        return Variant(sizes.image, sizes.raw, sizes.modules, left.free_kib if left else None, "", config)


def _nothing(_: Path) -> None:
    """For a cache that builds nothing."""


def _keep(folder: Path, found: Variant) -> None:
    (folder / FILE).write_text(json.dumps(asdict(found), indent=1, sort_keys=True))


def _refused(wanted: str, got: str) -> str:
    if wanted == "n":
        return f"cannot be left out: another option or the architecture makes it {got}"
    return f"cannot be {wanted} alone: an option that it depends on is left out, or this architecture has none"


def _last(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    telling = [line for line in lines if "rror" in line and "make" not in line] or lines[-1:]
    return telling[0][:160] if telling else ""
