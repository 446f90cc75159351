"""The drafts of JSON Schema: which one a schema is written in, and whether it is well-formed in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import jsonschema
from jsonschema import validators
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped] # pyright: ignore[reportMissingTypeStubs]
from referencing import jsonschema as specifications

from isolith_bindings.schema.evaluation import Dialect

if TYPE_CHECKING:
    from referencing import Specification
    from referencing.jsonschema import Schema, SchemaRegistry

    from isolith_bindings.connector import JsonSchema

_DRAFT4 = cast("Specification[Schema]", specifications.DRAFT4)
_2020 = "https://json-schema.org/draft/2020-12/schema"
_2019 = "https://json-schema.org/draft/2019-09/schema"
_7 = "http://json-schema.org/draft-07/schema"
_6 = "http://json-schema.org/draft-06/schema"
_4 = "http://json-schema.org/draft-04/schema"

META_SCHEMAS: SchemaRegistry = REGISTRY
"""Every meta-schema, and nothing that would fetch another."""
DIALECTS = {
    _2020: Dialect(specifications.DRAFT202012, contains_looks=True),
    _2019: Dialect(specifications.DRAFT201909),
    _7: Dialect(specifications.DRAFT7, ref_alone=True),
    _6: Dialect(specifications.DRAFT6, ref_alone=True),
    _4: Dialect(_DRAFT4, ref_alone=True, whole_floats=False),
}
_UNDECLARED = (_2020, _7, _4)
"""Where no draft is named the newest in which it is well-formed is meant."""


@dataclass(frozen=True)
class Read:
    """A schema with its dialect, or why it is not well-formed."""

    dialect: Dialect
    reason: str | None = None


def read(schema: JsonSchema | bool) -> Read:  # noqa: FBT001 - true and false are schemas
    """The dialect of a schema. What names an unknown one is read as 2020-12."""
    if isinstance(schema, bool):
        return Read(DIALECTS[_2020])
    if not isinstance(schema, dict):  # pyright: ignore[reportUnnecessaryIsInstance] - a server sends what it likes
        return Read(DIALECTS[_2020], f"it is no JSON object but a {type(schema).__name__}")
    declared = schema.get("$schema")
    name = declared.rstrip("#") if isinstance(declared, str) else ""
    candidates = (name,) if name in DIALECTS else _UNDECLARED
    reasons: list[str] = []
    for candidate in candidates:
        reason = _fault(schema, candidate)
        if reason is None:
            return Read(DIALECTS[candidate])
        reasons.append(reason)
    return Read(DIALECTS[candidates[0]], reasons[0])


def _fault(schema: JsonSchema, dialect: str) -> str | None:
    """The first thing that its meta-schema does not allow. Formats, such as `regex`, are not looked at."""
    checker = validators.validator_for({"$schema": dialect})
    meta = checker(cast("dict[str, object]", checker.META_SCHEMA))
    try:
        error = next(iter(meta.iter_errors(cast("dict[str, None]", schema))), None)
    except RecursionError:
        return "it is nested too deeply"
    except (jsonschema.SchemaError, ValueError, TypeError) as problem:  # such as an integer too long to be shown
        return f"it cannot be read ({type(problem).__name__})"
    if error is None:
        return None
    place = "".join(f"/{part}" for part in error.absolute_path) or "its root"
    return f"at {place:.200}: {error.message:.200}"
