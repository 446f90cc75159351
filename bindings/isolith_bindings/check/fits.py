"""Whether a literal can be what a JSON Schema asks for: lenient, because a false alarm is worse than a late one.

What some connector takes all the same (`"5"` for a number, `1` for true) is not certainly wrong. Patterns, formats and
conditions are left to the run. The schema is untrusted: steps and depth are bounded, no pattern is run.
"""

from __future__ import annotations

import operator
import reprlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from isolith_bindings.check.literals import Hole
from isolith_bindings.closest import closest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isolith_bindings.connector import JsonSchema

_MAX_STEPS = 3_000
_MAX_DEPTH = 24
_MAX_CHOICES = 12
_EXPECTED = {
    "integer": "a valid integer",
    "number": "a valid number",
    "string": "a valid string",
    "boolean": "a valid boolean",
    "array": "a valid list",
    "object": "a valid dictionary",
    "null": "None",
}
_PYTHON: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "string": (str, bytes),
    "boolean": (bool,),
    "array": (list, tuple, set, frozenset),
    "object": (dict,),
    "null": (type(None),),
}
_short = reprlib.Repr()
_short.maxstring = _short.maxother = 80


@dataclass(frozen=True)
class Misfit:
    """One place in a value that does not fit. `certain`: no connector would take it."""

    path: str
    reason: str
    certain: bool

    @property
    def text(self) -> str:
        """In words."""
        return self.at("")

    def at(self, place: str) -> str:
        """In words, with where it is written what was expected."""
        return f"`{self.path}`{place}{self.reason}"


