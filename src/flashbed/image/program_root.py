# SPDX-License-Identifier: Apache-2.0
"""Build the root of programs of the user's: Debian packages and the user's files, as a file system image (EROFS).

The packages' maintainer scripts do not run. The same packages and files give the same bytes on any host: Debian's
mkfs.erofs of the suite makes the image. The guest gets the file as a region of memory (kernel/program_region). So the
file has room for the region's struct pages before the image, and its size is a power of two, as for any PCI BAR. Must
not know a study.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path, PurePosixPath

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment

from flashbed.common.digest import digest_bytes
from flashbed.common.errors import InputError
from flashbed.common.progress import stage
from flashbed.image import toolchain
from flashbed.image.cache import Cache, Entry
from flashbed.image.command import run
from flashbed.image.debian import Archive
from flashbed.image.guest_parts import PartError
from flashbed.workload.base import Root, RootFile

ROOT_IMAGE = "root.img"

RECIPE_VERSION = 1
"""Raise it if a function of this module makes another image of the same packages, files and options."""

BASE_PACKAGES = ("base-files", "bash", "coreutils", "dash", "findutils", "grep", "libc-bin", "sed")
"""The packages of every root. Debian's packages depend on these without naming them."""

MAKER_PACKAGES = ("erofs-utils",)
"""The packages, for the host's architecture, of the program that makes the image."""

MAKER = "usr/bin/mkfs.erofs"

EROFS_OPTIONS = (
    "-E",
    "noinline_data",
    "-x",
    "-1",
    "-T",
    "0",
    "-U",
    "2cb1ba3c-a4f6-4db0-a1be-4ae5dfb95ba1",
    "--all-root",
)
"""The options of mkfs.erofs. Without inline data each file has pages of its own, which programs can map (DAX)."""

PAGES_PER_STRUCT_PAGE = 64
"""A page of 4096 bytes holds 64 struct pages."""

BLOCK_BYTES = 2 << 20
"""The kernel maps the struct pages of a region in blocks of this size (kernel/program_region/main.c)."""

MERGED_INTO_USR = ("bin", "lib", "sbin")
"""The directories that are links into /usr on a Debian system. Its packages still have files in both."""

MOUNT_POINTS = ("mnt", "proc", "sys", "dev", "tmp", "out")
"""The directories that guest/root binds to those of the guest."""

LINKS = {"run": "tmp", "var/run": "/tmp", "var/tmp": "/tmp", "var/lock": "/tmp"}
"""Directories that programs expect to be writable."""

TEXTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/hosts": "127.0.0.1 localhost\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
"""Files that maintainer scripts make."""

PATH = ("usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin")
"""Where guest/root looks for programs."""

LOADER_FOLDERS = ("usr/lib/aarch64-linux-gnu", "usr/lib", "usr/local/lib")

_MOST_LINKS = 40
_SCRIPT = re.compile(rb"#!\s*(\S+)[ \t]*([^\n]*)")


def packages_of(root: Root) -> tuple[str, ...]:
    """Return the packages of a root, as they are requested from Debian's archive."""
    return tuple(sorted({*BASE_PACKAGES, *root.packages}))


def build(cache: Cache, archive: Archive, root: Root, sources: Mapping[str, Path]) -> Entry:
    """Build the image of a root. `sources` has the user's files by digest.

    Raises PartError for a package that Debian does not have, and for a program that cannot run in the root; InputError
    for a file that has changed.
    """
    packages = packages_of(root)
    resolved, maker_archive = archive.resolve(packages), archive.of(toolchain.HOST)
    maker = maker_archive.resolve(MAKER_PACKAGES)
    recipe = {
        "packages": resolved.files,
        "files": sorted(root.files),
        "programs": sorted(root.programs),
        "maker": maker.files,
        "options": EROFS_OPTIONS,
        "links": LINKS,
        "texts": TEXTS,
        "version": RECIPE_VERSION,
    }

    def fill(folder: Path) -> None:
        tree, program = folder / "tree", folder / "maker"
        with stage(f"Making the root of programs ({', '.join(root.packages) or 'no further packages'})"):
            archive.unpack(archive.fetch(packages, resolved), tree)
            complete(tree)
            for file in root.files:
                _put(file, sources[file.sha256], tree)
            check(root, tree)
            maker_archive.unpack(maker_archive.fetch(MAKER_PACKAGES, maker), program)
            _make(program, tree, folder)
        shutil.rmtree(tree)
        shutil.rmtree(program)

    return cache.entry("program-root", recipe, fill, products=[ROOT_IMAGE])


