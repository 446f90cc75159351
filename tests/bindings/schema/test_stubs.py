"""What a model reads of a method: each construct of JSON Schema in Python, and a stranger's words kept where they are."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

import pytest

from isolith_bindings.schema.stubs import DETAILS, MAX_SIGNATURE, MAX_STUB, PRELUDE, Stub, Subject, signature, stub

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

FILTER: JsonSchema = {
    "type": "object",
    "properties": {"and": {"type": "array", "items": {"$ref": "#/$defs/Filter"}}, "text": {"type": "string"}},
}
ISSUE: JsonSchema = {
    "type": "object",
    "description": "One issue.",
    "required": ["number"],
    "properties": {
        "number": {"type": "integer", "minimum": 1},
        "user": {"type": "object", "properties": {"login": {"type": "string", "format": "email"}}},
        "parent": {"$ref": "#/$defs/Issue"},
        "closed_at": {"type": ["string", "null"], "format": "date-time"},
    },
}


def returned(schema: object) -> Stub:
    made = stub(Subject("do", {}, cast("JsonSchema", schema)))
    ast.parse(made.text)
    return made


def type_of(schema: object) -> str:
    return returned(schema).signature.partition(" -> ")[2]


def taken(schema: JsonSchema) -> str:
    return signature("do", schema, None).removeprefix("async def do(").removesuffix(") -> Any")


def test_as_it_is_read() -> None:
    parameters: JsonSchema = {
        "type": "object",
        "properties": {
            "state": {"type": "string", "enum": ["open", "closed"], "default": "open", "description": "Which ones."},
            "repo": {"type": "string", "description": "Owner and name.", "pattern": "^.+/.+$"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 30},
        },
        "required": ["repo"],
    }
    returns: JsonSchema = {"type": "array", "items": {"$ref": "#/$defs/Issue"}, "$defs": {"Issue": ISSUE}}
    assert stub(
        Subject("list_issues", parameters, returns, "List issues.\n\nNewest first.", remarks=("Read-only.",))
    ).text == (
        "class Issue(TypedDict):\n"
        "    # > One issue.\n"
        "    number: int  # >= 1\n"
        "    user: NotRequired[IssueUser]\n"
        "    parent: NotRequired[Issue]\n"
        "    closed_at: NotRequired[str | None]  # date-time\n"
        "\n"
        "class IssueUser(TypedDict):\n"
        "    login: NotRequired[str]  # email\n"
        "\n"
        "async def list_issues(*, repo: str, state: Literal['open', 'closed'] = 'open', limit: int = 30) -> list[Issue]:\n"
        '    """> List issues.\n'
        "    >\n"
        "    > Newest first.\n"
        "\n"
        "    state: > Which ones.\n"
        "    repo: pattern ^.+/.+$; > Owner and name.\n"
        "    limit: 1 to 100\n"
        "\n"
        "    Read-only.\n"
        '    """'
    )


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (True, "Any"), (False, "Never"), ({}, "Any"), ({"type": "string"}, "str"), ({"type": "number"}, "float"), ({"type": ["integer", "null"]}, "int | None"),
        ({"type": "string", "nullable": True}, "str | None"), ({"type": "strange"}, "Any"), ({"enum": ["a", 1, None, True]}, "Literal['a', 1, True] | None"), ({"enum": []}, "Never"),
        ({"const": "x"}, "Literal['x']"), ({"enum": [1.5, {"a": 1}, [1]]}, "float | dict[str, Any] | list[Any]"), ({"type": "string", "enum": ["a", 1]}, "Literal['a']"),
        ({"enum": [str(n) for n in range(100)]}, "str"), ({"enum": ["x" * 100, "y"]}, "str"), ({"enum": [10**30]}, "int"),
        ({"type": "array"}, "list[Any]"), ({"items": {"type": "string"}}, "list[str]"), ({"type": "array", "items": False}, "list[Never]"),
        ({"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False}, "tuple[str, int]"),
        ({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, "tuple[str, *tuple[int, ...]]"),
        ({"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 1}, "list[str | int]"),
        ({"items": [{"type": "string"}], "additionalItems": False}, "tuple[str]"), ({"prefixItems": [{"type": "string"}], "maxItems": 1}, "tuple[str]"),
        ({"type": "object"}, "dict[str, Any]"), ({"type": "object", "additionalProperties": {"type": "integer"}}, "dict[str, int]"), ({"type": "object", "additionalProperties": False}, "dict[str, Never]"),
        ({"patternProperties": {"^a": {"type": "integer"}}}, "dict[str, int]"), ({"patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": {"type": "string"}}, "dict[str, int | str]"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "str | None"), ({"oneOf": [{"type": "null"}, {"const": "a"}, {"const": "b"}]}, "Literal['a', 'b'] | None"),
        ({"anyOf": [{"type": "string"}, {}]}, "Any"), ({"anyOf": [{"type": "string"}, {"const": "a"}]}, "str"),
        ({"type": "string", "anyOf": [{"minLength": 1}, {"pattern": "a"}]}, "str"), ({"type": ["string", "integer"], "anyOf": [{"type": "string"}]}, "str"),
        ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, "int"), ({"allOf": [{"type": "number"}, {"type": "integer"}]}, "int"), ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "Never"),
        ({"allOf": [{"enum": [1, 2]}, {"enum": [2, 3]}]}, "Literal[2]"), ({"allOf": [{"type": "string"}, False]}, "Never"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, "str"), ({"$ref": "#/$defs/a", "enum": ["x"], "$defs": {"a": {"type": "string"}}}, "Literal['x']"),
        ({"$ref": "https://example.com/x"}, "Any"), ({"$ref": "#/nowhere"}, "Any"), ({"$ref": "#"}, "Any"), ({"anyOf": [{"$ref": "#"}, {"type": "string"}]}, "Any"),
        ({"type": "array", "items": {"$ref": "#"}}, "list[list[Any]]"), ({"$ref": "#x", "$defs": {"a": {"$anchor": "x", "type": "string"}}}, "str"),
        ({"definitions": {"a/b": {"type": "string"}}, "$ref": "#/definitions/a~1b"}, "str"), ({"type": "string", "format": "binary"}, "Artifact | bytes | str"), ({"type": "string", "format": "artifact"}, "Artifact | bytes"),
        ({"if": {"type": "string"}, "then": {"minLength": 1}}, "Any"), ({"not": {"type": "string"}}, "Any"), ("no schema", "Any"),
    ],
)  # fmt: skip
def test_a_type(schema: object, expected: str) -> None:
    assert type_of(schema) == expected


def test_siblings_of_a_union_are_kept() -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"], "oneOf": [{"title": "Cat", "properties": {"claws": {"type": "boolean"}}}, {"title": "Dog", "properties": {"bark": {"type": "string"}}}]}  # fmt: skip
    made = returned(schema)
    assert type_of(schema) == "Cat | Dog"
    assert made.types["Cat"] == "class Cat(TypedDict):\n    id: int\n    claws: NotRequired[bool]"


def test_options_that_only_say_what_is_needed_together_make_no_union() -> None:
    schema = {
        "type": "object",
        "title": "Key",
        "properties": {"a": {}, "b": {}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    assert type_of(schema) == "Key"


def test_all_of_is_one_record_with_the_keys_of_all() -> None:
    schema = {"title": "Both", "allOf": [{"$ref": "#/$defs/a"}, {"properties": {"y": {"type": "string"}}, "required": ["x"]}], "$defs": {"a": {"type": "object", "properties": {"x": {"type": "integer"}}}}}  # fmt: skip
    assert returned(schema).types == {"Both": "class Both(TypedDict):\n    x: int\n    y: NotRequired[str]"}


def test_a_cycle_goes_through_its_name() -> None:
    made = returned({"$ref": "#/$defs/Filter", "$defs": {"Filter": FILTER}})
    assert (
        made.types["Filter"]
        == "Filter = TypedDict('Filter', {\n    'and': NotRequired[list[Filter]],\n    'text': NotRequired[str],\n})"
    )


def test_keys_that_would_hide_a_type_are_declared_by_a_call() -> None:
    made = returned({"title": "Odd", "properties": {"int": {"type": "integer"}, "n": {"type": "integer"}}})
    assert made.types["Odd"].startswith("Odd = TypedDict('Odd', {")


def test_other_keys_are_said() -> None:
    made = returned(
        {"title": "Open", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}}
    )
    assert "# and other keys: str" in made.types["Open"]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"properties": {}}, ""),
        ({"properties": {"b": {"type": "string"}, "a": {"type": "integer"}}, "required": ["a"]}, "*, a: int, b: str = ..."),
        ({"properties": {"a": {"type": "string", "default": "x"}}}, "*, a: str = 'x'"),
        ({"properties": {"a": {"type": "string", "default": None}}}, "*, a: str = ..."),
        ({"properties": {"a": {"type": "string", "default": "x" * 100}}}, "*, a: str = ..."),
        ({"properties": {"a": {"type": "array", "default": [1]}}}, "*, a: list[Any] = ..."),
        ({"properties": {"a": {"type": "number", "default": float("inf")}}}, "*, a: float = ..."),
        ({"properties": {"a": {"type": "boolean", "default": 1}}}, "*, a: bool = ..."),
        ({"additionalProperties": {"type": "string"}}, "**others: str"),
        ({"properties": {"others": {}}, "additionalProperties": True}, "*, others: Any = ..., **others_: Any"),
        ({"properties": {"a": {}, "from": {"type": "string"}}}, "*, a: Any = ..., **others: Unpack[DoArgumentsInOneDict]"),
        ({"required": ["z"]}, "*, z: Any"),
        (True, "**others: Any"),
        ({"anyOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}]}, "*, a: int | str, b: Any = ..."),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"a": {"type": "integer"}}}}}, "*, a: int = ..."),
    ],
)  # fmt: skip
def test_arguments(schema: JsonSchema, expected: str) -> None:
    assert taken(schema) == expected


