# SPDX-License-Identifier: Apache-2.0
"""The tables and keys of a study's TOML file, the rules for single keys, and which cells a selection names.

Must not know profiles or workloads. Rules between keys are in names.py, cells.py and questions.py; loading.py reads a
study.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator

from flashbed.common.tomlfile import Keys, Problem, Size
from flashbed.guest_output.power_cuts import MOST_CUTS
from flashbed.profiles.library import ProfileKind, Selector
from flashbed.profiles.profile import Strict
from flashbed.study.relation import Verdict

STACK: tuple[str, ...] = ("board", "medium", "translation", "filesystem", "scheduler", "kernel")
"""The parts of a cell's stack. Any other axis is a parameter of the workload."""

DEFAULTS = {"translation": "none", "scheduler": "none", "kernel": "6.1"}
"""The defaults of optional keys."""

OWN_FILES = ("job", "program", "trace")
"""Keys of [workload] that name a file of the user's, by a path relative to the study."""

LOAD_KEY = "load"
"""The key of [workload] that names a ready-made load."""

SYSTEM = "system"
"""The name that tells imported results apart by where they were measured. It is no axis, because the lab runs nothing
there.
"""

MOST_SEEDS = 1000

LARGEST_SEED = 2**53 - 1
"""The largest seed: JSON readers keep it exactly, and QEMU, fio and the guest's tools accept it."""

Where = dict[str, tuple[str, ...]]


def as_written(value: Any) -> Any:
    """Return a scalar of the file as text, a list of names as text with commas, and anything else unchanged."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple) and all(isinstance(name, str) for name in value):
        return ", ".join(value)
    return str(value) if isinstance(value, int | float) else value


def _texts(value: Any) -> Any:
    """Return one value or a list of values as a tuple of texts."""
    if isinstance(value, list | tuple):
        return tuple(as_written(item) for item in value)
    return (as_written(value),) if isinstance(value, str | int | float) else value


def _axis(value: Any) -> Any:
    if not isinstance(value, list):
        raise ValueError("must be a list of values in [ ]; a single value belongs outside [axes]")
    return _texts(value)


ONE_VALUE = (
    "must be a string, a whole number, or true or false; several words stand in one string with commas between, "
    "and values to compare in [axes]"
)


def _given(value: Any) -> Any:
    """Return a value of [workload]: a scalar, or a list of names or of tables. Each tool takes its own."""
    if isinstance(value, str | int):
        return value
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return tuple(value)
    if isinstance(value, list) and all(isinstance(name, str) and name.strip() for name in value):
        if bad := next((name for name in value if "," in name), None):
            raise ValueError(f'"{bad}" has a comma in it; each name is a string of its own')
        return tuple(value)
    raise ValueError(ONE_VALUE)


def _names(value: Any) -> Any:
    """Return the names of a list, or of a text with commas."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(value) if isinstance(value, list) else value


def _seeds(value: Any) -> Any:
    """Return the seeds 1, 2 ... for a number of repetitions; a list of seeds stays."""
    seeds = list(range(1, value + 1)) if type(value) is int and value <= MOST_SEEDS else value
    numbers = isinstance(seeds, list) and 0 < len(seeds) <= MOST_SEEDS and all(type(seed) is int for seed in seeds)
    if not numbers or min(seeds) < 1 or max(seeds) > LARGEST_SEED or len(set(seeds)) < len(seeds):
        raise ValueError(
            f"must be a number from 1 to {MOST_SEEDS}, or a list of up to {MOST_SEEDS} different numbers "
            f"from 1 to {LARGEST_SEED}"
        )
    return tuple(seeds)


Seeds = Annotated[
    tuple[int, ...],
    BeforeValidator(_seeds),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": MOST_SEEDS},
                {
                    "type": "array",
                    "items": {"type": "integer", "minimum": 1, "maximum": LARGEST_SEED},
                    "minItems": 1,
                    "uniqueItems": True,
                },
            ]
        }
    ),
]
_SCALAR = {"type": ["string", "number", "boolean"]}
_SCALARS = {"type": "array", "items": _SCALAR, "minItems": 1, "uniqueItems": True}
_NAMES = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "uniqueItems": True}]}

