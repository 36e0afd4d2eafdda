# SPDX-License-Identifier: Apache-2.0
"""Build a kernel from a user's source, with the lab's configuration and patches.

Each home of sources (a directory of the user's, a package) keeps its objects in a directory of its own, so the next
patch compiles only what it changes. The files for module builds are copied out, so that kernels of one home do not wait
for each other.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from flashbed.common import locks, paths
from flashbed.common.digest import digest_bytes
from flashbed.common.errors import InputError, SetupError
from flashbed.common.progress import stage
from flashbed.image import changed_code, kernel, module_code, modules, toolchain
from flashbed.image.cache import Cache
from flashbed.image.changed_code import Changed
from flashbed.image.command import run
from flashbed.image.debian import Archive
from flashbed.image.kernel import BUILT_FILES, KERNEL_STEPS, KINDS, SOURCE_TREE, Kernel
from flashbed.image.kernel_sources import ChangeUnknown, KernelSource, Sources
from flashbed.profiles.kernel_choice import KERNELS, KernelChoice, Patch


@dataclass(frozen=True)
class ObjectsFolder:
    """A directory in which kernels of one home are compiled, by one build at a time."""

    folder: Path

    @property
    def tree(self) -> Path:
        """Return the working tree, which git moves from one source to the next."""
        return self.folder / SOURCE_TREE

    @property
    def built(self) -> Path:
        """Return the file with the tree's hash and the version of all objects. It is absent while objects are of
        several trees.
        """
        return self.folder / "built"

    def is_of(self, kernel_source: KernelSource, version: str) -> bool:
        """Return True if all objects are of this source, compiled as this version."""
        try:
            return self.built.read_text() == f"{kernel_source.tree} {version}"
        except OSError:
            return False

    @property
    def index(self) -> Path:
        """Return git's index of the tree."""
        return self.folder / "index"


def objects_root() -> Path:
    """Return the parent directory of users' sources and of their objects."""
    return paths.cache_root() / "kernels"


@contextmanager
def objects_of(kernel_source: KernelSource, version: str) -> Iterator[ObjectsFolder]:
    """Lock and yield the directory of this home's kernels, or of another home that has exactly this kernel. Other
    processes wait.
    """
    plain = re.sub(r"[^A-Za-z0-9_.-]", "-", Path(kernel_source.home).name)
    own = objects_root() / f"{plain}-{digest_bytes(f'{kernel_source.home} {version}'.encode())[:12]}"
    candidates = (ObjectsFolder(place.parent) for place in (own / "built", *sorted(objects_root().glob("*/built"))))
    name = next((work.folder for work in candidates if work.is_of(kernel_source, version)), own).name

    def say() -> None:
        _log.warning("another run compiles a kernel of %s; waiting for it", kernel_source.home)

    with locks.wait_for(objects_root() / f".{name}.lock", say):
        folder = objects_root() / name
        folder.mkdir(parents=True, exist_ok=True)
        yield ObjectsFolder(folder)


_log = logging.getLogger("flashbed")

NAME = "linux-own"
"""The name of its entries in the cache."""

LINES = "lines.json"

KEPT_PATHS = (
    "arch/arm64",
    "block",
    "drivers/ata",
    "drivers/mmc",
    "drivers/mtd",
    "drivers/scsi/scsi_transport_api.h",
    "fs",
    "include",
    "lib",
    "scripts",
    "security",
    "tools/include",
    "usr",
)
"""The parts of a built tree that module builds need, beside the files at its top."""

LEFT_OUT = ("*.o", "*.a", "*.ko", "*.mod", "*.mod.c", "*.cmd", "dts", "vmlinux", "Image.*")

MOST_COMPILER_ERRORS = 3
"""The most compiler errors in a message."""

_AGAIN = " again, to see where its changed lines are (--skip-lines leaves that out)"

_BUILDING = "building"
"""A marker beside the objects: a build is running, or was killed."""

_WRONG = re.compile(r"\berror: |undefined reference|^patch: |\*\*\* .*No rule")
"""The beginning of an error of a compiler, a linker or make."""


