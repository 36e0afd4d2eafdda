# SPDX-License-Identifier: Apache-2.0
"""Build kernel modules out of tree against a built kernel: the lab's, a user's, and the kernel's own that guests load.

A directory of kernel/ with a Kbuild file makes one or more modules. Their common files and the media core are copied
beside it, as in the repository. The names of modules are known before a build: from the line `obj-m` of the Kbuild
file, and for the kernel's own modules from OF_THE_KERNEL. So an unknown name is refused early, and only modules that
guests load are built.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from flashbed.common import paths
from flashbed.common.errors import InputError, SetupError
from flashbed.common.progress import stage
from flashbed.image import module_order, own_module, toolchain
from flashbed.image.cache import Cache, Entry, digest_tree
from flashbed.image.changed_code import lies_in
from flashbed.image.command import run
from flashbed.image.initramfs import InitramfsFile
from flashbed.image.kernel import Kernel
from flashbed.image.module_order import ModuleFiles, found_in, plain, plain_name
from flashbed.profiles.kernel_choice import KERNELS


class OfTheKernel(NamedTuple):
    """Modules of the kernel's own source that are built together, and the settings of their build beside the kernel's
    own.
    """

    parts: tuple[str, ...]
    """Directories and files of the kernel's tree. A source file makes a module of its name. A header is only copied."""
    settings: tuple[str, ...] = ()
    option: str = ""
    """The option that is m in the configuration of a kernel with these modules; "" if `settings` has it, for every
    kernel.
    """
    aliases: tuple[str, ...] = ()
    """Other names by which Linux requests one of the modules."""
    needs: tuple[str, ...] = ()
    """The entries whose symbols these modules use."""
    headers: tuple[str, ...] = ()
    """The beginnings of the names of headers that declare these modules' symbols for others."""
    name: str | None = None
    """The file name of the only module, if another entry makes a module of the same name; the kernel keeps it."""
    makes: tuple[str, ...] = ()
    """The names of the modules; if empty, one module with the entry's name."""
    includes: tuple[str, ...] = ()
    """Directories of headers that its makefile expects below the kernel's tree."""
    change: str | None = None
    """The directory of kernel/ whose patch is applied to the source, and whose headers are copied beside it."""

    def holds(self, file: str) -> bool:
        """Return True if a file of the kernel's tree is one of the parts, or lies below one."""
        return lies_in(file, self.parts)


MTD_TESTS = ("nandbiterrs", "oobtest", "pagetest", "readtest", "speedtest", "stresstest", "subpagetest", "torturetest")

F2FS = ("CONFIG_F2FS_FS=m", "CONFIG_F2FS_STAT_FS=y")

OF_THE_KERNEL = {
    "ata": OfTheKernel(
        ("drivers/scsi/scsi_transport_api.h", "drivers/ata"),
        option="CONFIG_ATA",
        makes=("libata", "libahci", "ahci"),
        headers=("linux/libata.h", "linux/ata.h"),
    ),
    "mmc": OfTheKernel(
        ("drivers/mmc",),
        option="CONFIG_MMC",
        makes=("mmc_core", "mmc_block", "cqhci", "sdhci", "sdhci-pci"),
        headers=("linux/mmc/",),
    ),
    "mtd": OfTheKernel(
        ("lib/bch.c", "drivers/mtd"),
        ("CONFIG_MTD_UBI=",),  # an entry of its own
        option="CONFIG_MTD",
        makes=("bch", "chipreg", "mtd", "mtd_blkdevs", "mtdblock", "nandcore", "nand"),
        headers=("linux/mtd/", "linux/bch.h"),
    ),
    "mtd_tests": OfTheKernel(
        ("drivers/mtd/tests",),
        ("CONFIG_MTD_TESTS=m",),
        needs=("mtd",),
        makes=("mtd_test", "mtd_nandecctest", *(f"mtd_{test}" for test in MTD_TESTS)),
    ),
    "ubi": OfTheKernel(("drivers/mtd/ubi",), option="CONFIG_MTD_UBI", needs=("mtd",), headers=("linux/mtd/ubi.h",)),
    "exfat": OfTheKernel(("fs/exfat",), ("CONFIG_EXFAT_FS=m", 'CONFIG_EXFAT_DEFAULT_IOCHARSET="utf8"')),
    "ext4": OfTheKernel(
        ("fs/mbcache.c", "fs/jbd2", "fs/ext4"),
        option="CONFIG_EXT4_FS",
        makes=("mbcache", "jbd2", "ext4"),
        aliases=("ext3",),
        headers=("linux/mbcache.h", "linux/jbd2.h"),
    ),
    "f2fs": OfTheKernel(("fs/f2fs",), F2FS),
    "f2fs_direct_lock": OfTheKernel(("fs/f2fs",), F2FS, name="f2fs_direct_lock", change="f2fs_direct_lock"),
    "jffs2": OfTheKernel(("fs/jffs2",), option="CONFIG_JFFS2_FS", needs=("mtd",)),
    "jffs2_summary": OfTheKernel(
        ("fs/jffs2",),
        ("CONFIG_JFFS2_SUMMARY=y",),
        option="CONFIG_JFFS2_FS",
        needs=("mtd",),
        name="jffs2_summary",
    ),
    "nilfs2": OfTheKernel(("fs/nilfs2",), option="CONFIG_NILFS2_FS"),
    "ubifs": OfTheKernel(("fs/ubifs",), option="CONFIG_UBIFS_FS", needs=("ubi",)),
    "xfs": OfTheKernel(("fs/xfs",), ("CONFIG_XFS_FS=m",), includes=("fs/xfs", "fs/xfs/libxfs")),
}
"""Modules of the kernel's tree, by the name of the cache's entry. They are built when a guest first loads them."""

