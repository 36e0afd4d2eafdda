# SPDX-License-Identifier: Apache-2.0
"""Check which kernel can run which cell, and replace a study's kernels by those of `--kernel`.

A file server has kernels of its own, and a distribution's kernel gets no module of the lab's. With `--kernel` the cells
keep their keys, so a study that names the same kernel finds their results.

Must not know how a kernel is built.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from flashbed.common.errors import InputError
from flashbed.common.tomlfile import Problem
from flashbed.profiles import kernel_choice
from flashbed.profiles.kernel_choice import DEBIAN_KERNEL, KERNELS, NAS_KERNEL, NAS_KERNELS, KernelChoice, source_of
from flashbed.profiles.library import Library
from flashbed.profiles.profile import PLAIN, interface
from flashbed.study.format import StudyFile, skip_hint

NAS_TOOL, NAS_CPUS, NAS_FILESYSTEMS = "nfs", 2, ("ext2",)

_NAS_INTERFACES = ("sata", PLAIN)
"""The interfaces for which NAS_KERNEL has a driver. The lab's own driver is built for it."""

PROGRAM_TOOL = "program"

_CHECKED = tuple(f"{name}-debug" for name in KERNELS)
"""The kernels that check themselves."""

_NO_VERSION_2 = DEBIAN_KERNEL
"""The kernel whose server knows NFS only from version 3 on."""


