# SPDX-License-Identifier: Apache-2.0
"""What a guest is made of: kernel, modules, programs and the archives they are packed in, each fetched and built once
and cached.

Callers see a GuestImage: paths and digests. Nothing here knows cells, and nothing built here depends on when or where
it was built.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed import paths
from flashbed.errors import SetupError
from flashbed.image import hosttools, initramfs, kernel, modules, programs
from flashbed.image.cache import Cache
from flashbed.image.debian import Archive
from flashbed.image.hosttools import MediaTool
from flashbed.image.kernel import Kernel
from flashbed.image.toolchain import ARCHITECTURE

ProgramSet = tuple[tuple[str, ...], tuple[str, ...]]
"""(packages, programs): what a file system needs in the guest."""


@dataclass(frozen=True)
class GuestImage:
    """A built guest for one kernel version. Digests are SHA-256 of contents, so equal digests mean equal guests."""

    kernel: Kernel
    media_tool: MediaTool
    base: Path
    programs: Mapping[ProgramSet, Path]
    digests: Mapping[str, str]

    def archives(self, wanted: ProgramSet) -> Sequence[Path]:
        """The cpio archives of a cell that uses the program set `wanted`, without its job."""
        return [self.base, self.programs[wanted]]

    def digest(self, wanted: ProgramSet) -> dict[str, str]:
        """What such a cell depends on, by name: kernel, base and its programs."""
        return {name: self.digests[name] for name in ("kernel", "base", _label(wanted))}

    def write_initramfs(self, wanted: ProgramSet, job: Mapping[str, bytes], to: Path) -> None:
        """One initramfs for a cell: the shared archives and the cell's /job behind them."""
        initramfs.job_archive(self.kernel, job, to.with_suffix(".job"))
        with to.open("wb") as out:
            for part in (*self.archives(wanted), to.with_suffix(".job")):
                out.write(part.read_bytes())
        to.with_suffix(".job").unlink()


def build(version: str, program_sets: Iterable[ProgramSet], *, update: bool = False) -> GuestImage:
    """Fetches and builds whatever of the guest is missing or broken.

    `version` names Debian's kernel source package (6.1); `update` takes the package versions that the mirror has today.
    """
    root = paths.cache_root() / "image"
    if any(character.isspace() or character == ":" for character in str(root)):
        raise SetupError(
            f"{root}: a kernel cannot be built below a path with a blank or a colon; "
            "set FLASHBED_CACHE to another folder"
        )
    cache, archive = Cache(root), Archive(paths.cache_root() / f"debian-{ARCHITECTURE}", ARCHITECTURE)
    if update:
        archive.forget_versions()
    built = kernel.build(cache, archive, version)
    module_files = {name: modules.build(cache, built, name).path(f"{name}.ko") for name in modules.names()}
    busybox = programs.from_packages(cache, archive, ["busybox-static"], ["/bin/busybox"]).path("root/bin/busybox")
    outbox = programs.outbox(cache, archive).path("outbox")
    base = initramfs.archive(cache, built, "base", initramfs.base_files(busybox, outbox, module_files), system=True)
    digests = {"kernel": built.entry.digests[kernel.IMAGE], "base": base.digests[initramfs.ARCHIVE]}
    tool = initramfs.File("/bin/fio", programs.fio(cache, archive).path("fio"))
    packed = {}
    for wanted in sorted(set(program_sets)):
        packages, names = wanted
        files = [tool]
        if names:
            tree = programs.from_packages(cache, archive, packages, names).folder / "root"
            files += [initramfs.File(f"/{p.relative_to(tree)}", p) for p in sorted(tree.rglob("*")) if p.is_file()]
        entry = initramfs.archive(cache, built, _label(wanted), files)
        packed[wanted] = entry.path(initramfs.ARCHIVE)
        digests[_label(wanted)] = entry.digests[initramfs.ARCHIVE]
    return GuestImage(built, hosttools.build(cache), base.path(initramfs.ARCHIVE), packed, digests)


def _label(wanted: ProgramSet) -> str:
    _, names = wanted
    return "-".join(("tools", *(Path(name).name for name in names)))
