"""The description of the API: what it promises is what is answered, whatever is asked."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter
from contextlib import contextmanager
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar, cast

import hypothesis
import pytest
import schemathesis
from hypothesis.errors import Unsatisfiable
from jsonschema import Draft202012Validator
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS
from schemathesis.core.result import Ok
from tests.host.http.conftest import Bank, app_of, journal_of, token_for

from isolith import CodeMode
from isolith.http.api import OPERATIONS
from isolith.http.openapi import openapi
from isolith.http.rates import Limits

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator
    from pathlib import Path

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from isolith.http.app import App
    from isolith_runtime.driver import Supply

T = TypeVar("T")


def test_every_operation_is_described_once() -> None:
    document = openapi(OPERATIONS)
    listed = [(path, method) for path, item in document["paths"].items() for method in item]
    assert sorted(listed) == sorted((one.path, one.method.lower()) for one in OPERATIONS)
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_a_body_is_required_where_something_has_to_be_in_it() -> None:
    paths = openapi(OPERATIONS)["paths"]
    assert paths["/v1/executions"]["post"]["requestBody"]["required"] is True
    assert paths["/v1/executions/{execution_id}/cancel"]["post"]["requestBody"]["required"] is False


def test_outcomes_are_those_that_are_published() -> None:
    published = openapi(OPERATIONS)["components"]["schemas"]
    assert {"Outcome", "Diagnostic", "PendingCall", "Usage"} <= {name.partition("-")[0] for name in published}


async def _over(work: Awaitable[T], loop: asyncio.AbstractEventLoop) -> T:
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(cast("Coroutine[object, object, T]", work), loop))


@contextmanager
def served(tmp_path: Path) -> Generator[tuple[ASGIApp, str]]:
    """An app whose loop runs on a thread of its own: schemathesis asks from this one."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def begin() -> tuple[CodeMode, App, str]:
        code_mode = CodeMode([Bank()], journal=tmp_path / "journal.db", tend=False)
        await code_mode.__aenter__()
        token = await token_for(await journal_of(code_mode), "root", "admin")
        return code_mode, app_of(code_mode, Limits(per_second=1e6, burst=1_000_000)), token

    code_mode, app, token = asyncio.run_coroutine_threadsafe(begin(), loop).result(60)

    async def on_its_loop(scope: Scope, receive: Receive, send: Send) -> None:
        """The app, asked from whichever loop the client has."""
        if scope["type"] != "http":
            return
        mine = asyncio.get_running_loop()

        async def received() -> Message:
            return await _over(receive(), mine)

        async def sent(message: Message) -> None:
            await _over(send(message), mine)

        await _over(app(scope, received, sent), loop)

    try:
        yield on_its_loop, token
    finally:
        asyncio.run_coroutine_threadsafe(code_mode.aclose(), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.mark.slow
def test_schemathesis_finds_nothing(tmp_path: Path, supply: Supply) -> None:
    """What fits the description, and what does not, asked of every operation."""
    seen = Counter[int]()
    with served(tmp_path) as (app, token):
        schema = schemathesis.openapi.from_dict(openapi(OPERATIONS))
        schema.app = app
        headers = {"Authorization": f"Bearer {token}", "Host": "127.0.0.1:8000"}

        def holds(case: schemathesis.Case[Any]) -> None:
            url = "http://127.0.0.1:8000"
            seen[case.call_and_validate(headers=headers, base_url=url, checks=checks()).status_code] += 1

        for found, mode in product(schema.get_all_operations(), GenerationMode):
            assert isinstance(found, Ok)
            operation = found.ok()
            with contextlib.suppress(Unsatisfiable):  # nothing that it takes can be wrong
                cases = operation.as_strategy(generation_mode=mode)
                asked: Callable[..., None] = hypothesis.given(cases)(holds)  # type: ignore[no-untyped-call]
                checked: Callable[[], None] = SETTINGS(asked)
                checked()
    assert {200, 201, 404, 422} <= set(seen), seen
    assert sum(seen.values()) > 2 * len(OPERATIONS)


SETTINGS = hypothesis.settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[hypothesis.Phase.generate],
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.filter_too_much],
)


def checks() -> list[Any]:
    """All that are about what is answered."""
    wanted = ["not_a_server_error", "status_code_conformance", "content_type_conformance"]
    wanted += ["response_headers_conformance", "response_schema_conformance", "negative_data_rejection"]
    return [*CHECKS.get_by_names(wanted)]
