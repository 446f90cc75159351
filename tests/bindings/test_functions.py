"""What becomes a connector, under which name, and with which methods."""

import functools
import types
from abc import ABC, abstractmethod
from collections.abc import Callable

import pytest
from pydantic import BaseModel

from isolith_bindings.errors import BindError, InvalidName
from isolith_bindings.functions import as_connector, connector, connectors_in, method
from isolith_bindings.testing import RecordingConnector


class Base(ABC):
    def inherited(self) -> int:
        return 1

    @method
    def marked(self) -> int:
        return 2

    @abstractmethod
    def overridden(self) -> int: ...


@connector("shared")
class Shared:
    def shared(self) -> int:
        return 3

    def _hidden(self) -> int:
        return 4


@connector("crm", description="Customers.")
class Crm(Base, Shared):
    """Not this."""

    limit = 3
    callback = int

    class Inner:
        def f(self) -> int:
            return 0

    def __init__(self, start: int = 1) -> None:
        self.count = start

    @functools.lru_cache(maxsize=None)  # noqa: B019, UP033 - one instance
    def cached(self, a: int) -> int:
        return a

    @property
    def size(self) -> int:
        return 1

    def listed(self) -> int:
        """One.

        Args:
            none: at all
        """
        return self.count

    def overridden(self) -> int:
        return 5

    @staticmethod
    def static(a: int) -> int:
        return a

    @classmethod
    def of_class(cls, a: int) -> str:
        return f"{cls.__name__}{a}"

    @method(policy="ask", idempotent=True, revert="listed", preview=lambda: "drop it", name="drop-all")
    def drop(self) -> int:
        return 6

    def _private(self) -> int:
        return 7

    def __len__(self) -> int:
        return 8


def add(a: int, b: int) -> int:
    """Sum."""
    return a + b


async def mul(a: int, b: int) -> int:
    return a * b


def a_module(name: str, **values: object) -> types.ModuleType:
    module = types.ModuleType(name, "About it.")
    for key, value in values.items():
        if isinstance(value, types.FunctionType | type) and value.__module__ == __name__:
            value.__module__ = name
        setattr(module, key, value)
    return module


def a_function(module: str = "", name: str = "f") -> Callable[[int], int]:
    def f(a: int) -> int:
        return a

    f.__name__ = f.__qualname__ = name
    f.__module__ = module
    return f


# ---------------------------------------------------------------------------------------------- classes


def test_public_methods_of_a_class_are_methods() -> None:
    crm = as_connector(Crm)
    assert (crm.name, crm.description) == ("crm", "Customers.")
    assert list(crm.methods) == ["shared", "marked", "overridden", "cached", "listed", "static", "of_class", "drop_all"]
    assert crm.excluded == {}
    assert crm.methods["listed"].description == "One.\n\nArgs:\n    none: at all"
    assert crm.methods["static"].signature == "async def static(*, a: int) -> int"
    assert crm.methods["of_class"].signature == "async def of_class(*, a: int) -> str"


def test_what_method_says_is_kept() -> None:
    drop = as_connector(Crm).methods["drop_all"]
    assert (drop.name, drop.original, drop.policy, drop.idempotent) == ("drop_all", "drop-all", "ask", True)
    assert (drop.revert, callable(drop.preview)) == ("listed", True)
    listed = as_connector(Crm).methods["listed"]
    assert (listed.original, listed.policy, listed.idempotent, listed.revert) == ("listed", "allow", False, None)


def test_method_under_and_over_staticmethod() -> None:
    class Both:
        @method(policy="ask")
        @staticmethod
        def over(a: int) -> int:
            return a

        @staticmethod
        @method(policy="ask")
        def under(a: int) -> int:
            return a

    assert [bound.policy for bound in as_connector(Both).methods.values()] == ["ask", "ask"]


@pytest.mark.parametrize("wrong", ["never", "", None])
def test_an_unknown_policy_is_refused_at_once(wrong: object) -> None:
    with pytest.raises(BindError) as caught:
        method(policy=wrong)  # type: ignore[call-overload]
    assert str(caught.value) == f"@method(policy={wrong!r}): a policy is one of 'allow', 'ask', 'deny'"


def test_connector_without_a_name() -> None:
    @connector
    class BillingApi:
        def f(self) -> int:
            return 1

    @connector()
    class Plain(BillingApi):
        """Its words.

        More.
        """

        def g(self) -> int:
            return 1

    assert as_connector(BillingApi).name == "billing_api"
    assert (as_connector(Plain).name, as_connector(Plain).description) == ("plain", "Its words.\n\nMore.")
    assert list(as_connector(Plain).methods) == ["f", "g"]


def test_a_subclass_that_is_not_marked_keeps_the_name_and_adds_its_own() -> None:
    class Sub(Shared):
        def more(self) -> int:
            return 1

    assert as_connector(Sub).name == "shared"
    assert list(as_connector(Sub).methods) == ["shared", "more"]


def test_a_model_or_a_library_class_as_base_adds_nothing() -> None:
    @connector("m")
    class Model(BaseModel):
        a: int = 1

        def f(self) -> int:
            return self.a

    assert list(as_connector(Model).methods) == ["f"]


@pytest.mark.parametrize("name", ["print", "", "tools"])
def test_a_bad_name_is_refused_at_once(name: str) -> None:
    with pytest.raises(InvalidName):
        connector(name)(Shared)