RECIPE_VERSION = 1
"""Raise it if the same source gives other modules for another reason than the data in `_MADE_BY`."""

OF_PROGRAMS = "program_region"
"""The module for the root of programs. It is only built for the kernels that run them."""

STRIP = (f"{toolchain.CROSS_PREFIX}strip", "--strip-debug")

_MADE_BY = {"command": (*toolchain.make("modules", jobs=0), *STRIP), "version": RECIPE_VERSION}
"""The part of a recipe that all modules share."""

_MAKES = re.compile(r"^obj-m *[:+]?= *(.*)$", re.MULTILINE)

MODULE_SYMVERS = "Module.symvers"
"""The file with the symbols that modules export."""

OWN_MODULE = "own-module"
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


def is_there(kernel: Kernel, name: str) -> bool:
    """Return True if this kernel has the modules of an entry of OF_THE_KERNEL."""
    option = OF_THE_KERNEL[name].option
    return not option or kernel.is_module(option)


def loaded(cache: Cache, kernel: Kernel, wanted: Iterable[str], chosen: Iterable[Path] = ()) -> list[InitramfsFile]:
    """Build the kernel's own modules that a guest loads: those for the names `wanted`, as Linux requests them, and any
    that the module files `chosen` depend on. Return them in the order in which they load. A name that no entry of
    OF_THE_KERNEL makes counts as built in.
    """
    makes = {
        plain(module): name
        for name, entry in OF_THE_KERNEL.items()
        for module in (*(entry.makes or (name,)), *entry.aliases)
    }
    names = [*wanted, *(name for file in chosen for name in module_order.needs(file))]
    asked = dict.fromkeys(makes[module] for name in names if (module := plain(plain_name(name))) in makes)
    built = _with_needs(cache, kernel, asked)
    files = {module: file for entry in built.values() for module, file in found_in(entry.folder).items()}
    known = dict.fromkeys(map(plain, names), module_order.BUILT_IN) | module_order.aliases(files)
    return module_order.files(ModuleFiles(files, known | {name: name for name in files}), names)


def _with_needs(cache: Cache, kernel: Kernel, wanted: Iterable[str]) -> dict[str, Entry]:
    """Build the entries `wanted` of OF_THE_KERNEL and all that they need, each after its needs. Leave out any that this
    kernel does not have as modules.
    """
    entries: dict[str, Entry] = {}

    def add(names: Iterable[str]) -> None:
        for name in names:
            if name not in entries and is_there(kernel, name):
                add(OF_THE_KERNEL[name].needs)
                entries[name] = build_of_the_kernel(cache, kernel, name)

    add(wanted)
    return entries


_INCLUDED = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)


def uses(source: Path) -> list[str]:
    """Return the entries of OF_THE_KERNEL whose symbols a module may use: those whose headers its source includes."""
    sources = [source / file for file in own_module.files(source) if file.suffix in (".c", ".h")]
    included = {header for file in sources for header in _INCLUDED.findall(file.read_text(errors="replace"))}
    return [
        name for name, entry in OF_THE_KERNEL.items() if any(header.startswith(entry.headers) for header in included)
    ]


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


def _used(needs: Mapping[str, Entry]) -> dict[str, object]:
    """Return the part of a recipe that names the modules whose symbols are used."""
    return {"symbols": {name: entry.digests[MODULE_SYMVERS] for name, entry in needs.items()}} if needs else {}


def build_folder(cache: Cache, kernel: Kernel, folder: Path) -> Entry:
    """Build the modules of a user's directory. The lab's common files lie beside it, too. Raises BuildError."""
    return _build(cache, kernel, folder, OWN_MODULE, label=str(folder))


