# SPDX-License-Identifier: Apache-2.0
"""Gather what a pack contains: the recipe of a repetition of this host and the files that the recipe names, among them
the programs that it needs, with their libraries; and for readers and licences the study, its profiles, the lab's own
sources, and the names, versions and digests of all other sources. Running the pack again needs none of the latter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from flashbed.common import paths, programs
from flashbed.common.digest import digest_bytes, digest_file
from flashbed.common.errors import SetupError
from flashbed.execution import cell_medium, pinning, repetition
from flashbed.execution.repetition import Repetition
from flashbed.guest_output.power_cuts import ACKNOWLEDGED
from flashbed.image import emulator, guest_parts, initramfs, kernel, lockfile, own_module
from flashbed.image.kernel import Kernel
from flashbed.profiles.stored_medium import StoredMedium
from flashbed.replay.pack_file import Program
from flashbed.replay.recipe import JOB, QEMU_PROGRAM, Check, Cuts, Recipe
from flashbed.study.loading import Study
from flashbed.study.plan import Cell, cell_inputs

_FOUND = re.compile(r"^\s*(?:(?P<name>\S+) => )?(?P<path>/\S+) \(0x[0-9a-f]+\)$")
_MISSING = re.compile(r"^\s*(\S+) => not found$", re.MULTILINE)
_STATIC = ("not a dynamic executable", "statically linked")
_LOADER = re.compile(r"^ld-linux.*\.so\.\d+$")


@dataclass(frozen=True)
class Linked:
    """A program's file, its loader (None for a static program), and its libraries by soname."""

    program: Path
    loader: Path | None
    libraries: dict[str, Path]

    @property
    def files(self) -> list[Path]:
        """Return the files that the program needs to start, itself first."""
        return [self.program, *([self.loader] if self.loader else []), *self.libraries.values()]


def linked(program: Path) -> Linked:
    """Return a program with its loader and libraries. Raises SetupError for a script, a program of another processor,
    and a missing library.
    """
    with program.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            raise SetupError(f"{program}: is a script; a pack can contain programs only")
    done = programs.run(["ldd", program])
    output = done.stdout + done.stderr
    if any(word in output for word in _STATIC):
        return Linked(program, None, {})
    if done.returncode or (missing := _MISSING.search(output)):
        raise SetupError(
            f"{program}: lacks {missing[1]}" if not done.returncode and missing else f"{program}: {output}"
        )
    matches = [match for line in output.splitlines() if (match := _FOUND.match(line))]
    paths = {match["name"] or Path(match["path"]).name: Path(match["path"]).resolve() for match in matches}
    loader = next((path for name, path in paths.items() if _LOADER.match(Path(name).name)), None)
    if loader is None:
        raise SetupError(f"{program}: ldd reports no loader for it")
    return Linked(program, loader, {Path(name).name: path for name, path in paths.items() if path != loader})


def packages(files: Iterable[Path]) -> list[str]:
    """Return a line for each file: as sha256sum prints it, then its Debian package and source package with versions.
    A file that the lab has built, or any file on another system, has no package.
    """
    wanted = set(files)
    owners = _owners(wanted)
    described = _described(owners.values())
    lines = {file: described.get(owners.get(file, ""), "no known package") for file in wanted}
    return sorted({f"{digest_file(file)}  {file.name}  {line}" for file, line in lines.items()})


def _owners(files: Iterable[Path]) -> dict[Path, str]:
    """Return the Debian package of each file that is from one. One call for all: dpkg reads its lists anew in each."""
    # dpkg knows a library of /usr/lib by its path of before /lib became a symbolic link; the path itself goes before
    names = {name: file for file in files for name in (str(file).removeprefix("/usr"), str(file))}
    owners_by_name = {}
    for line in _said_by_dpkg("-S", *names).splitlines():
        owners, _, name = line.rpartition(": ")
        owners_by_name[name] = owners.partition(", ")[0]
    return {file: owners_by_name[name] for name, file in names.items() if name in owners_by_name}


def _described(packages: Iterable[str]) -> dict[str, str]:
    """Return the name and version of each package, and of its source package, by the name that dpkg has for it."""
    wanted = "${binary:Package}\t${Package} ${Version} (source ${source:Package} ${source:Version})\n"
    names = sorted(set(packages))
    listing = _said_by_dpkg("-W", "-f", wanted, *names) if names else ""
    return dict(line.split("\t", 1) for line in listing.splitlines())


def _said_by_dpkg(*words: str) -> str:
    try:
        return programs.run(["dpkg-query", *words]).stdout
    except SetupError:
        return ""


