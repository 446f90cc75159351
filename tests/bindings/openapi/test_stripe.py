"""Stripe's description: forms of nested objects and lists, which openapi-core does not read; read back here instead."""

from __future__ import annotations

import asyncio
import re
from typing import Any, cast
from urllib.parse import parse_qsl

import pytest
from tests.bindings.openapi import registry
from tests.bindings.openapi.bench import a_document, compiled, connected, operations
from tests.bindings.openapi.loopback import Reply
from tests.bindings.openapi.values import Values

from isolith_bindings.openapi.checking import properties_of
from isolith_bindings.openapi.request import Making, make
from isolith_bindings.openapi.servers import Whereabouts


def nested(text: str) -> dict[str, object]:
    """`a[b]=1&c[]=2&c[]=3&d[0][e]=4` as data, as PHP, Rails and Stripe read it; all scalars are text."""
    root: dict[str, Any] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        first, _, rest = name.partition("[")
        keys = [first, *(re.findall(r"([^\[\]]*)\]", rest) if rest else [])]
        node = root
        for key in keys[:-1]:
            node = node.setdefault(key, {})
        node[str(len(node)) if keys[-1] == "" else keys[-1]] = value
    return {key: listed(value) for key, value in root.items()}


def listed(value: Any) -> object:  # noqa: ANN401 - a form
    if not isinstance(value, dict):
        return value
    found = {key: listed(item) for key, item in value.items()}
    return list(found.values()) if list(found) == [str(index) for index in range(len(found))] else found


def texts(value: object) -> object:
    """The same with every scalar as it stands in a form; what is empty is not sent."""
    if isinstance(value, dict):
        found = {key: texts(item) for key, item in cast("dict[str, object]", value).items()}
        return {key: item for key, item in found.items() if item not in ({}, [])}
    if isinstance(value, list):
        return [item for item in map(texts, cast("list[object]", value)) if item not in ({}, [])]
    if isinstance(value, float):
        return f"{value:g}"
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def test_forms_of_nested_data_are_read_back_as_they_were_given() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}}}
    encoding = {name: {"style": "deepObject", "explode": True} for name in ("a", "b")}
    body = {"content": {"application/x-www-form-urlencoded": {"schema": schema, "encoding": encoding}}}
    document = a_document({"/x": {"post": {"operationId": "x", "requestBody": body, "responses": {}}}})
    given: dict[str, object] = {"a": {"b": {"c": "d e&f"}, "g": ["1", "2"]}, "b": [{"k": "v"}, {"k": "w"}]}

    async def within() -> None:
        async with connected(document, lambda _: Reply(status=204)) as (client, server):
            await client.call("x", **given)
            assert nested(server.last.body.decode()) == given

    asyncio.run(within())


@pytest.mark.slow
def test_every_form_of_stripe() -> None:
    api = compiled(registry.document(*registry.STRIPE).read_bytes(), where=Whereabouts(replaced=True))
    assert api.excluded == {}
    values = Values(dict(api.definitions), wild=True)
    making = Making("https://api.test", api.definitions, lambda _: b"")
    forms = 0
    for operation in operations(api).values():
        if operation.body is None or operation.body.media[0].type != "application/x-www-form-urlencoded":
            continue
        properties = properties_of(operation)
        arguments = {name: values.of(schema, 1) for name, schema in properties.items()}
        plan = make(operation, arguments, making)
        sent = {operation.body.fields[name]: arguments[name] for name in operation.body.fields}
        assert nested((plan.body or b"").decode()) == texts(sent), operation.id
        forms += 1
    print(f"{forms} forms of {len(api.operations)} operations")
    assert forms > 150
