"""Values against JSON Schema, of any draft from 3 to 2020-12, in bounded time and with answers in plain words.

Nothing is ever fetched: a `$ref` that leads out of the document is one of the things that are not checked here, as are
`format` and patterns that cannot be decided. Whoever sent the schema checks the value as well.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from isolith_bindings.schema.dialects import META_SCHEMAS, Read, read
from isolith_bindings.schema.draft3 import as_draft4
from isolith_bindings.schema.evaluation import MAX_PROBLEMS, MAX_STEPS, At, Evaluation, Path
from isolith_bindings.schema.patterns import Patterns

if TYPE_CHECKING:
    from collections.abc import Hashable

    from isolith_bindings.connector import JsonSchema
    from isolith_bindings.schema.evaluation import SchemaResolver

_MAX_PATH = 200
_TOO_DEEP = "it is nested too deeply"


@dataclass(frozen=True)
class Problem:
    """What is wrong, and where: `filter.tags[0]`, empty for the value itself."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"`{self.path}`: {self.message}" if self.path else self.message


class Validator:
    """One schema. It is copied at once, so that what happens to it later changes nothing, and read when first needed.

    `contents`: JSON that stands as text in a value is checked against its `contentSchema`. `steps`: how much of a large
    value is looked at.

    Safe to use from several threads. Never raises, whatever the schema and the value are.
    """

    def __init__(self, schema: JsonSchema | bool, *, contents: bool = False, steps: int = MAX_STEPS) -> None:  # noqa: FBT001 - true and false are schemas
        self._contents, self._steps = contents, steps
        self._patterns = Patterns()
        self._enums: dict[int, frozenset[Hashable]] = {}
        self._unreadable: str | None = None
        try:
            self._schema = as_draft4(copy.deepcopy(schema))
        except RecursionError:
            self._schema = True
            self._unreadable = _TOO_DEEP

    @property
    def usable(self) -> bool:
        """Whether values can be checked. If not, every value is without problems."""
        return self.reason is None

    @property
    def reason(self) -> str | None:
        """Why it is not usable: what its draft does not allow, and where."""
        return self._unreadable or self._read.reason

    def problems(self, value: object) -> list[Problem]:
        """What is wrong with the value: nothing, or the first few things."""
        if not self.usable:
            return []
        run = Evaluation(self._read.dialect, self._patterns, self._enums, contents=self._contents, steps=self._steps)
        try:
            found = run.check(value, self._schema, At(self._resolver))
        except RecursionError:
            return []
        except Exception as error:  # noqa: BLE001 - parts that only a `$ref` reaches were seen by no meta-schema
            self._unreadable = f"a part of it cannot be read ({type(error).__name__})"
            return []
        problems = (Problem(_shown(path), message) for path, message in found.problems[:MAX_PROBLEMS])
        return list(dict.fromkeys(problems))

    @cached_property
    def _read(self) -> Read:
        return read(self._schema)

    @cached_property
    def _resolver(self) -> SchemaResolver:
        return META_SCHEMAS.resolver_with_root(self._read.dialect.specification.create_resource(self._schema))


def _shown(path: Path | None) -> str:
    steps: list[str | int] = []
    while path is not None:
        steps.append(path.step)
        path = path.above
    text = ""
    for step in reversed(steps):
        if isinstance(step, str) and step.isidentifier():
            text += f".{step}" if text else step
        else:
            text += f"[{step!r:.60}]"
    return text if len(text) <= _MAX_PATH else f"{text[:_MAX_PATH]}..."