def source(archive: Archive, choice: KernelChoice) -> KernelSource:
    """Return the source of a choice with its patches. Raises InputError for a patch that does not apply."""
    sources = Sources(objects_root())
    if choice.tree is not None:
        unpatched = sources.of_tree(choice.tree)
    else:
        version = re.match(r"\d+\.\d+", choice.version)
        assert version is not None
        package = f"linux-source-{version[0]}"
        resolved = archive.resolve([package], alone=True)

        def unpack(folder: Path) -> None:
            with stage(f"Fetching and unpacking the source of Linux {version[0]}"):
                kernel.unpack(archive, package, archive.fetch([package], resolved), folder, ())

        unpatched = sources.of_package(package, resolved.version(package), unpack)
    for note in unpatched.notes:
        if note not in _warned_notes:
            _log.warning("%s", note)
        _warned_notes.add(note)
    of_the_lab = sorted((paths.kernel() / "patches" / supported(choice.version)).glob("*.patch"))
    with_ours = sources.patched(unpatched, [Patch(path, path.read_bytes()) for path in of_the_lab])
    return sources.patched(with_ours, choice.patches)


_warned_notes: set[str] = set()
"""Notes on sources of which this process has warned."""


def supported(version: str) -> str:
    """Return the version whose configuration and patches fit `version`: the newest that is not newer, else the
    oldest.
    """
    number = _number(version)
    return next((known for known in reversed(KERNELS) if _number(known) <= number), KERNELS[0])


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.partition("-")[0].split("."))


def build(
    cache: Cache, archive: Archive, choice: KernelChoice, first: KernelChoice | None = None, *, lines: bool = True
) -> Kernel:
    """Build a user's kernel.

    `first` is the kernel that it is compared with, if it has no base of its own and both have one home. Without
    `lines`, nothing is compiled to locate the changed lines. Raises InputError if a patch does not apply or the kernel
    does not compile.
    """
    kernel_source = source(archive, choice)
    if kernel_source.before is None and first is not None and first != choice:
        other = source(archive, first)
        if other.home == kernel_source.home:
            kernel_source = replace(kernel_source, before=other.tree, unknown=None)
    compiler = toolchain.compiler(cache, archive)
    fragment = _fragment(choice.version)
    recipe = {
        "source": kernel_source.tree,
        "config": fragment,
        "compiler": compiler.identity,
        "kept": KEPT_PATHS,
        "left out": LEFT_OUT,
        "command": toolchain.make(*kernel.TARGETS, jobs=0),
    }

    def fill(folder: Path) -> None:
        with objects_of(kernel_source, choice.version) as work:
            compile_in(work, kernel_source, choice, fragment, compiler.environment)
            with stage("Keeping what modules are built against"):
                _keep(work.tree, folder / SOURCE_TREE)

    entry = cache.entry(NAME, recipe, fill, products=BUILT_FILES)
    built = Kernel(
        entry,
        kernel_source.label,
        environment=compiler.environment,
        source=kernel_source.tree,
        version=choice.version,
        change_unknown=kernel_source.unknown,
    )
    if kernel_source.before is None:
        return built
    changed = _changed(cache, built, kernel_source, kernel_source.before, choice, fragment, lines)
    return replace(built, changed=changed, change_unknown=None if changed else ChangeUnknown.LINES_SKIPPED)


def _changed(
    cache: Cache,
    built: Kernel,
    kernel_source: KernelSource,
    before: str,
    choice: KernelChoice,
    fragment: str,
    lines_too: bool,
) -> Changed | None:
    """Return where the kernel's lines that differ from the tree `before` lie; None if that is unknown and `lines_too`
    is False.
    """
    diff = Sources(objects_root()).changes(kernel_source, before)
    lines = {file: ranges for file, ranges in changed_code.changed_lines(diff).items() if ranges and _is_code(file)}
    recipe = {
        "kernel": built.entry.digests,
        "source": kernel_source.tree,
        "lines": lines,
        "version": [changed_code.RECIPE_VERSION, module_code.RECIPE_VERSION],
    }

    def fill(folder: Path) -> None:
        with objects_of(kernel_source, choice.version) as work:
            if not work.is_of(kernel_source, choice.version):
                compile_in(work, kernel_source, choice, fragment, built.environment, _AGAIN)
            with stage("Looking where the changed lines are"):
                apart = _modules_with_lines(cache, built, lines, folder / "modules")
                changed = changed_code.locate(work.tree, built.symbols, lines, built.environment, folder, apart)
        (folder / LINES).write_text(json.dumps(changed.as_json(), indent=1, sort_keys=True))

    known = cache.known("kernel-lines", recipe)
    if known is None and not lines_too:
        return None
    return changed_code.from_json((known or cache.entry("kernel-lines", recipe, fill)).path(LINES).read_text())


