# SPDX-License-Identifier: Apache-2.0
"""The workload tools. Only `WORKLOADS` lists them; other packages can add theirs."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from flashbed.common import plugins
from flashbed.workload.base import Workload
from flashbed.workload.bonnie import Bonnie
from flashbed.workload.bonnie_plus import BonniePlus
from flashbed.workload.fio.workload import Fio
from flashbed.workload.fxmark import Fxmark
from flashbed.workload.iozone import Iozone
from flashbed.workload.nfs import Nfs
from flashbed.workload.program import UserProgram
from flashbed.workload.trace import TraceReplay


class _Workloads(Mapping[str, Workload]):
    """The workload tools by their name in a study.

    Tools of other packages are loaded at first use, because those packages import from this one. That raises SetupError
    if a tool cannot be loaded.
    """

    @cached_property
    def _known(self) -> dict[str, Workload]:
        return {
            "fio": Fio(),
            "bonnie": Bonnie(),
            "bonnie++": BonniePlus(),
            "iozone": Iozone(),
            "fxmark": Fxmark(),
            "nfs": Nfs(),
            "trace": TraceReplay(),
            "program": UserProgram(),
            **plugins.workloads(),
        }

    def __getitem__(self, tool: str) -> Workload:
        return self._known[tool]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


WORKLOADS = _Workloads()