def _build(cache: Cache, kernel: Kernel, source: Path, name: str, *, label: str) -> Entry:
    """Build the modules of the directory `source`, which is copied to a directory `name`. Messages call it `label`."""
    common = paths.kernel() / SHARED
    needs = _with_needs(cache, kernel, uses(source))
    core = [paths.media() / part for part in ("include", "src", "sources.mk")]
    recipe = {
        **_of(kernel),
        **_used(needs),
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
            _make(kernel, scratch, f"kernel/{name}", folder, label, needs=needs.values())

    return cache.entry(name, recipe, fill)


def build_of_the_kernel(cache: Cache, kernel: Kernel, name: str) -> Entry:
    """Build the modules of an entry of OF_THE_KERNEL."""
    wanted = OF_THE_KERNEL[name]
    change = paths.kernel() / wanted.change if wanted.change else None
    needs = _with_needs(cache, kernel, wanted.needs)
    recipe = {
        **_of(kernel),
        **_used(needs),
        **_MADE_BY,
        **wanted._asdict(),
        **({"changed by": digest_tree(change)} if change else {}),
    }

    def fill(folder: Path) -> None:
        _fill_of_the_kernel(kernel, name, folder, needs.values())

    return cache.entry(f"kernel-{name}", recipe, fill)


def with_lines(cache: Cache, kernel: Kernel, name: str, folder: Path) -> list[Path]:
    """Build the modules of an entry of OF_THE_KERNEL with line numbers, in an empty directory. Return their files."""
    needs = _with_needs(cache, kernel, OF_THE_KERNEL[name].needs)
    _fill_of_the_kernel(kernel, name, folder, needs.values(), lines=True)
    return sorted(folder.glob("*.ko"))


def _fill_of_the_kernel(
    kernel: Kernel, name: str, folder: Path, needs: Iterable[Entry], *, lines: bool = False
) -> None:
    wanted = OF_THE_KERNEL[name]
    # A setting on make's command line reaches makefiles only; C code sees the preprocessor's definitions
    defined = [flag for setting in wanted.settings if (flag := _as_defined(setting))]
    scratch = folder / "scratch"
    for part in wanted.parts:
        _copy(kernel.tree / part, scratch / part)
    made = (_MADE_OF.get(Path(part).suffix, "{}/").format(part.removesuffix(".c")) for part in wanted.parts)
    (scratch / "Kbuild").write_text(f"obj-m := {' '.join(made)}\n")
    if wanted.change:
        (subfolder,) = wanted.parts
        _change(paths.kernel() / wanted.change, scratch, subfolder)
    include_options = [f"-I{scratch / place}" for place in wanted.includes]
    with stage(f"Building the kernel's module {name}"):
        flags = [*defined, *include_options, *(["-g1"] if lines else [])]
        label = wanted.parts[-1]
        _make(kernel, scratch, "", folder, label, *wanted.settings, flags=flags, needs=needs, lines=lines)
    if wanted.name:
        (built,) = folder.glob("*.ko")
        built.rename(folder / f"{wanted.name}.ko")


_MADE_OF = {".c": "{}.o", ".h": ""}
"""How a Kbuild file names a file of this suffix; a directory has a slash behind its name."""


def _copy(part: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    if part.is_dir():
        shutil.copytree(part, to, ignore=own_module.LEFT_BY_A_BUILD)
    else:
        shutil.copy(part, to)


def _not_built(kernel: Kernel, subfolder: str, label: str, errors: str) -> BuildError:
    if subfolder.endswith(f"/{OWN_MODULE}"):
        return BuildError(errors)
    return BuildError(
        f"{kernel.package_version}, Linux {kernel.version}: the module {label} does not build with it; the "
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
    label: str,
    *settings: str,
    flags: Sequence[str] = (),
    needs: Iterable[Entry] = (),
    lines: bool = False,
) -> None:
    """Build the modules of a directory below `scratch`, and move them to `to`. Debug information is kept only with
    `lines`. `needs` has the entries whose symbols they use. Messages call the directory `label`.
    """
    module = scratch / subfolder
    paths_left_out = (f"-ffile-prefix-map={folder}=." for folder in (scratch, kernel.tree))
    compiler = f"KCFLAGS={' '.join((*paths_left_out, *flags))}"
    environment = kernel.environment()
    symbols = f"KBUILD_EXTRA_SYMBOLS={' '.join(str(entry.path(MODULE_SYMVERS)) for entry in needs)}"
    places = (f"M={module}", compiler, symbols)
    command = toolchain.make("-C", kernel.tree, *places, *settings, "modules", jobs=os.cpu_count() or 1)
    output: list[str] = []
    try:
        run(command, env=environment, on_line=output.append)
    except SetupError as error:
        if not output or not (kernel.source or subfolder.endswith(f"/{OWN_MODULE}")):
            raise
        why = own_module.errors(output, module, Path(label) if subfolder else Path()) or error.message
        raise _not_built(kernel, subfolder, label, why) from None
    if not subfolder:  # all of the entry, which others may need
        shutil.move(module / MODULE_SYMVERS, to / MODULE_SYMVERS)
    for built in sorted(module.rglob("*.ko")):
        shutil.move(built, to / built.name)
        if not lines:
            run([*STRIP, to / built.name], env=environment)
    shutil.rmtree(scratch)