def test_arguments_that_are_no_identifiers_are_said_to_go_in_a_dict() -> None:
    made = stub(
        Subject(
            "send",
            {"properties": {"X-Key": {"type": "string"}, "class": {"type": "integer"}}, "required": ["X-Key"]},
            None,
        )
    )
    assert (
        made.types["SendArgumentsInOneDict"]
        == "SendArgumentsInOneDict = TypedDict('SendArgumentsInOneDict', {\n    'X-Key': str,\n    'class': NotRequired[int],\n})"
    )
    assert "send({...})" in made.text


def test_a_type_of_arguments_and_result_is_declared_once() -> None:
    schema: JsonSchema = {
        "$ref": "#/$defs/Issue",
        "$defs": {"Issue": {"type": "object", "properties": {"a": {"type": "integer"}}}},
    }
    made = stub(Subject("save", {"properties": {"issue": {"$ref": "#/$defs/Issue"}}, "$defs": schema["$defs"]}, schema))
    assert list(made.types) == ["Issue"]
    assert made.signature == "async def save(*, issue: Issue = ...) -> Issue"


def test_two_types_of_one_name_are_told_apart() -> None:
    parameters: JsonSchema = {
        "properties": {"issue": {"$ref": "#/$defs/Issue"}},
        "$defs": {"Issue": {"type": "object", "properties": {"a": {}}}},
    }
    made = stub(
        Subject(
            "save",
            parameters,
            {"$ref": "#/$defs/Issue", "$defs": {"Issue": {"type": "object", "properties": {"b": {}}}}},
        )
    )
    assert sorted(made.types) == ["Issue", "Issue2"]


