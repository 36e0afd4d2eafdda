# SPDX-License-Identifier: Apache-2.0
"""The TOML format of a file system: its tools, its options, and its commands.

A profile and the options of a study give a ResolvedFileSystem: commands in which only {device} or {image} is left to
fill in. Must not know any file system by name, nor run anything.
"""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from flashbed.common.tomlfile import Problem, Size, nearest
from flashbed.common.units import describe_size
from flashbed.profiles.option import Option, Value, option_problems, placeholder_problems
from flashbed.profiles.profile import MODULE_SOURCE, Profile, Strict, package_problems

COMPRESSION = "compression"
"""The name of the option that chooses the compression. Its value "none" stores data uncompressed."""


class Mount(Strict):
    """How to mount the file system."""

    type: str = Field(min_length=1, description="mount -t")
    options: str = Field(default="", description="mount -o, before those of the profile's options")
    flags: str = Field(default="", description="further flags of mount")
    device: str = Field(default="{device}", description="the device to mount, if it is not the medium's own")


class FileSystem(Profile):
    """A file system's profile."""

    needs: Literal["block", "mtd"] = Field(description="the kind of medium: a block device, or raw flash")
    most_bits_per_cell: int | None = Field(
        default=None, ge=1, description="raw flash with more bits per cell is refused"
    )
    min_bytes: Size = Field(default=0, ge=0, description="smallest medium, bytes")
    max_bytes: Size | None = Field(default=None, gt=0, description="largest medium, bytes")
    packages: tuple[str, ...] = Field(default=(), strict=False, description="Debian packages of its tools")
    programs: tuple[str, ...] = Field(default=(), strict=False, description="programs for the guest, absolute paths")
    module: str | None = Field(default=None, min_length=1, description="kernel module to load, if it is not built in")
    module_source: str | None = Field(default=None, min_length=1, description=MODULE_SOURCE)
    mkfs: tuple[str, ...] = Field(strict=False, min_length=1, description="commands that make it, in order")
    attach: tuple[str, ...] = Field(default=(), strict=False, description="commands before each mount, in order")
    detach: tuple[str, ...] = Field(
        default=(), strict=False, description="commands after the unmount that undo attach, in order"
    )
    mount: Mount
    reclaims: bool = Field(default=True, description="false: freed space is never written again")
    settle_us: int = Field(default=0, ge=0, description="pause after mounting, before the study's files, virtual us")
    repair: tuple[str, ...] = Field(
        default=(), strict=False, description="commands in the guest, in order, if it does not mount after a power cut"
    )
    check: str = Field(default="", description="host command on the image; an exit code other than 0 means damage")
    options: dict[str, Option] = Field(default_factory=dict)

    def problems(self) -> Iterator[Problem]:
        """Yield the contradictions in the profile."""
        for index, command in enumerate(self.mkfs):
            yield from placeholder_problems(("mkfs", index), command, {"device", "options"})
        for place in ("attach", "detach", "repair"):
            for index, command in enumerate(getattr(self, place)):
                yield from placeholder_problems((place, index), command, {"device"})
        yield from placeholder_problems(("mount", "device"), self.mount.device, {"device"})
        yield from placeholder_problems(("check",), self.check, {"image"})
        if self.check and "{image}" not in self.check:
            yield Problem(("check",), "does not say {image}, the file to check")
        if not self.check.isprintable():
            yield Problem(("check",), "has characters that cannot be printed; it must be read before it is allowed")
        try:
            shlex.split(self.check)
        except ValueError as error:
            yield Problem(("check",), f"cannot be split into words: {str(error).lower()}")
        yield from package_problems(self.packages, self.programs)
        if any(option.mkfs for option in self.options.values()) and not any("{options}" in c for c in self.mkfs):
            yield Problem(("mkfs",), "does not say {options}, so that the options with mkfs would be lost")
        for name, option in self.options.items():
            yield from option_problems(("options", name), option)
        if self.module_source and not self.module:
            yield Problem(("module_source",), "needs module, the name of the module that it makes")
        for name in [name for name, option in self.options.items() if option.module][1:]:
            yield Problem(("options", name, "module"), "is the second: only one option can choose the module")

    def resolve(self, chosen: Mapping[str, str]) -> "ResolvedFileSystem":
        """Return the commands with these options. Raises ValueError for an unknown option or a value that does
        not fit.
        """
        values = self._values(chosen)
        for_mkfs = [o.render(o.mkfs, values[n]) for n, o in self.options.items() if n in values and o.mkfs]
        for_mount = [o.render(o.mount, values[n]) for n, o in self.options.items() if n in values and o.mount]
        other_module = [o.module for n, o in self.options.items() if values.get(n) not in (None, False) and o.module]
        smallest, largest, why = self._limits(values)
        return ResolvedFileSystem(
            title=self.title,
            needs=self.needs,
            most_bits_per_cell=self.most_bits_per_cell,
            min_bytes=smallest,
            max_bytes=largest,
            limit_reason=why,
            packages=self.packages,
            programs=self.programs,
            module=other_module[0] if other_module else self.module,
            mkfs=tuple(_squeeze(command.replace("{options}", " ".join(for_mkfs))) for command in self.mkfs),
            attach=self.attach,
            detach=self.detach,
            mount_type=self.mount.type,
            mount_options=",".join(part for part in (self.mount.options, *for_mount) if part),
            mount_flags=self.mount.flags,
            mount_device=self.mount.device,
            settle_us=self.settle_us,
            check=self.check,
            repair=self.repair,
            reclaims=self.reclaims,
            compresses=COMPRESSION in self.options and values.get(COMPRESSION) != "none",
        )

    def _values(self, chosen: Mapping[str, str]) -> dict[str, Value]:
        for name in chosen:
            if name not in self.options:
                known = nearest(name, self.options) if self.options else "; this file system has none"
                raise ValueError(f'no option "{name}"{known}')
        values: dict[str, Value] = {}
        for name, option in self.options.items():
            try:
                value = option.parse(chosen[name]) if name in chosen else option.default_value()
            except ValueError as error:
                raise ValueError(f'option "{name}" {error}') from None
            if value is not None:
                values[name] = value
        return values

    def _limits(self, values: Mapping[str, Value]) -> tuple[int, int | None, str]:
        """Return the smallest and the largest medium, and the option that sets the largest, for messages."""
        smallest, largest, why = self.min_bytes, self.max_bytes, ""
        for name, option in self.options.items():
            value = values.get(name)
            if type(value) is not int:
                continue
            if option.min_units:
                smallest = max(smallest, option.min_units * value)
            if option.max_units:
                holds = option.max_units * value + option.overhead_bytes
                if largest is None or holds < largest:
                    largest, why = holds, f"{option.max_units} x {name} {option.show(value)}"
        return smallest, largest, why


