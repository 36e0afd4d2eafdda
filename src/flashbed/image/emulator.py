# SPDX-License-Identifier: Apache-2.0
"""Build the emulator: QEMU from Debian's source tarball, with the lab's clock and devices (emulator/). It is built by
the host's compiler, and cached.

The tarball of a version never changes, only Debian's packaging around it. So a guest does not depend on the host's
QEMU.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from flashbed.common import paths
from flashbed.common.digest import digest_bytes, digest_file
from flashbed.common.errors import SetupError
from flashbed.common.progress import stage
from flashbed.image.cache import Cache, digest_tree
from flashbed.image.command import of_host, run
from flashbed.image.debian import Archive
from flashbed.image.toolchain import ARCHITECTURE

SOURCE, VERSION = "qemu", "7.2"
TARBALL = "91aca71520040edc40b8d437aa3004dae614f58e286cf653ee8996c07af2962f"
"""SHA-256 of qemu_7.2+dfsg.orig.tar.xz."""

QEMU_PROGRAM = "qemu-system-aarch64"
DEVICES = "lab"

CONFIGURE_OPTIONS: Sequence[str] = (
    "--target-list=aarch64-softmmu",
    "--without-default-features",
    "--enable-tcg",
    "--enable-system",
    "--disable-tools",
    "--disable-docs",
    "--disable-werror",
    "--disable-debug-info",
    "--disable-stack-protector",
    "--enable-trace-backends=nop",
    "--enable-fdt=system",
    "--disable-install-blobs",
    "--with-git-submodules=ignore",
    "--without-default-devices",
    f"--with-devices-aarch64={DEVICES}",
)
"""The options of QEMU's configure. They are part of keys, because they decide which devices a guest has."""

EMULATOR_FILES = {
    "lab-turns.c": "softmmu/lab-turns.c",
    "lab-turns.h": "include/sysemu/lab-turns.h",
    "lab-clock.c": "softmmu/lab-clock.c",
    "lab-clock.h": "include/sysemu/lab-clock.h",
    "lab-profile.c": "softmmu/lab-profile.c",
    "lab-profile.h": "include/sysemu/lab-profile.h",
    "lab-calls.c": "softmmu/lab-calls.c",
    "lab-calls.h": "include/sysemu/lab-calls.h",
    "lab-price.c": "softmmu/lab-price.c",
    "lab-price.h": "include/sysemu/lab-price.h",
    "lab-watch.c": "softmmu/lab-watch.c",
    "lab-watch.h": "include/sysemu/lab-watch.h",
    "lab-beginning.c": "softmmu/lab-beginning.c",
    "lab-beginning.h": "include/sysemu/lab-beginning.h",
    "lab-load.c": "softmmu/lab-load.c",
    "lab-load.h": "include/sysemu/lab-load.h",
    "lab-lines.c": "softmmu/lab-lines.c",
    "lab-lines.h": "include/sysemu/lab-lines.h",
    "lab-target.h": "include/exec/lab-target.h",
    "lab-cuts.c": "block/lab-cuts.c",
    "lab-cuts.h": "include/block/lab-cuts.h",
    "lab-medium.c": "block/lab-medium.c",
    "lab-medium.h": "include/block/lab-medium.h",
    "lab-medium-notes.c": "block/lab-medium-notes.c",
    "lab-medium-notes.h": "block/lab-medium-notes.h",
    "lab-card.c": "hw/sd/lab-card.c",
    "lab-card.h": "include/hw/sd/lab-card.h",
    "lab-card-registers.c": "hw/sd/lab-card-registers.c",
    "lab-card-registers.h": "include/hw/sd/lab-card-registers.h",
    "lab-disk.c": "hw/block/lab-disk.c",
    "lab-disk.h": "hw/block/lab-disk.h",
    "lab-nand.c": "hw/block/lab-nand.c",
    "lab-nand.h": "hw/block/lab-nand.h",
    "devices.mak": f"configs/devices/aarch64-softmmu/{DEVICES}.mak",
}
"""Files of emulator/, and what they are in QEMU's source."""

SAMPLES_OBSERVER = "profile"

CALLS_OBSERVER = "calls"

OBSERVERS = (SAMPLES_OBSERVER, CALLS_OBSERVER, "price", "watch")
"""Parts that only observe: lab-NAME.c, lab-NAME.h, and the patch NN-NAME.patch. A guest gives the same bytes whether
they are there or not; the watch ends guests that would give none.
"""

