# SPDX-License-Identifier: Apache-2.0
"""Build the guest kernel: Debian's source package, `allnoconfig` plus the lab's fragment. It is built once, and kept
with the tree that modules need.

Knows no cell. The tree stays beside the image, without object files, because out-of-tree modules are built against it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import paths
from flashbed.common.errors import InputError, SetupError
from flashbed.common.progress import stage
from flashbed.image import toolchain
from flashbed.image.cache import Cache, Entry
from flashbed.image.changed_code import Changed
from flashbed.image.command import run
from flashbed.image.debian import Archive
from flashbed.image.kernel_sources import ChangeUnknown
from flashbed.image.module_order import ModuleFiles
from flashbed.image.toolchain import Environment
from flashbed.profiles.kernel_choice import PROGRAM_SUFFIX

SOURCE_TREE = "linux"
IMAGE = f"{SOURCE_TREE}/arch/arm64/boot/Image"
CONFIG = f"{SOURCE_TREE}/.config"
SYSTEM_MAP = f"{SOURCE_TREE}/System.map"
TARGETS = ("Image", "modules_prepare")
"""What is built at once. Modules of the kernel's own source are built when a guest first loads them (modules.py)."""

BUILT_FILES = (IMAGE, CONFIG, f"{SOURCE_TREE}/Module.symvers", f"{SOURCE_TREE}/scripts/mod/modpost")

UNUSED = (
    "*/Documentation/*.rst",
    "*/tools/testing/*",
    "*/drivers/gpu/*.[ch]",
    "*/drivers/net/*/*.[ch]",
    "*/drivers/media/*.[ch]",
    "*/drivers/staging/*.[ch]",
    "*/sound/*.[ch]",
    "*/arch/arm64/boot/dts/*",
)
"""The half of the tree, by size, that no configuration of the lab compiles. Kconfig files stay, because they refer to
each other.
"""

SETTING = re.compile(r"(?:# )?(?P<option>CONFIG_\w+)(?:(?P<value>=.*)| is not set)")
"""A setting as Kconfig reads it. Without a value the option is off or absent."""

DEBUG_SUFFIX = "-debug"
"""The suffix of a kernel's version that adds guest/kernel-debug.config."""

NAS_SUFFIX = "-nas"
"""The suffix of a kernel's version whose only configuration is guest/kernel-nas.config."""

KINDS = ("", DEBUG_SUFFIX, NAS_SUFFIX, PROGRAM_SUFFIX)
"""The suffixes of the kernels that the lab builds."""

KERNEL_STEPS = 1216
"""Lines that the build of the shipped configuration prints, for the progress bar."""


@dataclass(frozen=True)
class Kernel:
    """A built kernel. `release` is the guest's `uname -r`."""

    entry: Entry
    package_version: str
    modules: ModuleFiles | None = None
    """The modules of a distribution's kernel. Those of a kernel that the lab configures are built on demand."""
    environment: Environment = dict
    """The environment of builds against this kernel, with its compiler."""
    source: str = ""
    """For a user's kernel, git's hash of its tree. Modules may differ even if the kernel's products do not."""
    version: str = ""
    """For a user's kernel, the version of Linux."""
    changed: Changed | None = None
    """For a user's kernel, its changed lines, if its base is known."""
    change_unknown: ChangeUnknown | None = None
    """For a user's kernel, why its changed lines are unknown; None if they are known, or if the kernel is not changed.
    """

    @property
    def image(self) -> Path:
        return self.entry.path(IMAGE)

    @property
    def symbols(self) -> Path:
        """Return the System.map: addresses and names of the image's symbols."""
        return self.entry.path(SYSTEM_MAP)

    def is_module(self, option: str) -> bool:
        """Return True if the kernel's configuration makes this option a module."""
        return f"{option}=m" in self.entry.path(CONFIG).read_text().splitlines()

    @property
    def tree(self) -> Path:
        """Return the tree for builds against the kernel. It is checked file by file, and made again if something is
        missing.
        """
        self.entry.mend()
        return self.entry.path(SOURCE_TREE)


