# SPDX-License-Identifier: Apache-2.0
"""Builds a kernel from a fragment: `allnoconfig`, what the fragment says, and nothing else.

The result is kept by content, as everything that is built. Knows no fragment by name: what the appliance's kernel holds
stands in appliance/kernel/.
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

from flashbed import image
from flashbed.common import locks, paths
from flashbed.common.errors import InputError, SetupError
from flashbed.common.progress import stage
from flashbed.image import kernel
from flashbed.image.cache import Cache, Entry
from flashbed.image.command import run
from flashbed.image.debian import Archive
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
"""What neither a server of files nor the price of an option compiles, by size half of the tree; Kconfig files stay."""

IMAGE, RAW, CONFIG, SYMBOLS, MAP, VMLINUX = "image", "raw", "config", "System.map", "vmlinux.map", "vmlinux"
MODULES = "modules"

ALWAYS = "CONFIG_VMLINUX_MAP=y\n"
"""What is built beside the kernel and changes none of its bytes: which object each byte came from."""

_NO_RULE = re.compile(r"No rule to make target '(?P<object>[^']+)\.o'")

_TAKEN_IN = re.compile(r'^\s*\.incbin "(?P<file>[^"]+)"', re.MULTILINE)

COMPILE_STEPS = 1100
"""Lines that a build prints; for the progress bar only."""


@dataclass(frozen=True)
class SmallKernel:
    """A built kernel: what a loader takes, its modules, its symbols and its whole configuration."""

    architecture: Architecture
    entry: Entry
    package_version: str

    @property
    def image(self) -> Path:
        """bzImage on x86_64, Image (not packed) on arm64."""
        return self.entry.path(IMAGE)

    @property
    def raw(self) -> Path:
        """What is packed in the image, or to be packed."""
        return self.entry.path(RAW)

    @cached_property
    def modules(self) -> dict[str, Path]:
        """The modules by name, without debug information."""
        return {file.stem: file for file in sorted(self.entry.path(MODULES).glob("*.ko"))}

    @property
    def symbols(self) -> Path:
        return self.entry.path(SYMBOLS)

    @property
    def config(self) -> Path:
        return self.entry.path(CONFIG)

    @property
    def release(self) -> str:
        """What `uname -r` says."""
        return self.entry.path("release").read_text().strip()


def nas_fragments(name: str) -> list[Path]:
    """The files of the appliance's kernel for one architecture."""
    folder = paths.appliance() / "kernel"
    return [folder / f"{part}.config" for part in ("common", "disks", name)]


def build(name: str, fragments: Sequence[Path] | None = None) -> SmallKernel:
    """The kernel of these fragments, the appliance's if none are given, for the architecture `name` (x86_64, arm64).

    Takes some five minutes on two idle cores the first time. Raises InputError for what is wrong in a fragment, or for
    a setting that the kernel does not take.
    """
    files = nas_fragments(name) if fragments is None else list(fragments)
    return build_settings(architecture.named(name), fragment.read(files))


def build_settings(target: Architecture, wanted: Fragment) -> SmallKernel:
    """As `build`."""
    cache, archive = image.open_cache(), image.open_archive()
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
    """The folder in which kernels of that architecture are compiled, or another of that kind, for one build at a time.

    It stays, so that a kernel with another option compiles only what that changes: Linux's build sees to that by the
    options, commands and headers of each object. A test holds such a kernel to one built from nothing.
    """
    folder = cache.root / f"linux-objects-{target.name}{f'-{number}' if number else ''}"

    def say() -> None:
        _log.warning("another run compiles a kernel for %s; waiting for it", target.name)

    with locks.wait_for(cache.root / f".{folder.name}.lock", say):
        yield folder


