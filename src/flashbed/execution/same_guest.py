# SPDX-License-Identifier: Apache-2.0
"""Repetitions whose guests are the same to the last byte: one is run, the others take what came of it.

A cell on raw flash has no queue, so its guest has nothing of the scheduler that the study names beside it: four
schedulers are four cells and one guest, which gives the same bytes each time. With a study's first seed each cell is
run all the same: if the guests were not one, or the bytes not the same, the results of that seed would differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from flashbed.execution.repetition import Repetition
from flashbed.execution.store import Store, StoredResult
from flashbed.study.plan import cell_inputs

Twins = Mapping[str, Sequence[str]]
"""By the key of a repetition, the keys of those with the same guest."""

RUN_AS = "run_as"
"""In a result: the key of the repetition that was run."""

_TOLD_TO_THE_GUEST = "scheduler"
"""What of a cell reaches its result by its job and its modules alone, whose digests are in the environment."""


def twins(wanted: Iterable[Repetition], always_run: int) -> Twins:
    """Of those that have any; with the seed `always_run` none has."""
    groups: dict[str, list[str]] = {}
    for one in wanted:
        if one.cell.seed == always_run:
            continue
        groups.setdefault(_guest(one), []).append(one.key)
    return {key: [other for other in keys if other != key] for keys in groups.values() if len(keys) > 1 for key in keys}


def _guest(one: Repetition) -> str:
    cell = {name: value for name, value in cell_inputs(one.cell).items() if name != _TOLD_TO_THE_GUEST}
    return json.dumps([cell, dict(one.environment)], sort_keys=True)


def taken_over(store: Store, wanted: Repetition, twins: Twins) -> StoredResult | None:
    """Keeps what a twin of `wanted` gave as its result; None if none was measured yet. Raises HostResourceError."""
    for key in twins.get(wanted.key, ()):
        found = store.get(key)
        if found is None or found.result["outcome"] != "measured":
            continue
        own = {
            "key": wanted.key,
            "coordinates": dict(wanted.cell.coordinates),
            "cell": cell_inputs(wanted.cell),
            RUN_AS: found.result.get(RUN_AS, key),
        }
        return store.put(wanted.key, {name: found.path(name) for name in found.names()}, {**found.result, **own})
    return None