Texts = Annotated[tuple[str, ...], BeforeValidator(_texts), WithJsonSchema({"anyOf": [_SCALAR, _SCALARS]})]
Names = Annotated[tuple[str, ...], BeforeValidator(_names), WithJsonSchema(_NAMES)]
Axis = Annotated[tuple[str, ...], BeforeValidator(_axis), WithJsonSchema(_SCALARS)]
Selection = dict[str, Texts]
Given = Annotated[
    str | int | bool | tuple[str, ...] | tuple[dict[str, Any], ...], BeforeValidator(_given), WithJsonSchema(_SCALAR)
]
Word = Annotated[str, Field(min_length=1)] | None


Average = Literal["ratios", "time"]
AVERAGE_MEANS = "the geometric mean of ratios, or the ratio of mean times"


class Answer(Strict):
    """The question in numbers: which axis is compared, and by which metric."""

    where: Selection = Field(default_factory=dict, description="only these values of these axes")
    compare: Names = Field(min_length=1, description="an axis; of several, their combinations are compared")
    metric: Names = Field(min_length=1, description="by what; of several, each is a comparison of its own")
    by: Names = Field(default=(), description="a comparison of its own for each value of these axes")
    average: Average = Field(default="ratios", description=AVERAGE_MEANS)


class Choice(Answer):
    """A further choice beside the study's question."""

    title: str = Field(min_length=1)


class Figure(Strict):
    """A figure of the report."""

    title: str = Field(min_length=1)
    where: Selection = Field(default_factory=dict, description="only these values of these axes")
    x: str
    y: str
    series: Names = Field(default=(), description="a line or a colour for each combination of these axes")
    kind: Literal["line", "bar"] = "line"


class RequestFigure(Strict):
    """A figure of requests as the medium got them: address against time."""

    title: str = Field(min_length=1)
    where: Selection = Field(default_factory=dict, description="only these values of these axes")


class Table(Strict):
    """A table of the report, with a number for each combination of rows and columns."""

    title: str = Field(min_length=1)
    where: Selection = Field(default_factory=dict, description="only these values of these axes")
    rows: Names
    columns: Names = ()
    metric: Names = Field(min_length=1, description="what is in the cells; of several, each has columns of its own")


class Printed(Strict):
    """A figure in the paper of a claim."""

    at: Selection = Field(default_factory=dict, description="the cells that it stands for")
    metric: str | None = Field(default=None, description="which, if the claim has several")
    value: float = Field(gt=0, allow_inf_nan=False)
    invalid: str = Field(default="", description="why the figure cannot be right: shown, and not judged by")


class Claim(Strict):
    """A sentence that the results decide. It has one of `compare`, `along` and `value`; `gap_along` goes with
    `compare`.
    """

    text: str = Field(min_length=1)
    source: str = Field(default="", description="where it stands: section 4, table 3")
    own: bool = Field(default=False, description="no sentence of what the study repeats, but an addition to it")
    sentence: str = Field(default="", description="the sentence that it judges, if other claims judge the same one")
    of_study: str = Field(default="", description="which study has that sentence, if it is not this one")
    condition: str = Field(default="", description="what is left open by the sentence, and how this claim takes it")
    where: Selection = Field(default_factory=dict, description="only these values of these axes")
    metric: Names = Field(min_length=1, description="of several, the claim must hold for each")
    compare: list[Selection] = Field(default_factory=list, description="cells, each against the next")
    along: str | None = Field(default=None, description="an axis along which the metric rises, falls or stays")
    gap_along: str | None = Field(
        default=None, description="an axis along which the ratio of the two compared rises, falls or stays"
    )
    value: float | None = Field(default=None, ge=0, description="a number that the metric is held against")
    relation: Texts = Field(min_length=1, description="> < = >= <= >> <<; along an axis: rises, falls, flat")
    by: Texts = Field(
        default=(), description='"at least 8 %", "at most 2 times", "3 to 4 times", "about 6 %", "within 10 %"'
    )
    cells: Literal["every", "almost every", "most", "average"] = Field(
        default="every",
        description="over what is neither compared nor fixed: in every cell, but for a few, in most, on average",
    )
    over: Names = Field(default=(), description="the axes that an average is over; absent: all")
    average: Average = Field(default="ratios", description=AVERAGE_MEANS)
    unit: str = Field(default="", description="of the printed figures")
    printed: list[Printed] = Field(default_factory=list, description="the figures of the paper")
    in_answer: bool = Field(default=False, description="its verdict stands in the answer too, in a line of its own")
    why: dict[Annotated[Verdict, Field(strict=False)], str] = Field(
        default_factory=dict, description="by verdict, why it is so: shown as long as that is the verdict"
    )

    @property
    def is_about_systems(self) -> bool:
        """Return True if the claim is about imported results, not about the lab's own."""
        return self.along == SYSTEM or any(SYSTEM in selection for selection in (self.where, *self.compare))


