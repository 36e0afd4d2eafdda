# SPDX-License-Identifier: Apache-2.0
"""Return SHA-256 digests in hexadecimal, of bytes, JSON values and files. Must not know what they mean."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def digest_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest_json(value: Any) -> str:
    """Return the digest of a JSON value. The order of keys does not matter."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return digest_bytes(canonical.encode())


def digest_file(path: Path) -> str:
    """Return the digest of all bytes of a file. A hole counts as zeros."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
