# SPDX-License-Identifier: Apache-2.0
"""Kernels that take the place of those that a study names: what `--kernel` says.

The cells keep their keys, so that what was measured so is there for a study that names the same kernel.
"""

from collections.abc import Sequence
from pathlib import Path

from flashbed.common.errors import InputError
from flashbed.profiles import kernel_choice
from flashbed.profiles.kernel_choice import KernelChoice
from flashbed.study.format import StudyFile

AXIS = "kernel"


def instead(study: StudyFile, kernels: Sequence[str]) -> StudyFile:
    """The study with these for its kernels: one is fixed, as the study's own was. Of several it gets an axis; then
    figures and tables show each, and the answer is given for each.
    """
    if not kernels:
        return study
    if AXIS not in study.axes and len(kernels) == 1:
        return study.model_copy(update={AXIS: kernels[0]})
    found = study.model_copy(update={"axes": {**study.axes, AXIS: tuple(kernels)}, AXIS: None})
    return found if AXIS in study.axes else _told_apart(found)


def _told_apart(study: StudyFile) -> StudyFile:
    """What the study shows, with kernels beside each other. A study that never had several does not say how."""
    figures = [
        one.model_copy(update={"series": (*one.series, AXIS)}) if AXIS not in (one.x, *one.series) else one
        for one in study.figure
    ]
    tables = [
        one.model_copy(update={"columns": (*one.columns, AXIS)}) if AXIS not in (*one.rows, *one.columns) else one
        for one in study.table
    ]
    answers = {
        "answer": study.answer.model_copy(update={"by": (*study.answer.by, AXIS)}) if study.answer else None,
        "choice": [one.model_copy(update={"by": (*one.by, AXIS)}) for one in study.choice],
    }
    return study.model_copy(update={"figure": figures, "table": tables, "trace": [], **answers})


def read(kernels: Sequence[str]) -> dict[str, KernelChoice]:
    """What these mean; relative paths start at the present folder. Raises InputError."""
    found: dict[str, KernelChoice] = {}
    for text in kernels:
        if text in found:
            raise InputError(f"--kernel {text}: is there twice")
        try:
            found[text] = kernel_choice.read(text, Path())
        except kernel_choice.KernelProblem as error:
            raise InputError(f"--kernel {text}: {error}") from None
    return found
