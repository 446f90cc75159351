"""Operations of real documents, driven; openapi-core judges each request.

Once by schemathesis, which takes a document's own examples and makes values for what has none; once with values of
`values.py`, which gives all arguments, and text in them that has to be encoded.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi import registry
from tests.bindings.openapi.bench import compiled
from tests.bindings.openapi.cases import cases
from tests.bindings.openapi.independent import Independent
from tests.bindings.openapi.loopback import Reply, serving
from tests.bindings.openapi.values import NoValueError, Values

from isolith_bindings.errors import CallError
from isolith_bindings.openapi import ApiKey, OpenApi
from isolith_bindings.openapi.servers import Whereabouts
from isolith_bindings.secrets import Secret
from isolith_bindings.testing import a_context

if TYPE_CHECKING:
    from isolith_bindings.openapi.model import Operation

WHERE = Whereabouts(replaced=True)
CREDENTIAL = ApiKey("X-Test-Key", Secret(lambda: "key-of-the-tests", "the tests"))
NOT_JUDGED = dict.fromkeys(
    ("ssh_keys.get", "ssh_keys.update", "ssh_keys.delete"), "its path parameter is read-only in one of its two forms"
) | {
    "authorization.post_oauth2_revoke": "its form requires a field that it does not have",
    "droplet_actions.post_by_tag": "both of its forms fit; its discriminator says which one is meant",
}
"""What is sent and not judged: openapi-core refuses any request of it, because of what the document says of it."""
SCHEMATHESIS = [
    (registry.GITHUB, 7, 170, 50),
    (registry.ASANA, 2, 80, 80),
    (registry.DIGITALOCEAN, 3, 90, 80),
    (registry.BOX, 4, 60, 55),
]
"""A document; every which operation of it is driven; how many are sent and valid at least, and by its own examples."""
VALUES = [
    (registry.GITHUB, 7, 165),
    (registry.KUBERNETES, 14, 60),
    (registry.DIGITALOCEAN, 3, 90),
    (registry.BOX, 4, 60),
]


@dataclass
class Drive:
    examples: int = 0
    judged: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])
    unsent: list[str] = field(default_factory=list[str])


async def drive_with_values(path: Path, step: int) -> Drive:
    """Every `step`-th operation of a document, with all its arguments, text in them that has to be encoded."""
    done = Drive()
    async with serving(lambda _: Reply.of({})) as server:
        judge = Independent(path, server.url)
        connector = OpenApi(path, name="api", server=server.url, auth=CREDENTIAL)
        await connector.start()
        # `#` in a path tells operations of one path apart, of which openapi-core finds only one.
        methods = [method for method in connector.methods.values() if "#" not in method.original]
        for method in methods[::step]:
            definitions = method.parameters.get("$defs", {})
            assert isinstance(definitions, dict)
            values = Values(definitions, wild=True)
            properties = method.parameters["properties"]
            assert isinstance(properties, dict)
            before = len(server.got)
            try:
                arguments = {name: values.of(schema, 1) for name, schema in properties.items()}
                await connector.call(method, arguments, a_context())
            except NoValueError as error:
                done.unsent.append(f"{method.name}: {error}")
            except CallError as error:
                done.unsent.append(f"{method.name}: {error.kind}: {error.message}")
            if len(server.got) > before and method.name not in NOT_JUDGED:
                done.judged.append(method.name)
                problem = judge.problem(server.last)
                done.wrong += [f"{method.name}: {problem} {server.last}"] if problem else []
        await connector.aclose()
    return done


async def drive_by_schemathesis(path: Path, step: int, operations: dict[str, Operation]) -> Drive:
    """Every `step`-th operation of a document, as schemathesis calls it."""
    done = Drive()
    async with serving(lambda _: Reply.of({})) as server:
        judge = Independent(path, server.url)
        connector = OpenApi(path, name="api", server=server.url, auth=CREDENTIAL)
        await connector.start()
        for case in cases(path, step):
            operation = operations[case.key]
            if "#" in operation.path or operation.name in NOT_JUDGED:
                continue
            try:
                await connector.call(connector.methods[operation.name], case.arguments(operation), a_context())
            except CallError as error:
                done.unsent.append(f"{operation.name}: {error.message}")
                continue
            done.judged.append(operation.name)
            done.examples += case.example
            problem = judge.problem(server.last)
            done.wrong += [f"{operation.name}: {problem} {server.last}"] if problem else []
        await connector.aclose()
    return done


@pytest.mark.slow
@pytest.mark.parametrize(
    ("document", "step", "least", "examples"),
    SCHEMATHESIS,
    ids=lambda value: value[1].rpartition("/")[2] if isinstance(value, tuple) else str(value),
)
def test_driven_by_schemathesis_requests_are_what_the_document_says(
    document: tuple[str, str], step: int, least: int, examples: int
) -> None:
    path = registry.document(*document)
    operations = {operation.key: operation for operation in compiled(path.read_bytes(), where=WHERE).operations}
    done = asyncio.run(drive_by_schemathesis(path, step, operations))
    print(f"{len(done.judged)} judged, {done.examples} by examples, {len(done.unsent)} not sent: {done.unsent}")
    assert done.wrong == []
    assert done.unsent == []
    assert len(done.judged) >= least
    assert done.examples >= examples


@pytest.mark.slow
@pytest.mark.parametrize(
    ("document", "step", "least"),
    VALUES,
    ids=lambda value: value[1].rpartition("/")[2] if isinstance(value, tuple) else str(value),
)
def test_with_every_argument_requests_are_what_the_document_says(
    document: tuple[str, str], step: int, least: int
) -> None:
    done = asyncio.run(drive_with_values(registry.document(*document), step))
    print(f"{len(done.judged)} judged, {len(done.unsent)} not sent: {done.unsent}")
    assert done.wrong == []
    assert len(done.judged) >= least
    assert done.unsent == []


def test_these_are_at_least_three_hundred_of_three_documents() -> None:
    """Each test above asserts its own number."""
    for driven in (SCHEMATHESIS, VALUES):
        assert sum(least for _, _, least, *_ in driven[:3]) >= 300
