# SPDX-License-Identifier: Apache-2.0
"""A study during its checks: the content of its file, the profiles that it names, its cells, and the problems so far.

A rule notes its problems and goes on, so that the user sees all of them at once. A step ends with raise_all() if the
next rules need its results. This is the only place that looks up an axis or a metric by the name in a study. Must not
know the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from flashbed.common.errors import InputError, several
from flashbed.common.tomlfile import Keys, Problem, TomlFile, nearest
from flashbed.profiles.library import Library
from flashbed.result.metrics import METRICS
from flashbed.study.format import STACK, StudyFile, Where, combinations, matches, selected
from flashbed.study.ready_loads import ReadyLoad
from flashbed.study.root_files import OwnFile


@dataclass
class Draft:
    """A draft, by the names in the file. All drafts of one file share `problems` (see widened())."""

    file: TomlFile
    content: StudyFile
    library: Library
    skip: tuple[Where, ...] = ()
    """The combinations to leave out, with full values."""
    problems: list[Problem] = field(default_factory=list)
    root_files: tuple[OwnFile, ...] = ()
    """The user's files for the root of programs."""
    load: ReadyLoad | None = None
    """The ready-made load that the study names. `content` has its commands."""
    own_bytes: int = 0
    """The bytes that the user's own file says that the workload takes on the medium; 0 if it does not tell."""

    def widened(self, axes: Mapping[str, tuple[str, ...]]) -> Draft:
        """Return the draft with other axes."""
        study = self.content.model_copy(update={"axes": axes})
        return replace(self, content=study)

    def add(self, at: Keys, text: str) -> None:
        """Note a problem at a place in the file."""
        self.problems.append(Problem(at, text))

    def extend(self, problems: Iterable[Problem]) -> None:
        """Note several problems."""
        self.problems += problems

    def raise_all(self) -> None:
        """Raise InputError with all problems, if there are any."""
        if self.problems:
            raise InputError(several(map(self.file.problem_message, self.problems)))

    def cells(self, where: Where | None = None) -> list[dict[str, str]]:
        """Return the combinations that a selection with full values leaves; all combinations if there is none."""
        return [cell for cell in combinations(self.content.axes, self.skip) if matches(cell, where or {})]

    def has_axis(self, name: str, at: Keys) -> bool:
        """Return True if `name` is an axis; otherwise note a problem."""
        axes = self.content.axes
        if name in axes:
            return True
        fixed = name in STACK or name in self.content.workload
        why = "is fixed in this study, not an axis" if fixed else f"is no axis of this study{nearest(name, axes)}"
        self.add(at, f'"{name}" {why}')
        return False

    def has_metric(self, name: str, at: Keys) -> bool:
        """Return True if `name` is a metric; otherwise note a problem."""
        if name not in METRICS:
            self.add(at, f'no metric "{name}"{nearest(name, METRICS)}')
        return name in METRICS

    def full(self, selection: Where, at: Keys) -> Where:
        """Return a selection with full values: "fat16" stands for every "fat16:..." on the axis. Note a problem for
        each value that is on no axis.
        """
        full: Where = {}
        for axis, values in selection.items():
            if not self.has_axis(axis, (*at, axis)):
                continue
            axis_values = self.content.axes[axis]
            selected_values: list[str] = []
            for value in values:
                matching = selected(axis, value, axis_values)
                if not matching:
                    self.add((*at, axis), f'"{value}" is not on the axis "{axis}"{nearest(value, axis_values)}')
                selected_values += matching
            if not values:
                self.add((*at, axis), "has no values")
            full[axis] = tuple(value for value in axis_values if value in selected_values)
        return full
