"""One value against one schema: walked once, with every cost counted, so that no schema can hold the host up.

What cannot be decided (a reference that leads out of the document, a pattern that does not end, a budget that is spent)
is never a problem of the value: `unknown` counts such places, and what depends on one is taken as fitting.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, cast

from referencing.exceptions import Unresolvable
from referencing.jsonschema import lookup_recursive_ref

from isolith_bindings.schema.applicators import APPLIED, LAST
from isolith_bindings.schema.contents import content
from isolith_bindings.schema.keywords import ALONE
from isolith_bindings.schema.patterns import Clock, Patterns
from isolith_bindings.schema.values import key

if TYPE_CHECKING:
    from referencing import Specification
    from referencing._core import Resolver
    from referencing.jsonschema import Schema as ReferencedSchema

    SchemaResolver = Resolver[ReferencedSchema]

MAX_STEPS = 100_000
"""Keywords looked at, and names and items they list; about a second of work."""
MAX_DEPTH = 80
"""Schemas within schemas on the way down, references included."""
MAX_PROBLEMS = 20

Step = str | int


class Path(NamedTuple):
    """Where in the value, from the inside out."""

    step: Step
    above: Path | None


@dataclass(frozen=True)
class At:
    """Where an evaluation is: in the value, and in which document a reference is looked up."""

    resolver: SchemaResolver
    path: Path | None = None
    depth: int = 0


@dataclass
class Found:
    """What a schema says of a value: what is wrong, and which keys and items it looked at."""

    problems: list[tuple[Path | None, str]] = field(default_factory=list["tuple[Path | None, str]"])
    keys: set[str] = field(default_factory=set[str])
    items: set[int] = field(default_factory=set[int])

    def add(self, other: Found) -> None:
        """Take over what a part found that has to fit; what it looked at counts only if it does."""
        self.problems.extend(other.problems[: MAX_PROBLEMS - len(self.problems)])
        if not other.problems:
            self.saw(other)

    def saw(self, other: Found) -> None:
        """Take over what a part looked at in the same value."""
        self.keys |= other.keys
        self.items |= other.items


@dataclass(frozen=True)
class Dialect:
    """How a draft differs where the same keyword means different things."""

    specification: Specification[ReferencedSchema]
    whole_floats: bool = True
    ref_alone: bool = False
    """Up to draft 7 what stands beside a `$ref` is not read."""
    contains_looks: bool = False
    """From 2020-12 on an item that `contains` found is one that was looked at."""


class Evaluation:
    """The state of one evaluation. `unknown` counts the places that could not be decided.

    `contents`: JSON that stands as text in the value is read, and checked as well. `steps`: see `MAX_STEPS`.
    """

    def __init__(
        self,
        dialect: Dialect,
        patterns: Patterns,
        enums: dict[int, frozenset[Hashable]],
        *,
        contents: bool = False,
        steps: int = MAX_STEPS,
    ) -> None:
        self.dialect = dialect
        self._steps = steps
        self._contents = contents
        self.unknown = 0
        self.spent = 0
        self._patterns = patterns
        self._enums = enums
        self._clock = Clock()
        self._refs: set[tuple[int, int]] = set()

    def check(self, value: object, schema: object, at: At) -> Found:
        """What the schema says of the value."""
        found = Found()
        if schema is False:
            found.problems.append((at.path, "nothing may be given here"))
        elif isinstance(schema, Mapping) and self._within(at):
            self._walk(value, cast("Mapping[str, object]", schema), at, found)
        return found

    def inside(self, value: object, schema: object, at: At, step: Step) -> Found:
        """The same for what is inside a value, under a key or an index."""
        return self.check(value, schema, At(self._resolver(at, schema), Path(step, at.path), at.depth + 1))

    def same(self, value: object, schema: object, at: At) -> Found:
        """The same for another schema of this value."""
        return self.check(value, schema, At(self._resolver(at, schema), at.path, at.depth + 1))

    def refer(self, value: object, reference: str, at: At, *, recursive: bool = False) -> Found:
        """The same for the schema that a reference leads to."""
        self.spend(len(reference))
        try:
            resolved = lookup_recursive_ref(at.resolver) if recursive else at.resolver.lookup(reference)
        except (Unresolvable, ValueError, LookupError, TypeError, AttributeError):
            self.unknown += 1
            return Found()
        mark = (id(resolved.contents), id(value))
        if mark in self._refs:  # it leads back to itself without a step down in the value
            self.unknown += 1
            return Found()
        self._refs.add(mark)
        try:
            return self.check(value, resolved.contents, At(resolved.resolver, at.path, at.depth + 1))
        finally:
            self._refs.discard(mark)

    def matches(self, pattern: str, text: str) -> bool | None:
        """Whether a pattern is found in the text; None, and one unknown more, where that cannot be said."""
        fits = self._patterns.matches(pattern, text, self._clock)
        if fits is None:
            self.unknown += 1
        return fits

    def keys_of(self, listed: Sequence[object]) -> frozenset[Hashable]:
        """The values of an `enum`, to be looked up."""
        if id(listed) not in self._enums:
            self.spend(len(listed))
            self._enums[id(listed)] = frozenset(map(key, listed))
        return self._enums[id(listed)]

    def spend(self, steps: int) -> bool:
        """Count work. False once it is more than there may be: the rest is unknown."""
        self.spent += steps
        if self.spent > self._steps:
            self.unknown += 1
            return False
        return True

    def full(self, found: Found) -> bool:
        """Whether enough is known: so many problems, or no budget left."""
        return len(found.problems) >= MAX_PROBLEMS or self.spent > self._steps

    def _within(self, at: At) -> bool:
        if at.depth > MAX_DEPTH:
            self.unknown += 1
        return at.depth <= MAX_DEPTH

    def _walk(self, value: object, schema: Mapping[str, object], at: At, found: Found) -> None:
        if self.dialect.ref_alone and "$ref" in schema:
            schema = {"$ref": schema["$ref"]}
        for name in sorted(schema, key=_late) if LAST & schema.keys() else schema:
            if not self.spend(1) or len(found.problems) >= MAX_PROBLEMS:
                return
            says = schema[name]
            if name in ALONE:
                found.problems.extend((at.path, message) for message in ALONE[name](self, says, value, schema))
            elif name in APPLIED:
                APPLIED[name](self, says, value, schema, at, found)
            elif name == "contentMediaType" and self._contents:
                content(self, says, value, schema, at, found)

    def _resolver(self, at: At, schema: object) -> SchemaResolver:
        if isinstance(schema, Mapping) and ("$id" in schema or "id" in schema):
            resource = self.dialect.specification.create_resource(cast("ReferencedSchema", schema))
            return at.resolver.in_subresource(resource)
        return at.resolver


def _late(name: str) -> bool:
    return name in LAST
