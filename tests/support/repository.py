# SPDX-License-Identifier: Apache-2.0
"""The repository that contains the tests."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
