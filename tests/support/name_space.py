# SPDX-License-Identifier: Apache-2.0
"""Name spaces of a test's own: what is mounted in one is seen by its commands alone. Root is not needed."""

from __future__ import annotations

import subprocess

import pytest

NO_ROOT = ("unshare", "--user", "--map-root-user", "--mount")
"""What a command begins with that runs in one, as its root."""


def refusal() -> str:
    """Why this host has none; "" if it has."""
    done = subprocess.run([*NO_ROOT, "true"], capture_output=True, text=True)
    return f"this host refuses user name spaces ({done.stderr.strip()})" if done.returncode else ""


def wanted() -> None:
    """Skips the test where there is none."""
    if why := refusal():
        pytest.skip(why)