def complete(tree: Path) -> None:
    """Make of unpacked packages the tree of an installed system."""
    for name in MERGED_INTO_USR:
        if (tree / name).is_dir() and not (tree / name).is_symlink():
            _merge(tree / name, tree / "usr" / name)
        (tree / "usr" / name).mkdir(parents=True, exist_ok=True)
        (tree / name).symlink_to(f"usr/{name}")
    for name in (*MOUNT_POINTS, "etc", "root", "var", "usr/local/bin"):
        (tree / name).mkdir(parents=True, exist_ok=True)
    for name, target in LINKS.items():
        if (tree / name).is_dir() and not (tree / name).is_symlink():
            shutil.rmtree(tree / name)
        (tree / name).unlink(missing_ok=True)
        (tree / name).symlink_to(target)
    for name, text in TEXTS.items():
        if not (tree / name).exists():
            (tree / name).write_text(text)
            (tree / name).chmod(0o644)
    if not os.path.lexists(tree / "usr/bin/sh"):
        (tree / "usr/bin/sh").symlink_to("dash")


def _merge(source: Path, to: Path) -> None:
    """Move what is in a directory into another one, and remove it. A file that is in both is kept once."""
    to.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        target = to / path.name
        if path.is_dir() and not path.is_symlink() and target.is_dir():
            _merge(path, target)
        else:
            path.replace(target)
    source.rmdir()


def _put(file: RootFile, source: Path, tree: Path) -> None:
    """Put a file of the user's into the tree. Raises InputError if it is not the one that the study was read with."""
    to = tree / file.path.lstrip("/")
    to.parent.mkdir(parents=True, exist_ok=True)
    if stat.S_ISDIR(file.mode):
        to.mkdir(exist_ok=True)
        return
    try:
        data = os.fsencode(source.readlink()) if stat.S_ISLNK(file.mode) else source.read_bytes()
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror}") from None
    if digest_bytes(data) != file.sha256:
        raise InputError(f"{source}: has changed since the study was read; run again")
    if stat.S_ISLNK(file.mode):
        to.symlink_to(os.fsdecode(data))
        return
    to.write_bytes(data)
    to.chmod(stat.S_IMODE(file.mode))


def _make(program: Path, tree: Path, folder: Path) -> None:
    """Make the image of a tree, and put it behind the room for struct pages."""
    for path in tree.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    image, final = folder / "image", folder / ROOT_IMAGE
    libraries = ":".join(str(program / name) for name in toolchain.LIBRARIES)
    start: list[str | Path] = [
        program / toolchain.LOADER,
        "--inhibit-cache",
        "--library-path",
        libraries,
        program / MAKER,
    ]
    run([*start, "--quiet", *EROFS_OPTIONS, image, tree])
    size = region_bytes(image.stat().st_size)
    with image.open("rb") as source, final.open("wb") as out:
        out.truncate(size)
        out.seek(head_bytes(size))
        shutil.copyfileobj(source, out)
    image.unlink()


def region_bytes(image_bytes: int) -> int:
    """Return the size of the region for an image: the smallest power of two that also has room for struct pages."""
    size = 2 * BLOCK_BYTES
    while size - head_bytes(size) < image_bytes:
        size *= 2
    return size