def kernel_problems(study: StudyFile, library: Library, cell: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the problems of a cell, as written in the study, with its kernel."""
    yield from _server_problems(study, library, cell)
    if cell["kernel"] == DEBIAN_KERNEL:
        yield from _module_problems(study, library, cell)
    yield from _program_problems(study, cell["kernel"])


def _server_problems(study: StudyFile, library: Library, cell: Mapping[str, str]) -> Iterator[Problem]:
    """Yield problems of a file server: it knows few file systems, and its load needs a CPU of its own."""
    board, text = cell["board"], cell["kernel"]
    kernel = source_of(text)  # a patched kernel is of the same kind
    if study.workload["tool"] != NAS_TOOL:
        if kernel == NAS_KERNEL:
            why = f'"{kernel}" is a server of files, and for tool = "{NAS_TOOL}" only; take "6.1"'
            yield Problem(study.keys_of("kernel", text), why)
        return
    if kernel not in NAS_KERNELS:
        offered = ", ".join(f'"{name}"' for name in NAS_KERNELS)
        yield Problem(study.keys_of("kernel", text), f'the kernels of tool = "{NAS_TOOL}" are {offered}')
        return
    if library.board(board).cpus < NAS_CPUS:
        why = f'{board} has one CPU, and tool = "{NAS_TOOL}" needs {NAS_CPUS}: a server and a load'
        yield Problem(study.keys_of("board", board), why)
    if library.filesystem(cell["filesystem"]).mount_type not in NAS_FILESYSTEMS:
        served = ", ".join(NAS_FILESYSTEMS)
        why = f'{cell["filesystem"]}: tool = "{NAS_TOOL}" serves only {served}'
        yield Problem(study.keys_of("filesystem", cell["filesystem"]), why)
    medium = library.medium(cell["medium"])
    joined = interface(library.board(board), medium)
    if kernel == NAS_KERNEL and medium.provides == "block" and joined not in _NAS_INTERFACES:
        why = f'{cell["medium"]} is joined by {joined}, and "{kernel}" has a driver of sata alone; take another medium'
        yield Problem(study.keys_of("medium", cell["medium"]), why)
    if kernel == _NO_VERSION_2 and cell.get("version") == "2":
        hint = skip_hint(study, {"kernel": text, "version": "2"})
        yield Problem(study.keys_of("version", "2"), f"2 is not known to the server of {kernel}; {hint}")


def _program_problems(study: StudyFile, text: str) -> Iterator[Problem]:
    """Yield a problem of programs of the user's with a kernel that is no variant of one that the lab configures."""
    kernel = source_of(text)
    if study.workload["tool"] == PROGRAM_TOOL and kernel in (*NAS_KERNELS, *_CHECKED):
        offered = ", ".join(f'"{name}"' for name in KERNELS)
        why = f'"{kernel}" cannot run programs of your own: their root needs a driver that it does not have'
        yield Problem(study.keys_of("kernel", text), f"{why}; take one of {offered}, or a source tree of Linux")


def _module_problems(study: StudyFile, library: Library, cell: Mapping[str, str]) -> Iterator[Problem]:
    """Yield a problem for each part of the cell that a distribution's kernel lacks because it is a module of
    the lab's.
    """
    needed = {
        "medium": _for_medium(library, cell),
        "scheduler": _for_scheduler(library, cell["scheduler"]),
        "filesystem": _for_filesystem(library, cell["filesystem"]),
    }
    for axis, why in needed.items():
        if why:
            hint = skip_hint(study, {axis: cell[axis], "kernel": cell["kernel"]})
            problem = f"{cell[axis]} needs {why}, and kernel {cell['kernel']} runs as it is, without any; {hint}"
            yield Problem(study.keys_of(axis, cell[axis]), problem)


def _for_medium(library: Library, cell: Mapping[str, str]) -> str:
    board, medium = library.board(cell["board"]), library.medium(cell["medium"])
    if medium.provides == "mtd":
        return "the lab's driver of raw chips"
    if interface(board, medium) != PLAIN:
        return ""
    pio = board.transfer == "pio"
    why = f'{cell["board"]} has transfer = "pio"' if pio else f'its profile has no interface but "{PLAIN}"'
    return f"the lab's driver of block media ({why})"


def _for_scheduler(library: Library, name: str) -> str:
    module = library.scheduler(name).module
    return f"the module {module}" if module else ""


def _for_filesystem(library: Library, name: str) -> str:
    """Return which module of the lab's a file system needs; "" if the kernel has it. A module of the kernel is named as
    the file system is mounted.
    """
    filesystem = library.filesystem(name)
    its_own = filesystem.module in (None, filesystem.mount_type) and not filesystem.module_source
    return "" if its_own else f"the module {filesystem.module}"


AXIS = "kernel"


def with_kernels(study: StudyFile, kernels: Sequence[str]) -> StudyFile:
    """Return the study with these kernels: a single one is fixed, several become an axis. Figures and tables then show
    each kernel, and each gets its own answer.
    """
    if not kernels:
        return study
    if AXIS not in study.axes and len(kernels) == 1:
        return study.model_copy(update={AXIS: kernels[0]})
    changed = study.model_copy(update={"axes": {**study.axes, AXIS: tuple(kernels)}, AXIS: None})
    return changed if AXIS in study.axes else _split_by_kernel(changed)


def _split_by_kernel(study: StudyFile) -> StudyFile:
    """Return the study with its figures and tables split by kernel. A study with one kernel does not say how to show
    several.
    """
    figures = [
        figure.model_copy(update={"series": (*figure.series, AXIS)})
        if AXIS not in (figure.x, *figure.series)
        else figure
        for figure in study.figure
    ]
    tables = [
        table.model_copy(update={"columns": (*table.columns, AXIS)})
        if AXIS not in (*table.rows, *table.columns)
        else table
        for table in study.table
    ]
    answers = {
        "answer": study.answer.model_copy(update={"by": (*study.answer.by, AXIS)}) if study.answer else None,
        "choice": [choice.model_copy(update={"by": (*choice.by, AXIS)}) for choice in study.choice],
    }
    return study.model_copy(update={"figure": figures, "table": tables, "trace": [], **answers})


def command_line_kernels(kernels: Sequence[str]) -> dict[str, KernelChoice]:
    """Return the kernels of `--kernel` by their texts. Paths start at the working directory. Raises InputError."""
    choices: dict[str, KernelChoice] = {}
    for text in kernels:
        if text in choices:
            raise InputError(f"--kernel {text}: is there twice")
        try:
            choices[text] = kernel_choice.read(text, Path())
        except kernel_choice.KernelProblem as error:
            raise InputError(f"--kernel {text}: {error}") from None
    return choices
