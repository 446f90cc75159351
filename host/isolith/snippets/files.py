"""A snippet as a file for a repository, `snippets/NAME.py`: a header in comments, then the script as it is.

    # /// isolith-snippet
    # {
    #   "name": "weekly_report",
    #   ...
    # }
    # ///
    rows = await crm.rows(team=input["team"])

A change to it is a change that others can read before it counts. What is imported is a proposal, whoever wrote it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from isolith.configuration.documents import explain
from isolith.errors import UsageError
from isolith.journal.digests import content_hash
from isolith.journal.snippet_model import NewSnippet
from isolith_bindings import json_text

if TYPE_CHECKING:
    from isolith.journal.snippet_model import Snippet

MAX_FILE = 4 * 1024 * 1024
"""Characters."""
_BEGIN, _END = "# /// isolith-snippet", "# ///"


class Header(BaseModel):
    """What a file says of its script."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: str
    description: str
    version: int | None = None
    state: str | None = None
    image: str
    input: dict[str, Any]
    """JSON Schema of the input."""
    methods: dict[str, str]
    """The methods it calls, with the digests of their schemas."""
    hash: str | None = None
    """Of script, input schema and methods, when it was exported."""
    execution: str | None = None
    tool: bool = False
    """Whether MCP clients are given it as a tool of its own."""
    proposed_by: str | None = None
    reviewed_by: str | None = None
    tests: list[dict[str, Any]] = []


def to_file(snippet: Snippet) -> str:
    """The text of its file."""
    header = Header(
        name=snippet.name,
        description=snippet.description,
        version=snippet.version,
        state=snippet.state,
        image=snippet.image,
        input=json.loads(snippet.input_schema),
        methods=json.loads(snippet.methods),
        hash=snippet.content_hash,
        execution=snippet.execution_id,
        tool=snippet.tool,
        proposed_by=snippet.proposed_by,
        reviewed_by=snippet.reviewed_by,
        tests=json.loads(snippet.tests),
    )
    # ASCII, so that no character of a description can look like the end of a line to an editor.
    told = json.dumps(header.model_dump(), indent=2, ensure_ascii=True)
    text = "\n".join([_BEGIN, *(f"# {line}" for line in told.split("\n")), _END, snippet.code])
    return text if text.endswith("\n") else f"{text}\n"


def from_file(text: str, who: str) -> tuple[NewSnippet, bool]:
    """The proposal that a file makes, and whether it was changed since it was exported. Raises UsageError."""
    if len(text) > MAX_FILE:
        raise UsageError(f"the file has {len(text):,} characters; a snippet has at most {MAX_FILE:,}")
    header, code = _read(text.replace("\r\n", "\n"))
    schema, methods = json.dumps(header.input, sort_keys=True), json.dumps(header.methods, sort_keys=True)
    read = [each for each in (code, code.rstrip("\n")) if content_hash(each, schema, methods) == header.hash]
    code = read[0] if read else code  # a line end at the end of a file, an editor's or ours, is no change
    new = NewSnippet(
        name=header.name,
        description=header.description,
        code=code,
        input_schema=schema,
        methods=methods,
        image=header.image,
        who=who,
        execution_id=header.execution,
        tests=json.dumps(header.tests),
        tool=header.tool,
    )
    return new, header.hash is not None and not read


def _read(text: str) -> tuple[Header, str]:
    lines = text.split("\n")
    if lines[0].rstrip() != _BEGIN:
        raise UsageError(f"it is no snippet: its first line is not `{_BEGIN}`")
    end = next((number for number, line in enumerate(lines) if number and line.rstrip() == _END), None)
    if end is None:
        raise UsageError(f"its header has no end: a line with `{_END}`")
    told = "\n".join(line.removeprefix("#") for line in lines[1:end])
    try:
        header = Header.model_validate(json_text.loads(told))
    except ValidationError as error:
        raise UsageError(f"its header: {explain(error)}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"its header is not JSON: {error}") from None
    return header, "\n".join(lines[end + 1 :])
