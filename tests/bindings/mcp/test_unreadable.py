"""Which message that is nested too deeply is an answer, and to what."""

from __future__ import annotations

import pytest
from mcp_types import jsonrpc_message_adapter

from isolith_bindings.mcp.unreadable import failure_of


def answered(message: str) -> int | str | None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - of the SDK, whose text is looked at
        jsonrpc_message_adapter.validate_json(message, by_name=False)
    failure = failure_of(message.encode(), caught.value)
    return None if failure is None else failure.id


@pytest.mark.parametrize("depth", [300, 1500, 50_000, 200_000])
@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"id": 1, "a":', "}")])
def test_an_answer_whatever_the_order_of_its_members(depth: int, opened: str, closed: str) -> None:
    deep = opened * depth + "1" + closed * depth
    assert answered('{"jsonrpc":"2.0","id":7,"result":{"a":' + deep + "}}") == 7
    assert answered('{"jsonrpc":"2.0","result":{"id":"method","\\"id\\"":' + deep + '},"id" : 7 }') == 7
    assert answered('{"id":7,"error":{"code":1,"message":"}]","data":' + deep + '},"jsonrpc":"2.0"}') == 7


@pytest.mark.parametrize(
    "message",
    [
        '{"jsonrpc":"2.0","id":7,"method":"a","params":{"a":DEEP}}',
        '{"jsonrpc":"2.0","params":{"a":DEEP},"id":7,"method":"a"}',
        '{"jsonrpc":"2.0","method":"a","params":{"a":DEEP}}',
        '{"jsonrpc":"2.0","id":"7","result":{"a":DEEP}}',
        '{"jsonrpc":"2.0","id":null,"result":{"a":DEEP}}',
        '{"jsonrpc":"2.0","result":{"id":7,"a":DEEP}}',
        '[{"id":7,"result":DEEP}]',
        "DEEP",
        '{"id":7,"result"',
    ],
)
def test_what_is_no_answer_to_a_request_of_ours(message: str) -> None:
    assert answered(message.replace("DEEP", "[" * 1500 + "]" * 1500)) is None
