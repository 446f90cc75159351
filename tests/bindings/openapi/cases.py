"""Calls as schemathesis makes them: from a document's own examples, else what Hypothesis finds for its schemas."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.core import NotSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isolith_bindings.openapi.model import Operation, Parameter

TRIED = 4
"""Cases made for an operation without examples, of which the last is taken: the first is as small as it can be."""


@dataclass(frozen=True)
class Given:
    """What one operation is called with. `parts`: by (place, name); `example`: from the document itself."""

    key: str
    parts: dict[tuple[str, str], Any]
    body: Any
    media: str | None
    example: bool

    def arguments(self, operation: Operation) -> dict[str, object]:
        """The same as arguments of a method."""
        found: dict[str, object] = {
            each.argument: _as_it_was(self.parts[each.location, each.name], each)
            for each in operation.parameters
            if (each.location, each.name) in self.parts
        }
        body = operation.body
        if body is None or isinstance(self.body, NotSet):
            return found
        if body.chooser and self.media in {media.type for media in body.media}:
            found[body.chooser] = self.media
        if body.argument:
            return {**found, body.argument: self.body}
        names = {name: argument for argument, name in body.fields.items()}
        return {**found, **{names[name]: value for name, value in self.body.items() if name in names}}


def _as_it_was(value: Any, parameter: Parameter) -> Any:  # noqa: ANN401 - JSON
    """The value before schemathesis wrote it: truth as a word, what is in a path encoded.

    openapi-core takes no empty value in a query, whatever the schema says.
    """
    if isinstance(value, list):
        return [_as_it_was(item, parameter) for item in value]
    if not isinstance(value, str):
        return value
    if value in {"true", "false"} and "string" not in json.dumps(parameter.schema):
        return value == "true"
    if parameter.location == "path":
        return unquote(value)
    return value or ("a" if parameter.location == "query" else value)


def cases(path: Path, step: int) -> Iterator[Given]:
    """One for every `step`-th operation of a document, always the same."""
    schema: Any = schemathesis.openapi.from_dict(json.loads(path.read_text()))
    # Values as they are: how they are written in a request is what is tested.
    schema.get_parameter_serializer = lambda *_: None
    for index, found in enumerate(schema.get_all_operations()):
        if index % step == 0:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield _case(found.ok())


def _case(operation: Any) -> Given:  # noqa: ANN401 - schemathesis has few types
    examples = operation.get_strategies_from_examples()
    strategy = examples[0] if examples else operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    made: list[Any] = []

    @seed(0)
    @settings(
        max_examples=1 if examples else TRIED,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=tuple(HealthCheck.__members__.values()),
    )
    @given(strategy)
    def collect(case: Any) -> None:  # noqa: ANN401
        made.append(case)

    collect()
    case = made[-1]
    places = {"path": case.path_parameters, "query": case.query, "header": case.headers, "cookie": case.cookies}
    parts = {(place, name): value for place, values in places.items() for name, value in (values or {}).items()}
    return Given(f"{operation.method.upper()} {operation.path}", parts, case.body, case.media_type, bool(examples))
