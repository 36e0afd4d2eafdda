# SPDX-License-Identifier: Apache-2.0
"""Write the report of a run: collect the data that the report room needs.

Must stay cheap to import: a run with all results in the store should end at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

from flashbed.common import progress
from flashbed.common.errors import DifferentResultsError, HostResourceError, host_refusal
from flashbed.execution.repetition import Repetition, own_modules
from flashbed.execution.run import Record, Run, rows
from flashbed.external_results.imported_results import kept, table_rows
from flashbed.guest_output import request_log
from flashbed.guest_output.request_log import RequestLog
from flashbed.image import guest_parts
from flashbed.medium import parameter_list
from flashbed.report import folder as folders
from flashbed.report import on_terminal, updating
from flashbed.report.inputs import Manifest, ReportInputs
from flashbed.report.model import Report, report_of
from flashbed.result.store import Different, open_store
from flashbed.study.loading import Study
from flashbed.workload.fio.jobs import idle_depths

_log = logging.getLogger("flashbed")


def check_folder(study: Study, folder: Path) -> None:
    """Raise InputError, before the study is measured, if its report would overwrite a file of somebody else's. Raise
    HostResourceError if the host refuses to look.
    """
    try:
        folders.check(folder, _owner(study, folder))
    except OSError as error:
        raise host_refusal(folder, error) from None


def warn(study: Study) -> None:
    """Log implausible media of the study, and options of its fio jobs without effect, before it is measured."""
    for sentence in parameter_list.cautions(study):
        _log.warning("%s", sentence)
    for name, text in (study.job or {}).items():
        for line, why in idle_depths(text):
            _log.warning("%s:%d: iodepth changes nothing: %s", name, line, why)


@dataclass(frozen=True)
class WrittenReport:
    """A report, and where it is."""

    path: Path
    report: Report

    @property
    def lines(self) -> list[str]:
        """Return the answer and its reservations as lines for the terminal."""
        return on_terminal.lines(self.report)


def write(done: Run, folder: Path) -> WrittenReport:
    """Write report.html and the exports into `folder`, unless they are there and up to date.

    Raises HostResourceError if the host refuses or a result was damaged in the meantime, InputError if the report would
    overwrite a file of somebody else's.
    """
    inputs = _inputs(done)
    for sentence in inputs.left_out:
        _log.warning("%s", sentence)
    try:
        report = report_of(inputs)
        path = updating.bring_up_to_date(inputs, report, folder, _owner(done.study, folder))
    except OSError as error:
        raise host_refusal(folder, error) from None
    return WrittenReport(path, report)


def _inputs(done: Run) -> ReportInputs:
    imported = kept(done.study)
    return ReportInputs(
        study=done.study,
        rows=rows(done),
        manifest=_manifest(done),
        consoles={record.result.key: _last_lines(record) for record in done.failures},
        logs={
            record.result.key: partial(_requests, record)
            for record in done.records
            if record.repetition.cell.logs_requests
        },
        elsewhere=list(table_rows(imported.results, list(done.study.axes))),
        left_out=imported.left_out,
    )


def announcer(study: Study) -> Callable[[Sequence[Record]], None]:
    """Return what prints a line for each cell of a run when it has been measured."""
    arrivals = cache(lambda: on_terminal.Arrivals(study))  # a run that measures nothing needs none

    def announce(records: Sequence[Record]) -> None:
        if line := arrivals().line([record.result for record in records]):
            progress.say(f"  {line}")

    return announce


def agree(different: Sequence[Different]) -> None:
    """Raise DifferentResultsError if any repetition gave two results."""
    if not different:
        return
    pairs = "".join(f"\n  {pair.kept}\n  {pair.other}\n" for pair in different)
    raise DifferentResultsError(
        "THE SAME REPETITION GAVE DIFFERENT RESULTS. This must never happen; do not trust either until it is explained."
        f"{pairs}Compare the two folders and tell the project. Then remove the second; remove the first, too, to "
        "measure it again."
    )


def _owner(study: Study, folder: Path) -> str:
    return folders.owner(folder, study.path, shipped=study.is_shipped)


def _manifest(done: Run) -> Manifest:
    """Return what was the same over the whole study, or can be listed: program, kernels, emulator, guest, and every
    profile in full.
    """
    repetitions = [record.repetition for record in done.records]
    versions = {"flashbed": version("flashbed")}
    for name in ("emulator", "kernel", "base"):
        versions[name] = ", ".join(sorted({repetition.environment[name] for repetition in repetitions}))
    versions["kernel source package"] = ", ".join(
        sorted({repetition.image.kernel.package_version for repetition in repetitions})
    )
    parameters = {}
    for kind in ("board", "medium"):
        # If two profiles have the same title, the study gave them different options: list each with its own parameters.
        profiles = {
            {**done.study.fixed, **entry.cell.coordinates}[kind]: getattr(entry.cell, kind) for entry in repetitions
        }
        titles = [profile.title for profile in profiles.values()]
        for selector, profile in profiles.items():
            name = profile.title if titles.count(profile.title) == 1 else f"{profile.title} ({selector})"
            parameters[f"{kind}: {name}"] = profile.model_dump(exclude={"title", "source"})
    return Manifest(versions, _own_modules(repetitions), done.coverage, parameters)


def _own_modules(repetitions: Sequence[Repetition]) -> dict[str, str]:
    """Return the modules that the study brings, by name: the name of the directory, and the first digits of the build's
    digest as in the keys, one for each kernel.
    """
    builds: dict[str, dict[str, None]] = {}
    for repetition in repetitions:
        for name, folder in own_modules(repetition.cell):
            digest = repetition.environment[guest_parts.module_part(name)]
            builds.setdefault(name, {})[f"{folder.name} {digest[:12]}"] = None
    return {name: ", ".join(sorted(labels)) for name, labels in sorted(builds.items())}


def _requests(record: Record) -> RequestLog:
    """Return a kept log of requests. Results are checked before a run measures; the log is read after that, so it is
    checked again.
    """
    try:
        log = request_log.read(record.folder / "out")
    except (OSError, ValueError):
        log = None
    if open_store().get(record.result.key) is None or log is None:
        raise HostResourceError(f"{record.folder}: was damaged before the report was drawn; run the study again")
    return log


def _last_lines(record: Record) -> list[str]:
    console = record.folder / "console.log"
    return console.read_text(errors="replace").splitlines()[-20:] if console.is_file() else []
