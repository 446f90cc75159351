"""What a server has beside its tools, as methods: resources and prompts. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from isolith_bindings.mcp.content import read_content, resource_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.connector import Artifacts, JsonSchema


@dataclass(frozen=True)
class Extra:
    """A method of the protocol itself. `key`: where its result holds a list; `paged`: whether that has pages."""

    name: str
    kind: str
    capability: str
    description: str
    parameters: JsonSchema
    returns: JsonSchema | None
    key: str = ""
    identified_by: str = "name"

    @property
    def paged(self) -> bool:
        """Whether it walks a list."""
        return bool(self.key)


def _parameters(required: tuple[str, ...] = (), **properties: JsonSchema) -> JsonSchema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


_ENTRIES: JsonSchema = {"type": "array", "items": {"type": "object"}}

EXTRAS = (
    Extra(
        "read_resource",
        "resources/read",
        "resources",
        "Read a resource by its URI: its text, an artifact if it is bytes, a list where it has several parts.",
        _parameters(("uri",), uri={"type": "string"}),
        None,
    ),
    Extra(
        "list_resources",
        "resources/list",
        "resources",
        "All resources of the server: uri, name, and what it says of each.",
        _parameters(),
        _ENTRIES,
        "resources",
        "uri",
    ),
    Extra(
        "list_resource_templates",
        "resources/templates/list",
        "resources",
        "Templates of URIs that `read_resource` takes, once their {parts} are filled in.",
        _parameters(),
        _ENTRIES,
        "resourceTemplates",
        "uriTemplate",
    ),
    Extra(
        "get_prompt",
        "prompts/get",
        "prompts",
        "A prompt of the server, filled in: its description and messages.",
        _parameters(
            ("name",),
            name={"type": "string"},
            arguments={"type": "object", "additionalProperties": {"type": "string"}},
        ),
        {"type": "object"},
    ),
    Extra(
        "list_prompts",
        "prompts/list",
        "prompts",
        "All prompts of the server and the arguments they take.",
        _parameters(),
        _ENTRIES,
        "prompts",
    ),
)


def resource_contents(result: Mapping[str, object], artifacts: Artifacts) -> object:
    """One part of a resource as text or artifact; several as a list, texts with their URI."""
    contents = result.get("contents")
    parts = cast("list[object]", contents) if isinstance(contents, list) else []
    values = [resource_value(cast("dict[str, object]", p), artifacts) for p in parts if isinstance(p, dict)]
    if len(values) == 1:
        only = values[0]
        return only["text"] if isinstance(only, dict) else only
    return values


def prompt_messages(result: Mapping[str, object], artifacts: Artifacts) -> object:
    """`{"description", "messages": [{"role", "content"}]}`; content as text, or as `{"text", "files", "other"}`."""
    given = result.get("messages")
    messages: list[object] = []
    for message in cast("list[object]", given) if isinstance(given, list) else []:
        if not isinstance(message, dict):
            continue
        entry = cast("dict[str, object]", message)
        content = read_content([entry.get("content")], artifacts)
        plain = not content.files and not content.other
        messages.append({"role": entry.get("role"), "content": content.text if plain else content.as_value()})
    return {"description": result.get("description"), "messages": messages}
