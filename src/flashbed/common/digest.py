# SPDX-License-Identifier: Apache-2.0
"""SHA-256 in hexadecimal, of bytes and of files. Must not know what is in them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def digest_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest_json(value: Any) -> str:
    """Of a value of JSON, however its tables are ordered."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return digest_bytes(canonical.encode())


def digest_file(path: Path) -> str:
    """Of all its bytes, holes too."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