BASE = "base"


class PackShelf:
    """The files of a pack by digest, with a description for people; each file is digested once."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self.files: dict[str, Path] = {}
        self.names: dict[str, str] = {}
        self.configs: dict[str, Path] = {}
        """The configurations of kernels, by the digest of the image."""
        self.programs: dict[str, dict[str, Any]] = {}
        self.of_host: list[Path] = []
        """Files from packages of this host."""
        self._known: dict[Path, str] = {}
        self._media: dict[str, tuple[str, str | int]] = {}

    def put(self, path: Path, name: str) -> str:
        """Add a file and return its digest. The file must stay in its place until the pack is written."""
        if path not in self._known:
            digest = self._known[path] = digest_file(path)
            self.files.setdefault(digest, path)
            self.names.setdefault(digest, name)
        return self._known[path]

    def kernel(self, built: kernel.Kernel) -> str:
        """Add a kernel, and its configuration if it has one. Return the digest of its image."""
        digest = self.put(built.image, f"the kernel {built.package_version}")
        if (config := built.entry.path(kernel.CONFIG)).is_file():
            self.configs[digest] = config
        return digest

    def program(self, name: str, path: Path) -> str:
        """Add a program of this host and return its name in the pack. Raises SetupError if it cannot be packed."""
        if name not in self.programs:
            program = linked(path)
            self.of_host += program.files
            loader = self.put(program.loader, program.loader.name) if program.loader else None
            libraries = {library: self.put(file, library) for library, file in program.libraries.items()}
            self.programs[name] = asdict(Program(self.put(path, f"the program {name}"), loader, libraries))
        return name

    def job(self, wanted: Repetition) -> tuple[str, str]:
        """Add the archives of the cell's own files, for its beginning and for its load, and return their digests."""
        job, to = repetition.job(wanted.cell, wanted.image), self._scratch / f"{wanted.key}.job"
        initramfs.job_archive(job.beginning, to)
        load = self._scratch / f"{wanted.key}.load"
        load.write_bytes(job.packed_load())
        return self.put(to, f"the job of {wanted.cell.label}"), self.put(load, f"the load of {wanted.cell.label}")

    def cuts(self, wanted: Repetition) -> Cuts | None:
        """Add the files of the guests after a power cut. Return None if the power is not cut."""
        cell = wanted.cell
        if not cell.power_cuts:
            return None
        job, to = repetition.recovery(cell, repetition.job(cell, wanted.image)), self._scratch / f"{wanted.key}.again"
        initramfs.job_archive(job.beginning, to)
        checks = []
        for name, data in sorted(job.load.items()):
            if name != ACKNOWLEDGED:
                file = self._scratch / f"{wanted.key}.again.{name}"
                file.write_bytes(data)
                checks.append((name, self.put(file, f"{name}, after a power cut, of {cell.label}")))
        digest = self.put(to, f"the job after a power cut of {cell.label}")
        return Cuts(cell.power_cuts, cell.seed, digest, tuple(checks))

    def medium(self, wanted: Repetition) -> tuple[str, str | int]:
        """Add the medium. Return the digest of its initial state, and the digest of its content file; if that file is
        empty, its size in bytes.
        """
        inputs = cell_inputs(wanted.cell)["medium"]
        text = json.dumps(inputs, sort_keys=True)
        if text not in self._media:
            folder = self._scratch / f"medium-{len(self._media)}"
            folder.mkdir()
            made = StoredMedium(folder)
            cell_medium.make_medium(wanted.cell, wanted.image, made)
            state, status = self.put(made.state, "the state of a medium"), made.data.stat()
            content = status.st_size if status.st_blocks == 0 else self.put(made.data, "the content of a medium")
            self._media[text] = state, content
        return self._media[text]


def recipe(wanted: Repetition, shelf: PackShelf) -> Recipe:
    """Return a repetition's recipe, and add its files to the shelf. Raises SetupError if a checker cannot be packed."""
    cell, image = wanted.cell, wanted.image
    observers = repetition.observers(cell)
    shelf.program(QEMU_PROGRAM, emulator.program())
    state, content = shelf.medium(wanted)
    job, load = shelf.job(wanted)
    return Recipe(
        key=wanted.key,
        label=cell.label,
        machine=tuple(repetition.machine(cell, image)),
        kernel=shelf.kernel(image.kernel),
        symbols=shelf.put(image.kernel.symbols, "the kernel's symbols") if observers.samples else None,
        archives=(*_archives(wanted, shelf), (JOB, job)),
        state=state,
        content=content,
        ram_bytes=cell.board.ram,
        content_bytes=repetition.content_bytes(cell),
        check=_check(cell, shelf),
        load=load,
        root=shelf.put(root, "the root of programs") if (root := image.root(repetition.program_set(cell))) else None,
        calls=observers.calls,
        cuts=shelf.cuts(wanted),
    )