@dataclass
class Fitting:
    """Holds literals against the schemas of one document, `root`, into which `$ref`s lead."""

    root: JsonSchema
    _steps: int = field(default=_MAX_STEPS)

    def misfits(self, value: object, schema: object, path: str, depth: int = 0) -> list[Misfit]:
        """What does not fit; nothing where the schema is odd, too deep or too large."""
        self._steps -= 1
        if isinstance(value, Hole) and value.kind is None:
            return []
        if schema is False:
            return [Misfit(path, " may not be given", certain=True)]
        if not isinstance(schema, dict) or depth > _MAX_DEPTH or self._steps < 0:
            return []
        schema = cast("JsonSchema", schema)
        if schema is not self.root and _is_document(schema):
            return []
        if "$ref" in schema:
            target = resolve(schema, self.root)
            return [] if target is None else self.misfits(value, target, path, depth + 1)
        found = list(self._by_type(value, schema, path)) or list(self._by_choice(value, schema, path))
        for branch in _schemas(schema.get("allOf")):
            found += self.misfits(value, branch, path, depth + 1)
        found += self._by_union(value, schema, path, depth)
        if not found and not isinstance(value, Hole):
            found += self._inside(value, schema, path, depth)
        return found

    def _by_type(self, value: object, schema: JsonSchema, path: str) -> Iterator[Misfit]:
        types = _types(schema)
        if not types:
            return
        verdicts = [_is_of(value, kind, schema) for kind in types]
        if not any(verdict is True for verdict in verdicts):
            expected = " or ".join(_EXPECTED[kind] for kind in types)
            yield _given(path, f"expected {expected}", value, certain=all(verdict is False for verdict in verdicts))

    def _by_choice(self, value: object, schema: JsonSchema, path: str) -> Iterator[Misfit]:
        if isinstance(value, Hole) or not isinstance(value, str | int | float | bool | None):
            return
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        if not isinstance(choices, list):
            return
        choices = cast("list[object]", choices)
        if value in choices or (isinstance(value, str) and not any(isinstance(choice, str) for choice in choices)):
            return
        shown = [repr(choice) for choice in choices[:_MAX_CHOICES]]
        listed = " or ".join(filter(None, [", ".join(shown[:-1]), shown[-1] if shown else "nothing"]))
        more = f" or one of {len(choices) - _MAX_CHOICES} more" if len(choices) > _MAX_CHOICES else ""
        yield _given(path, f"expected {listed}{more}", value, certain=True, tail=_did_you_mean(value, choices))

    def _by_union(self, value: object, schema: JsonSchema, path: str, depth: int) -> list[Misfit]:
        """None of the branches fits: what each expects here, certain where every branch is."""
        found: list[Misfit] = []
        for word in ("anyOf", "oneOf"):
            branches = [self.misfits(value, branch, path, depth + 1) for branch in _schemas(schema.get(word))]
            if not branches or not all(branches):
                continue
            certain = all(any(misfit.certain for misfit in misfits) for misfits in branches)
            deeper = [misfits for misfits in branches if misfits[0].path != path]
            if len(deeper) == 1:
                found += [Misfit(misfit.path, misfit.reason, certain) for misfit in deeper[0]]
            else:
                found.append(Misfit(path, _joined([misfits[0].reason for misfits in branches]), certain))
        return found

    def _inside(self, value: object, schema: JsonSchema, path: str, depth: int) -> list[Misfit]:
        if isinstance(value, dict):
            return self._members(cast("dict[object, object]", value), schema, path, depth)
        if isinstance(value, list | tuple):
            return self._items(cast("list[object]", value), schema, path, depth)
        return list(_bounds(value, schema, path))

    def _members(self, value: dict[object, object], schema: JsonSchema, path: str, depth: int) -> list[Misfit]:
        properties = schema.get("properties")
        known = cast("JsonSchema", properties) if isinstance(properties, dict) else {}
        required = schema.get("required")
        found: list[Misfit] = []
        if isinstance(required, list) and not any(isinstance(key, Hole) for key in value):
            names = [name for name in cast("list[object]", required) if isinstance(name, str) and name not in value]
            found += [Misfit(_member(path, name), " is missing", certain=True) for name in names]
        # Which keys are additional ones only a pattern tells, where there are such.
        rest = None if "patternProperties" in schema else schema.get("additionalProperties")
        for key, item in value.items():
            if isinstance(key, str) and key in known:
                found += self.misfits(item, known[key], _member(path, key), depth + 1)
            elif isinstance(key, str) and rest is False and known:
                found.append(
                    Misfit(_member(path, key), " is not known" + _did_you_mean(key, list(known)), certain=False)
                )
            elif isinstance(key, str) and isinstance(rest, dict):
                found += self.misfits(item, cast("JsonSchema", rest), _member(path, key), depth + 1)
        return found

    def _items(self, value: list[object], schema: JsonSchema, path: str, depth: int) -> list[Misfit]:
        found = list(_counts(value, schema, path))
        prefix = list(_schemas(schema.get("prefixItems")))
        for number, item in enumerate(value):
            part = prefix[number] if number < len(prefix) else schema.get("items")
            if isinstance(part, dict):
                found += self.misfits(item, cast("JsonSchema", part), f"{path}[{number}]", depth + 1)
        return found


def resolve(schema: JsonSchema, root: JsonSchema) -> JsonSchema | bool | None:
    """What a `$ref` within the document leads to; None for any other, and for one that leads nowhere."""
    target: JsonSchema | bool | None = schema
    for _ in range(_MAX_DEPTH):
        if target is None or isinstance(target, bool) or "$ref" not in target:
            return target
        target = _pointed(target["$ref"], root)
    return None


def _pointed(pointer: object, root: JsonSchema) -> JsonSchema | bool | None:
    if not isinstance(pointer, str) or not (pointer == "#" or pointer.startswith("#/")):
        return None
    target: JsonSchema | bool | None = root
    for part in pointer[1:].split("/")[1:]:
        if not isinstance(target, dict) or (target is not root and _is_document(target)):
            return None
        target = _as_schema(target.get(unquote(part).replace("~1", "/").replace("~0", "~")))
    return target


def _is_document(schema: JsonSchema) -> bool:
    """Whether it has an address of its own, to which what is within refers."""
    name = schema.get("$id", schema.get("id"))
    return isinstance(name, str) and not name.startswith("#")


def _as_schema(value: object) -> JsonSchema | bool | None:
    return cast("JsonSchema", value) if isinstance(value, dict) else value if isinstance(value, bool) else None


def _types(schema: JsonSchema) -> list[str]:
    found = schema.get("type")
    listed = cast("list[object]", found) if isinstance(found, list) else [found]
    types = [kind for kind in listed if isinstance(kind, str)]
    if types and schema.get("nullable") is True:  # OpenAPI 3.0
        types.append("null")
    return types if all(kind in _EXPECTED for kind in types) else []


