# SPDX-License-Identifier: Apache-2.0
"""The tools that make load. `WORKLOADS` is the only place that lists them."""

from flashbed.workload.base import Workload
from flashbed.workload.bonnie import Bonnie
from flashbed.workload.bonnie_plus import BonniePlus
from flashbed.workload.fio.workload import Fio
from flashbed.workload.fxmark import Fxmark
from flashbed.workload.iozone import Iozone
from flashbed.workload.nfs import Nfs

WORKLOADS: dict[str, Workload] = {
    "fio": Fio(),
    "bonnie": Bonnie(),
    "bonnie++": BonniePlus(),
    "iozone": Iozone(),
    "fxmark": Fxmark(),
    "nfs": Nfs(),
}
