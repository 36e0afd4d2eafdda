# SPDX-License-Identifier: Apache-2.0
"""The guest kernel: Debian's source package, `allnoconfig` plus our fragment, built once and kept with the tree that
modules need.

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
from flashbed.image.module_order import ModuleFiles
from flashbed.image.toolchain import Environment

TREE = "linux"
IMAGE = f"{TREE}/arch/arm64/boot/Image"
CONFIG = f"{TREE}/.config"
SYMBOLS = f"{TREE}/System.map"
PRODUCTS = (IMAGE, CONFIG, f"{TREE}/Module.symvers", f"{TREE}/scripts/mod/modpost")

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
"""Half of the tree by size that no configuration of ours compiles; Kconfig files stay, they refer to each other."""

SETTING = re.compile(r"(?:# )?(?P<option>CONFIG_\w+)(?:(?P<value>=.*)| is not set)")
"""What Kconfig reads as a setting; without a value the option is off, or not there at all."""

DEBUG = "-debug"
"""Behind a kernel's version: the same, with what guest/kernel-debug.config adds."""

NAS = "-nas"
"""Behind a kernel's version: what guest/kernel-nas.config says, and nothing else."""

COMPILE_STEPS = 1340
"""Lines that the build of the shipped configuration prints; for the progress bar only."""


@dataclass(frozen=True)
class Kernel:
    """A built kernel. `release` is what `uname -r` says in the guest."""

    entry: Entry
    package_version: str
    modules: ModuleFiles | None = None
    """Of a distribution's kernel; what those that the lab configures need is built in."""
    environment: Environment = dict
    """For programs that build against it: its compiler."""
    source: str = ""
    """Of a kernel of the user's own, git's hash of its tree: modules may differ where its products do not."""
    version: str = ""
    """Of such a kernel, the version of Linux."""
    changed: Changed | None = None
    """Of such a kernel, the lines that are changed in it, if it is known what it is a change of."""
    change_unknown: str = ""
    """Of such a kernel, why it is not known what it is a change of; "" if it is, or is no change."""

    @property
    def image(self) -> Path:
        return self.entry.path(IMAGE)

    @property
    def symbols(self) -> Path:
        """Addresses and names of what is in the image."""
        return self.entry.path(SYMBOLS)

    @property
    def tree(self) -> Path:
        """For who builds against it: looked at file by file, and made again if something is missing."""
        self.entry.mend()
        return self.entry.path(TREE)


def build(cache: Cache, archive: Archive, wanted: str) -> Kernel:
    """The kernel of Debian's package linux-source-`wanted`, such as 6.1. About four minutes on two cores the first
    time. With -debug behind the version it looks for its own bugs: for tests, not for measurements.
    """
    if not (match := re.fullmatch(rf"(\d+\.\d+)({DEBUG}|{NAS})?", wanted)):
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
        "command": toolchain.make("Image", "modules", jobs=0),
    }

    def fill(folder: Path) -> None:
        tree = folder / TREE
        with stage(f"Fetching and unpacking the source of Linux {version}"):
            unpack(archive, package, archive.fetch([package], resolved), tree, UNUSED)
        for patch in patches:
            run(["patch", "-p1", "-i", patch], cwd=tree)
        configure(tree, version, settings, compiler.environment())
        with stage(f"Building Linux {wanted} (once)", total=COMPILE_STEPS) as progress:
            flags = f"KCFLAGS={prefix_map(tree)}"
            command = toolchain.make(flags, "Image", "modules", jobs=os.cpu_count() or 1)
            run(command, cwd=tree, env=compiler.environment(), on_line=lambda _: progress.advance())
        _drop_objects(tree)

    entry = cache.entry(f"linux-{wanted}", recipe, fill, products=PRODUCTS)
    return Kernel(entry, resolved.version(package), environment=compiler.environment)


def unpack(archive: Archive, package: str, debs: list[Path], tree: Path, unused: Sequence[str]) -> None:
    """The source that one of these packages holds, without files that match a pattern of `unused`."""
    scratch = tree.with_name("source-package")
    archive.unpack([deb for deb in debs if deb.name.startswith(package)], scratch)
    tarball = scratch / "usr/src" / f"{package}.tar.xz"
    tree.mkdir()
    excludes = [f"--exclude={pattern}" for pattern in unused]
    run(["tar", "-C", tree, "-xf", tarball, "--strip-components=1", *excludes])
    shutil.rmtree(scratch)


def prefix_map(tree: Path) -> str:
    """A compiler's option that leaves the place of the tree out of what is built."""
    return f"-ffile-prefix-map={tree}=."


def settings_of(version: str, kind: str = "") -> str:
    """The configuration of a version of Linux, as it is or of a kind of its own (NAS, DEBUG)."""
    return "".join(file.read_text() for file in files_of(version, kind))


def files_of(version: str, kind: str = "") -> list[Path]:
    """The files of a configuration: guest/kernel.config, and behind it what is otherwise for this version, if anything,
    and for this kind: the last word on an option counts. NAS stands alone.
    """
    if kind == NAS:
        return [paths.guest() / f"kernel{NAS}.config"]
    files = [file for name in ("kernel", f"kernel-{version}") if (file := paths.guest() / f"{name}.config").exists()]
    return [*files, paths.guest() / f"kernel{DEBUG}.config"] if kind == DEBUG else files


def _wanted(settings: str) -> set[str]:
    """The lines that a .config must have for all that `settings` say last to be so."""
    said = (SETTING.match(line) for line in settings.splitlines())
    last = {match["option"]: match for match in said if match}
    return {match.string for match in last.values() if match["value"]}


def configure(tree: Path, version: str, settings: str, environment: Mapping[str, str]) -> None:
    """Writes the .config that these settings make of nothing. Raises SetupError for one that is not taken."""
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