MEDIA_CORE = "block/media"
"""Where the media core lies in QEMU's source."""

BUILD = "build"
"""The directory of a source tree that the emulator is built in."""

NO_PATHS = "-ffile-prefix-map={tree}=."
"""Keeps the build directory out of the emulator's messages. It affects no result, so it is in no key."""

EMULATOR_STEPS = 879
"""The number of steps that ninja reports, for the progress bar. A compiler may print more lines, its warnings."""

TOOLS = {
    "make": "make",
    "ninja": "ninja-build",
    "meson": "meson",
    "pkg-config": "pkg-config",
    "patch": "patch",
    "xz": "xz-utils",
}
HEADERS = {"glib.h": "libglib2.0-dev", "pixman.h": "libpixman-1-dev", "libfdt.h": "libfdt-dev"}
"""Headers that the build needs, and the Debian package of each."""

PKG_CONFIG = {"glib.h": "glib-2.0", "pixman.h": "pixman-1"}
"""The names by which pkg-config finds headers. The compiler finds the others itself."""


@cache
def digest() -> str:
    """Return the digest of all that decides what the emulator does, for the keys of results: tarball, own files,
    patches, media core, options. Observers are left out, and what only guests with power cuts execute. So is the host's
    compiler: it does not affect a guest.
    """
    left_out = {*(file for name in OBSERVERS for file in _files_of(name)), *_files_of_cuts()}
    return _digest_of(left_out)


@cache
def observer_digest(name: str) -> str:
    """Return the digest of an observer, for the keys of results that contain its notes."""
    return digest_tree(*_files_of(name))


@cache
def cuts_digest() -> str:
    """Return the digest of what decides what remains of a medium whose power is cut."""
    return digest_tree(*_files_of_cuts())


def _files_of_cuts() -> list[Path]:
    return [*sorted(paths.emulator().glob("lab-cuts.[ch]")), paths.media() / "src/power_cut.c"]


def _files_of(observer: str) -> list[Path]:
    root = paths.emulator()
    return [*sorted(root.glob(f"lab-{observer}.[ch]")), *root.glob(f"patches/[0-9][0-9]-{observer}.patch")]


def _digest_of(left_out: Collection[Path] = ()) -> str:
    """Return the digest of an emulator without these files."""
    parts = (paths.emulator(), paths.media() / "src", paths.media() / "include")
    files = (sorted(file for file in part.rglob("*") if file.is_file() and file not in left_out) for part in parts)
    return digest_bytes("\n".join((TARBALL, *(digest_tree(*part) for part in files), *CONFIGURE_OPTIONS)).encode())


def program() -> Path:
    """Return the emulator; fetch and build it if it is missing or damaged. A build takes over a minute on two cores.

    Raises SetupError if this host lacks something for the build, or if the archive has another tarball.
    """
    return _program(paths.cache_root())


@contextmanager
def beside() -> Iterator[None]:
    """Build the emulator, if it is missing, while the block builds other things: both have steps that use one core.
    The block begins when the source is fetched, because only one process can use apt. Raises SetupError.
    """
    root = paths.cache_root()
    begun, failed = threading.Event(), list[BaseException]()

    def build() -> None:
        try:
            _program(root, begun.set)
        except BaseException as error:
            failed.append(error)
        finally:
            begun.set()

    # An interrupted run does not wait for it; compilers end with the process
    builder = threading.Thread(target=build, daemon=True)
    builder.start()
    begun.wait()
    if not failed:
        yield
        builder.join()
    for error in failed:
        raise error


_known: dict[Path, Path] = {}
"""The emulators that were checked, by the cache's directory: a check per repetition would be slow."""


def _program(root: Path, fetched: Callable[[], object] = lambda: None) -> Path:
    if root not in _known:
        recipe = {"emulator": _digest_of(), "flags": NO_PATHS}
        entry = Cache(root / "image").entry(
            "emulator", recipe, lambda folder: _fill(root, folder, fetched), products=[QEMU_PROGRAM], of_host=of_host
        )
        _known[root] = entry.path(QEMU_PROGRAM)
    return _known[root]


