# SPDX-License-Identifier: Apache-2.0
"""Build kernel modules out of tree against a built kernel: the lab's, a user's, and a few of the kernel's own.

A directory of kernel/ with a Kbuild file makes one or more modules. Their common files and the media core are copied
beside it, as in the repository. The names of modules are known before a build: from the line `obj-m` of the Kbuild
file, and for the kernel's own modules from OF_THE_KERNEL. So an unknown name is refused early, and only modules that
guests load are built.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from flashbed.common import paths
from flashbed.common.errors import InputError, SetupError
from flashbed.common.progress import stage
from flashbed.image import own_module, toolchain
from flashbed.image.cache import Cache, Entry, digest_tree
from flashbed.image.command import run
from flashbed.image.kernel import Kernel
from flashbed.profiles.kernel_choice import KERNELS


class OfTheKernel(NamedTuple):
    """Modules in a directory of the kernel's tree, and the settings of their build beside the kernel's own."""

    folder: str
    settings: tuple[str, ...] = ()
    name: str | None = None
    """The file name of the only module, if another entry makes a module of the same name; the kernel keeps it."""
    makes: tuple[str, ...] = ()
    """The names of the modules; if empty, one module with the entry's name."""
    includes: tuple[str, ...] = ()
    """Directories of headers that its makefile expects below the kernel's tree."""
    change: str | None = None
    """The directory of kernel/ whose patch is applied to the source, and whose headers are copied beside it."""


MTD_TESTS = ("nandbiterrs", "oobtest", "pagetest", "readtest", "speedtest", "stresstest", "subpagetest", "torturetest")

F2FS = ("CONFIG_F2FS_FS=m", "CONFIG_F2FS_STAT_FS=y")

OF_THE_KERNEL = {
    "mtd_tests": OfTheKernel(
        "drivers/mtd/tests",
        ("CONFIG_MTD_TESTS=m",),
        makes=("mtd_test", "mtd_nandecctest", *(f"mtd_{test}" for test in MTD_TESTS)),
    ),
    "exfat": OfTheKernel("fs/exfat", ("CONFIG_EXFAT_FS=m", 'CONFIG_EXFAT_DEFAULT_IOCHARSET="utf8"')),
    "f2fs": OfTheKernel("fs/f2fs", F2FS),
    "f2fs_direct_lock": OfTheKernel("fs/f2fs", F2FS, name="f2fs_direct_lock", change="f2fs_direct_lock"),
    "jffs2": OfTheKernel("fs/jffs2"),
    "jffs2_summary": OfTheKernel("fs/jffs2", ("CONFIG_JFFS2_SUMMARY=y",), name="jffs2_summary"),
    "xfs": OfTheKernel("fs/xfs", ("CONFIG_XFS_FS=m",), includes=("fs/xfs", "fs/xfs/libxfs")),
}
"""Modules of the kernel's tree that few guests load, by the name of the cache's entry."""

RECIPE_VERSION = 1
"""Raise it if the same source gives other modules for another reason than the data in `_MADE_BY`."""

STRIP = (f"{toolchain.PREFIX}strip", "--strip-debug")

_MADE_BY = {"command": (*toolchain.make("modules", jobs=0), *STRIP), "version": RECIPE_VERSION}
"""The part of a recipe that all modules share."""

_MAKES = re.compile(r"^obj-m *[:+]?= *(.*)$", re.MULTILINE)

OWN = "own-module"
"""The name of a user's directory where it is built, whatever its own name is."""

SHARED = "common"
"""The directory of kernel/ with files that several modules compile in."""


def names() -> list[str]:
    """Return the names of all directories of kernel/ that make modules."""
    return sorted(kbuild.parent.name for kbuild in paths.kernel().glob("*/Kbuild"))


def made_by(folder: str) -> tuple[str, ...]:
    """Return the modules that a directory of kernel/ makes. Raises SetupError if its Kbuild file names none."""
    if not (made := made_in(paths.kernel() / folder)):
        kbuild = paths.kernel() / folder / "Kbuild"
        raise SetupError(f"{kbuild}: has no line `obj-m := NAME.o`, which says what modules it makes")
    return made


