"""Published documents with the mistakes that people make: each loads as far as it can, and says what it does not.

Of 2,638 documents of the package 1.3.17 with 113,000 operations these are where most of what is left out, or put right,
is to be found.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi import registry
from tests.bindings.openapi.bench import compiled, connected
from tests.bindings.openapi.loopback import Reply

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

METHODS = frozenset({"get", "put", "post", "delete", "patch", "head", "options", "trace"})
FIGMA = ("@figma/rest-api-spec@0.43.0", "openapi/openapi.yaml")
RCLONE = "rclone-openapi@1.75.0"
NAMELESS = "has no name, and need not be sent: it is left out"
IN_ITS_PATH = "in its path is the query parameter"
SAME_NAME = "give it an operationId of its own"


@dataclass(frozen=True)
class Known:
    """`noted`: how many notes hold a text; `excluded`: the operations that cannot be called, and a part of why."""

    member: str
    offered: int
    noted: tuple[str, int] = ("", 0)
    excluded: Mapping[str, str] = field(default_factory=dict[str, str])


DOCUMENTS = [
    Known("brainbi.net", 14, (NAMELESS, 9)),
    Known("notion.com", 13, (NAMELESS, 1)),
    Known("weatherbit.io", 47, (IN_ITS_PATH, 46)),
    Known("icons8.com", 8, (IN_ITS_PATH, 6)),
    Known("staging-ecotaco.com", 27, (IN_ITS_PATH, 2)),
    Known("mastercard.com/masterpassqr", 15, ("its path has no `{partnerId}`: that parameter is left out", 5)),
    Known("twitter.com/legacy", 83, ("would be the name of other operations as well", 4)),
    Known("just-eat.co.uk", 98),
    Known("useapi.net", 6, excluded={"GET /jobs": SAME_NAME, "GET /jobs/": SAME_NAME}),
    Known("daniweb.com", 65, excluded={"GET /users": SAME_NAME, "GET /users/~": SAME_NAME}),
    Known("clever-cloud.com", 323, ("", 1), {"GET /organisations/{id}/addons/{addonId}/sso": SAME_NAME}),
    Known("clicksend.com", 204, ("", 29), {"Search Dedicated Numbers by Country": "`{search}=1`, which cannot be filled in"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def paths() -> dict[str, Path]:
    """All of them at once: the package is large."""
    members = [f"api/{known.member}.json" for known in DOCUMENTS]
    found = registry.documents(registry.DIRECTORY, members)
    return {known.member: path for known, path in zip(DOCUMENTS, found, strict=True)}


@pytest.mark.parametrize("known", DOCUMENTS, ids=lambda known: known.member)
def test_a_document_loads_as_far_as_it_can(known: Known, paths: dict[str, Path]) -> None:
    content = paths[known.member].read_bytes()
    api = compiled(content)
    text, noted = known.noted
    assert len(api.operations) == known.offered
    assert sum(text in note for note in api.notes.values()) == noted
    assert api.excluded.keys() == known.excluded.keys()
    assert [why for key, why in api.excluded.items() if known.excluded[key] not in why] == []
    # Nothing is lost without a word.
    written = sum(method in METHODS for path in json.loads(content)["paths"].values() for method in path)
    assert len(api.operations) + len(api.excluded) == written


def test_an_operation_that_was_put_right_is_called_as_it_was_meant(paths: dict[str, Path]) -> None:
    async def within() -> None:
        async with connected(paths["weatherbit.io"], lambda _: Reply.of([])) as (client, server):
            methods = client.connector.methods
            [name] = [name for name in methods if methods[name].original == "GET /alerts?lat={lat}&lon={lon}"]
            await client.call(name, lat=1.5, lon=2, key="k" * 8)
            assert (server.last.path, server.last.query) == ("/alerts", "lat=1.5&lon=2&key=kkkkkkkk")

    asyncio.run(within())


def test_what_a_package_has_as_json_and_as_yaml_is_one_and_the_same() -> None:
    as_json, as_yaml = registry.documents(RCLONE, ["openapi.json", "openapi.yaml"])
    one, other = compiled(as_json.read_bytes()), compiled(as_yaml.read_bytes())
    assert len(one.operations) == 101
    assert (one.operations, one.excluded, one.notes) == (other.operations, other.excluded, other.notes)


def test_a_large_document_in_yaml_loads_completely() -> None:
    api = compiled(registry.document(*FIGMA).read_bytes())
    assert (len(api.operations), api.excluded, api.notes) == (54, {}, {})