def _fill(root: Path, folder: Path, fetched: Callable[[], object] = lambda: None) -> None:
    tree = folder / "tree"
    unpack(root, tree, fetched)
    place_own(tree, paths.emulator(), paths.media())
    with stage("Building the emulator (once)", total=EMULATOR_STEPS) as progress:
        configure(tree, folder)
        compile_to(tree, folder / QEMU_PROGRAM, on_line=lambda _: progress.advance())
    shutil.rmtree(tree)


def unpack(root: Path, tree: Path, fetched: Callable[[], object] = lambda: None) -> None:
    """Make the new directory `tree` with QEMU's source and the lab's patches. Raises SetupError as `program`."""
    if missing := missing_packages():
        raise SetupError(f"the emulator cannot be built: `apt-get install {' '.join(missing)}` brings what is missing")
    archive = Archive.below(root, ARCHITECTURE)
    resolved = archive.resolve([SOURCE], source=True)
    with stage(f"Fetching and unpacking the source of QEMU {VERSION}"):
        files = archive.fetch([SOURCE], resolved, source=True)
        fetched()
        _unpack(files, tree)
    for patch in sorted((paths.emulator() / "patches").glob("*.patch")):
        run(["patch", "-p1", "--fuzz=0", "-d", tree, "-i", patch])


def place_own(tree: Path, own: Path, media: Path) -> None:
    """Add the lab's files to QEMU's source: those of the directory `own` and the media core of `media`. A file that is
    there already with the same content is not touched, so that it is not compiled again.
    """
    core = tree / MEDIA_CORE
    core.mkdir(exist_ok=True)
    sources = sorted((media / "src").glob("*.c"))
    of_core = (*sources, *(media / "src").glob("*.h"), *(media / "include").glob("*.h"))
    names = ", ".join(f"'{path.name}'" for path in sources)
    options = "override_options: ['optimization=2'], build_by_default: false"
    library = (
        f"media_core = static_library('media', files({names}), {options})\n"
        "block_ss.add(declare_dependency(link_with: media_core))\n"
    )
    contents = {
        **{tree / place: (own / name).read_bytes() for name, place in EMULATOR_FILES.items()},
        **{core / file.name: file.read_bytes() for file in of_core},
        core / "meson.build": library.encode(),
    }
    for place, content in contents.items():
        if not place.exists() or place.read_bytes() != content:
            place.write_bytes(content)


def configure(tree: Path, above: Path) -> None:
    """Prepare the build of a source tree, which lies in the directory `above`."""
    (tree / BUILD).mkdir()
    # Otherwise the build takes QEMU's version from a repository that contains the cache
    mapped = f"--extra-cflags={NO_PATHS.format(tree=tree)}"
    run(["../configure", *CONFIGURE_OPTIONS, mapped], cwd=tree / BUILD, env={"GIT_CEILING_DIRECTORIES": str(above)})


def compile_to(tree: Path, program: Path, on_line: Callable[[str], None] | None = None) -> None:
    """Compile what has changed in a configured source tree, and write the emulator to `program`."""
    run(["ninja", f"-j{os.cpu_count() or 1}", QEMU_PROGRAM], cwd=tree / BUILD, on_line=on_line)
    run(["strip", "-o", program, tree / BUILD / QEMU_PROGRAM])


def _unpack(files: Sequence[Path], tree: Path) -> None:
    tarball = next((path for path in files if ".orig.tar" in path.name), None)
    if tarball is None or digest_file(tarball) != TARBALL:
        raise SetupError(
            f"the Debian archive gave another source of {SOURCE} than {VERSION}'s of Debian 12, which the lab's clock "
            "is made for; `flashbed run STUDY --locked` takes the one that the lock names"
        )
    tree.mkdir()
    run(["tar", "-xf", tarball, "-C", tree, "--strip-components=1"])


def missing_packages() -> list[str]:
    """Return the Debian packages that the build needs and this host lacks."""
    tools = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if shutil.which("cc") is None:
        return ["gcc", *tools]
    if "pkg-config" in tools:
        return tools
    return tools + [package for header, package in HEADERS.items() if not _has_header(header)]


def _has_header(header: str) -> bool:
    try:
        flags = run(["pkg-config", "--cflags", PKG_CONFIG[header]]).split() if header in PKG_CONFIG else []
        run(["cc", *flags, "-E", "-x", "c", "-o", os.devnull, "-"], stdin=f"#include <{header}>\n")
    except SetupError:
        return False
    return True
