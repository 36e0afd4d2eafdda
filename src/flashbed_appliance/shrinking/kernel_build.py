# SPDX-License-Identifier: Apache-2.0
"""Build a kernel from `allnoconfig` and a fragment.

The cache keeps the result by content. Knows the place of the appliance's fragments (appliance/kernel/), but not what
they contain.
"""

from __future__ import annotations

import fnmatch
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from flashbed.common import locks
from flashbed.common.errors import InputError, SetupError
from flashbed.common.progress import stage
from flashbed.image import kernel, stores, toolchain
from flashbed.image.cache import Cache, Entry
from flashbed.image.command import run
from flashbed.image.debian import Archive
from flashbed_appliance.data_files import appliance_data
from flashbed_appliance.shrinking import architecture, fragment
from flashbed_appliance.shrinking.architecture import Architecture
from flashbed_appliance.shrinking.fragment import Fragment

_log = logging.getLogger("flashbed")

VERSION = "6.1"

UNUSED = (
    "*/Documentation/*.rst",
    "*/tools/testing/*",
    "*/drivers/gpu/drm/*/*.[ch]",
    "*/drivers/staging/*.[ch]",
    "*/sound/*/*.[ch]",
    "*/arch/arm64/boot/dts/*",
)
"""Sources that neither the appliance nor the price of an option compiles: half of the tree. Kconfig files stay."""

IMAGE, RAW, CONFIG, SYMBOLS, MAP, VMLINUX = "image", "raw", "config", "System.map", "vmlinux.map", "vmlinux"
MODULES = "modules"

ALWAYS = "CONFIG_VMLINUX_MAP=y\n"
"""Also build the linker's map, which names the object of each byte; it changes no byte of the kernel."""

_NO_RULE = re.compile(r"No rule to make target '(?P<object>[^']+)\.o'")

_TAKEN_IN = re.compile(r'^\s*\.incbin "(?P<file>[^"]+)"', re.MULTILINE)

COMPILE_STEPS = 1100
"""Approximate number of lines that a build prints, for the progress bar."""


@dataclass(frozen=True)
class SmallKernel:
    """A built kernel: the image for a loader, its modules, its symbols and its complete configuration."""

    architecture: Architecture
    entry: Entry
    package_version: str

    @property
    def image(self) -> Path:
        """Return the bzImage on x86_64, the unpacked Image on arm64."""
        return self.entry.path(IMAGE)

    @property
    def raw(self) -> Path:
        """Return the unpacked kernel. It is packed in the image, or a loader's packed image is made of it."""
        return self.entry.path(RAW)

    @cached_property
    def modules(self) -> dict[str, Path]:
        """Return the modules by name, without debug information."""
        return {file.stem: file for file in sorted(self.entry.path(MODULES).glob("*.ko"))}

    @property
    def symbols(self) -> Path:
        """Return the file System.map."""
        return self.entry.path(SYMBOLS)

    @property
    def config(self) -> Path:
        """Return the complete .config."""
        return self.entry.path(CONFIG)

    @property
    def release(self) -> str:
        """Return the release string of `uname -r`."""
        return self.entry.path("release").read_text().strip()


def nas_fragments(name: str) -> list[Path]:
    """Return the fragment files of the appliance's kernel for one architecture."""
    folder = appliance_data() / "kernel"
    return [folder / f"{part}.config" for part in ("common", "disks", name)]


def build(name: str, fragments: Sequence[Path] | None = None) -> SmallKernel:
    """Build the kernel of these fragments, by default the appliance's, for the architecture `name` (x86_64, arm64).

    This takes about five minutes on two idle cores the first time. Raises InputError for an error in a fragment, or for
    a setting that the kernel does not accept.
    """
    files = nas_fragments(name) if fragments is None else list(fragments)
    return build_settings(architecture.named(name), fragment.read(files))


def build_settings(target: Architecture, wanted: Fragment) -> SmallKernel:
    """Build the kernel of these settings. Raises InputError for a setting that the kernel does not accept."""
    cache, archive = stores.open_cache(), stores.open_archive()
    source, version = unpacked_source(cache, archive)

    def fill(folder: Path) -> None:
        with objects_of(target, cache) as objects:
            configure(target, source.folder, objects, wanted.text)
            check(wanted, objects)
            with stage(f"Building a small Linux {VERSION} for {target.name} (once)", total=COMPILE_STEPS) as progress:
                compile_kernel(target, source.folder, objects, progress.advance)
            collect(target, objects, folder)

    entry = cache.entry(f"linux-small-{target.name}", recipe(target, source, wanted.text), fill)
    return SmallKernel(target, entry, version)


@contextmanager
def objects_of(target: Architecture, cache: Cache, number: int = 0) -> Iterator[Path]:
    """Lock and yield the object directory of an architecture's kernels; a `number` names a further one.

    The directory stays, so a kernel with another option compiles only what the option changes: Linux's build tracks the
    options, commands and headers of each object. A test compares such a kernel with one built from nothing.
    """
    folder = cache.root / f"linux-objects-{target.name}{f'-{number}' if number else ''}"

    def say() -> None:
        _log.warning("another run is compiling a kernel for %s; waiting for it", target.name)

    with locks.wait_for(cache.root / f".{folder.name}.lock", say):
        yield folder


