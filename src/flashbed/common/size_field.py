# SPDX-License-Identifier: Apache-2.0
"""Define a size as a field of studies and profiles. It is separate from units.py, which must work without pydantic."""

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from flashbed.common.units import parse_size


def _size_from_toml(value: Any) -> Any:
    return parse_size(value) if isinstance(value, str) else value


Size = Annotated[
    int,
    BeforeValidator(_size_from_toml),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0},
                {"type": "string", "pattern": r"^\d+\s*[kKmMgGtT]?(i?[bB])?$"},
            ],
            "description": 'bytes, or a size such as "16k" or "2G"',
        }
    ),
]
"""A pydantic field of bytes that also takes a size as text."""