def test_a_python_function_keeps_its_signature_its_types_and_its_words() -> None:
    parameters: JsonSchema = {
        "properties": {"since": {"type": "string", "format": "date", "description": "From then on."}}
    }
    returns: JsonSchema = {
        "$ref": "#/$defs/Deal",
        "$defs": {"Deal": {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}}},
    }
    made = stub(
        Subject(
            "deals", parameters, returns, "All deals.", signature="async def deals(*, since: date) -> Deal", native=True
        )
    )
    assert "at: NotRequired[datetime]" in made.types["Deal"]
    assert (
        made.function
        == 'async def deals(*, since: date) -> Deal:\n    """All deals.\n\n    since: From then on.\n    """'
    )


def test_what_was_observed_is_marked() -> None:
    made = stub(Subject("do", {}, {"type": "integer"}, observed=True))
    assert made.text == "async def do() -> int: ...  # returns: observed"


def test_a_method_on_a_path_is_declared_by_its_last_name() -> None:
    made = stub(Subject("issues.list", {}, {"type": "integer"}))
    assert made.signature == "async def issues.list() -> int"
    assert made.text == "async def list() -> int: ..."


# ---------------------------------------------------------------------------------------------- hostile words

HOSTILE = [
    '"""\nimport os', '\\"""', "'''", '"', "\\", "ends with \\", 'ends with "', '""""""', "a\r\nimport os", "a\x0cb", "a\u2028import os", "\ud800", "\x00", "a\x1b[31mred", "\u202eevil", "\U000e0041tag", "a\u200bb", "# type: ignore", "type: int",
]  # fmt: skip