@dataclass(frozen=True)
class ResolvedFileSystem:
    """A file system with its options chosen. Only {device} or {image} is left to fill in in its commands."""

    title: str
    needs: str
    most_bits_per_cell: int | None
    min_bytes: int
    max_bytes: int | None
    limit_reason: str
    packages: tuple[str, ...]
    programs: tuple[str, ...]
    module: str | None
    mkfs: tuple[str, ...]
    attach: tuple[str, ...]
    detach: tuple[str, ...]
    mount_type: str
    mount_options: str
    mount_flags: str
    mount_device: str
    settle_us: int
    check: str
    compresses: bool = False
    """True if the file system compresses, so that fewer bytes reach the medium than were written."""
    reclaims: bool = True
    """False if the file system never writes freed space again, so that it cannot be aged."""
    repair: tuple[str, ...] = ()
    """Commands for a file system that does not mount after a power cut. Only cells with power cuts use them."""
    module_source: Path | None = None
    """The directory of a user's module; None if the module is the lab's or the kernel's."""

    def mkfs_commands(self, device: str) -> tuple[str, ...]:
        """Return the mkfs commands for the guest's shell, in order."""
        return tuple(command.replace("{device}", device) for command in self.mkfs)

    def attach_commands(self, device: str) -> tuple[str, ...]:
        """Return the commands before each mount."""
        return tuple(command.replace("{device}", device) for command in self.attach)

    def detach_commands(self, device: str) -> tuple[str, ...]:
        """Return the commands after the unmount that undo `attach_commands`."""
        return tuple(command.replace("{device}", device) for command in self.detach)

    def repair_commands(self, device: str) -> tuple[str, ...]:
        """Return the commands that repair the file system."""
        return tuple(command.replace("{device}", device) for command in self.repair)

    @property
    def repair_programs(self) -> tuple[str, ...]:
        """Return the programs of the repair that are named by an absolute path."""
        words = (command.split()[0] for command in self.repair if command.strip())
        return tuple(dict.fromkeys(word for word in words if word.startswith("/")))

    def mount_command(self, device: str, folder: str) -> str:
        """Return the mount command for the guest's shell."""
        options = f"-o {self.mount_options}" if self.mount_options else ""
        source = self.mount_device.replace("{device}", device)
        return _squeeze(f"mount {self.mount_flags} -t {self.mount_type} {options} {source} {folder}")

    def check_command(self, image: Path) -> list[str] | None:
        """Return the arguments of the host's checker, to run without standard input; None if there is no checker."""
        if not self.check:
            return None
        return [part.replace("{image}", str(image)) for part in shlex.split(self.check)]

    def misfit(self, size_bytes: int, bits_per_cell: int, medium: str) -> str | None:
        """Return why this file system cannot lie on a medium of this size and cell type; None if it can. The text
        follows the file system's name in a message.
        """
        if self.most_bits_per_cell is not None and bits_per_cell > self.most_bits_per_cell:
            return f"refuses flash with {bits_per_cell} bits a cell, as {medium} is"
        if size_bytes < self.min_bytes:
            return f"needs at least {describe_size(self.min_bytes)}, and {medium} has {describe_size(size_bytes)}"
        if self.max_bytes is not None and size_bytes > self.max_bytes:
            why = f" ({self.limit_reason})" if self.limit_reason else ""
            return f"holds at most {describe_size(self.max_bytes)}{why}, and {medium} has {describe_size(size_bytes)}"
        return None


def _squeeze(command: str) -> str:
    return " ".join(command.split())