def head_bytes(region: int) -> int:
    """Return the room for the struct pages of a region of this size. kernel/program_region/main.c has the same rule."""
    return max(region // PAGES_PER_STRUCT_PAGE, BLOCK_BYTES)


def check(root: Root, tree: Path) -> None:
    """Raise PartError for the first program that cannot run in the root."""
    for file in sorted(root.files):
        if file.path in root.programs and stat.S_ISREG(file.mode) and (why := _fault(file, root, tree)):
            raise PartError(f"{file.path} {why}", "files", file.path)
    for name in root.programs:
        if not any(
            _leads_to_file(tree, place)
            for place in ([name] if "/" in name else [f"{folder}/{name}" for folder in PATH])
        ):
            why = "is no program of the root: name the Debian package that has it in packages, or the file in files"
            raise PartError(f"{name} {why}", "programs", name)


def _fault(file: RootFile, root: Root, tree: Path) -> str:
    """Return why a program of the user's cannot run in the root; "" if it can. A text counts as a shell script."""
    data = (tree / file.path.lstrip("/")).read_bytes()
    if data.startswith(b"\x7fELF"):
        try:
            return _elf_fault(ELFFile(BytesIO(data)), file, root, tree)
        except (ELFError, ValueError, KeyError, TypeError, AttributeError, OverflowError, UnicodeDecodeError):
            return "is damaged: it begins as a program (ELF), and cannot be read as one"
    if match := _SCRIPT.match(data):
        return _script_fault(match[1].decode(errors="replace"), match[2].decode(errors="replace"), tree)
    return ""


def _script_fault(interpreter: str, argument: str, tree: Path) -> str:
    missing = "" if _leads_to_file(tree, interpreter) else interpreter
    words = [word for word in argument.split() if not word.startswith("-") and "=" not in word]
    if not missing and PurePosixPath(interpreter).name == "env" and words:
        missing = "" if any(_leads_to_file(tree, f"{folder}/{words[0]}") for folder in PATH) else words[0]
    if not missing:
        return ""
    return f"is a script for {missing}, which no package of the root has: name the package that has it in packages"


def _elf_fault(elf: ELFFile, file: RootFile, root: Root, tree: Path) -> str:
    if elf.get_machine_arch() != "AArch64" or elf.elfclass != 64:
        return f"is a program for {elf.get_machine_arch()}, and guests are arm64: build it with aarch64-linux-gnu-gcc"
    for segment in elf.iter_segments("PT_INTERP"):
        assert isinstance(segment, InterpSegment)
        if not _leads_to_file(tree, segment.get_interp_name()):
            return f"needs the loader {segment.get_interp_name()}, which no package of the root has"
    for library in _missing_libraries(elf, file, root, tree):
        hint = "name its Debian package in packages, or put it into files"
        return f"needs the library {library}, which no package of the root has: {hint}"
    return ""


def _missing_libraries(elf: ELFFile, file: RootFile, root: Root, tree: Path) -> Iterator[str]:
    """Yield the libraries that a program needs and no file of the root is. A library of the user's counts wherever it
    is, because a command may set LD_LIBRARY_PATH.
    """
    of_user = {PurePosixPath(own.path).name for own in root.files}
    for dynamic in elf.iter_segments("PT_DYNAMIC"):
        assert isinstance(dynamic, DynamicSegment)
        folders = [*LOADER_FOLDERS, *_run_paths(dynamic, file)]
        for tag in dynamic.iter_tags("DT_NEEDED"):
            name: str = vars(tag)["needed"]
            if name not in of_user and not any(_leads_to_file(tree, f"{folder}/{name}") for folder in folders):
                yield name


def _run_paths(dynamic: DynamicSegment, file: RootFile) -> Sequence[str]:
    """Return the directories in which the program itself says that its libraries are."""
    texts = [vars(tag)[kind] for kind in ("runpath", "rpath") for tag in dynamic.iter_tags(f"DT_{kind.upper()}")]
    here = str(PurePosixPath(file.path).parent)
    return [path.replace("${ORIGIN}", here).replace("$ORIGIN", here) for text in texts for path in text.split(":")]


def _leads_to_file(tree: Path, name: str) -> bool:
    """Return True if a path of the root leads to a file. Links are followed as in the root."""
    left, place, links = [part for part in name.split("/") if part not in ("", ".")], tree, 0
    while left:
        part = left.pop(0)
        if part == "..":
            place = tree if place == tree else place.parent
            continue
        path = place / part
        if not path.is_symlink():
            place = path
            continue
        links += 1
        if links > _MOST_LINKS:
            return False
        target = str(path.readlink())
        place = tree if target.startswith("/") else place
        left = [inner for inner in target.split("/") if inner not in ("", ".")] + left
    return place.is_file()
