"""The public test doubles."""

from __future__ import annotations

import asyncio

import pytest

from isolith_bindings.errors import CallError
from isolith_bindings.testing import RecordedProgress, RecordingConnector, a_context


async def later(arguments: dict[str, object]) -> object:
    await asyncio.sleep(0)
    return arguments


def at_once(arguments: dict[str, object]) -> object:
    return arguments["x"]


def answer(given: object, **arguments: object) -> object:
    connector = RecordingConnector("r", {"the-method": given})
    return asyncio.run(connector.call(connector.methods["the_method"], arguments, a_context()))


@pytest.mark.parametrize(("given", "value"), [(3, 3), (None, None), (at_once, 1), (later, {"x": 1})])
def test_it_answers_as_it_was_told(given: object, value: object) -> None:
    assert answer(given, x=1) == value


def test_it_raises_as_it_was_told() -> None:
    with pytest.raises(CallError) as caught:
        answer(KeyError("x"))
    assert (caught.value.kind, caught.value.exception) == ("tool_error", "KeyError")
    error = CallError("denied", "no")
    with pytest.raises(CallError) as caught:
        answer(error)
    assert caught.value is error


def test_it_remembers() -> None:
    connector = RecordingConnector("r", {"a": 1}, policy="ask")
    context = a_context()

    async def main() -> None:
        await connector.start()
        await connector.call(connector.methods["a"], {"x": 1}, context)
        await connector.aclose()

    asyncio.run(main())
    assert [(call.method, call.arguments, call.context) for call in connector.calls] == [("a", {"x": 1}, context)]
    assert (connector.started, connector.closed, connector.methods["a"].policy) == (1, 1, "ask")


def test_progress_is_remembered() -> None:
    progress = RecordedProgress()
    a_context(progress).progress(1, 2, "x")
    assert progress.reports == [(1, 2, "x")]
