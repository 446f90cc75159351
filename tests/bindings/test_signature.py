"""What is read from a function: hints, defaults, schemas, and what no script could call."""

import datetime as dt
import enum
import functools
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast
from typing import TypedDict as OldTypedDict

import jsonschema
import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from isolith_bindings.connector import CallContext
from isolith_bindings.errors import BindError
from isolith_bindings.signature import read_signature

if TYPE_CHECKING:
    from decimal import Decimal


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Contact(BaseModel):
    """A person."""

    id: int
    name: str = Field(alias="fullName", description="as written")
    level: Level = Level.LOW


@dataclass
class Page:
    items: list[Contact]
    next: int | None = None


class Options(TypedDict):
    deep: bool


class OldOptions(OldTypedDict):
    deep: bool


class Incomplete(BaseModel):
    other: "Missing"  # type: ignore[name-defined]  # noqa: F821 - what is tested


def list_contacts(
    limit: int = 10, since: dt.datetime | None = None, *, options: Options | None = None
) -> list[Contact]:
    raise NotImplementedError


def untyped(a: int, b: int = 3, **others: int) -> int:
    raise NotImplementedError


untyped.__annotations__ = {}


def with_context(a: int, context: CallContext, maybe: CallContext | None = None) -> None:
    raise NotImplementedError


class Callme:
    def __call__(self, a: int) -> str:
        raise NotImplementedError


def test_hints_become_text_and_schema() -> None:
    signature = read_signature(list_contacts, "crm.list_contacts")
    assert signature.text("list_contacts") == (
        "async def list_contacts(*, limit: int = 10, since: datetime | None = None, options: Options | None = None)"
        " -> list[Contact]"
    )
    assert signature.parameters == {
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "default": 10},
            "since": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}], "default": None},
            "options": {"anyOf": [{"$ref": "#/$defs/Options"}, {"type": "null"}], "default": None},
        },
        "required": [],
        "additionalProperties": False,
        "$defs": {
            "Options": {
                "type": "object",
                "title": "Options",
                "properties": {"deep": {"type": "boolean"}},
                "required": ["deep"],
            }
        },
    }
    assert signature.returns == {
        "type": "array",
        "items": {"$ref": "#/$defs/Contact"},
        "$defs": {
            "Contact": {
                "type": "object",
                "title": "Contact",
                "description": "A person.",
                "properties": {
                    "id": {"type": "integer"},
                    "name": {"type": "string", "description": "as written"},
                    "level": {"$ref": "#/$defs/Level", "default": "low"},
                },
                "required": ["id", "name", "level"],
            },
            "Level": {"type": "string", "title": "Level", "enum": ["low", "high"]},
        },
    }


def test_what_is_dumped_has_what_has_a_default_unless_it_may_be_left_out() -> None:
    class Some(TypedDict, total=False):
        maybe: int

    class Kept(BaseModel):
        tags: list[str] = []
        hidden: int | None = Field(default=None, exclude_if=lambda value: value is None)
        some: Some = {}

    def save(kept: Kept) -> Kept:
        raise NotImplementedError

    signature = read_signature(save, "crm.save")
    [given, answered] = [signature.parameters["$defs"], (signature.returns or {})["$defs"]]
    assert "required" not in given["Kept"]  # type: ignore[index]
    assert answered["Kept"]["required"] == ["tags", "some"]  # type: ignore[index]
    assert "required" not in answered["Some"]  # type: ignore[index]


def test_a_script_writes_aliases_and_reads_field_names() -> None:
    def save(contact: Contact) -> Contact:
        raise NotImplementedError

    signature = read_signature(save, "crm.save")
    [given, answered] = [signature.parameters["$defs"], (signature.returns or {})["$defs"]]
    assert set(given["Contact"]["properties"]) == {"id", "fullName", "level"}  # type: ignore[index]
    assert set(answered["Contact"]["properties"]) == {"id", "name", "level"}  # type: ignore[index]


def test_a_function_without_annotations_takes_anything() -> None:
    signature = read_signature(untyped, "crm.untyped")
    assert signature.text("untyped") == "async def untyped(*, a, b=3, **others)"
    assert signature.parameters == {
        "type": "object",
        "properties": {"a": {}, "b": {"default": 3}},
        "required": ["a"],
        "additionalProperties": True,
    }
    assert signature.returns is None


def test_what_never_returns_has_no_schema_to_break() -> None:
    def f() -> NoReturn:
        raise NotImplementedError

    signature = read_signature(f, "f")
    assert (signature.text("f"), signature.returns) == ("async def f() -> NoReturn", {})


def test_further_arguments_have_a_type_too() -> None:
    def f(**others: Contact) -> None:
        raise NotImplementedError

    signature = read_signature(f, "f")
    assert signature.parameters["additionalProperties"] == {"$ref": "#/$defs/Contact"}
    assert signature.text("f") == "async def f(**others: Contact) -> None"
    assert signature.returns == {"type": "null"}


def test_no_script_sees_the_context() -> None:
    signature = read_signature(with_context, "f")
    assert signature.text("f") == "async def f(*, a: int) -> None"
    assert signature.contexts == ("context", "maybe")
    assert signature.parameters["properties"] == {"a": {"type": "integer"}}


