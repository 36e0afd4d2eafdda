# SPDX-License-Identifier: Apache-2.0
"""Whether results name what lies beside them: a result's key is the hash of its inputs, and among these are digests of
the files that the pack has.

So a pack in which somebody changed a kernel, a program, a seed or a result says so before anything runs. What no digest
in a result stands for, the run itself shows. Must not know how a pack lies on disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flashbed.common.digest import digest_json
from flashbed.packs.recipe import Recipe

JOB = "job"
"""The archive whose digest is in no result: it has that of the files in it."""


def doubts(recipe: Recipe, result: Mapping[str, Any], key_version: int) -> Iterator[str]:
    """A sentence for each thing that the result says otherwise than the recipe."""
    environment = result["environment"]
    if result["key"] != recipe.key:
        yield "the result is that of another repetition"
    if digest_json({"version": key_version, "cell": result["cell"], "environment": environment}) != result["key"]:
        yield "the result's key is not that of its inputs: one of them was changed"
    if result["seed"] != result["cell"]["seed"]:
        yield f"the result says seed {result['seed']}, and its inputs {result['cell']['seed']}"
    yield from _machine(environment["machine"], " ".join(recipe.machine))
    yield from _other("kernel", environment["kernel"], recipe.kernel)
    for name, digest in recipe.archives:
        if name != JOB:
            yield from _other(f"archive {name}", environment.get(name), digest)


def _machine(wanted: str, found: str) -> Iterator[str]:
    if wanted == found:
        return
    pairs = zip(wanted.split(), found.split(), strict=False)
    mine, its = next(((a, b) for a, b in pairs if a != b), (wanted, found))
    yield f"the machine is another than the one measured: {its}, and not {mine}"


def _other(what: str, wanted: str | None, found: str) -> Iterator[str]:
    if wanted is None:
        yield f"the {what} is not among what was measured with"
    elif wanted != found:
        yield f"the {what} is another than the one measured with: {found[:12]}, and not {wanted[:12]}"