def made_in(folder: Path) -> tuple[str, ...]:
    """Return the modules that a directory makes, by the line `obj-m` of its Kbuild or Makefile; () if there is none."""
    file = next((file for name in ("Kbuild", "Makefile") if (file := folder / name).is_file()), None)
    lists = _MAKES.findall(file.read_text(errors="replace")) if file else []
    return tuple(name.removesuffix(".o") for line in lists for name in line.split() if name.endswith(".o"))


def to_choose() -> dict[str, str]:
    """Map each module that a cell can choose to its directory of kernel/, or to its entry of OF_THE_KERNEL."""
    ours = {module: folder for folder in names() for module in made_by(folder)}
    return ours | {module: name for name, entry in OF_THE_KERNEL.items() for module in entry.makes or (name,)}


def check_names(wanted: Iterable[str]) -> None:
    """Raise InputError for a name that is not in `to_choose`."""
    known = to_choose()
    for name in wanted:
        if name not in known:
            raise InputError(
                f'module = "{name}": there is no such module in kernel/; there are: {", ".join(sorted(known))}'
            )


def build_chosen(cache: Cache, kernel: Kernel, wanted: Iterable[str]) -> dict[str, Path]:
    """Build only the modules `wanted`, and return their files by name. Raises InputError for an unknown name."""
    asked = sorted(set(wanted))
    check_names(asked)
    known = to_choose()
    files = {}
    for name in asked:
        make = build_of_the_kernel if known[name] in OF_THE_KERNEL else build
        files[name] = make(cache, kernel, known[name]).path(f"{name}.ko")
    return files


def _of(kernel: Kernel) -> dict[str, object]:
    """Return the part of a recipe that identifies the kernel that modules are built against."""
    return {"kernel": kernel.entry.digests, **({"source": kernel.source} if kernel.source else {})}


class BuildError(InputError):
    """A module does not build with a user's kernel or from a user's source. The message has the compiler's errors."""


def build(cache: Cache, kernel: Kernel, name: str) -> Entry:
    """Build the modules of the directory `name` of kernel/, without debug information."""
    return _build(cache, kernel, paths.kernel() / name, name, label=name)


def build_folder(cache: Cache, kernel: Kernel, folder: Path) -> Entry:
    """Build the modules of a user's directory. The lab's common files lie beside it, too. Raises BuildError."""
    return _build(cache, kernel, folder, OWN, label=str(folder))


def _build(cache: Cache, kernel: Kernel, source: Path, name: str, *, label: str) -> Entry:
    """`name` is the directory's name where it is built. Messages call it `label`."""
    common = paths.kernel() / SHARED
    core = [paths.media() / part for part in ("include", "src", "sources.mk")]
    recipe = {
        **_of(kernel),
        "module": own_module.digest(source),
        "sources": digest_tree(common, *core),
        **_MADE_BY,
    }

    def fill(folder: Path) -> None:
        scratch = folder / "scratch"
        own_module.copy(source, scratch / "kernel" / name)
        own_module.copy(common, scratch / "kernel" / SHARED)
        for part in core:
            into = shutil.copytree if part.is_dir() else shutil.copy
            (scratch / "media").mkdir(exist_ok=True)
            into(part, scratch / "media" / part.name)
        with stage(f"Building the kernel module {label}"):
            _make(kernel, scratch, f"kernel/{name}", folder, label=label)

    return cache.entry(name, recipe, fill)


def build_of_the_kernel(cache: Cache, kernel: Kernel, name: str) -> Entry:
    """Build the modules of an entry of OF_THE_KERNEL."""
    wanted = OF_THE_KERNEL[name]
    change = paths.kernel() / wanted.change if wanted.change else None
    recipe = {
        **_of(kernel),
        **_MADE_BY,
        **wanted._asdict(),
        **({"changed by": digest_tree(change)} if change else {}),
    }

    def fill(folder: Path) -> None:
        _fill_of_the_kernel(kernel, name, folder)

    return cache.entry(f"kernel-{name}", recipe, fill)