def _is_of(value: object, kind: str, schema: JsonSchema) -> bool | None:
    """Yes, no, or None: a connector that reads leniently takes it."""
    given = value.kind if isinstance(value, Hole) else type(value)
    if given is None or issubclass(given, _PYTHON[kind]):
        return True
    if kind == "string":
        return None if "format" in schema or "contentEncoding" in schema else False
    if kind in {"integer", "number", "boolean"} and given in {str, bytes}:
        return None if isinstance(value, Hole) or _reads_as(kind, value) else False
    if kind == "integer" and given is float:
        return True if isinstance(value, float) and value.is_integer() else False if isinstance(value, float) else None
    if kind == "boolean" and given in {int, float}:
        return None if value in {0, 1} else False
    return False


_WORDS_FOR_TRUTH = frozenset("0 1 true false t f yes no y n on off".split())  # noqa: SIM905


def _reads_as(kind: str, value: object) -> bool:
    """Whether a lenient reader takes this text for a number or a truth."""
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    if kind == "boolean":
        return text.strip().casefold() in _WORDS_FOR_TRUTH
    try:
        float(text)
    except ValueError:
        return False
    return True


_LIMITS: tuple[tuple[str, str, Callable[[float, float], bool]], ...] = (
    ("minimum", "greater than or equal to", operator.lt),
    ("maximum", "less than or equal to", operator.gt),
    ("exclusiveMinimum", "greater than", operator.le),
    ("exclusiveMaximum", "less than", operator.ge),
)


def _bounds(value: object, schema: JsonSchema, path: str) -> Iterator[Misfit]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        for word, said, is_beyond in _LIMITS:
            limit = schema.get(word)
            if isinstance(limit, int | float) and not isinstance(limit, bool) and is_beyond(value, limit):
                yield _given(path, f"expected something {said} {limit}", value, certain=True)
    elif isinstance(value, str):
        yield from _counts(value, schema, path, "Length", "characters")


def _counts(
    value: list[object] | str, schema: JsonSchema, path: str, word: str = "Items", unit: str = "items"
) -> Iterator[Misfit]:
    fewest, most = schema.get(f"min{word}"), schema.get(f"max{word}")
    if isinstance(fewest, int) and len(value) < fewest:
        yield Misfit(path, f": expected at least {fewest} {unit}, was given {len(value)}", certain=word == "Items")
    # Some connectors take the blanks around a text away.
    if isinstance(most, int) and len(value.strip() if isinstance(value, str) else value) > most:
        yield Misfit(path, f": expected at most {most} {unit}, was given {len(value)}", certain=True)


def _schemas(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _member(path: str, name: str) -> str:
    return f"{path}.{name}" if name.isidentifier() else f"{path}[{name!r}]"


def _given(path: str, expected: str, value: object, *, certain: bool, tail: str = "") -> Misfit:
    if isinstance(value, Hole):
        return Misfit(path, f": {expected}, was given a {value.kind.__name__ if value.kind else 'value'}", certain)
    kind = "" if value is None else f" ({type(value).__name__})"
    return Misfit(path, f": {expected}, was given {_short.repr(value)}{kind}{tail}", certain)


def _did_you_mean(value: object, choices: list[object] | list[str]) -> str:
    known = {choice.casefold(): choice for choice in choices if isinstance(choice, str)}
    close = closest(str(value)[:100].casefold(), list(known)[:500], 1, 0.6)
    return f"; did you mean {known[close[0]]!r}?" if close else ""


def _joined(reasons: list[str]) -> str:
    """`: expected A, was given X` and `: expected B, was given X` as one."""
    unique = list(dict.fromkeys(reasons))
    parts = [reason.partition(", was given ") for reason in unique]
    if len(unique) == 1 or not all(head.startswith(": expected ") for head, _, _ in parts):
        return unique[0]
    expected = " or ".join(dict.fromkeys(head.removeprefix(": expected ") for head, _, _ in parts))
    return f": expected {expected}, was given {parts[0][2]}"