class Label(Strict):
    """The names of a value for people, if a legend shall say more."""

    name: str = Field(min_length=1, description="short, as it stands in tables and sentences")
    meaning: str = Field(default="", description="in full, for the legend")
    in_words: str = Field(default="", description="as a sentence says it, where the name is none of its own: the disk")


class Labels(Strict):
    """Names of axes and values for people. The report uses them everywhere; exports keep the study's names."""

    axes: dict[str, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict, description="by axis")
    values: dict[str, dict[str, Annotated[str, Field(min_length=1)] | Label]] = Field(
        default_factory=dict, description="by axis, and value or profile"
    )


class StudyFile(Strict):
    """A study as in its file."""

    title: str = Field(min_length=1)
    question: str = ""
    source: str = Field(default="", description="what the study repeats: a paper, a report")
    board: Word = None
    medium: Word = None
    translation: Word = Field(default=None, description="what makes a block device of raw flash")
    filesystem: Word = None
    scheduler: Word = None
    kernel: Word = Field(default=None, description='Linux version, such as "6.1", or a source tree: docs/own-kernel.md')
    seeds: Seeds = Field(default=(1, 2, 3), description="how many repetitions of a cell, or a list of seeds")
    power_cut: bool = Field(default=False, description="raw chips lose power at the end: mount_after_cut_s")
    power_cuts: int = Field(
        default=0,
        ge=0,
        le=MOST_CUTS,
        description="cuts the power so often in each cell, at moments that the seed draws",
    )
    bytes_per_day: Size | None = Field(default=None, gt=0, description="what is written a day, for lifetime_years")
    skip: list[Selection] = Field(default_factory=list, description="combinations to leave out")
    systems: Axis = Field(default=(), description="whose results are imported: names that claims may compare")
    axes: dict[str, Axis] = Field(default_factory=dict)
    workload: dict[str, Given]
    answer: Answer | None = None
    choice: list[Choice] = Field(default_factory=list)
    figure: list[Figure] = Field(default_factory=list)
    table: list[Table] = Field(default_factory=list)
    trace: list[RequestFigure] = Field(default_factory=list)
    claim: list[Claim] = Field(default_factory=list)
    labels: Labels = Field(default_factory=Labels)

    @field_validator("axes", mode="before")
    @classmethod
    def _skip_is_no_axis(cls, value: Any) -> Any:
        if isinstance(value, dict) and "skip" in value:
            raise ValueError("skip is not an axis; move it to the top of the file, before the first [table]")
        return value

    def problems(self) -> Iterator[Problem]:
        """Yield problems of single keys. Rules between keys are in other modules of this room."""
        for name, values in self.axes.items():
            if not values:
                yield Problem(("axes", name), "has no values; give at least one, or take the axis away")
        if "tool" not in self.workload and LOAD_KEY not in self.workload:
            yield Problem(("workload", "tool"), 'is missing; write tool = "fio"')

    @property
    def has_jobs(self) -> bool:
        """Return True if the user's job files replace a tool's parameters."""
        return "job" in self.workload or "job" in self.axes

    def fixed(self) -> dict[str, str]:
        """Return the parts of the stack that are on no axis, with defaults; a part without either is absent."""
        parts = {name: getattr(self, name) or DEFAULTS.get(name) for name in STACK if name not in self.axes}
        return {name: value for name, value in parts.items() if value is not None}

    def parameters(self) -> dict[str, str]:
        """Return the fixed parameters of the workload, as texts; without those that are lists of tables."""
        named = {name: value for name, value in self.workload.items() if name not in ("tool", *OWN_FILES)}
        texts = {name: as_written(value) for name, value in named.items()}
        return {name: text for name, text in texts.items() if isinstance(text, str)}

    def tables(self) -> dict[str, tuple[Any, ...]]:
        """Return the parameters of the workload that are lists of tables."""
        named = {name: as_written(value) for name, value in self.workload.items()}
        return {name: value for name, value in named.items() if isinstance(value, tuple)}

    def values_of(self, part: str) -> tuple[str, ...]:
        """Return the values of a part of the stack: those of its axis, else the fixed one."""
        return self.axes.get(part) or (self.fixed()[part],)

    def keys_of(self, name: str, value: str) -> Keys:
        """Return the keys under which the file has this value of a part of the stack or of a parameter."""
        return keys_of(self.axes, name, value)


