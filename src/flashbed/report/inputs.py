# SPDX-License-Identifier: Apache-2.0
"""All inputs of a study's report as one value: `updating` digests it, and `model` turns it into a report. Must stay
cheap to import: a run with all results in the store should end at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flashbed.execution.coverage import LineCoverage
    from flashbed.guest_output.request_log import RequestLog
    from flashbed.result.columns import ResultRow
    from flashbed.study.loading import Study

Consoles = Mapping[str, Sequence[str]]
"""Maps the key of a failed repetition to the last lines of its console."""

Logs = Mapping[str, Callable[[], "RequestLog"]]
"""Maps the key of a repetition whose requests are drawn to a function that reads its log."""


@dataclass(frozen=True)
class Manifest:
    """What was the same over the whole study, or can be listed."""

    versions: Mapping[str, str] = field(default_factory=dict)
    """The versions of the program and of each part of the guest, by name. Several versions of a part are one text."""
    own_modules: Mapping[str, str] = field(default_factory=dict)
    """The directory and the builds of each module that the study brings, by name."""
    coverage: Sequence[LineCoverage] = ()
    """For each changed kernel, which of its changed lines ran."""
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The parameters of each board and medium, by its kind and title."""


@dataclass(frozen=True)
class ReportInputs:
    """A study, its results, and what is shown beside them. Rows may come in any order."""

    study: Study
    rows: Sequence[ResultRow]
    manifest: Manifest = Manifest()
    consoles: Consoles = field(default_factory=dict)
    logs: Logs = field(default_factory=dict)
    """A key stands for the log: what the functions return is in no digest."""
    elsewhere: Sequence[ResultRow] = ()
    """Rows that other systems measured. Their first axis is the system."""
    left_out: Sequence[str] = ()
    """Sentences on imported results that are not among `elsewhere`, and why."""
