# SPDX-License-Identifier: Apache-2.0
"""Measure variants of a kernel that differ in one option. Each is built, packed, booted, and cached by its recipe.

The base kernel is compiled in the architecture's common object directory. Other variants use workbenches
(workbench.py): directories that are restored to the objects of the base before each variant. So a variant compiles only
what its option changes, by a compiler that has seen most of it (distilling.py).
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from flashbed.common import locks
from flashbed.common.digest import digest_file
from flashbed.common.errors import InputError, InterruptedByUser, SetupError
from flashbed.image import command, stores
from flashbed.image.cache import Cache, Entry
from flashbed_appliance.shrinking import distilling, fragment, kernel_build, memory, packing, workbench
from flashbed_appliance.shrinking.architecture import Architecture
from flashbed_appliance.shrinking.kernel_build import SmallKernel
from flashbed_appliance.shrinking.workbench import Workbench

FILE, KERNEL, MEMORY = "price.json", "kernel", "memory.json"
"""Files of cache entries: the measured sizes; the kernel's image, so that its memory can be measured again without a
build; and the measured memory, which is an entry of its own.
"""

FIGURES = 3
"""Version of the measured figures; raise it if other figures of a kernel's bytes are measured."""

FEW_OBJECTS = 200
"""Variants that compile more objects than this (of some 950) are built after all others."""


@dataclass(frozen=True)
class Variant:
    """A measured kernel, or `why_not`: the reason why there is none.

    `image` and `modules` are bytes packed by xz; if the image unpacks itself, `image` excludes its padding to a
    multiple of 4096. `raw` is the unpacked size in bytes, and `free_kib` the memory that is free when programs start.
    `config` has the value of each option. `digest` is that of the file for a loader. `trouble` says why the kernel does
    not reach its first program, and so has no figure of memory.
    """

    image: int = 0
    raw: int = 0
    modules: dict[str, int] = field(default_factory=dict)
    free_kib: int | None = None
    why_not: str = ""
    config: dict[str, str] = field(default_factory=dict)
    digest: str = ""
    trouble: str = ""


class OptionChange(NamedTuple):
    """An option, and the value that it must have in a variant."""

    option: str
    value: str


class Asked(NamedTuple):
    """A variant's settings, and the option that was changed in them."""

    settings: str
    change: OptionChange