def unpacked_source(cache: Cache, archive: Archive) -> tuple[Entry, str]:
    """Return the kernel's source with the patches of appliance/kernel/patches/, and the version of Debian's package."""
    package = f"linux-source-{VERSION}"
    resolved = archive.resolve([package], alone=True)
    patches = sorted((appliance_data() / "kernel" / "patches").glob("*.patch"))

    def fill(folder: Path) -> None:
        with stage(f"Fetching and unpacking the source of Linux {VERSION}"):
            kernel.unpack(archive, package, archive.fetch([package], resolved), folder / "linux", UNUSED)
        for patch in patches:
            run(["patch", "-p1", "--fuzz=0", "-d", folder / "linux", "-i", patch])

    recipe = {"package": resolved.files, "left out": UNUSED, "patches": [patch.read_text() for patch in patches]}
    return cache.entry(f"linux-source-{VERSION}", recipe, fill, products=["linux/Makefile"]), resolved.version(package)


def recipe(target: Architecture, source: Entry, settings: str) -> dict[str, object]:
    """Return everything that a built kernel depends on."""
    return {
        "source": source.folder.name,
        "config": settings + ALWAYS,
        "compiler": target.compiler,
        "command": [str(word) for word in make(target, Path("source"), jobs=0)],
    }


def make(target: Architecture, source: Path, *arguments: str | Path, jobs: int) -> list[str | Path]:
    """Return a `make` command whose output has the same bytes wherever and whenever it runs."""
    return [
        "make",
        f"-j{jobs}",
        "-C",
        source,
        f"ARCH={target.name}",
        f"CROSS_COMPILE={target.prefix}",
        *toolchain.REPRODUCIBLE,
        "KBUILD_BUILD_VERSION=1",
        f"KCFLAGS={kernel.prefix_map(source)}",
        *arguments,
    ]


def configure(target: Architecture, source: Path, objects: Path, settings: str) -> None:
    """Write the .config of `settings` into the object directory."""
    objects.mkdir(parents=True, exist_ok=True)
    file = objects / "fragment.config"
    file.write_text(settings + ALWAYS)
    run(make(target, source / "linux", f"O={objects}", f"KCONFIG_ALLCONFIG={file}", "allnoconfig", jobs=1))


def check(wanted: Fragment, objects: Path) -> None:
    """Raise InputError if the kernel did not accept settings of the fragment, with the file and line of each."""
    accepted = fragment.values((objects / ".config").read_text())
    wrong = [setting for setting in wanted if accepted.get(setting.option, "n") != setting.value]
    if wrong:
        raise InputError(
            "\n".join(
                f"{setting.file}:{setting.line}: {setting.option}={setting.value}: Linux {VERSION} sets it to "
                f"{accepted.get(setting.option, 'n')}: a dependency is missing, another option selects it, or Linux "
                "has no option of this name"
                for setting in wrong
            )
        )


def compile_kernel(
    target: Architecture,
    source: Path,
    objects: Path,
    on_step: Callable[[], None],
    jobs: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Bring the objects up to date with their .config.

    `jobs` is the number of compilers at a time, by default one for each CPU of this host. `environment` may select
    another compiler. Raises InputError for an option whose source is never unpacked (UNUSED).
    """
    jobs = jobs or os.cpu_count() or 1
    targets = [target.target, "modules"] if _has_modules(objects) else [target.target]
    command = make(target, source / "linux", f"O={objects}", *targets, jobs=jobs)
    try:
        run(command, on_line=lambda _: on_step(), env=environment)
    except SetupError as error:
        if left_out := _left_out(error.message):
            raise InputError(
                f"an option compiles {left_out}, which is not in the part of Linux that flashbed unpacks"
            ) from error
        raise


def _left_out(output: str) -> str:
    """Return the source file that `make` misses because of UNUSED; empty if there is none."""
    missing = _NO_RULE.search(output)
    source = f"{missing['object']}.c" if missing else ""
    return source if source and any(fnmatch.fnmatch(f"linux/{source}", pattern) for pattern in UNUSED) else ""


def _has_modules(objects: Path) -> bool:
    return fragment.values((objects / ".config").read_text()).get("CONFIG_MODULES") == "y"


def packed_part(target: Architecture, objects: Path) -> Path:
    """Return the packed kernel inside an image that unpacks itself. Raises SetupError.

    Its name comes from the assembly: the kernel's options decide the packing program, and another program's output may
    lie beside it.
    """
    holder = objects / target.holder
    if (taken := _TAKEN_IN.search(holder.read_text())) is None:
        raise SetupError(f"{holder}: includes no packed kernel; remove {objects} to compile it anew")
    return objects / taken["file"]


def collect(target: Architecture, objects: Path, folder: Path) -> None:
    """Copy the kernel's files from the object directory to `folder`."""
    for name, place in (
        (IMAGE, target.image),
        (RAW, target.raw),
        (CONFIG, ".config"),
        (SYMBOLS, "System.map"),
        (MAP, "vmlinux.map"),
        (VMLINUX, "vmlinux"),
        ("release", "include/config/kernel.release"),
    ):
        shutil.copyfile(objects / place, folder / name)
    modules = folder / MODULES
    modules.mkdir()
    if not _has_modules(objects):
        return
    for name in ("modules.order", "modules.builtin"):
        shutil.copyfile(objects / name, modules / name)
    for line in (objects / "modules.order").read_text().split():
        module = objects / Path(line).with_suffix(".ko")
        run([f"{target.prefix}strip", "--strip-debug", "-o", modules / module.name, module])
