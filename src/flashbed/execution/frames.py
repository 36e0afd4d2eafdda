# SPDX-License-Identifier: Apache-2.0
"""Results and requests as data frames, for notebooks and scripts: what `import flashbed` offers.

Who calls this writes Python, so also a wrong type gets a sentence. Must not know how anything is measured.
"""

from __future__ import annotations

import os
from dataclasses import asdict

import pandas

from flashbed.common.errors import InputError
from flashbed.common.tomlfile import shown
from flashbed.execution import run
from flashbed.guest_output import request_log
from flashbed.study.loading import load_study


def results(study: object) -> pandas.DataFrame:
    """What the store has of a study, a row a repetition. `study` is a file or a name, as for the commands. Raises
    InputError.
    """
    if not isinstance(study, str | os.PathLike) or not (name := os.fspath(study)) or not isinstance(name, str):
        raise InputError(f'results({_said(study)}): wants the name of a study or its file, such as results("quick")')
    return pandas.DataFrame(run.rows(run.stored(load_study(run.find_study(name)))))


def requests(key: object) -> pandas.DataFrame:
    """The requests of the repetition whose key starts with `key`, a row a request in order of arrival: operation,
    begun_ns and done_ns since the measurement began, offset_bytes, length_bytes.

    Raises InputError if there is no such repetition, or if it kept no log.
    """
    if not isinstance(key, str):
        raise InputError(
            f"requests({_said(key)}): wants the key of a repetition as a text; the column key of results() has it"
        )
    found = run.open_store().find(key)
    try:
        log = request_log.read(found.folder / "out")
    except (FileNotFoundError, ValueError):
        raise InputError(
            f"{key}: kept no log of its requests; a [[trace]] in the study makes the cells that it shows keep one"
        ) from None
    return pandas.DataFrame(asdict(request) for request in log.requests)


def _said(value: object) -> str:
    return shown(repr(value))
