"""What a server lists, as methods: names, wrappers, annotations, and what is left out and why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith_bindings.connector import Annotations
from isolith_bindings.mcp.catalogue import Catalogue, Change, difference, read_catalogue, unwrapped
from isolith_bindings.mcp.listing import Entry, Listing

OBJECT: dict[str, object] = {"type": "object"}


def read(*tools: Entry, capabilities: tuple[str, ...] = (), modern: bool = True, trusted: bool = False) -> Catalogue:
    listed = Listing(tuple({"inputSchema": OBJECT, **tool} for tool in tools))
    return read_catalogue(listed, capabilities, modern=modern, trusted=trusted)


def test_names_that_would_be_the_same_cost_those_that_have_them() -> None:
    found = read({"name": "get-user"}, {"name": "get_user"}, {"name": "2fa"}, {"name": "import"}, {"name": "emoji🎉"})
    assert set(found.methods) == {"_2fa", "import_", "emoji"}
    assert found.methods["import_"].original == "import"
    assert set(found.excluded) == {"get-user", "get_user"}


def test_resources_and_prompts_where_a_server_has_them() -> None:
    found = read(capabilities=("resources",))
    assert set(found.methods) == {"read_resource", "list_resources", "list_resource_templates"}
    assert found.methods["list_resources"].variants == {"raw", "pages"}
    assert found.methods["read_resource"].variants == {"raw"}
    # A tool of the server's own comes first.
    found = read({"name": "get_prompt", "description": "mine"}, capabilities=("prompts",))
    assert set(found.methods) == {"get_prompt", "list_prompts"}
    assert (found.tools, found.extras) == (1, 1)
    assert found.methods["get_prompt"].description == "mine"
    assert "get_prompt (of the protocol)" in found.excluded


@pytest.mark.parametrize("trusted", [False, True])
def test_annotations_are_kept_and_believed_where_trusted(trusted: bool) -> None:
    hints = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": None, "openWorldHint": "yes"}
    method = read({"name": "a", "annotations": hints}, trusted=trusted).methods["a"]
    assert method.annotations == Annotations(read_only=True, destructive=False, trusted=trusted)
    assert method.idempotent is trusted


@pytest.mark.parametrize("annotations", [None, [], "readOnlyHint", 3])
def test_annotations_that_are_none(annotations: object) -> None:
    assert read({"name": "a", "annotations": annotations}).methods["a"].annotations == Annotations()


@pytest.mark.parametrize(
    ("tool", "description"),
    [
        ({"description": " What it does. "}, "What it does."),
        ({"title": "A title"}, "A title"),
        ({"description": "", "annotations": {"title": "Another"}}, "Another"),
        ({"description": 3}, ""),
    ],
)
def test_what_is_said_of_a_tool(tool: Entry, description: str) -> None:
    assert read({"name": "a", **tool}).methods["a"].description == description


def header(schema: dict[str, object]) -> Entry:
    return {"name": "a", "inputSchema": {"type": "object", "properties": {"p": schema}}}


def test_an_argument_for_a_header_that_cannot_be_one_excludes_its_tool() -> None:
    wrong = header({"type": "object", "x-mcp-header": "Region"})
    assert "x-mcp-header" in read(wrong).excluded["a"]
    assert read(wrong, modern=False).excluded == {}
    assert read(header({"type": "string", "x-mcp-header": "Region"})).excluded == {}


def test_a_tool_that_is_only_a_task_is_left_out_where_its_server_has_no_tasks() -> None:
    required: Entry = {"name": "a", "execution": {"taskSupport": "required"}}
    optional: Entry = {"name": "a", "execution": {"taskSupport": "optional"}}
    assert "task" in read(required, modern=False).excluded["a"]
    assert read(optional, modern=False).excluded == {}
    assert read(required, modern=False, capabilities=("tasks",)).bound["a"].task
    assert not read(optional, modern=False, capabilities=("tasks",)).bound["a"].task
    # Since 2026-07-28 that is the server's to decide, call by call.
    assert not read(required).bound["a"].task


def wrapper(inner: object, **more: object) -> dict[str, object]:
    return {"type": "object", "properties": {"result": inner}, "required": ["result"], **more}


@pytest.mark.parametrize(
    ("schema", "inner"),
    [
        (wrapper({"type": "integer", "title": "Result"}, title="addOutput"), {"type": "integer"}),
        (wrapper({"type": "array"}, **{"x-fastmcp-wrap-result": True}), {"type": "array"}),
        (wrapper(True, **{"x-fastmcp-wrap-result": True}), {}),
        (
            wrapper({"$ref": "#/$defs/P", "title": "Result"}, title="addOutput", **{"$defs": {"P": OBJECT}}),
            {"$ref": "#/$defs/P", "$defs": {"P": OBJECT}},
        ),
        (wrapper({"type": "integer"}), None),
        (wrapper({"type": "object", "title": "Result"}, title="SearchOutput"), None),
        (wrapper({"type": "integer", "title": "Result"}, title="Answer"), None),
        ({"type": "object", "properties": {"result": {}, "more": {}}, "required": ["result"]}, None),
        (wrapper({"type": "integer", "title": "Result"}, title="addOutput", required=[]), None),
        ({"type": "integer"}, None),
        (None, None),
    ],
)
def test_what_a_library_wraps_is_told_from_what_a_tool_answers(schema: dict[str, object] | None, inner: object) -> None:
    assert unwrapped(schema, "add") == inner


def test_the_difference_of_two() -> None:
    before = read({"name": "a"}, {"name": "b"}, {"name": "c"})
    after = read({"name": "b", "description": "new"}, {"name": "c"}, {"name": "d"})
    assert difference(before, after) == Change(frozenset("d"), frozenset("a"), frozenset("b"))
    assert not difference(before, read({"name": "c"}, {"name": "b"}, {"name": "a"}))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "properties", "result", "$ref", "title", "required", "x"]), inner)
    ),
    max_leaves=12,
)


@given(
    st.fixed_dictionaries(
        {"name": st.text(min_size=1, max_size=8)},
        optional=dict.fromkeys(("inputSchema", "outputSchema", "annotations", "description", "execution"), anything),
    )
)
def test_no_tool_is_too_odd_to_be_listed(tool: Entry) -> None:
    found = read_catalogue(Listing((tool,)), (), modern=True)
    assert len(found.methods) + len(found.excluded) == 1
