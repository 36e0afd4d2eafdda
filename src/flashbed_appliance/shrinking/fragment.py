# SPDX-License-Identifier: Apache-2.0
"""A kernel configuration fragment: settings in groups, each with its reason.

The files are plain Kconfig fragments (`CONFIG_X=y`, `# CONFIG_X is not set`), so the kernel's own scripts read them. A
comment `#: words` begins a group; the comment lines directly above a setting are its reason. Knows the format only:
whether an option exists is decided when the kernel is configured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import own_file
from flashbed.common.errors import InputError

SET = re.compile(r'(?P<option>CONFIG_\w+)=(?P<value>[ymn]|-?\d+|0x[0-9a-fA-F]+|"[^"]*")')
UNSET = re.compile(r"# (?P<option>CONFIG_\w+) is not set")
GROUP = "#: "
NO_GROUP = "Others"

COLUMNS = {"y": "built in", "m": "module", "n": "left out"}
"""The three states of an option of type y, m, n."""


@dataclass(frozen=True)
class ConfigSetting:
    """One option. `value` is y, m, n, a number or a quoted string, as Kconfig writes it."""

    option: str
    value: str
    reason: str
    group: str
    file: Path
    line: int

    @property
    def column(self) -> str:
        """Return "built in", "module" or "left out"; for an option with another value, the value."""
        return COLUMNS.get(self.value, self.value)

    @property
    def text(self) -> str:
        """Return the setting as Kconfig writes it."""
        return line_of(self.option, self.value)


class Fragment:
    """Settings in order. If an option is set twice, the later setting applies."""

    def __init__(self, settings: Iterable[ConfigSetting]) -> None:
        self._settings: dict[str, ConfigSetting] = {}
        for setting in settings:
            self._settings.pop(setting.option, None)
            self._settings[setting.option] = setting

    def __iter__(self) -> Iterator[ConfigSetting]:
        return iter(self._settings.values())

    def __contains__(self, option: str) -> bool:
        return option in self._settings

    def __getitem__(self, option: str) -> ConfigSetting:
        return self._settings[option]

    @property
    def text(self) -> str:
        """Return the fragment as Kconfig reads it."""
        return "".join(f"{setting.text}\n" for setting in self)

    def changed(self, option: str, value: str) -> str:
        """Return the fragment as Kconfig reads it, with another value for one option."""
        lines = [setting.text for setting in self if setting.option != option]
        return "".join(f"{line}\n" for line in (*lines, line_of(option, value)))


def line_of(option: str, value: str) -> str:
    """Return a setting as Kconfig writes it."""
    return f"# {option} is not set" if value == "n" else f"{option}={value}"


def read(files: Sequence[Path]) -> Fragment:
    """Read the settings of these files.

    Raises InputError for a missing file, a line that is no setting, an option without a reason, and an option that is
    set twice in one file.
    """
    return Fragment(setting for file in files for setting in _settings(file))


def values(config: str) -> dict[str, str]:
    """Return the value of each option that a .config names; n if it is not set."""
    value_by_option = {}
    for line in config.splitlines():
        if match := SET.fullmatch(line):
            value_by_option[match["option"]] = match["value"]
        elif match := UNSET.fullmatch(line):
            value_by_option[match["option"]] = "n"
    return value_by_option


def _settings(file: Path) -> Iterator[ConfigSetting]:
    group, reason = NO_GROUP, ""
    seen: dict[str, int] = {}
    for number, line in enumerate(_lines(file), start=1):
        match = UNSET.fullmatch(line) or SET.fullmatch(line)
        if line.startswith(GROUP):
            group, reason = line.removeprefix(GROUP).strip(), ""
        elif match:
            option = match["option"]
            if option in seen:
                raise InputError(f"{file}:{number}: {option} is already set on line {seen[option]}; keep one of them")
            if not reason:
                raise InputError(f"{file}:{number}: {option} has no reason; write it as a comment on the line above")
            seen[option] = number
            yield ConfigSetting(option, match.groupdict().get("value", "n"), reason, group, file, number)
            reason = ""
        elif line.startswith("#"):
            reason = f"{reason} {line.lstrip('# ')}".strip()
        elif line:
            raise InputError(
                f"{file}:{number}: {line[:60]!r} is no setting; write CONFIG_NAME=y, CONFIG_NAME=m, "
                '"# CONFIG_NAME is not set", or a number or a quoted string after the ='
            )
        else:
            reason = ""


def _lines(file: Path) -> list[str]:
    try:
        return [line.strip() for line in own_file.read(file).decode().splitlines()]
    except FileNotFoundError:
        raise InputError(f"{file}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{file}: is a directory; name a fragment in it") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: not UTF-8 text; a fragment has lines such as CONFIG_INET=y") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
