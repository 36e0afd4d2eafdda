# SPDX-License-Identifier: Apache-2.0
"""A package beside flashbed with entry points, as an installer lays it."""

from __future__ import annotations

import tomllib
from pathlib import Path


def installed(folder: Path, described: str) -> str:
    """Write the metadata of the package that a pyproject.toml describes. `folder` belongs on PYTHONPATH."""
    project = tomllib.loads(described)["project"]
    name, version = project["name"].replace("-", "_"), project["version"]
    metadata = folder / f"{name}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in named.items()) for group, named in groups]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    return str(folder)