def _modules_with_lines(cache: Cache, built: Kernel, files: Iterable[str], scratch: Path) -> list[changed_code.Module]:
    """Return the kernel's own modules, as guests load them, that contain any of these files."""
    with_lines: list[changed_code.Module] = []
    for name, group in modules.OF_THE_KERNEL.items():
        if group.change or not any(group.holds(file) for file in files) or not modules.is_there(built, name):
            continue  # from another source than the kernel's, or without a changed file
        (scratch / name).mkdir(parents=True)
        for file in modules.with_lines(cache, built, name, scratch / name):
            sections = module_code.sections_of(file, len(with_lines))
            with_lines.append(changed_code.Module(group.parts, changed_code.sections(file), sections))
    shutil.rmtree(scratch, ignore_errors=True)
    return with_lines


def _is_code(file: str) -> bool:
    return Path(file).suffix in (".c", ".h", ".S")


def compile_in(
    work: ObjectsFolder,
    kernel_source: KernelSource,
    choice: KernelChoice,
    fragment: str,
    environment: toolchain.Environment,
    why: str = "",
) -> None:
    """Bring a directory of objects up to date with a source. Raises InputError if it does not compile."""
    marker = work.folder / _BUILDING
    work.built.unlink(missing_ok=True)
    with stage(f"Taking the source of {kernel_source.label}"):
        if marker.exists():
            _forget_since(work.tree, marker.stat().st_mtime_ns)
        Sources(objects_root()).check_out(kernel_source, work.tree, work.index)
    marker.touch()
    # The build counts its runs in a directory, and each kernel must be the first
    (work.tree / ".version").unlink(missing_ok=True)
    try:
        kernel.configure(work.tree, choice.version, fragment, environment())
    except SetupError as error:
        marker.unlink()
        known = f"the lab's configuration is for Linux {' and '.join(KERNELS)}, and this is {choice.version}"
        raise InputError(f'kernel "{choice.text}" ({kernel_source.label}): {known}: {error.message}') from None
    flags = f"KCFLAGS={kernel.prefix_map(work.tree)}"
    wrong: list[str] = []
    # A change may compile few of these lines or many: the number is unknown
    steps = None if (work.tree / "vmlinux").exists() else KERNEL_STEPS
    with stage(f"Building Linux {choice.version} of {kernel_source.label}{why}", total=steps) as progress:

        def on_line(line: str) -> None:
            progress.advance()
            if _WRONG.search(line):
                wrong.append(line.strip())

        try:
            command = toolchain.make(flags, *kernel.TARGETS, jobs=os.cpu_count() or 1)
            run(command, cwd=work.tree, env=environment(), on_line=on_line)
        except SetupError as error:
            marker.unlink()  # make ended by itself, so its finished files are complete
            why = "; ".join(wrong[:MOST_COMPILER_ERRORS]) or error.message
            raise InputError(f'kernel "{choice.text}" ({kernel_source.label}): does not compile: {why}') from None
    kernel.offer_symbols(work.tree)
    marker.unlink()
    work.built.write_text(f"{kernel_source.tree} {choice.version}")


def _fragment(version: str) -> str:
    kind = next((kind for kind in KINDS if kind and version.endswith(kind)), "")
    return kernel.settings_of(supported(version), kind)


def _forget_since(tree: Path, began_ns: int) -> None:
    """Delete what a killed build wrote, because half-written files may look complete. They are built again."""
    for folder, _, names in os.walk(tree):
        for name in names:
            path = Path(folder) / name
            if path.lstat().st_mtime_ns >= began_ns:
                path.unlink()


def _keep(tree: Path, to: Path) -> None:
    to.mkdir()
    leave_out = shutil.ignore_patterns(*LEFT_OUT)
    for path in sorted(tree.iterdir()):
        if path.is_file() and not path.is_symlink() and not leave_out(str(tree), [path.name]):
            shutil.copy2(path, to / path.name)
    for part in KEPT_PATHS:
        if (tree / part).is_file():
            (to / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / part, to / part)
        elif (tree / part).is_dir():
            # Programs of the kernel's build are made of objects beside them
            leaves = shutil.ignore_patterns("*.cmd") if part == "scripts" else leave_out
            shutil.copytree(tree / part, to / part, symlinks=True, ignore=leaves, dirs_exist_ok=True)
