"""GitHub's own description: all of it, quickly the second time, and used as a script would."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from tests.bindings.openapi import registry
from tests.bindings.openapi.bench import Client, connected
from tests.bindings.openapi.loopback import Got, Reply, Server

from isolith_bindings.errors import CallError
from isolith_bindings.openapi import OpenApi, loading

NOT_COMPARED = {"preview", "_operation", "_signatures"}


@pytest.fixture(scope="session")
def github() -> Path:
    return registry.document(*registry.GITHUB)


@pytest.fixture(scope="session")
def cache(github: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the document came to, kept."""
    folder = tmp_path_factory.mktemp("cache")
    asyncio.run(OpenApi(github, name="github", server="https://api.test", cache=folder).start())
    return folder


def issues_of(tree: Any) -> list[dict[str, object]]:  # noqa: ANN401 - JSON
    """Seven issues, after the document's own example."""
    example = tree["components"]["examples"]["issue-items"]["value"][0]
    return [{**example, "number": number, "title": f"issue {number}"} for number in range(1, 8)]


class Issues:
    """Answers as the document says: pages by `Link`, filters, and a new issue."""

    def __init__(self, path: Path) -> None:
        self.issues = issues_of(json.loads(path.read_text()))

    def __call__(self, got: Got) -> Reply:
        if got.method == "POST":
            made = {**self.issues[0], **json.loads(got.body), "number": 8}
            return Reply.of(made, 201)
        query = parse_qs(got.query)
        state = query.get("state", ["open"])[0]
        found = [issue for issue in self.issues if state in {"all", issue["state"]}]
        page, size = int(query.get("page", ["1"])[0]), int(query.get("per_page", ["30"])[0])
        more = len(found) > page * size
        target = f"https://api.github.com{got.path}?per_page={size}&page={page + 1}"
        reply = Reply.of(found[(page - 1) * size : page * size])
        return replace(reply, headers=(*reply.headers, ("link", f'<{target}>; rel="next"'))) if more else reply


def test_all_of_it_is_there(github: Path, cache: Path) -> None:
    connector = OpenApi(github, name="github", server="https://api.test", cache=cache)
    asyncio.run(connector.start())
    tree = json.loads(github.read_text())
    verbs = {"get", "put", "post", "delete", "patch", "head", "options"}
    there = sum(1 for item in tree["paths"].values() for verb in item if verb in verbs)
    print(f"{there} operations in the document, {len(connector.methods)} methods, {len(connector.excluded)} excluded")
    assert len(connector.methods) == there > 900
    assert connector.excluded == {}
    assert connector.notes == {}
    create = connector.methods["issues.create"]
    assert create.original == "issues/create"
    assert create.signature.startswith("async def issues.create(*, owner: str, repo: str, title: ")
    assert {name: len(method.name) < 130 for name, method in connector.methods.items() if len(method.name) >= 130} == {}


def test_the_second_time_nothing_is_read_again(github: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def no(*_: object) -> None:
        raise AssertionError("the document is read again")

    first = OpenApi(github, name="github", server="https://api.test", cache=cache)
    asyncio.run(first.start())
    monkeypatch.setattr(loading, "collect", no)
    second = OpenApi(github, name="github", server="https://api.test", cache=cache)
    asyncio.run(second.start())
    assert list(first.methods) == list(second.methods)
    for name in [*list(first.methods)[::40], "issues.create"]:
        told = [{**vars(each.methods[name]), "signature": each.methods[name].signature} for each in (first, second)]
        compared = [{key: value for key, value in each.items() if key not in NOT_COMPARED} for each in told]
        assert compared[0] == compared[1]


async def pages_of(client: Client, **arguments: object) -> list[list[dict[str, Any]]]:
    found: list[list[dict[str, Any]]] = []
    cursor: object = None
    while True:
        page: Mapping[str, Any] = await client.call("issues.list_for_repo", "pages", cursor, **arguments)
        found.append(page["items"])
        cursor = page["cursor"]
        if cursor is None:
            return found


def test_issues_over_three_pages_filtered_and_one_made(github: Path, cache: Path) -> None:
    async def use(client: Client, server: Server) -> None:
        assert "pages" in client.connector.methods["issues.list_for_repo"].variants
        pages = await pages_of(client, owner="octocat", repo="hello", per_page=3)
        assert [[issue["number"] for issue in page] for page in pages] == [[1, 2, 3], [4, 5, 6], [7]]
        assert [got.target for got in server.got] == [
            "/repos/octocat/hello/issues?per_page=3",
            "/repos/octocat/hello/issues?per_page=3&page=2",
            "/repos/octocat/hello/issues?per_page=3&page=3",
        ]
        assert await client.call("issues.list_for_repo", owner="octocat", repo="hello", state="closed") == []
        made = await client.call("issues.create", owner="octocat", repo="hello", title="a new one", labels=["bug"])
        assert (made["number"], made["title"]) == (8, "a new one")
        assert json.loads(server.last.body) == {"title": "a new one", "labels": ["bug"]}

    async def within() -> None:
        async with connected(github, Issues(github), cache=cache, strict_responses=True) as (client, server):
            await use(client, server)

    asyncio.run(within())


def test_what_is_wrong_is_told_before_anything_is_sent(github: Path, cache: Path) -> None:
    async def within() -> None:
        async with connected(github, lambda _: Reply.of([]), cache=cache) as (client, server):
            with pytest.raises(CallError) as caught:
                await client.call("issues.list_for_repo", owner="o", repo="r", state="shut", per_page="many")
            assert "`state` (query parameter `state` of GET /repos/{owner}/{repo}/issues, #/" in caught.value.message
            assert "`per_page` (query parameter `per_page`" in caught.value.message
            assert "'open', 'closed'" in caught.value.message.replace("`", "'")
            assert server.got == []

    asyncio.run(within())
