# SPDX-License-Identifier: Apache-2.0
"""What failed cells say of the study's profiles: a module that the guest's kernel does not take, and a name that the
kernel does not know when it has taken the module.

The reason in a result is the guest's, and holds no place of this host; who runs the study is told the file and line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flashbed.execution.measuring import Record
from flashbed.execution.repetition import own_modules
from flashbed.profiles.library import Kind, Selector
from flashbed.study.loading import Study

NOT_TAKEN = "insmod: can't insert '/lib/flashbed/{}.ko': "
"""What the guest says of a module; why comes behind it."""


def of_profiles(study: Study, failures: Iterable[Record]) -> list[str]:
    """A sentence for each line of a profile that is the likely cause, with file and key."""
    return list(dict.fromkeys(hint for one in failures for hint in _of(study, one)))


def _of(study: Study, record: Record) -> Iterator[str]:
    cell, reason = record.repetition.cell, str(record.result["reason"])
    for module, folder in own_modules(cell):
        _, found, why = reason.partition(NOT_TAKEN.format(module))
        if found:
            kind: Kind = "filesystem" if module == cell.filesystem.module else "scheduler"
            refused = f"the guest's kernel did not take {module}, made from {folder} ({why})"
            what = "look at what its init returns, and at the names that it wants of the kernel"
            yield _message(study, record, kind, ("module",), f"{refused}: {what}")
            return
    if reason.startswith("step mount: ") and "No such device" in reason:
        device = cell.filesystem.mount_device.replace("{device}", "device")
        unknown = f'the guest knows no file system "{cell.filesystem.mount_type}", or has no {device}'
        names = "a module registers its name as .name of a file_system_type"
        yield _message(study, record, "filesystem", ("mount", "type"), f"{unknown}; {names}")
    elif reason.startswith("step scheduler: ") and "Invalid argument" in reason:
        unknown = f'the guest knows no scheduler "{cell.scheduler.name}", or one of these numbers is out of its range'
        names = "a module registers its name as .elevator_name"
        yield _message(study, record, "scheduler", ("name",), f"{unknown}; {names}")


def _message(study: Study, record: Record, kind: Kind, keys: tuple[str, ...], text: str) -> str:
    said = {**study.fixed, **record.repetition.cell.coordinates}[kind]
    return study.library.file(kind, Selector.parse(said).name).message(keys, text)
