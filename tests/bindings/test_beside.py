"""What is looked through in the event loop, and what on a thread."""

from __future__ import annotations

import threading

import pytest

from isolith_bindings.beside import MUCH, beside_where_much, is_much


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([1] * (MUCH - 3), False),
        ([1] * MUCH, True),
        ({n: [n] for n in range(MUCH // 2)}, True),
        ((frozenset(range(MUCH)),), True),
        ("x" * MUCH, False),
    ],
    ids=["few", "many", "small ones", "a set", "a text"],
)
def test_how_much_is_much(value: object, expected: bool) -> None:
    assert is_much({"a": value}) is expected


@pytest.mark.anyio
@pytest.mark.parametrize(("count", "apart"), [(1, False), (MUCH, True)])
async def test_much_is_looked_through_on_a_thread(count: int, apart: bool) -> None:
    thread = await beside_where_much({"a": [0] * count}, threading.get_ident)
    assert (thread != threading.get_ident()) is apart
