# SPDX-License-Identifier: Apache-2.0
"""The TOML format of a translation layer, which makes a block device of raw flash in the guest's kernel.

Must not know any translation layer by name, nor how a guest runs. A profile says what to load, what to run, and where
the block device is.
"""

from collections.abc import Iterator

from pydantic import Field

from flashbed.common.tomlfile import Problem
from flashbed.profiles.profile import Medium, Profile, package_problems


class Translation(Profile):
    """The layer between raw flash and a file system that needs a block device. Without a device, there is none."""

    device: str | None = Field(default=None, min_length=1, description="the block device that it offers")
    module: str | None = Field(default=None, min_length=1, description="kernel module to load, if it is not built in")
    arguments: str = Field(default="", description="arguments of the module besides parameters")
    parameters: dict[str, int] = Field(
        default_factory=dict, description="parameters of the module that a study may set"
    )
    packages: tuple[str, ...] = Field(default=(), strict=False, description="Debian packages of its tools")
    programs: tuple[str, ...] = Field(default=(), strict=False, description="programs for the guest, absolute paths")
    commands: tuple[str, ...] = Field(
        default=(), strict=False, description="commands that make the layer on the flash {device}"
    )
    bad_blocks: bool = Field(
        default=True, description="true if the layer tolerates blocks that are bad from the factory"
    )
    logs_requests: bool = Field(default=False, description="its module takes record=N, for figures of requests")
    counters: str = Field(default="", description="file of the guest with its counters, a line name:value each")

    @property
    def module_arguments(self) -> str:
        """Return insmod's arguments after the module's file."""
        return " ".join([self.arguments, *(f"{name}={value}" for name, value in self.parameters.items())]).strip()

    def problems(self) -> Iterator[Problem]:
        """Yield contradictions, and numbers without a source."""
        yield from self._source_problems()
        yield from package_problems(self.packages, self.programs)
        if self.device is None and (self.module or self.commands or self.counters):
            yield Problem(("device",), "is missing: the block device that the module and the commands make")
        if (self.arguments or self.parameters) and not self.module:
            yield Problem(("module",), "is missing: whose arguments these are")
        if self.parameters and not self.source.get("parameters", "").strip():
            yield Problem(("parameters",), 'has no source; add parameters = "..." under [source]')


def has_queue(medium: Medium, translation: Translation) -> bool:
    """Return True if requests pass the block layer, where a scheduler can order them. Raw flash bypasses it."""
    return medium.provides == "block" or translation.device is not None
