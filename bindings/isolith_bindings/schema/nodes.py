"""Types as data, between a JSON Schema and Python text."""

from __future__ import annotations

from dataclasses import dataclass, field

Scalar = str | int | bool | None


@dataclass(frozen=True)
class Plain:
    """A type by name: `str`, `int`, `Any`, `Never`, or one that is declared."""

    name: str


@dataclass(frozen=True)
class Values:
    """One of these values."""

    values: tuple[Scalar, ...]


@dataclass(frozen=True)
class ListOf:
    """A list of one type."""

    item: Node


@dataclass(frozen=True)
class ManyOf:
    """What a list can be made of: lists, tuples and sets, of any type that is within the one."""

    item: Node


@dataclass(frozen=True)
class DictOf:
    """An object with any keys."""

    item: Node


@dataclass(frozen=True)
class MappingOf:
    """What a dict can be made of."""

    item: Node


@dataclass(frozen=True)
class TupleOf:
    """A list with a type for each place, and one for the places behind them; None where there are none."""

    items: tuple[Node, ...]
    rest: Node | None


@dataclass(frozen=True)
class Union:
    """Any of these."""

    options: tuple[Node, ...]


Node = Plain | Values | ListOf | ManyOf | DictOf | MappingOf | TupleOf | Union

ANY = Plain("Any")
NEVER = Plain("Never")
NONE = Plain("None")


@dataclass(frozen=True)
class Field:
    """One key of an object. `words` are the server's, `notes` say in ours what the type does not."""

    name: str
    node: Node
    required: bool
    words: str = ""
    notes: tuple[str, ...] = ()
    default: object = field(default=...)
    """As the schema gives it; an ellipsis where it gives none."""


@dataclass(frozen=True)
class Record:
    """An object with known keys, to be declared. `others`: what further keys hold, None where there may be none."""

    name: str
    fields: tuple[Field, ...]
    others: Node | None = None
    words: str = ""
    notes: tuple[str, ...] = ()


def union(options: list[Node]) -> Node:
    """Any of these, as short as it can be said: flat, nothing twice, values together, None last."""
    flat: list[Node] = []
    for option in options:
        flat.extend(option.options if isinstance(option, Union) else (option,))
    if ANY in flat:
        return ANY
    values = [value for option in flat if isinstance(option, Values) for value in option.values]
    others = (option for option in flat if not isinstance(option, Values) and option not in {NEVER, NONE})
    # By their text: of two values that Python calls equal, 1 and True, each is kept.
    kinds = list({text(option): option for option in others}.values())
    # A value of a type that is there already says nothing more.
    values = [value for value in values if Plain(type(value).__name__) not in kinds]
    has_none = NONE in flat or None in values
    distinct = {(type(value), value): value for value in values if value is not None}
    result: list[Node] = [
        *([Values(tuple(distinct.values()))] if distinct else []),
        *kinds,
        *([NONE] if has_none else []),
    ]
    return NEVER if not result else result[0] if len(result) == 1 else Union(tuple(result))


def text(node: Node) -> str:  # noqa: PLR0911 - one form a line
    """The type as Python writes it."""
    match node:
        case Plain(name):
            return name
        case Values(values):
            return f"Literal[{', '.join(map(repr, values))}]"
        case ListOf(item):
            return f"list[{text(item)}]"
        case ManyOf(item):
            return f"_Sequence[{text(item)}] | _Set[{text(item)}]"
        case DictOf(item):
            return f"dict[str, {text(item)}]"
        case MappingOf(item):
            return f"_Mapping[str, {text(item)}]"
        case TupleOf(items, rest):
            parts = [*map(text, items), *([f"*tuple[{text(rest)}, ...]"] if rest else [])]
            return f"tuple[{', '.join(parts) or '()'}]"
        case Union(options):
            return " | ".join(map(text, options))


def accepts(node: Node, value: object) -> bool:  # noqa: PLR0911 - one form a line
    """Whether a plain value is of the type, as far as a default in a signature has to be."""
    match node:
        case Plain("Any"):
            return True
        case Plain("None"):
            return value is None
        case Plain("float"):
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case Plain(name):
            return type(value).__name__ == name
        case Values(values):
            return any(type(value) is type(known) and value == known for known in values)
        case Union(options):
            return any(accepts(option, value) for option in options)
        case _:
            return False
