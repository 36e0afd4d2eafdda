# SPDX-License-Identifier: Apache-2.0
"""The arguments by which commands choose a study, a part of it and its kernels, and the study that they give."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashbed.common import paths
from flashbed.common.errors import InputError

if TYPE_CHECKING:
    from flashbed.study.loading import Study


def _studies(begun: str) -> list[str]:
    """Return completions for a shell: shipped studies, and files of the working directory. The shell completes other
    paths itself.
    """
    shipped = [file.stem for file in paths.studies().glob("*.toml")]
    own = [file.name for file in Path().glob("*.toml")]
    return sorted(name for name in {*shipped, *own} if name.startswith(begun))


StudyName = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="A study file, or the name of a shipped study (see `flashbed list`).",
        autocompletion=_studies,
    ),
]

Slice = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="AXIS=VALUE",
        help="Only cells with this value, such as filesystem=fat16. May be repeated, also for one axis.",
    ),
]

Kernels = Annotated[
    list[str] | None,
    typer.Option(
        "--kernel",
        metavar="KERNEL",
        help="Instead of the study's: 6.12, a source tree (./linux), a revision of one (./linux@v6.12), either with "
        ":patch=FILE behind it; see docs/own-kernel.md. May be repeated: several are compared.",
    ),
]


def _selection(texts: Sequence[str] | None) -> dict[str, list[str]]:
    """Return the texts of --where by axis: "filesystem=fat16:cluster=16k" -> filesystem: [fat16:cluster=16k]. Raises
    InputError.
    """
    selection: dict[str, list[str]] = {}
    for text in texts or []:
        axis, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--where {text}: write AXIS=VALUE, such as filesystem=fat16")
        selection.setdefault(axis, []).append(value)
    return selection


def load(name: str, where: Sequence[str] | None = None, kernels: Sequence[str] | None = None) -> Study:
    """Return the study, narrowed to `where` and on `kernels`. Raises InputError."""
    from flashbed.study import slicing
    from flashbed.study.loading import find_study, load_study

    return slicing.narrowed(load_study(find_study(name), kernels=kernels or ()), _selection(where))


def report_folder(study: Study, where: Sequence[str] | None, kernels: Sequence[str] | None) -> Path:
    """Return the default directory of the report. Raises InputError if a part of its path is a link, which may have
    come with the study.
    """
    from flashbed.study import slicing

    chosen = _selection(where) | ({"kernel": list(kernels)} if kernels else {})
    folder = Path("reports") / slicing.folder_name(study.name, chosen)
    for part in (folder.parent, folder):
        if part.is_symlink():
            raise InputError(f"{part}: is a link; to write the report where it leads, name that folder with --out")
    return folder
