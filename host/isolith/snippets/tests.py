"""The tests of a snippet: its script run again, where each method answers as it did when the snippet was proven.

Nothing outside is reached. A call that was not made then fails, and so does a value that is another one.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from isolith.budgets import Budgets
from isolith.calling import call_frames
from isolith.errors import UsageError
from isolith.json_form import to_json_form
from isolith.run.execution import Execution
from isolith.run.order import Order
from isolith_bindings.catalog import Catalog
from isolith_bindings.connector import Method
from isolith_bindings.errors import CallError
from isolith_runtime.guest import codec

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from isolith.journal.model import Call
    from isolith.journal.snippet_model import Snippet
    from isolith_bindings.connector import CallContext, Connector, Variant
    from isolith_runtime.driver import Supply

MAX_TEST = 1024 * 1024
"""Bytes of what was recorded for one test."""
_HANDLE = re.compile(r"art_[\w-]{16,40}")
_VARIANTS: frozenset[Variant] = frozenset({"raw", "pages"})


def recorded_test(given: str, calls: Sequence[Call], outcome: Mapping[str, Any]) -> dict[str, object]:
    """What an execution was given, what it was answered and what it came to. Raises UsageError for too much."""
    test: dict[str, object] = {
        "input": given,
        "calls": [
            {
                "connector": call.connector,
                "method": call.method,
                "arguments": call.arguments,  # as the script asks, whatever a person wrote in their place
                "outcome": call.outcome,
                "error": call.error,
            }
            for call in calls
        ],
    }
    if not outcome.get("truncated"):
        test["value"] = outcome.get("value")
    size = len(json.dumps(test))
    if size > MAX_TEST:
        message = f"what it was answered is {size:,} bytes, more than a test may keep ({MAX_TEST:,})"
        raise UsageError(f"{message}: run it on less, and propose that")
    return test


async def run_tests(snippet: Snippet, supply: Callable[[Budgets], Awaitable[Supply]]) -> list[str]:
    """What is wrong: nothing where every test has passed."""
    tests = cast("list[dict[str, Any]]", json.loads(snippet.tests))
    if not tests:
        return ["it has no test: propose it from an execution that completed"]
    found: list[str] = []
    for number, test in enumerate(tests, 1):
        problem = await _run(snippet, test, supply)
        if problem is not None:
            found.append(f"test {number}: {problem}")
    return found


async def _run(snippet: Snippet, test: Mapping[str, Any], supply: Callable[[Budgets], Awaitable[Supply]]) -> str | None:
    budgets = Budgets()
    given = codec.loads(cast("str", test["input"]))
    connectors = _connectors(snippet, cast("list[dict[str, Any]]", test["calls"]))
    order = Order(snippet.code, given, budgets, (), Catalog(connectors), partial(supply, budgets), check="off")
    outcome = await Execution(order).outcome()
    if outcome.status != "completed":
        return f"it ended as {outcome.status}" + (f": {outcome.error.message}" if outcome.error else "")
    if "value" not in test or outcome.truncated:
        return None
    found = to_json_form(outcome.value)
    same = _unnamed(json.dumps(found, sort_keys=True)) == _unnamed(json.dumps(test["value"], sort_keys=True))
    return None if same else f"it came to another value: {json.dumps(found)[:300]}"


def _unnamed(text: str) -> str:
    """Without the handles of artifacts, which are others in each run."""
    return _HANDLE.sub("art_", text)


def _connectors(snippet: Snippet, calls: list[dict[str, Any]]) -> list[Connector]:
    paths = [path.partition(".") for path in cast("dict[str, str]", json.loads(snippet.methods))]
    names = sorted({connector for connector, _, _ in paths})
    return [Recorded(name, [method for of, _, method in paths if of == name], calls) for name in names]


class Recorded:
    """A connector that answers what was recorded, each answer once."""

    def __init__(self, name: str, methods: Sequence[str], calls: Sequence[Mapping[str, Any]]) -> None:
        self.name = name
        self.description = ""
        self.excluded: dict[str, str] = {}
        anything: dict[str, object] = {"type": "object"}
        self.methods = {
            method: Method(method, method, "", anything, None, f"async def {method}(**arguments)", variants=_VARIANTS)
            for method in methods
        }
        self._left = [call for call in calls if call["connector"] == name]

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        """What the same call was answered. Raises CallError where it was not made."""
        name = ".".join(filter(None, (method.name, context.variant)))
        # Artifacts are references by now, and become handles once more.
        sent = dict(arguments)
        if context.variant == "pages":
            sent = {"arguments": sent, "cursor": context.cursor}
        asked = codec.loads(_unnamed(codec.dumps(sent)))
        for number, call in enumerate(self._left):
            if call["method"] == name and codec.loads(_unnamed(call["arguments"])) == asked:
                del self._left[number]
                if call["error"] is not None:
                    raise call_frames.error_of(call["error"])
                return codec.loads(call["outcome"] or "null")
        message = f"{self.name}.{name} was not called with {json.dumps(to_json_form(sent))[:300]} when this was proven"
        raise CallError("tool_error", message)

    async def start(self) -> None:
        """Nothing to make ready."""

    async def aclose(self) -> None:
        """Nothing is held."""