def test_constraints_in_annotations_and_in_defaults() -> None:
    def f(
        a: Annotated[int, Field(ge=1, description="how many")] = 3,
        b: int = Field(7, le=9),
        c: int = Field(le=9),
        d: list[int] = Field(default_factory=list[int]),  # noqa: B008 - as pydantic's users write it
        e: Any = Field(None),  # noqa: ANN401, B008 - pydantic learns at run time what type this is
    ) -> None:
        raise NotImplementedError

    signature = read_signature(f, "f")
    assert (
        signature.text("f")
        == "async def f(*, a: int = 3, b: int = 7, c: int, d: list[int] = [], e: Any = None) -> None"
    )
    properties = signature.parameters["properties"]
    assert properties["a"] == {"type": "integer", "minimum": 1, "description": "how many", "default": 3}  # type: ignore[index]
    assert properties["b"] == {"type": "integer", "maximum": 9, "default": 7}  # type: ignore[index]
    assert signature.parameters["required"] == ["c"]


def test_a_default_that_json_cannot_hold_is_left_out() -> None:
    def f(a: object = object()) -> None:
        raise NotImplementedError

    signature = read_signature(f, "f")
    assert signature.parameters["properties"] == {"a": {}}
    assert signature.text("f") == "async def f(*, a: object = ...) -> None"


def test_two_types_of_one_name_stay_apart() -> None:
    def make(kind: type) -> type[BaseModel]:
        return type("Thing", (BaseModel,), {"__annotations__": {"a": kind}, "__module__": kind.__name__})

    def f(a: object, b: object) -> None:
        raise NotImplementedError

    f.__annotations__ = {"a": make(int), "b": make(str)}
    schema = read_signature(f, "f").parameters
    jsonschema.validate({"a": {"a": 1}, "b": {"a": "x"}}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"a": {"a": "x"}, "b": {"a": "x"}}, schema)


def test_self_is_left_out_and_partials_objects_and_caches_are_read() -> None:
    @functools.lru_cache
    def cached(a: int) -> int:
        raise NotImplementedError

    assert read_signature(Callme.__call__, "f", skip_first=True).text("f") == "async def f(*, a: int) -> str"
    assert read_signature(Callme(), "f").text("f") == "async def f(*, a: int) -> str"
    assert read_signature(Callme().__call__, "f").text("f") == "async def f(*, a: int) -> str"
    assert read_signature(functools.partial(with_context, 1), "f").text("f") == "async def f() -> None"
    assert read_signature(cached, "f").text("f") == "async def f(*, a: int) -> int"


def positional(a: int, /, b: int) -> None:
    raise NotImplementedError


def several(*names: str) -> None:
    raise NotImplementedError


def generator() -> Iterator[int]:
    yield 1


async def async_generator() -> AsyncIterator[int]:
    yield 1


def callback(on_done: Callable[[], None]) -> None:
    raise NotImplementedError


def gives_a_class() -> Callme:
    raise NotImplementedError


def incomplete(a: Incomplete) -> None:
    raise NotImplementedError


def old_typed_dict(a: OldOptions | None) -> None:
    raise NotImplementedError


def unknown_name(a: "Decimal") -> None:
    raise NotImplementedError


NO_FORM = (
    "which has no data form that could cross to a script: "
    "use plain types, a dataclass or a pydantic model; a helper that is no tool begins with `_`"
)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            positional,
            "crm.f takes `a` by position only, and scripts give arguments by name: take the `/` out of its parameters",
        ),
        (
            several,
            "crm.f takes `*names`, and scripts give arguments by name: make it one parameter, `names: list`",
        ),
        (generator, "crm.f yields its results: return a list instead"),
        (async_generator, "crm.f yields its results: return a list instead"),
        (callback, f"crm.f: its parameter `on_done` is annotated `Callable[[], None]`, {NO_FORM}"),
        (gives_a_class, f"crm.f: its result is annotated `Callme`, {NO_FORM}"),
        (
            unknown_name,
            (
                "crm.f: name 'Decimal' is not defined; an annotation names something that does not exist when it runs: "
                "import it outside `if TYPE_CHECKING`, at the top of the module"
            ),
        ),
    ],
)
def test_what_no_script_could_call_is_refused(function: Callable[..., object], message: str) -> None:
    with pytest.raises(BindError) as caught:
        read_signature(function, "crm.f")
    assert str(caught.value) == message


def test_a_model_that_is_not_complete_is_refused() -> None:
    with pytest.raises(BindError) as caught:
        read_signature(incomplete, "crm.f")
    assert str(caught.value) == (
        "crm.f: its parameter `a` is annotated `Incomplete`, which is not complete; "
        "an annotation names something that does not exist when it runs: "
        "import it outside `if TYPE_CHECKING`, at the top of the module"
    )


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="pydantic reads it from Python 3.12 on")
def test_a_typed_dict_that_pydantic_cannot_read_yet() -> None:
    with pytest.raises(BindError) as caught:
        read_signature(old_typed_dict, "crm.f")
    assert str(caught.value) == (
        "crm.f: its parameter `a` is annotated `OldOptions | None`, a `typing.TypedDict`: "
        "before Python 3.12, import TypedDict from `typing_extensions`"
    )


def test_a_builtin_without_a_signature_is_refused() -> None:
    with pytest.raises(BindError, match=r"crm\.f has no signature that can be read"):
        read_signature(cast("Callable[..., object]", getattr), "crm.f")