def keys_of(axes: Mapping[str, tuple[str, ...]], name: str, value: str) -> Keys:
    """Return the keys under which a study's file has this value of a part of the stack or of a parameter."""
    if name in axes:
        return ("axes", name, axes[name].index(value)) if value in axes[name] else ("axes", name)
    return (name,) if name in STACK else ("workload", name)


PROFILE_AXES: tuple[ProfileKind, ...] = ("board", "medium", "translation", "filesystem", "scheduler")
"""The axes whose values are names of profiles."""


def combinations(axes: Mapping[str, Sequence[str]], skip: Sequence[Where]) -> Iterator[dict[str, str]]:
    """Yield every combination of the axes' values that `skip` does not name. The last axis changes fastest."""
    plain_skip = tuple(tuple((axis, tuple(values)) for axis, values in entry.items()) for entry in skip)
    for values in _left(tuple((axis, tuple(values)) for axis, values in axes.items()), plain_skip):
        yield dict(zip(axes, values, strict=True))


_Choice = tuple[tuple[str, tuple[str, ...]], ...]
"""Names with values: all axes, or an entry of skip."""


@lru_cache(maxsize=8)
def _left(axes: _Choice, skip: tuple[_Choice, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the values of each remaining combination. It is cached, because every claim, figure and table asks
    for it.
    """
    names, entries = [name for name, _ in axes], [dict(entry) for entry in skip]
    cells = (dict(zip(names, values, strict=True)) for values in product(*(values for _, values in axes)))
    return tuple(tuple(cell.values()) for cell in cells if not any(matches(cell, entry) for entry in entries))


def selected(axis: str, value: str, values: Sequence[str]) -> list[str]:
    """Return the values of an axis that a word of the study means: the value itself, or each profile of that name."""
    return [
        candidate
        for candidate in values
        if candidate == value or (axis in PROFILE_AXES and Selector.name_of(candidate) == value)
    ]


def matches(cell: Mapping[str, str], selection: Where) -> bool:
    """Return True if `selection`, with full values, names the cell."""
    return all(cell[axis] in values for axis, values in selection.items())


def skip_hint(study: StudyFile, pair: Mapping[str, str]) -> str:
    """Return advice on two values that do not go together."""
    varied = [f'{axis} = "{value}"' for axis, value in pair.items() if axis in study.axes]
    if not varied:
        return "change one of the two"
    return f"change one of the two, or leave the combination out: skip = [{{ {', '.join(varied)} }}]"