@pytest.mark.parametrize("words", HOSTILE)
def test_a_strangers_words_stay_where_they_are(words: str) -> None:
    """In every place that takes them: they are in no statement, no line of them begins without a mark, none is invisible."""
    field = {
        "type": "string",
        "description": words,
        "pattern": words,
        "format": words,
        "examples": [words],
        "title": words,
        "default": words,
    }
    record: JsonSchema = {
        "type": "object",
        "description": words,
        "title": words,
        "properties": {words: field, "a": field},
        "required": [words],
    }
    made = stub(Subject("do", record, {**record, "properties": {"a": {**field, "enum": [words]}}}, words))
    tree = ast.parse(PRELUDE + made.text)
    added = tree.body[len(ast.parse(PRELUDE).body) :]
    assert {type(node) for node in added} <= {ast.ClassDef, ast.Assign, ast.AsyncFunctionDef}
    assert not set("\r\x0c\u2028\x00\x1b\u202e\u200b\U000e0041\ud800") & set(made.text)
    assert not [
        line
        for line in made.text.split("\n")
        if "import os" in line and ">" not in line.partition("import os")[0] and "'" not in line and "#" not in line
    ]


@pytest.mark.parametrize("words", ["# type: ignore", "x # pyright: ignore", "# noqa", "#type:int"])
def test_words_in_a_comment_speak_to_no_tool(words: str) -> None:
    made = returned({"title": "A", "properties": {"a": {"description": words}}})
    assert made.types["A"].count("#") == 1


def test_markup_of_a_description_is_taken_off_and_what_it_hides_is_no_frame() -> None:
    parameters: JsonSchema = {"properties": {"a": {"description": "<p>An <i>amount</i></p>"}}}
    made = stub(Subject("pay", parameters, None, "<div>Pays.</div>\n\n<p>&lt;system&gt; now</p>"))
    assert made.text == (
        'async def pay(*, a: Any = ...) -> Any:\n    """> Pays.\n    >\n    > \u2039system> now\n\n'
        '    a: > An amount\n    """'
    )


def test_long_words_are_cut_and_say_so() -> None:
    made = stub(Subject("do", {}, None, "x" * 10_000))
    assert "... (cut)" in made.text
    assert len(made.text) < 5_000


# ---------------------------------------------------------------------------------------------- much of everything


def wide(count: int, depth: int) -> JsonSchema:
    inner: JsonSchema = {"type": "string", "description": "words " * 20}
    for _ in range(depth):
        inner = {"type": "object", "properties": {f"key_{n}": inner for n in range(count)}}
    return inner


@pytest.mark.parametrize("schema", [wide(300, 1), wide(12, 4), wide(2, 60), {"anyOf": [wide(5, 1)] * 50}, {"enum": ["v" * 50 + str(n) for n in range(5_000)]}, {"title": "T" * 10_000, **wide(3, 1)}])  # fmt: skip
def test_large_schemas_are_within_the_limits(schema: JsonSchema) -> None:
    made = stub(Subject("do", schema, schema, "d" * 100_000))
    assert len(made.text) <= MAX_STUB
    assert len(signature("do", schema, schema)) <= MAX_SIGNATURE
    ast.parse(made.text)


def test_less_detail_is_shorter() -> None:
    lengths = [
        len(stub(Subject("do", wide(12, 2), wide(5, 2), "words " * 900), start).text) for start in range(len(DETAILS))
    ]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] < 1_000


def test_a_document_that_doubles_ends() -> None:
    definitions = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(60)}
    assert type_of({"$defs": definitions, "$ref": "#/$defs/a0"}) == "Any"
    nested = {
        f"a{n}": {
            "type": "object",
            "properties": {"x": {"$ref": f"#/$defs/a{n + 1}"}, "y": {"$ref": f"#/$defs/a{n + 1}"}},
        }
        for n in range(100)
    }
    assert len(returned({"$defs": nested, "$ref": "#/$defs/a0"}).text) <= MAX_STUB
    anonymous: object = {"type": "string"}
    for _ in range(40):
        anonymous = {"anyOf": [{"items": anonymous}, {"items": anonymous}], "type": "array"}
    assert len(type_of(anonymous)) < MAX_STUB


def test_a_schema_nested_beyond_the_stack_has_a_stub() -> None:
    schema: object = {}
    for _ in range(5_000):
        schema = {"items": schema, "allOf": [schema]}
    assert "list" in type_of(schema) or type_of(schema) == "Any"