def unpacked_source(cache: Cache, archive: Archive) -> tuple[Entry, str]:
    """The kernel's source with the patches of appliance/kernel/patches/, and the version of Debian's package."""
    package = f"linux-source-{VERSION}"
    resolved = archive.resolve([package], alone=True)
    patches = sorted((paths.appliance() / "kernel" / "patches").glob("*.patch"))

    def fill(folder: Path) -> None:
        with stage(f"Fetching and unpacking the source of Linux {VERSION}"):
            kernel.unpack(archive, package, archive.fetch([package], resolved), folder / "linux", UNUSED)
        for patch in patches:
            run(["patch", "-p1", "--fuzz=0", "-d", folder / "linux", "-i", patch])

    what = {"package": resolved.files, "left out": UNUSED, "patches": [patch.read_text() for patch in patches]}
    return cache.entry(f"linux-source-{VERSION}", what, fill, products=["linux/Makefile"]), resolved.version(package)


def recipe(target: Architecture, source: Entry, settings: str) -> dict[str, object]:
    """All that a built kernel depends on."""
    return {
        "source": source.folder.name,
        "config": settings + ALWAYS,
        "compiler": target.compiler,
        "command": [str(word) for word in make(target, Path("source"), jobs=0)],
    }


def make(target: Architecture, source: Path, *arguments: str | Path, jobs: int) -> list[str | Path]:
    """The start of a `make` that gives the same bytes wherever and whenever it runs, to be run in the folder of
    objects.
    """
    return [
        "make",
        f"-j{jobs}",
        "-C",
        source,
        f"ARCH={target.name}",
        f"CROSS_COMPILE={target.prefix}",
        "KBUILD_BUILD_TIMESTAMP=1970-01-01",
        "KBUILD_BUILD_USER=flashbed",
        "KBUILD_BUILD_HOST=flashbed",
        "KBUILD_BUILD_VERSION=1",
        f"KCFLAGS=-ffile-prefix-map={source}=.",
        *arguments,
    ]


def configure(target: Architecture, source: Path, objects: Path, settings: str) -> None:
    """Writes the .config of `settings` into the folder of objects."""
    objects.mkdir(parents=True, exist_ok=True)
    file = objects / "fragment.config"
    file.write_text(settings + ALWAYS)
    run(make(target, source / "linux", f"O={objects}", f"KCONFIG_ALLCONFIG={file}", "allnoconfig", jobs=1))


def check(wanted: Fragment, objects: Path) -> None:
    """Raises InputError if the kernel did not take what the fragment says, with the file and line of each."""
    got = fragment.values((objects / ".config").read_text())
    wrong = [setting for setting in wanted if got.get(setting.option, "n") != setting.value]
    if wrong:
        raise InputError(
            "\n".join(
                f"{setting.file}:{setting.line}: {setting.option}={setting.value}: Linux {VERSION} makes it "
                f"{got.get(setting.option, 'n')}: an option that it depends on is missing, another one selects it, "
                "or it has another name"
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
    """Brings the objects up to date with their .config. `jobs`: compilers at a time, one for each CPU of this host if
    it is not said. `environment`: of another compiler. Raises InputError for an option whose source is among what is
    never unpacked.
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


def _left_out(said: str) -> str:
    """The source that make misses because of UNUSED, or nothing."""
    missing = _NO_RULE.search(said)
    source = f"{missing['object']}.c" if missing else ""
    return source if source and any(fnmatch.fnmatch(f"linux/{source}", pattern) for pattern in UNUSED) else ""


def _has_modules(objects: Path) -> bool:
    return fragment.values((objects / ".config").read_text()).get("CONFIG_MODULES") == "y"


def packed_part(target: Architecture, objects: Path) -> Path:
    """What an image that unpacks itself has in it, packed. A kernel's options say by which program, and what another
    program made of a kernel before may lie beside it. Raises SetupError.
    """
    holder = objects / target.holder
    if (taken := _TAKEN_IN.search(holder.read_text())) is None:
        raise SetupError(f"{holder}: takes in no file; remove the folder of objects, and it is compiled anew")
    return objects / taken["file"]


def collect(target: Architecture, objects: Path, folder: Path) -> None:
    """Copies what a kernel is out of its folder of objects."""
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
