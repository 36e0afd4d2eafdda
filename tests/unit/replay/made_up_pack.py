# SPDX-License-Identifier: Apache-2.0
"""A small pack with a made-up repetition, for tests of reading and reporting packs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flashbed.common.digest import digest_bytes, digest_json
from flashbed.packs import making
from flashbed.replay.recipe import Check, Recipe

KERNEL, BASE, JOB, STATE = b"a kernel", b"the guest's programs", b"a job", b"a state"
MACHINE = ("-machine", "virt", "-seed", "7")
KEY_VERSION = 2


def result() -> dict[str, Any]:
    """Return the result as the store keeps it, with the key of its inputs."""
    environment = {"machine": " ".join(MACHINE), "kernel": digest_bytes(KERNEL), "base": digest_bytes(BASE)}
    cell = {"seed": 7, "filesystem": "ext2"}
    key = digest_json({"version": KEY_VERSION, "cell": cell, "environment": environment})
    document = {
        "key": key,
        "seed": 7,
        "coordinates": {"filesystem": "ext2"},
        "cell": cell,
        "environment": environment,
        "outcome": "measured",
        "check": "",
    }
    return document


def recipe() -> Recipe:
    """Return the recipe of the result."""
    return Recipe(
        key=result()["key"],
        label="ext2, seed 7",
        machine=MACHINE,
        kernel=digest_bytes(KERNEL),
        symbols=None,
        archives=(("base", digest_bytes(BASE)), ("job", digest_bytes(JOB))),
        state=digest_bytes(STATE),
        content=4096,
        ram_bytes=1 << 20,
        content_bytes=4096,
        check=Check("fsck", ("-n", Check.DATA)),
    )


def write(to: Path, change: Callable[[dict[str, Any], dict[str, bytes]], object] = lambda *_: None) -> Path:
    """Write the pack. `change` may alter the content of pack.json and the members before the digests are computed."""
    files = {f"files/{digest_bytes(data)}": data for data in (KERNEL, BASE, JOB, STATE)}
    results = {"result.json": json.dumps(result()).encode(), "console.log": b"booted\n", "out/fio.json": b"{}\n"}
    members = files | {f"results/{recipe().key}/{name}": data for name, data in results.items()}
    members[f"kernels/{digest_bytes(KERNEL)}"] = b"CONFIG_NET=y\n# CONFIG_IPV6 is not set\nCONFIG_HZ=100\n"
    contents = {
        "format": 1,
        "flashbed": "0.0",
        "key_version": KEY_VERSION,
        "study": {"name": "made-up", "title": "A title"},
        "recipes": [recipe().to_json()],
        "programs": {"fsck": {"program": digest_bytes(STATE), "loader": None, "libraries": {}}},
        "names": {digest_bytes(KERNEL): "the kernel 6.1.1-1"},
    }
    change(contents, members)
    making.write(to, contents, {}, members)
    return to
