"""Documents in several parts: where references may lead from a file, an address and a package."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from tests.bindings.openapi.bench import OK, a_document, compiled
from tests.bindings.openapi.loopback import Reply, serving

from isolith_bindings.openapi import DocumentError, OpenApi
from isolith_bindings.openapi.source import place_of


def written(tree: object) -> bytes:
    return json.dumps(tree).encode()


def external(reference: str) -> bytes:
    query = {"$ref": reference}
    return written(a_document({"/a": {"get": {"operationId": "a", "parameters": [query], "responses": OK}}}))


PART = written({"limit": {"name": "limit", "in": "query", "schema": {"$ref": "#/size"}}, "size": {"type": "integer"}})


def test_references_to_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "p.json").write_bytes(PART)
    (tmp_path / "api.json").write_bytes(external("parts/p.json#/limit"))
    connector = OpenApi(tmp_path / "api.json", name="x")
    asyncio.run(connector.start())
    assert connector.excluded == {}
    assert list(connector.methods["a"].parameters["properties"]) == ["limit"]  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("../secret.json#/limit", "leads out of the folder"),
        ("/etc/passwd#/limit", "leads out of the folder"),
        ("%2e%2e/secret.json#/limit", "leads out of the folder"),
        ("https://evil.test/p.json#/limit", "may only refer to files beside it"),
        ("//evil.test/p.json#/limit", "may only refer to files beside it"),
        ("file:///etc/passwd#/limit", "may only refer to files beside it"),
        ("gone.json#/limit", "cannot be read"),
        ("link.json#/limit", "leads out of the folder"),
    ],
)
def test_references_that_lead_elsewhere_cost_their_operation(tmp_path: Path, reference: str, told: str) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    (tmp_path / "secret.json").write_bytes(PART)
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    path = folder / "api.json"
    path.write_bytes(external(reference))
    api = compiled(path.read_bytes(), place_of(path))
    assert told in api.excluded["a"]


def test_a_document_from_an_address_and_its_parts() -> None:
    pages = {"/api.json": external("parts/p.json#/limit"), "/parts/p.json": PART}

    async def load() -> OpenApi:
        async with serving(lambda got: Reply(pages[got.path]) if got.path in pages else Reply(status=404)) as server:
            connector = OpenApi(f"{server.url}/api.json", name="x")
            await connector.start()
            return connector

    connector = asyncio.run(load())
    assert list(connector.methods["a"].parameters["properties"]) == ["limit"]  # type: ignore[call-overload]


def test_a_part_on_another_host_is_not_fetched() -> None:
    asked: list[str] = []

    async def load() -> OpenApi:
        def other(got: object) -> Reply:
            asked.append(str(got))
            return Reply(PART)

        async with serving(other) as elsewhere:
            document = external(f"{elsewhere.url}/p.json#/limit")
            async with serving(lambda _: Reply(document)) as server:
                connector = OpenApi(f"{server.url}/api.json", name="x")
                await connector.start()
                return connector

    connector = asyncio.run(load())
    assert "leads to another host" in connector.excluded["a"]
    assert asked == []


def test_a_part_on_an_allowed_host_is_fetched_and_no_other() -> None:
    """`allow` names an origin; the same machine at another port is another host."""

    async def load() -> tuple[OpenApi, int, int]:
        async with serving(lambda _: Reply(PART)) as allowed, serving(lambda _: Reply(PART)) as other:
            paths = {
                f"/{name}": {
                    "get": {"operationId": name, "parameters": [{"$ref": f"{url}/p.json#/limit"}], "responses": OK}
                }
                for name, url in (("a", allowed.url), ("b", other.url))
            }
            document = written(a_document(paths))
            async with serving(lambda _: Reply(document)) as server:
                connector = OpenApi(f"{server.url}/api.json", name="x", allow=[allowed.url])
                await connector.start()
                return connector, len(allowed.got), len(other.got)

    connector, read, not_read = asyncio.run(load())
    assert (read, not_read) == (1, 0)
    assert list(connector.methods["a"].parameters["properties"]) == ["limit"]  # type: ignore[call-overload]
    assert connector.excluded.keys() == {"b"}
    assert "leads to another host: name http://127.0.0.1:" in connector.excluded["b"]


@pytest.mark.parametrize(
    ("allow", "reference", "fits"),
    [
        ("parts.test", "https://parts.test/p.json", True),
        ("parts.test", "//parts.test/p.json", True),
        ("parts.test", "https://parts.test:8443/p.json", False),
        ("parts.test", "http://parts.test/p.json", False),
        ("parts.test:8443", "https://parts.test:8443/p.json", True),
        ("http://parts.test:80", "http://parts.test/p.json", True),
        ("*.parts.test", "https://a.parts.test/p.json", True),
        ("*.parts.test", "https://parts.test/p.json", False),
        ("parts.test", "https://parts.test.evil.test/p.json", False),
        ("parts.test", "https://parts.test@evil.test/p.json", False),
        ("other.test", "https://API.test:443/p.json", True),  # the document's own origin, spelled otherwise
        ("parts.test", "file:///etc/passwd", False),
    ],
)
def test_where_references_of_an_address_may_lead(allow: str, reference: str, fits: bool) -> None:
    place = place_of("https://api.test/v1/api.json", [allow])
    if fits:
        assert place.join(reference).name.endswith("/p.json")
    else:
        with pytest.raises(DocumentError, match=r"leads to another host|cannot be read"):
            place.join(reference)


def test_an_allowed_host_that_is_none_is_told() -> None:
    with pytest.raises(DocumentError, match="'a host' is not a host"):
        place_of("https://api.test/api.json", ["a host"])


def test_a_document_in_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "shop_documents"
    (package / "v1").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "v1" / "shop.json").write_bytes(external("../parts.json#/limit"))
    (package / "parts.json").write_bytes(PART)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    connector = OpenApi("package:shop_documents/v1/shop.json")
    asyncio.run(connector.start())
    assert connector.name == "shop"
    assert connector.excluded == {}
    outside = OpenApi("package:shop_documents/../../secret.json", name="x")
    asyncio.run(outside.start())
    assert "cannot be read" in str(outside.unavailable)
