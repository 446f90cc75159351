"""A script in the guest, against GitHub's own description."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Literal

import pytest
from tests.bindings.openapi import registry
from tests.bindings.openapi.loopback import Server, serving
from tests.bindings.openapi.test_github import Issues

from isolith import CodeMode, OpenApi

PAGES = """
numbers = []
async for issue in github.issues.list_for_repo.pages(owner="octocat", repo="hello", per_page=3):
    numbers.append(issue["number"])
numbers
"""
SYNCHRONOUS = """
closed = github.issues.list_for_repo(owner="octocat", repo="hello", state="closed")
made = github["issues/create"](owner="octocat", repo="hello", title="a new one")
[len(closed), made["number"], made["title"]]
"""
WHOLE = """
issues = []
async for issue in github.issues.list_for_repo.pages(owner="octocat", repo="hello", per_page=3):
    issues.append(issue)
odd = [issue for issue in issues if issue["number"] % 2 and issue["state"] == "open" and issue["number"] > 1]
closed = await github.issues.list_for_repo(owner="octocat", repo="hello", state="closed")
made = await github.issues.create(
    owner="octocat", repo="hello", title=f"{len(odd)} of {len(issues)} are odd", labels=["bug"]
)
[[issue["number"] for issue in issues], len(closed), made["number"], made["title"]]
"""
PATH = "/repos/octocat/hello/issues"
WRONG = """
arguments = {"owner": "octocat", "repo": "hello", "state": "sh" + "ut"}
github.issues.list_for_repo(**arguments)
"""


@asynccontextmanager
async def github(policy: Literal["trusted", "careful"] = "trusted") -> AsyncGenerator[tuple[CodeMode, Server], None]:
    path = registry.document(*registry.GITHUB)
    async with serving(Issues(path)) as server:
        folder = registry.FOLDER / "kept"
        connector = OpenApi(path, name="github", server=server.url, cache=folder, strict_responses=True)
        async with CodeMode(connectors=[connector], policy=policy) as code_mode:
            yield code_mode, server


@pytest.mark.slow
@pytest.mark.usefixtures("supply")
def test_a_script_pages_filters_and_makes_one() -> None:
    async def within() -> None:
        async with github() as (code_mode, server):
            paged = await code_mode.execute(PAGES)
            assert paged.value == [1, 2, 3, 4, 5, 6, 7]
            assert [call.method for call in paged.calls] == ["issues.list_for_repo"] * 3
            made = await code_mode.execute(SYNCHRONOUS)
            assert (made.error, made.value) == (None, [0, 8, "a new one"])
            before = len(server.got)
            wrong = await code_mode.execute(WRONG)
            assert wrong.error is not None
            assert (wrong.error.kind, wrong.error.line) == ("invalid_arguments", 3)
            assert "`state`" in wrong.error.message
            assert len(server.got) == before

    asyncio.run(within())


@pytest.mark.slow
@pytest.mark.usefixtures("supply")
def test_a_script_lists_over_pages_filters_and_makes_one_after_approval() -> None:
    """One script, under the policy that asks before anything is written; answers are checked against the document."""

    async def within() -> None:
        async with github("careful") as (code_mode, server):
            paused = await code_mode.execute(WHOLE)
            assert (paused.status, paused.error) == ("paused", None)
            path = f"{PATH}?per_page=3"
            read = [
                ("GET", path),
                ("GET", f"{path}&page=2"),
                ("GET", f"{path}&page=3"),
                ("GET", f"{PATH}?state=closed"),
            ]
            assert [(got.method, got.target) for got in server.got] == read
            (waiting,) = paused.pending
            assert waiting.arguments == {
                "owner": "octocat",
                "repo": "hello",
                "title": "3 of 7 are odd",
                "labels": ["bug"],
            }
            # What it would send is shown to the person who decides.
            assert f"POST {server.url}{PATH}" in waiting.reason
            assert '{"title":"3 of 7 are odd","labels":["bug"]}' in waiting.reason
            done = await code_mode.approve(paused.execution_id, waiting.call_id)
            assert (done.status, done.value) == ("completed", [[1, 2, 3, 4, 5, 6, 7], 0, 8, "3 of 7 are odd"])
            # Nothing was read twice.
            assert [(got.method, got.target) for got in server.got] == [*read, ("POST", PATH)]
            assert json.loads(server.last.body) == {"title": "3 of 7 are odd", "labels": ["bug"]}

    asyncio.run(within())