def _archives(wanted: Repetition, shelf: PackShelf) -> Iterable[tuple[str, str]]:
    image = wanted.image
    names = guest_parts.part_names(repetition.program_set(wanted.cell))
    for name, path in {BASE: image.base, **{name: image.parts[name] for name in names}}.items():
        yield name, shelf.put(path, f"the archive {name}")


def _check(cell: Cell, shelf: PackShelf) -> Check | None:
    data = Path(Check.DATA)
    if (command := cell_medium.check_command(cell, data)) is None:
        return None
    if (program := programs.find(command[0], paths.checkers())) is None:
        raise programs.missing(command[0])
    return Check(shelf.program(Path(command[0]).name, program), tuple(command[1:]))


STUDY, SOURCES, LICENCES = "study", "sources", "LICENSES"

_ABOUT = """\
The programs in this pack were built from these sources.

  {lock:<22} each source and package of Debian's archive: version, SHA-256, size and path;
  {blank:<22} snapshot.debian.org has all of them, by SHA-256 or by version
  lab/                   the lab's own sources: what turns QEMU into the lab's emulator (GPL-2.0-or-later), the
  {blank:<22} kernel's configuration, patches and modules and the patches of fio (GPL-2.0-only), the media
  {blank:<22} core (GPL-2.0-only OR MIT), the guest's scripts; each file names its licence
  own/                   the study's own sources: patches of the kernel, modules of its own profiles
  own-kernels.txt        kernels built from such a patch or from a source tree of the study: the hash of their source
  packages-of-host.txt   the emulator's libraries, the checkers and their libraries, by SHA-256: the host's package
  {blank:<22} of each, with its version and its source's version

The texts of the licences are in LICENSES/; Debian's packages have theirs in /usr/share/doc.
"""


def study_files(study: Study) -> dict[str, Path]:
    """Return the study, profiles, sources and licences, by path in the pack."""
    members = {f"{STUDY}/{study.path.name}": study.path}
    members |= {f"{STUDY}/profiles/{name}.toml": path for name, path in pinning.profiles_of(study)}
    members |= {f"{SOURCES}/lab/{name}": path for name, path in lockfile.own_source_files().items()}
    members |= {f"{SOURCES}/own/{name}": path for name, path in _of_modules(study)}
    return members | {f"{LICENCES}/{path.name}": path for path in sorted(paths.licences().glob("*.txt"))}


def _of_modules(study: Study) -> Iterator[tuple[str, Path]]:
    for module, folder in pinning.modules_of(study):
        for file in own_module.files(folder):
            yield f"{module}/{file.as_posix()}", folder / file


def study_texts(study: Study, of_host: Iterable[Path], kernels: Iterable[Kernel]) -> dict[str, bytes]:
    """Return the members that are in no file, by path in the pack. `of_host` are files from packages of this host, and
    `kernels` the measured kernels.
    """
    lock = f"{study.name}.lock"
    members = {
        f"{SOURCES}/README.txt": _ABOUT.format(lock=lock, blank=""),
        f"{SOURCES}/{lock}": lockfile.text(pinning.lock_study(study)),
        f"{SOURCES}/packages-of-host.txt": "".join(f"{line}\n" for line in packages(of_host)),
    }
    if own := own_kernels(kernels):
        members[f"{SOURCES}/own-kernels.txt"] = own
    members |= {f"{STUDY}/jobs/{name}": text for name, text in (study.job or {}).items()}
    return {**study_patches(study), **{name: text.encode() for name, text in members.items()}}


def study_patches(study: Study) -> dict[str, bytes]:
    """Return the user's kernel patches by path in the pack: SHA-256 and name, since two patches may have one name."""
    used = {patch for kernel in study.kernels.values() for patch in kernel.patches}
    return {f"{SOURCES}/own/{digest_bytes(patch.data)[:12]}-{patch.path.name}": patch.data for patch in used}


def own_kernels(kernels: Iterable[Kernel]) -> str:
    """Return a line for each kernel that is built from the user's own source."""
    lines = {
        f"{built.package_version}: git's hash of all its source is {built.source}\n"
        for built in kernels
        if built.source
    }
    return "".join(sorted(lines))
