"""The OpenAPI 3.1 description, made of the operations and their models: it cannot say anything else than they do."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from pydantic.json_schema import models_json_schema

from isolith.http.bodies import needs_body
from isolith.http.models import OneEvent
from isolith.http.problems import MEDIA_TYPE, ProblemModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import BaseModel
    from pydantic.json_schema import JsonSchemaMode

    from isolith.http.operations import Operation

Json = dict[str, Any]

_REF: Final = "#/components/schemas/{model}"
_ALWAYS: Final = (401, 403, 422, 429, 500, 503)
_OF_BODIES: Final = (400, 408, 413, 415)
_PROBLEMS: Final[dict[int, str]] = {
    400: "What was sent is no JSON.",
    401: "No token, or one that opens nothing.",
    403: "The token has not the scope, or the Origin is none of ours.",
    404: "There is no such thing, or none that the token may see.",
    406: "None of the media types that are accepted.",
    408: "The body took too long.",
    409: "What is does not allow it: the detail says what is.",
    410: "It was good until some time ago.",
    413: "Too large.",
    415: "Not application/json.",
    422: "Well-formed, and wrong: the detail says where.",
    429: "Too much at a time: `Retry-After` says when.",
    500: "A bug of ours, told by its id.",
    503: "Not now: `Retry-After` says when.",
}
_PATTERNS: Final = {
    "call": r"^([0-9A-Za-z_.-]{1,190}\.)?[0-9]{1,9}$",
    "version": "^[0-9]{1,9}$",
    "token": "^[0-9A-Za-z_.-]{1,4096}$",
}
"""What stands in a path, where it is not any name."""


def openapi(operations: Iterable[Operation]) -> Json:
    """The whole document."""
    listed = list(operations)
    names, schemas = _schemas(listed)
    paths: Json = {}
    for operation in listed:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, names)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Isolith",
            "version": version("isolith"),
            "description": "Runs scripts that a model wrote. A script that fails is an outcome, not an error of HTTP.",
        },
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "`isolith tokens create PRINCIPAL`"}
            },
        },
    }


def _operation(operation: Operation, names: Mapping[object, Json]) -> Json:
    parameters = [_path_parameter(name) for name in re.findall(r"\{(\w+)\}", operation.path)]
    parameters += _query_parameters(operation.query)
    parameters += [_header(name, text) for name, text in operation.headers.items()]
    made: Json = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": _who(operation),
        "parameters": parameters,
        "responses": {
            **{str(status): _answer(operation, status, names) for status in operation.answers},
            **{str(status): _problem(status, names) for status in sorted({*_ALWAYS, *_more(operation)})},
        },
    }
    if operation.public:
        made["security"] = []
    if operation.body is not None:
        content = {"application/json": {"schema": names[operation.body, "validation"]}}
        made["requestBody"] = {"required": needs_body(operation.body), "content": content}
    return made


def _who(operation: Operation) -> str:
    listed = " or ".join(f"`{scope}`" for scope in operation.scopes)
    return f"Scope: {listed}." if listed else "No token: the link is enough."


def _more(operation: Operation) -> tuple[int, ...]:
    bodies = () if operation.body is None else _OF_BODIES
    paths = (404,) if "{" in operation.path else ()
    return (*bodies, *paths, *operation.problems)


def _answer(operation: Operation, status: int, names: Mapping[object, Json]) -> Json:
    told = operation.answers[status]
    said = {200: "It is so.", 201: "It was made.", 202: "It is running: follow its events, or ask again."}[status]
    if not isinstance(told, tuple):
        return {"description": said, "content": {"application/json": {"schema": names[told, "serialization"]}}}
    if not operation.streams:
        return {"description": said, "content": {media: {} for media in told}}
    lines = f"{said} Each is one OneEvent; `outcome` with a final status is the last."
    return {"description": lines, "content": {media: {"schema": {"type": "string"}} for media in told}}


def _problem(status: int, names: Mapping[object, Json]) -> Json:
    content = {MEDIA_TYPE: {"schema": names[ProblemModel, "serialization"]}}
    made: Json = {"description": _PROBLEMS[status], "content": content}
    if status in {429, 503}:
        made["headers"] = {"Retry-After": {"schema": {"type": "string", "pattern": "^[0-9]+$"}}}
    return made


def _path_parameter(name: str) -> Json:
    pattern = _PATTERNS.get(name, "^[0-9A-Za-z_.-]{1,200}$")
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", "pattern": pattern}}


def _query_parameters(model: type[BaseModel]) -> list[Json]:
    schema = model.model_json_schema()
    required = set(schema.get("required", ()))
    return [
        {
            "name": name,
            "in": "query",
            "required": name in required,
            "schema": _not_null({key: value for key, value in told.items() if key != "description"}),
            **({"description": told["description"]} if "description" in told else {}),
        }
        for name, told in schema.get("properties", {}).items()
    ]


def _not_null(schema: Json) -> Json:
    """What is not given is not sent: a query has no null."""
    made = {key: value for key, value in schema.items() if not (key == "default" and value is None)}
    options = [option for option in made.pop("anyOf", ()) if option != {"type": "null"}]
    return {**made, **options[0]} if len(options) == 1 else {**made, **({"anyOf": options} if options else {})}


def _header(name: str, text: str) -> Json:
    pattern = "^[0-9]{1,9}$" if name == "Last-Event-ID" else "^[!-~]{1,200}$"
    schema = {"type": "string", "pattern": pattern}
    return {"name": name, "in": "header", "required": False, "description": text, "schema": schema}


def _schemas(operations: list[Operation]) -> tuple[dict[object, Json], Json]:
    """Each model as it is referred to, and all that is referred to."""
    given = [operation.body for operation in operations if operation.body is not None]
    told: list[type[BaseModel]] = [
        model for one in operations for model in one.answers.values() if not isinstance(model, tuple)
    ]
    inputs: list[tuple[type[BaseModel], JsonSchemaMode]] = [(model, "validation") for model in dict.fromkeys(given)]
    answers: list[type[BaseModel]] = [*told, ProblemModel, OneEvent]
    for model in dict.fromkeys(answers):
        inputs.append((model, "serialization"))  # noqa: PERF401 - so that its type is known
    references, document = models_json_schema(inputs, ref_template=_REF)
    return {key: found for key, found in references.items()}, document["$defs"]  # noqa: C416 - of another type