class Bench:
    """Builds and measures the variants of one architecture."""

    def __init__(self, target: Architecture) -> None:
        self.target = target
        self._cache, archive = stores.open_cache(), stores.open_archive()
        self._source, _ = kernel_build.unpacked_source(self._cache, archive)
        self.machine = memory.identity(target)
        self._packed: dict[str, int] = {}

    def recipe(self, settings: str) -> dict[str, object]:
        """Return everything that a kernel of these settings depends on, and the version of its figures."""
        return {**kernel_build.recipe(self.target, self._source, settings), "figures": FIGURES}

    def stored(self, settings: str, change: OptionChange | None = None, *, boot: bool = False) -> Variant | None:
        """Return the stored figures of the kernel of these settings; None if there are none. With `boot`, a stored
        kernel without a figure of memory is booted.
        """
        built_only = stores.open_cache(stores.BuiltOnly)
        try:
            return self._variant(settings, change, _nothing, built_only, self._cache if boot else built_only)
        except stores.NotBuilt:
            return None

    def base(self, settings: str) -> Variant:
        """Build and measure the base kernel, with which the variants are compared."""

        def fill(folder: Path) -> None:
            with kernel_build.objects_of(self.target, self._cache) as objects:
                kernel_build.configure(self.target, self._source.folder, objects, settings)
                _keep(folder, self._built(objects, folder, lambda: None, os.cpu_count() or 1))

        return self._variant(settings, None, fill, self._cache, self._cache)

    def others(self, base: str, asked: Sequence[Asked]) -> Iterator[tuple[Asked, Variant]]:
        """Build and measure these variants, one for each CPU at a time, and yield each when it is done. Variants whose
        change affects few objects come first, so that an interrupted sweep has most of the results.
        """
        if not asked:
            return
        stop = threading.Event()

        def step() -> None:
            if stop.is_set():
                raise InterruptedByUser("stopped")

        free: queue.SimpleQueue[Workbench] = queue.SimpleQueue()

        def build(variant: Asked, most: int) -> Variant | int:
            bench = free.get()
            try:
                return self._other(variant, bench, step, most)
            except _LaterError as later:
                return later.objects
            finally:
                free.put(bench)

        count = min(os.cpu_count() or 1, len(asked))
        with self._workbenches(base, count, step) as benches, ThreadPoolExecutor(count) as pool:
            for bench in benches:
                free.put(bench)
            ordered = sorted(asked, key=lambda variant: benches[0].dependents[variant.change.option])
            try:
                for most in (FEW_OBJECTS, sys.maxsize):
                    under_way = {pool.submit(build, variant, most): variant for variant in ordered}
                    left: dict[Asked, int] = {}
                    for future in as_completed(under_way):
                        if isinstance(outcome := future.result(), Variant):
                            yield under_way[future], outcome
                        else:
                            left[under_way[future]] = outcome
                    ordered = sorted(left, key=left.__getitem__)
            except BaseException:
                stop.set()
                pool.shutdown(cancel_futures=True)
                raise

    @contextmanager
    def _workbenches(self, base: str, count: int, step: Callable[[], None]) -> Iterator[list[Workbench]]:
        """Lock and yield `count` workbenches. The architecture's common object directory stays free for other runs."""
        with ExitStack() as held:
            scratch = held.enter_context(locks.scratch(self._cache.root / "variants"))
            numbers = range(1, count + 1)
            folders = [held.enter_context(kernel_build.objects_of(self.target, self._cache, n)) for n in numbers]
            with kernel_build.objects_of(self.target, self._cache) as first:
                kernel_build.configure(self.target, self._source.folder, first, base)
                kernel_build.compile_kernel(self.target, self._source.folder, first, step)
                source, recipe = self._source.folder, self.recipe(base)
                compiler = distilling.check(self.target, self._cache, source, recipe, first, folders[0], step)
                for objects in folders:
                    workbench.copied(first, objects)
                depend = workbench.dependents(first, source / "linux")
            yield [Workbench(objects, scratch / objects.name, depend, compiler.environment) for objects in folders]

    def _other(self, asked: Asked, bench: Workbench, step: Callable[[], None], most: int) -> Variant:
        """Build and measure one variant, in a thread of its own. `step` is called repeatedly, and may raise to stop.

        Raises _LaterError if more than `most` objects depend on an option that differs.
        """

        def fill(folder: Path) -> None:
            step()
            objects = bench.restored()
            kernel_build.configure(self.target, self._source.folder, objects, asked.settings)
            config = fragment.values((objects / ".config").read_text())
            value = config.get(asked.change.option, "n")
            if value != asked.change.value:
                variant = Variant(why_not=_refused(asked.change.value, value))
            elif (depend := bench.affected(config)) > most:
                raise _LaterError(depend)
            else:
                variant = self._built(objects, folder, step, jobs=1, environment=bench.environment)
            _keep(folder, variant)

        return self._variant(asked.settings, asked.change, fill, self._cache, self._cache)

    def _variant(
        self, settings: str, change: OptionChange | None, fill: Callable[[Path], None], builds: Cache, boots: Cache
    ) -> Variant:
        recipe = {**self.recipe(settings), "changed": change}
        entry = builds.entry(f"linux-price-{self.target.name}", recipe, fill, products=[FILE, KERNEL])
        variant = Variant(**json.loads(entry.path(FILE).read_text()))
        if variant.why_not:
            return variant

        def boot(folder: Path) -> None:
            free_kib, trouble = None, ""
            try:
                free_kib = memory.free_kib(self.target, entry.path(KERNEL))
            except SetupError as error:
                trouble = _last(error.message)
            report = {"free_kib": free_kib, "trouble": trouble}
            (folder / MEMORY).write_text(json.dumps(report, indent=1))

        run = {"kernel": variant.digest, "machine": self.machine}
        booted = boots.entry(f"linux-memory-{self.target.name}", run, boot, products=[MEMORY])
        return replace(variant, **json.loads(booted.path(MEMORY).read_text()))

    def _built(
        self,
        objects: Path,
        folder: Path,
        step: Callable[[], None],
        jobs: int,
        environment: Mapping[str, str] | None = None,
    ) -> Variant:
        try:
            kernel_build.compile_kernel(self.target, self._source.folder, objects, step, jobs, environment)
        except InputError as error:
            return Variant(why_not=error.message)
        except SetupError as error:
            if "Killed" in error.message or "rror" not in _last(error.message):
                raise  # the host's fault, not the option's
            return Variant(why_not=f"the kernel does not build: {_last(error.message)}")
        step()
        parts = folder / "parts"
        parts.mkdir()
        kernel_build.collect(self.target, objects, parts)
        kernel = SmallKernel(self.target, Entry(parts, {}), "")
        if self.target.packs_itself:
            packed = kernel_build.packed_part(self.target, objects).stat().st_size
        else:
            packed = self._bytes(kernel.raw)
        modules = {name: self._bytes(file) for name, file in kernel.modules.items()}
        raw, digest = kernel.raw.stat().st_size, digest_file(kernel.image)
        shutil.copyfile(kernel.image, folder / KERNEL)
        locks.remove(parts)
        config = fragment.values((objects / ".config").read_text())
        return Variant(packed, raw, modules, config=config, digest=digest)

    def _bytes(self, file: Path) -> int:
        """Return the size of a file packed by xz. It is remembered, because most variants share most modules."""
        digest = digest_file(file)
        if digest not in self._packed:
            self._packed[digest] = command.packed_bytes(file, packing.programs(self.target)[packing.XZ])
        return self._packed[digest]


class _LaterError(Exception):
    """This variant compiles so many objects that others come first."""

    def __init__(self, objects: int) -> None:
        super().__init__(objects)
        self.objects = objects


def _nothing(_: Path) -> None:
    """Do nothing; `fill` of a cache that builds nothing."""


def _keep(folder: Path, variant: Variant) -> None:
    (folder / KERNEL).touch()  # empty where there is none
    (folder / FILE).write_text(json.dumps(asdict(variant), indent=1, sort_keys=True))


def _refused(wanted: str, value: str) -> str:
    """Return why Linux gave an option another value than the wanted one."""
    if wanted == "n":
        return f"cannot be left out: another option or the architecture makes it {value}"
    return f"cannot be {wanted} alone: an option that it depends on is left out, or this architecture has none"


def _last(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    telling = [line for line in lines if "rror" in line and "make" not in line] or lines[-1:]
    return telling[0][:160] if telling else ""