def with_lines(kernel: Kernel, name: str, folder: Path) -> Path:
    """Build the only module of an entry of OF_THE_KERNEL with line numbers, in an empty directory. Return its file."""
    _fill_of_the_kernel(kernel, name, folder, lines=True)
    (built,) = folder.glob("*.ko")
    return built


def _fill_of_the_kernel(kernel: Kernel, name: str, folder: Path, *, lines: bool = False) -> None:
    wanted = OF_THE_KERNEL[name]
    change = paths.kernel() / wanted.change if wanted.change else None
    # A setting on make's command line reaches makefiles only; C code sees the preprocessor's definitions
    defined = [flag for setting in wanted.settings if (flag := _as_defined(setting))]
    scratch = folder / "scratch"
    shutil.copytree(kernel.tree / wanted.folder, scratch / wanted.folder, ignore=own_module.LEFT_BY_A_BUILD)
    if change:
        _change(change, scratch, wanted.folder)
    included = [f"-I{scratch / place}" for place in wanted.includes]
    with stage(f"Building the kernel's module {name}"):
        flags = [*defined, *included, *(["-g1"] if lines else [])]
        _make(kernel, scratch, wanted.folder, folder, *wanted.settings, flags=flags, lines=lines)
    if wanted.name:
        (built,) = folder.glob("*.ko")
        built.rename(folder / f"{wanted.name}.ko")


def _not_built(kernel: Kernel, subfolder: str, errors: str) -> BuildError:
    if subfolder.endswith(f"/{OWN}"):
        return BuildError(errors)
    return BuildError(
        f"{kernel.package_version}, Linux {kernel.version}: the module {subfolder} does not build with it; the "
        f"lab's own are written for Linux {' and '.join(KERNELS)}: {errors}"
    )


def _change(by: Path, tree: Path, subfolder: str) -> None:
    for header in sorted(by.glob("*.h")):
        shutil.copy(header, tree / subfolder)
    for patch in sorted(by.glob("*.patch")):
        run(["patch", "-p1", "--fuzz=0", "-d", tree, "-i", patch])


def _as_defined(setting: str) -> str | None:
    """Return the compiler's flag that defines a setting as Kconfig does; None if C code does not see the setting. A
    string keeps its quotes in the shell that runs the compiler.
    """
    option, _, value = setting.partition("=")
    if value == "y":
        return f"-D{option}=1"
    return f"-D{option}={value.replace(chr(34), chr(92) + chr(34))}" if value.startswith('"') else None


def _make(
    kernel: Kernel,
    scratch: Path,
    subfolder: str,
    to: Path,
    *settings: str,
    flags: Sequence[str] = (),
    lines: bool = False,
    label: str | None = None,
) -> None:
    """Build the modules of a directory below `scratch`, and move them to `to`. Debug information is kept only with
    `lines`. Messages call the directory `label`.
    """
    module = scratch / subfolder
    paths_left_out = (f"-ffile-prefix-map={folder}=." for folder in (scratch, kernel.tree))
    compiler = f"KCFLAGS={' '.join((*paths_left_out, *flags))}"
    environment = kernel.environment()
    command = toolchain.make("-C", kernel.tree, f"M={module}", compiler, *settings, "modules", jobs=os.cpu_count() or 1)
    output: list[str] = []
    try:
        run(command, env=environment, on_line=output.append)
    except SetupError as error:
        if not output or not (kernel.source or subfolder.endswith(f"/{OWN}")):
            raise
        why = own_module.errors(output, module, Path(label or subfolder)) or error.message
        raise _not_built(kernel, subfolder, why) from None
    for built in module.glob("*.ko"):
        shutil.move(built, to / built.name)
        if not lines:
            run([*STRIP, to / built.name], env=environment)
    shutil.rmtree(scratch)
