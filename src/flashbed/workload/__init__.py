# SPDX-License-Identifier: Apache-2.0
"""The tools that make load. `WORKLOADS` is the only place that lists them; other packages add theirs."""

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


class _Workloads(Mapping[str, Workload]):
    """By the word that a study has for each. Raises SetupError when it is first used, if what another package adds
    cannot be loaded: that package imports from this one, so it is not looked for before.
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
            **plugins.workloads(),
        }

    def __getitem__(self, tool: str) -> Workload:
        return self._known[tool]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


WORKLOADS = _Workloads()