def test_connector_marks_classes_only() -> None:
    with pytest.raises(
        BindError, match=r"@connector marks a class; for others write as_connector\(FUNCTIONS, \"NAME\"\)"
    ):
        connector("x")(add)  # type: ignore[type-var]


def test_an_instance_is_used_as_it_is() -> None:
    assert as_connector(Crm(5)).name == "crm"
    assert "class Crm of " in repr(as_connector(Crm(5)))


def test_a_class_that_is_not_marked_is_called_like_itself() -> None:
    class HttpTools:
        def get(self) -> int:
            return 1

    assert as_connector(HttpTools).name == as_connector(HttpTools()).name == "http_tools"
    assert as_connector(HttpTools(), "web").name == "web"


def test_a_class_that_needs_arguments_is_refused() -> None:
    class Needy:
        def __init__(self, url: str, key: str, retries: int = 3) -> None: ...

        def f(self) -> int:
            return 1

    with pytest.raises(BindError) as caught:
        as_connector(Needy)
    assert str(caught.value) == (
        "class Needy needs `url`, `key` to be made: give an instance, Needy(...), in place of the class"
    )
    assert as_connector(Needy("u", "k")).name == "needy"


def test_names_that_collide_cost_only_themselves() -> None:
    found = as_connector({"list-all": add, "list_all": add, "other": add}, "crm")
    assert list(found.methods) == ["other"]
    assert set(found.excluded) == {"list-all", "list_all"}


# ---------------------------------------------------------------------------------------------- functions


def test_a_list_of_functions() -> None:
    found = as_connector([add, mul], name="my-math")
    assert (found.name, found.description, list(found.methods)) == ("my_math", "", ["add", "mul"])
    assert found.methods["add"].description == "Sum."
    assert as_connector((add,)).name == "functions"


def test_a_dict_of_functions() -> None:
    found = as_connector({"plus": add, "twice": functools.partial(mul, 2)}, "math")
    assert [bound.signature for bound in found.methods.values()] == [
        "async def plus(*, a: int, b: int) -> int",
        "async def twice(*, b: int) -> int",
    ]


def test_a_module() -> None:
    module = a_module(
        "pack.tools_of_mine", f=a_function("pack.tools_of_mine"), other=a_function("elsewhere"), _g=a_function(), n=3
    )
    found = as_connector(module)
    assert (found.name, found.description, list(found.methods)) == ("tools_of_mine", "About it.", ["f"])
    assert as_connector(module, "mine").name == "mine"


def test_a_connector_stays_itself() -> None:
    recording = RecordingConnector("r", {"a": 1})
    assert as_connector(recording) is recording
    assert as_connector(recording, "r") is recording
    with pytest.raises(BindError, match="is a connector already and keeps its name; it cannot be called `other`"):
        as_connector(recording, "other")


class Empty:
    pass


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        (Empty, f"class Empty of {__file__} has nothing to call: give it a public function or method"),
        ([], "a list of functions has nothing to call: give it a public function or method"),
        ({}, "a dict of functions has nothing to call: give it a public function or method"),
        (a_module("m"), "module m has nothing to call: give it a public function or method"),
        (5, "what is of type int is no connector: give a class, an instance, a module, or functions"),
        (None, "what is of type NoneType is no connector: give a class, an instance, a module, or functions"),
        ("crm.py", "what is of type str is no connector: give a class, an instance, a module, or functions"),
        (add, "`add` is one function: put it in a list, with what else belongs to the connector"),
        ([add, 3], "item 1 of the functions, of type int, is no function"),
        ([Shared], "item 0 of the functions, `Shared`, is no function"),
        (
            [functools.partial(add, 1)],
            "item 0 of the functions, of type partial, has no name: give a dict, name to function",
        ),
    ],
)
def test_what_is_no_connector(obj: object, message: str) -> None:
    with pytest.raises(BindError) as caught:
        as_connector(obj)
    assert str(caught.value) == message


# ---------------------------------------------------------------------------------------------- modules


def named(module: types.ModuleType, name: str | None = None) -> list[str]:
    return [found.name for found in connectors_in(module, name)]


def a_class(name: str, module: str) -> type:
    def f(self: object) -> int:
        return 1

    return connector(name)(type(name.title(), (), {"f": f, "__module__": module}))


def test_the_classes_of_a_module_are_its_connectors() -> None:
    module = a_module(
        "m", B=a_class("b", "m"), A=a_class("a", "m"), Again=None, Imported=a_class("c", "other"), f=a_function("m")
    )
    module.Again = module.A  # type: ignore[attr-defined]
    assert named(module) == ["b", "a"]


def test_a_list_of_connectors_says_it_all() -> None:
    module = a_module("m", A=a_class("a", "m"), f=a_function("m"))
    module.connectors = [Crm(3), RecordingConnector("r", {}), {"plus": add}]  # type: ignore[attr-defined]
    assert named(module) == ["crm", "r", "functions"]


def test_else_its_functions_are_one_connector() -> None:
    assert named(a_module("pack.mine", f=a_function("pack.mine"))) == ["mine"]
    assert named(a_module("pack.mine", f=a_function("pack.mine")), "given") == ["given"]


def test_a_module_may_have_nothing() -> None:
    assert named(a_module("m", _f=a_function("m"), Imported=a_class("c", "other"))) == []


def test_a_cached_function_is_one_of_the_module() -> None:
    module = a_module("m", f=functools.lru_cache(a_function("m")))
    assert list(as_connector(module).methods) == ["f"]
