"""The library's front door: what it takes, what it refuses, what it owns."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import pytest
from pydantic import BaseModel

from isolith import BudgetError, Budgets, CodeMode, HostPolicy, UsageError, as_connector
from isolith_bindings.errors import BindError, NameCollision
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from isolith_bindings.policy import Policy
    from isolith_runtime.driver import Supply

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("supply")]


def add(a: int, b: int = 1) -> int:
    """Add."""
    return a + b


class Plain:
    """A class without a mark."""

    def hello(self) -> str:
        return "hello"


@pytest.mark.parametrize(
    ("connector", "script", "value"),
    [
        ([add], "functions.add(a=1)", 2),
        ({"plus": add}, "functions.plus(a=1, b=5)", 6),
        (Plain, "plain.hello()", "hello"),
        (Plain(), "plain.hello()", "hello"),
        (RecordingConnector("tool", {"go": 5}), "tool.go()", 5),
    ],
)
async def test_connectors_are_classes_instances_functions_or_connectors(
    connector: object, script: str, value: object
) -> None:
    assert (await CodeMode([connector]).execute(script)).value == value


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(NameCollision, match="two connectors are called `tool`"):
        CodeMode([RecordingConnector("tool", {"a": 1}), RecordingConnector("tool", {"b": 1})])


def test_what_is_no_connector_is_refused() -> None:
    with pytest.raises(BindError):
        CodeMode([5])


@pytest.mark.parametrize(
    ("connectors", "write"),
    [
        (Plain, "[Plain]"),
        (add, "[add]"),
        ({"plus": add}, "[{'plus': <function add"),
        ("crm.py", "['crm.py']"),
        (5, "[5]"),
    ],
)
def test_connectors_that_are_in_no_list_are_misuse(connectors: object, write: str) -> None:
    with pytest.raises(UsageError) as caught:
        CodeMode(connectors=cast("list[object]", connectors))
    assert f"the connectors are given in a list, even a single one: write `connectors={write}" in str(caught.value)


@pytest.mark.parametrize("policy", ["lax", {"preset": "careful"}, None])
def test_a_policy_that_is_none_is_misuse(policy: object) -> None:
    with pytest.raises(UsageError) as caught:
        CodeMode(policy=cast("Policy", policy))
    assert str(caught.value) == (
        f"there is no policy {policy!r}: it is `trusted`, `careful`, `readonly`, or a `Policy` with rules"
    )


async def test_connectors_are_started_and_closed_with_it() -> None:
    connector = RecordingConnector("tool", {"go": 1})
    async with CodeMode([connector]) as code_mode:
        assert (connector.started, connector.closed) == (1, 0)
        await code_mode.execute("tool.go()")
    assert (connector.started, connector.closed) == (1, 1)


def test_without_a_loop_they_are_started_and_closed_around_each_run() -> None:
    connector = RecordingConnector("tool", {"go": 1})
    code_mode = CodeMode([connector])
    assert [code_mode.execute_sync("tool.go()").value for _ in range(2)] == [1, 1]
    assert (connector.started, connector.closed) == (2, 2)


async def test_inside_a_loop_execute_sync_says_what_to_write() -> None:
    with pytest.raises(UsageError, match="execute_sync was called in a running event loop: write `await code_mode"):
        CodeMode().execute_sync("1")


async def test_misuse_raises_and_a_failure_does_not() -> None:
    code_mode = CodeMode()
    with pytest.raises(BudgetError, match="there is no budget `cpu`: did you mean `cpu_ms`"):
        await code_mode.execute("1", budgets=Budgets.model_validate({"cpu": 1}))
    scripts: list[str | bytes] = ["1 / 0", "x = (", "", "\0", b"\xff", "while True: pass"]
    for script in scripts:
        outcome = await code_mode.execute(script, budgets=Budgets(cpu_ms=50))
        assert outcome.error is not None


@pytest.mark.parametrize("script", [3, None, ["1 + 1"]])
async def test_what_is_no_text_is_misuse_and_no_bug_of_ours(script: object) -> None:
    async with CodeMode() as code_mode:
        with pytest.raises(UsageError, match=rf"^a script is text, or bytes in UTF-8, not {type(script).__name__}$"):
            code_mode.start(cast("str", script))


async def test_budgets_of_another_kind_are_misuse() -> None:
    async with CodeMode() as code_mode:
        with pytest.raises(
            BudgetError, match=r"^budgets are given as `Budgets`, .*Budgets\(cpu_ms=500\), not as dict$"
        ):
            code_mode.start("1", budgets=cast("Budgets", {"cpu_ms": 5}))


async def test_bytes_are_a_script_too() -> None:
    assert (await CodeMode().execute("'grün'".encode())).value == "grün"


async def test_an_outcome_has_its_parts(supply: Supply) -> None:
    outcome = await CodeMode().execute("1")
    assert (outcome.ok, outcome.exit_code, outcome.pending, outcome.calls) == (True, 0, (), ())
    assert len(outcome.execution_id) == 32
    assert supply is not None


async def test_a_validator_that_breaks_is_no_hanging_run() -> None:
    class Strange(BaseModel):
        n: int

        def model_post_init(self, context: object, /) -> None:
            raise RuntimeError("secret-4711")

    outcome = await asyncio.wait_for(CodeMode().execute("{'n': 1}", result_type=Strange), 120)
    assert outcome.error is not None
    assert outcome.error.kind == "internal"
    assert "secret-4711" not in outcome.to_json_text()


async def test_closing_twice_is_closing_once() -> None:
    code_mode = CodeMode()
    execution = code_mode.start("while True: pass")
    await code_mode.aclose()
    await code_mode.aclose()
    assert (await execution.outcome()).status == "cancelled"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ceilings": Budgets()}, "`ceilings` takes a `HostPolicy`.*write `ceilings=HostPolicy"),
        ({"check": "x"}, "`check` is one of `off`, `warn`, `strict`, not 'x'"),
        ({"types": "x"}, "`types` is one of `auto`, `ty`, `pyright`, `mypy`, `off`, not 'x'"),
        ({"questions": "ask"}, "`questions` takes `pause`, or a function"),
        ({"origin": "crm"}, "`origin` takes JSON text"),
        ({"origin": "[" * 1500 + "]" * 1500}, "`origin` takes JSON text"),
        ({"journal": 5}, "`journal` takes a file"),
        ({"journal": "/nonexist/dir/j.db"}, "`journal`: the folder `/nonexist/dir` is not there"),
    ],
)
def test_an_option_that_is_not_what_it_has_to_be_is_named_with_what_it_takes(
    options: dict[str, object], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        CodeMode(**options)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


async def test_what_is_closed_runs_nothing_until_it_is_opened_again() -> None:
    code_mode = CodeMode(ceilings=HostPolicy())
    async with code_mode:
        assert (await code_mode.execute("1")).value == 1
    with pytest.raises(UsageError, match="this CodeMode is closed"):
        await code_mode.execute("1")
    with pytest.raises(UsageError, match="this CodeMode is closed"):
        await code_mode.approve("execution", "call")
    assert await asyncio.to_thread(code_mode.execute_sync, "2") is not None


async def test_lists_of_functions_have_names_where_there_are_several() -> None:
    with pytest.raises(NameCollision, match=r'as_connector\(FUNCTIONS, "NAME"\)'):
        CodeMode([[add], [add]])
    code_mode = CodeMode([as_connector([add], "mathx"), [add]])
    assert (await code_mode.execute("mathx.add(a=1) + functions.add(a=2)")).value == 5
