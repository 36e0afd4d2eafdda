# SPDX-License-Identifier: Apache-2.0
"""Name spaces for a test: only its commands see a mount in them. Root is not needed."""

from __future__ import annotations

import subprocess

import pytest

NO_ROOT = ("unshare", "--user", "--map-root-user", "--mount")
"""The beginning of a command that runs in a name space, as its root."""


def refusal() -> str:
    """Return why this host has no name spaces; "" if it has."""
    done = subprocess.run([*NO_ROOT, "true"], capture_output=True, text=True)
    return f"this host refuses user name spaces ({done.stderr.strip()})" if done.returncode else ""


def wanted() -> None:
    """Skip the test if this host has none."""
    if why := refusal():
        pytest.skip(why)
