# SPDX-License-Identifier: Apache-2.0
"""A workload for power cuts: it appends rows to a file, flushes each one, and acknowledges it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from flashbed.guest_output import power_cuts
from flashbed.guest_output.power_cuts import ACKNOWLEDGED, Acknowledged
from flashbed.workload.base import CHECK, Count, Needs, Parameters, SinglePhase, ToolParameters

TOOL = "appender"

_TOLD = "told"

_CHECK = f"""\
told=$(tail -n 1 /job/{ACKNOWLEDGED})
cat /mnt/log >/tmp/log || exit 2
n=0
while [ $n -lt ${{told:-0}} ]; do
	n=$((n + 1))
	echo "row $n"
done >/tmp/wanted
head -n ${{told:-0}} /tmp/log | cmp - /tmp/wanted || exit 1
"""


class AppenderParameters(ToolParameters):
    """How many rows it appends, and whether it flushes them."""

    sized_by = "rows"

    rows: Count = Field(ge=1)
    flush: Literal["fsync", "none"] = "fsync"

    def bytes_on_medium(self) -> int:
        return self.rows * 16

    def describe_bytes(self) -> str:
        return f"rows = {self.rows}"


class Appender(SinglePhase):
    """The workload. It is listed only where a test lists it."""

    parameters: type[ToolParameters] = AppenderParameters
    built: tuple[str, ...] = ()
    begins_with: tuple[str, ...] = ()
    own_files: tuple[str, ...] = ()

    def needs(self, parameters: Parameters) -> Needs:
        return Needs(calls=True)

    def title(self, parameters: Parameters) -> str:
        return "rows appended to a file"

    def headline(self, values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        return ("cuts_survived",)

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        parsed = AppenderParameters.model_validate(dict(parameters))
        flushed = ",fsync" if parsed.flush == "fsync" else ""
        measure = f"""\
n=0
while [ $n -lt {parsed.rows} ]; do
	n=$((n + 1))
	echo "row $n" | dd of=/mnt/log oflag=append conv=notrunc{flushed} 2>/dev/null || exit
	echo $n >>/out/{_TOLD}
done
"""
        return {"prepare": b": >/mnt/log\nsync\n", "measure": measure.encode()}

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        return {}

    def silent(self, parameters: Parameters) -> str:
        return "it tells no rate"

    def checks(self, parameters: Parameters) -> bool:
        return True

    def check_files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        return {CHECK: _CHECK.encode()}

    def acknowledged(self, out: Mapping[str, bytes]) -> Sequence[Acknowledged]:
        return power_cuts.acknowledged(out, _TOLD)
