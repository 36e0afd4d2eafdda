# SPDX-License-Identifier: Apache-2.0
"""An option of a file system: its values, and the text that each adds to the mkfs or mount command."""

import re
from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from flashbed.common.tomlfile import Problem, Size, nearest
from flashbed.common.units import format_size, parse_size
from flashbed.profiles.profile import Strict

_PLACEHOLDER = re.compile(r"\{(\w*)\}")
Value = int | str | bool


class Option(Strict):
    """An option that a study may set, as in "fat16:cluster=16k"."""

    meaning: str = Field(min_length=1, description="a line for people")
    kind: Literal["size", "int", "choice", "flag"]
    default: str | int | bool | None = Field(default=None, description="as a study would write it; none = not passed")
    choices: tuple[str, ...] = Field(default=(), strict=False, description="the only values allowed")
    min: Size | None = None
    max: Size | None = None
    power_of_two: bool = False
    divide: int = Field(default=1, ge=1, description="divisor of the value for the tool")
    mkfs: str = Field(default="", description="text added to {options} of mkfs; {value} is the value")
    mount: str = Field(default="", description="text added to the mount options; {value} is the value")
    module: str | None = Field(
        default=None, min_length=1, description="flag, choice: the module to load instead of the profile's"
    )
    min_units: int | None = Field(default=None, ge=1, description="the least number of such units in the file system")
    max_units: int | None = Field(default=None, ge=1, description="the largest number of such units in the file system")
    overhead_bytes: Size = Field(default=0, ge=0, description="space on the medium beside max_units, bytes")

    def parse(self, text: str) -> Value:
        """Return the value in `text`. Raises ValueError with a message that follows the option's name."""
        if self.kind == "flag":
            if text not in ("on", "off"):
                raise ValueError(f'is on or off, not "{text}"')
            return text == "on"
        if self.kind == "choice":
            if text not in self.choices:
                raise ValueError(f'cannot be "{text}"{nearest(text, self.choices)}')
            return text
        return self._in_range(self._number(text), text)

    def _number(self, text: str) -> int:
        if self.kind == "size":
            return parse_size(text)
        if not re.fullmatch("-?[0-9]{1,19}", text):
            raise ValueError(f'is a whole number, not "{text}"')
        return int(text)

    def _in_range(self, value: int, text: str) -> int:
        if self.choices and value not in [self._number(choice) for choice in self.choices]:
            raise ValueError(f'cannot be "{text}"; there are: {", ".join(self.choices)}')
        if (self.min is not None and value < self.min) or (self.max is not None and value > self.max):
            raise ValueError(f"goes from {self.show(self.min)} to {self.show(self.max)}, not {text}")
        if self.power_of_two and (value <= 0 or value & (value - 1)):
            raise ValueError(f"must be a power of two, not {text}")
        if value % self.divide:
            raise ValueError(f"must be a multiple of {self.show(self.divide)}, not {text}")
        return value

    def show(self, value: int | None) -> str:
        """Return a value as a study writes it."""
        if value is None:
            return "any"
        return format_size(value) if self.kind == "size" else str(value)

    def render(self, template: str, value: Value) -> str:
        """Return the text for the command; "" for a flag that is off."""
        if value is False:
            return ""
        number = value // self.divide if isinstance(value, int) and not isinstance(value, bool) else value
        return template.replace("{value}", str(number))

    def default_value(self) -> Value | None:
        """Return the default, parsed; None if the option is not passed by default. Raises ValueError."""
        if self.default is None:
            return None
        if isinstance(self.default, bool):
            return self.parse("on" if self.default else "off")
        return self.parse(str(self.default))


def placeholder_problems(keys: tuple[str | int, ...], text: str, allowed: set[str]) -> Iterator[Problem]:
    """Yield a problem for each placeholder of a text that is not `allowed`."""
    for name in _PLACEHOLDER.findall(text):
        if name not in allowed:
            known = ", ".join("{" + word + "}" for word in sorted(allowed))
            yield Problem(keys, f"{{{name}}} means nothing here; there are: {known}")


def option_problems(keys: tuple[str | int, ...], option: Option) -> Iterator[Problem]:
    """Yield the contradictions between the keys of an option."""
    if not option.mkfs and not option.mount and not option.module:
        yield Problem(keys, "does nothing: give it mkfs or mount, the text that it adds, or a module")
    if option.module and option.kind not in ("flag", "choice"):
        yield Problem((*keys, "module"), 'belongs to kind = "flag" or "choice" only')
    for name in ("mkfs", "mount"):
        text = getattr(option, name)
        yield from placeholder_problems((*keys, name), text, {"value"})
        if text and option.kind != "flag" and "{value}" not in text:
            yield Problem((*keys, name), "does not say {value}, so that the value would be lost")
    if option.kind == "choice" and not option.choices:
        yield Problem(keys, "is a choice without choices")
        return
    try:
        option.default_value()
    except ValueError as error:
        yield Problem((*keys, "default"), str(error))