def build(cache: Cache, archive: Archive, wanted: str) -> Kernel:
    """Build the kernel of Debian's package linux-source-`wanted`, such as 6.1. The first build takes about four minutes
    on two cores. With -debug after the version, the kernel checks itself for bugs: for tests, not for measurements.
    With -program, it runs programs from a root beside the board's memory. Raises InputError if `wanted` is no version.
    """
    if not (match := re.fullmatch(rf"(\d+\.\d+)({'|'.join(KINDS)})", wanted)):
        raise InputError(f"kernel {wanted!r}: give a version of Debian's linux-source packages, such as 6.1")
    version = match[1]
    package = f"linux-source-{version}"
    resolved = archive.resolve([package], alone=True)
    compiler = toolchain.compiler(cache, archive)
    settings = settings_of(version, match[2] or "")
    patches = sorted((paths.kernel() / "patches" / version).glob("*.patch"))
    recipe = {
        "package": resolved.files,
        "config": settings,
        "patches": [patch.read_text() for patch in patches],
        "compiler": compiler.identity,
        "left out": UNUSED,
        "command": toolchain.make(*TARGETS, jobs=0),
    }

    def fill(folder: Path) -> None:
        tree = folder / SOURCE_TREE
        with stage(f"Fetching and unpacking the source of Linux {version}"):
            unpack(archive, package, archive.fetch([package], resolved), tree, UNUSED)
        for patch in patches:
            run(["patch", "-p1", "-i", patch], cwd=tree)
        configure(tree, version, settings, compiler.environment())
        with stage(f"Building Linux {wanted} (once)", total=KERNEL_STEPS) as progress:
            flags = f"KCFLAGS={prefix_map(tree)}"
            command = toolchain.make(flags, *TARGETS, jobs=os.cpu_count() or 1)
            run(command, cwd=tree, env=compiler.environment(), on_line=lambda _: progress.advance())
        offer_symbols(tree)
        _drop_objects(tree)

    entry = cache.entry(f"linux-{wanted}", recipe, fill, products=BUILT_FILES)
    return Kernel(entry, resolved.version(package), environment=compiler.environment)


def unpack(archive: Archive, package: str, debs: list[Path], tree: Path, unused: Sequence[str]) -> None:
    """Unpack the source in one of these packages, without files that match a pattern of `unused`."""
    scratch = tree.with_name("source-package")
    archive.unpack([deb for deb in debs if deb.name.startswith(package)], scratch)
    tarball = scratch / "usr/src" / f"{package}.tar.xz"
    tree.mkdir()
    excludes = [f"--exclude={pattern}" for pattern in unused]
    run(["tar", "-C", tree, "-xf", tarball, "--strip-components=1", *excludes])
    shutil.rmtree(scratch)


def offer_symbols(tree: Path) -> None:
    """Give a built tree the file of exported symbols that builds of modules read. `make modules` would write it."""
    shutil.copy(tree / "vmlinux.symvers", tree / "Module.symvers")


def prefix_map(tree: Path) -> str:
    """Return the compiler option that removes the tree's path from the products."""
    return f"-ffile-prefix-map={tree}=."


def settings_of(version: str, kind: str = "") -> str:
    """Return the configuration of a version of Linux, the usual one or one of another kind."""
    return "".join(file.read_text() for file in files_of(version, kind))


def files_of(version: str, kind: str = "") -> list[Path]:
    """Return the files of a configuration: guest/kernel.config, followed by the changes for this version, if any, and
    for this kind. The last setting of an option counts. The kernel `-nas` stands alone.
    """
    if kind == NAS_SUFFIX:
        return [paths.guest() / f"kernel{NAS_SUFFIX}.config"]
    files = [file for name in ("kernel", f"kernel-{version}") if (file := paths.guest() / f"{name}.config").exists()]
    return [*files, paths.guest() / f"kernel{kind}.config"] if kind else files


def _wanted(settings: str) -> set[str]:
    """Return the lines that a .config must have so that the last setting of each option in `settings` holds."""
    matches = (SETTING.match(line) for line in settings.splitlines())
    last = {match["option"]: match for match in matches if match}
    return {match.string for match in last.values() if match["value"]}


def configure(tree: Path, version: str, settings: str, environment: Mapping[str, str]) -> None:
    """Write the .config of these settings over `allnoconfig`. Raises SetupError if Kconfig drops a setting."""
    file = tree.with_name("fragment.config")
    file.write_text(settings)
    run(toolchain.make(f"KCONFIG_ALLCONFIG={file}", "allnoconfig", jobs=1), cwd=tree, env=environment)
    set_lines = set((tree / ".config").read_text().splitlines())
    if dropped := sorted(_wanted(settings) - set_lines):
        raise SetupError(
            f"{paths.guest() / 'kernel.config'}, or what takes its place: Linux {version} did not take "
            f"{', '.join(dropped)}: an option it depends on is missing, or it has another name. "
            f"kernel-{version}.config beside it says what is otherwise for this version."
        )


def _drop_objects(tree: Path) -> None:
    for pattern in ("*.o", "*.a"):
        for path in tree.rglob(pattern):
            if path.relative_to(tree).parts[0] != "scripts":
                path.unlink()
    (tree / "vmlinux").unlink(missing_ok=True)
