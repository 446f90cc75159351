"""One rule of a policy: which methods, whatever is said of them, and which arguments it decides on, and how."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from isolith_bindings.connector import Annotations, Method
from isolith_bindings.connector import Policy as Action
from isolith_bindings.predicates import Condition, Truth, all_hold, find

Effect = Literal["read", "write", "delete"]
OnRejection = Literal["raise", "end"]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _a_pattern(pattern: str) -> str:
    connector, dot, method = pattern.partition(".")
    if pattern != "*" and not (connector and dot and method):
        raise ValueError(f"`{pattern}` is no connector.method: write `{connector}.*` or `*.{connector}`")
    return pattern


Patterns = Annotated[
    tuple[Annotated[str, AfterValidator(_a_pattern)], ...],
    BeforeValidator(_listed, json_schema_input_type=str | tuple[str, ...]),
    Field(strict=False, min_length=1),
]
Effects = Annotated[
    tuple[Effect, ...],
    BeforeValidator(_listed, json_schema_input_type=Effect | tuple[Effect, ...]),
    Field(strict=False, min_length=1),
]


def _short(value: object) -> object:
    """`where = { env = "staging" }` says `equals`."""
    return {"equals": value} if isinstance(value, str | int | float) else value


Wanted = Annotated[Condition, BeforeValidator(_short, json_schema_input_type=Condition | str | int | float | bool)]


class Claims(BaseModel):
    """What has to be said of a method. What a stranger says counts only where it makes things stricter."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None

    def fit(self, annotations: Annotations) -> bool:
        """Whether exactly this is said; what is None is not asked for."""
        wanted = self.model_dump(exclude_none=True)
        return all(getattr(annotations, name) is value for name, value in wanted.items())


class Rule(BaseModel):
    """Decides the calls that fit everything it names; a rule that names nothing fits all."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)

    action: Action
    match: Patterns = ("*",)
    """`connector.method` with `*`, `?` and `[...]`; the method by its Python name or as the other side spells it."""
    effect: Effects | None = None
    """What the method does, where it is known: `read`, `write` or `delete`."""
    annotations: Claims | None = None
    """What is said of the method, by a trusted server."""
    where: Mapping[str, Wanted] = Field(default_factory=dict[str, Condition])
    """What the arguments have to be, by name or path: `amount`, `filter.owner`. All of it has to hold."""
    when: SkipJsonSchema[Callable[[Mapping[str, object]], bool] | None] = Field(default=None, exclude=True)
    """In Python only: a function of the arguments. What it raises leaves open whether the rule fits."""
    name: str | None = None
    reason: str | None = None
    """What a person or a script is told of the decision."""
    on_rejection: OnRejection = "raise"
    """With `ask`, what a person's no comes to: `raise` raises `Rejected` in the script, which may catch it; `end` ends
    the run at once."""

    if TYPE_CHECKING:  # what is taken is more than what is kept

        def __init__(  # noqa: PLR0913 - one parameter a field
            self,
            *,
            action: Action,
            match: str | Sequence[str] = ("*",),
            effect: Effect | Sequence[Effect] | None = None,
            annotations: Claims | None = None,
            where: Mapping[str, Condition | str | float] = ...,
            when: Callable[[Mapping[str, object]], bool] | None = None,
            name: str | None = None,
            reason: str | None = None,
            on_rejection: OnRejection = "raise",
        ) -> None: ...

    def means(self, connector: str) -> bool:
        """Whether a pattern may fit methods of a connector."""
        return _matcher(self.match, connector) is not None

    def reaches(self, connector: str, method: Method) -> bool:
        """Whether a pattern fits the method, in either spelling."""
        fits = _matcher(self.match, connector)
        return fits is not None and (fits.match(method.name) is not None or fits.match(method.original) is not None)

    def names(self, connector: str, method: Method) -> bool:
        """Whether it names the method itself, without wildcards."""
        return any(f"{connector}.{name}" in self.match for name in (method.name, method.original))

    def believes(self, annotations: Annotations) -> Truth:
        """Whether what is said of the method is what the rule asks for; None where a stranger says so."""
        fits = (self.effect is None or effect_of(annotations) in self.effect) and (
            self.annotations is None or self.annotations.fit(annotations)
        )
        asks = self.effect is not None or self.annotations is not None
        return fits if annotations.trusted or not asks or not fits else None

    def holds(self, arguments: Mapping[str, object], parameters: Mapping[str, object]) -> Truth:
        """Whether the arguments are what the rule asks for."""
        answers: list[Truth] = []
        for path, condition in self.where.items():
            value, given = find(arguments, path, parameters)
            answers.append(condition.holds(value, given=given))
        if self.when is not None and False not in answers:
            answers.append(_answered(self.when, arguments))
        return all_hold(answers)

    @property
    def described(self) -> str:
        """What it names, for people."""
        parts = [" or ".join(f"`{pattern}`" for pattern in self.match)]
        if self.effect:
            parts.append(f"effect {' or '.join(self.effect)}")
        if self.annotations:
            said = self.annotations.model_dump(exclude_none=True)
            parts.append(" and ".join(name if value else f"not {name}" for name, value in said.items()))
        if self.conditional:
            parts.append(f"what it asks of {', '.join(f'`{path}`' for path in self.where) or 'the arguments'}")
        return ", ".join(parts)

    @property
    def conditional(self) -> bool:
        """Whether it depends on the arguments."""
        return bool(self.where) or self.when is not None


def effect_of(annotations: Annotations) -> Effect | None:
    """What a method does as far as is said of it; None where nothing is."""
    if annotations.read_only:
        return "read"
    if annotations.destructive:
        return "delete"
    return None if annotations.read_only is annotations.destructive is None else "write"


def _answered(function: Callable[[Mapping[str, object]], object], arguments: Mapping[str, object]) -> Truth:
    try:
        answer = function(arguments)
    except Exception:  # noqa: BLE001 - the border to a function of the host's
        return None
    return answer if isinstance(answer, bool) else None


@functools.lru_cache(maxsize=10_000)
def _matcher(patterns: tuple[str, ...], connector: str) -> re.Pattern[str] | None:
    """What fits the methods of a connector that any of the patterns means; None where they mean none.

    Made once for all of its methods: there may be thousands.
    """
    halves = (pattern.partition(".") if pattern != "*" else ("*", ".", "*") for pattern in patterns)
    found = [fnmatch.translate(methods) for name, _, methods in halves if fnmatch.fnmatchcase(connector, name)]
    return re.compile("|".join(found)) if found else None
