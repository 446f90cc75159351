"""What is kept of a document: it saves the reading, and is never older than the document and its parts."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi.bench import OK, a_document
from tests.bindings.openapi.loopback import Reply, serving

from isolith_bindings.catalog import Catalog
from isolith_bindings.check import check
from isolith_bindings.openapi import OpenApi, loading, signatures
from isolith_bindings.openapi import cache as kept
from isolith_bindings.openapi.operations import compile_document
from isolith_bindings.policy import as_policy, govern
from isolith_bindings.schema import stubs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from isolith_bindings.connector import JsonSchema
    from isolith_bindings.openapi.document import Document
    from isolith_bindings.openapi.model import Api
    from isolith_bindings.openapi.servers import Whereabouts


def document(*names: str, part: str | None = None) -> bytes:
    """One operation of each name, all with a parameter from another document where one is named."""
    parameters = [{"$ref": f"{part}#/limit"}] if part else []
    operations = {name: {"operationId": name, "parameters": parameters, "responses": OK} for name in names}
    return json.dumps(a_document({f"/{name}": {"get": operation} for name, operation in operations.items()})).encode()


def part_with(argument: str) -> bytes:
    return json.dumps({"limit": {"name": argument, "in": "query", "schema": {"type": "integer"}}}).encode()


def read(path: Path, cache: Path) -> OpenApi:
    connector = OpenApi(path, name="x", cache=cache)
    asyncio.run(connector.start())
    return connector


def arguments(connector: OpenApi, name: str = "a") -> list[str]:
    properties = connector.methods[name].parameters["properties"]
    assert isinstance(properties, dict)
    return list(properties)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A line for each document that was made anew, and not taken from what is kept."""
    lines: list[str] = []

    def counted(found: Document, where: Whereabouts) -> Api:
        lines.append("made")
        return compile_document(found, where)

    monkeypatch.setattr(loading, "compile_document", counted)
    return lines


def test_a_document_that_changed_is_made_anew_and_the_same_one_is_not(tmp_path: Path, made: list[str]) -> None:
    path, cache = tmp_path / "api.json", tmp_path / "kept"
    path.write_bytes(document("a"))
    assert [list(read(path, cache).methods) for _ in range(2)] == [["a"], ["a"]]
    assert len(made) == 1
    path.write_bytes(document("a", "b"))
    assert [list(read(path, cache).methods) for _ in range(2)] == [["a", "b"], ["a", "b"]]
    assert len(made) == 2
    path.write_bytes(document("a"))
    assert list(read(path, cache).methods) == ["a"]
    assert len(made) == 2


def test_what_another_code_made_is_made_anew(tmp_path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The form of what is kept is that of the code which made it."""
    path, cache = tmp_path / "api.json", tmp_path / "kept"
    path.write_bytes(document("a"))
    read(path, cache)
    monkeypatch.setattr(kept, "shape", lambda: "another")
    assert [list(read(path, cache).methods) for _ in range(2)] == [["a"], ["a"]]
    assert len(made) == 2


def test_a_part_that_changed_or_went_makes_it_anew(tmp_path: Path, made: list[str]) -> None:
    path, part, cache = tmp_path / "api.json", tmp_path / "part.json", tmp_path / "kept"
    path.write_bytes(document("a", part="part.json"))
    part.write_bytes(part_with("limit"))
    assert [arguments(read(path, cache)) for _ in range(2)] == [["limit"], ["limit"]]
    assert len(made) == 1
    part.write_bytes(part_with("count"))
    assert arguments(read(path, cache)) == ["count"]
    part.unlink()
    assert "cannot be read" in read(path, cache).excluded["a"]
    assert len(made) == 3


def test_a_part_that_was_missing_is_found_when_it_is_there(tmp_path: Path) -> None:
    path, cache = tmp_path / "api.json", tmp_path / "kept"
    path.write_bytes(document("a", part="part.json"))
    assert "cannot be read" in read(path, cache).excluded["a"]
    (tmp_path / "part.json").write_bytes(part_with("limit"))
    assert arguments(read(path, cache)) == ["limit"]


def test_a_part_counts_as_long_as_its_host_is_allowed(tmp_path: Path) -> None:
    async def load(url: str, allow: Iterable[str]) -> OpenApi:
        connector = OpenApi(url, name="x", allow=allow, cache=tmp_path)
        await connector.start()
        return connector

    async def within() -> None:
        async with serving(lambda _: Reply(part_with("limit"))) as elsewhere:
            told = document("a", part=f"{elsewhere.url}/part.json")
            async with serving(lambda _: Reply(told)) as server:
                assert "leads to another host" in (await load(server.url, [])).excluded["a"]
                assert arguments(await load(server.url, [elsewhere.url])) == ["limit"]
                assert "leads to another host" in (await load(server.url, [])).excluded["a"]

    asyncio.run(within())


def test_what_is_kept_and_damaged_is_made_anew(tmp_path: Path, made: list[str]) -> None:
    path, cache = tmp_path / "api.json", tmp_path / "kept"
    path.write_bytes(document("a"))
    read(path, cache)
    [entry] = cache.iterdir()
    entry.write_bytes(entry.read_bytes()[:-20])
    assert list(read(path, cache).methods) == ["a"]
    assert len(made) == 2


def test_a_signature_is_written_when_it_is_read_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a large document take seconds: neither a policy, nor a search, nor a call has all of them written."""
    path, cache = tmp_path / "api.json", tmp_path / "kept"
    path.write_bytes(document("list_things", "make_thing", "drop_thing"))
    written: list[str] = []

    def counted(name: str, parameters: JsonSchema, returns: JsonSchema | bool | None) -> str:
        written.append(name)
        return stubs.signature(name, parameters, returns)

    monkeypatch.setattr(signatures, "signature", counted)

    async def use() -> list[str]:
        connector = OpenApi(path, name="x", cache=cache)
        await connector.start()
        governed = govern(connector, as_policy("careful"))
        catalog = Catalog([governed])
        assert check("x.list_things(limit=1)", {"x": governed}).findings != ()
        written.clear()
        assert len(catalog.search("", limit=1).results) == 1
        described = [catalog.describe("x.make_thing").text, connector.methods["make_thing"].signature]
        await connector.aclose()
        return described

    first = asyncio.run(use())
    assert sorted(written) == ["make_thing"]
    assert asyncio.run(use()) == first
    assert written == []
