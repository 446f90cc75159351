"""A tool's result as the value of a call. The order: error, structured content, text, mixed content."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NoReturn, cast

from isolith_bindings import json_text
from isolith_bindings.errors import CallError
from isolith_bindings.mcp.content import Content, Once, read_content
from isolith_bindings.mcp.embedded import keep_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.connector import Artifacts
    from isolith_bindings.schema.validate import Validator

_LONGEST_MESSAGE = 16_000


def tool_value(
    tool: str, result: Mapping[str, object], schema: Validator | None, artifacts: Artifacts, *, wrapped: bool = False
) -> object:
    """The value of a result. `schema` is what it promised; `wrapped`: it promised its value as `{"result": value}`.

    - `structuredContent` wins, without its wrapper; files in the content beside it are kept as artifacts all the same.
    - Only text: the text, as it is. Where nothing was promised and it is a JSON object or array, what that says.
    - No content: None. Anything else: `{"text": str, "files": [artifact], "other": [...]}`.

    Raises CallError: `tool_error` with all the text if the server says that the tool failed, and `invalid_result`, with
    the value as its data, if it is not what was promised.
    """
    artifacts = Once(artifacts)
    content = read_content(result.get("content"), artifacts)
    if result.get("isError") is True:
        _fail(tool, result, content, artifacts)
    if "structuredContent" in result:
        return _structured(tool, result["structuredContent"], schema, artifacts, wrapped=wrapped)
    if schema is not None and schema.usable:
        value = content.as_value() if content.files or content.other else _parsed(content.text)
        message = f"{tool} promised structured content and answered without it"
        raise CallError("invalid_result", message, data=value, hint="the data of this error is what it answered")
    if content.files or content.other:
        return content.as_value()
    if not content.texts:
        return None
    return _parsed(content.text)


def _structured(tool: str, value: object, schema: Validator | None, artifacts: Artifacts, *, wrapped: bool) -> object:
    problems = schema.problems(value) if schema is not None else []
    if wrapped and isinstance(value, dict) and cast("dict[str, object]", value).keys() == {"result"}:
        kept = keep_files(cast("dict[str, object]", value)["result"], artifacts)
    else:
        kept = keep_files(cast("dict[str, object]", value) if isinstance(value, dict) else value, artifacts)
    if problems:
        message = f"{tool} answered what it did not promise: {'; '.join(map(str, problems[:3]))}"
        raise CallError("invalid_result", message, data=kept, hint="the data of this error is what it answered")
    return kept


def _fail(tool: str, result: Mapping[str, object], content: Content, artifacts: Artifacts) -> NoReturn:
    """Raise what the server says of the failure: its text whole, its structured content and files as data."""
    data: dict[str, object] = {}
    if "structuredContent" in result:
        data["structured"] = keep_files(result["structuredContent"], artifacts)
    if content.files:
        data["files"] = list(content.files)
    if content.other:
        data["other"] = content.other
    if len(content.text) > _LONGEST_MESSAGE:
        data["text"] = content.text
    said = content.text or (json.dumps(data["structured"], default=str) if "structured" in data else "")
    raise CallError("tool_error", said or f"{tool} failed and did not say why", data=data or None)


def _parsed(text: str) -> object:
    """The object or array that the text is, or the text. A number in quotes of no kind stays text: `007` is not 7."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        value: object = json_text.loads(text, parse_constant=_no_constant, object_pairs_hook=_one_of_each)
    except (ValueError, RecursionError):
        return text
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _one_of_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object; a key that is there twice would lose data, and so the text stays text."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found
