"""Arguments as the JSON that leaves: the same values, or an error that names the path."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import threading
import uuid
from typing import TYPE_CHECKING, cast

import pytest
from tests.bindings.mcp.bench import Artifacts

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.errors import CallError
from isolith_bindings.mcp import arguments
from isolith_bindings.mcp.arguments import MAX_DEPTH, as_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith_bindings.mcp.catalogue import Bound


class Colour(enum.Enum):
    RED = "red"


def sent(value: object, artifacts: Artifacts | None = None) -> object:
    return as_json("box.tool", {"a": value}, artifacts or Artifacts())["a"]


@pytest.mark.parametrize("value", [None, True, 0, -(2**80), 1.5, "", "é\n", [], {}, [1, [2.0, {"x": None}]]])
def test_json_is_sent_as_it_is(value: object) -> None:
    found = sent(value)
    assert found == value
    assert repr(found) == repr(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC), "2026-01-02T03:04:00+00:00"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (dt.timedelta(minutes=1), 60.0),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (decimal.Decimal(10) ** 30, 10**30),
        (decimal.Decimal("0.1"), 0.1),
        (b"\x00\xff", "AP8="),
        ((1, 2), [1, 2]),
        ({3}, [3]),
        (Colour.RED, "red"),
    ],
)
def test_what_a_script_may_hold_has_a_form(value: object, expected: object) -> None:
    assert sent(value) == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "`a` is nan, which JSON cannot say"),
        (float("-inf"), "`a` is -inf"),
        ([1, {"b": float("inf")}], r"`a`\[1\].b is inf"),
        (decimal.Decimal("0.1234567890123456789012345"), "`a` has more digits"),
        (decimal.Decimal("NaN"), "which JSON cannot say"),
        (decimal.Decimal("sNaN"), "`a` is sNaN, which JSON cannot say"),
        (decimal.Decimal("1e400"), "which JSON cannot say"),
        ([1 << 20_000], r"`a`\[0\] is <int of 20,001 bits>: send it as text"),
        ({1 << 20_000: 1}, "the key <int of 20,001 bits>"),
        ({1: 2}, "the key 1"),
        (object(), "has no JSON form: it is a object"),
        (ArtifactRef("gone", "text/plain", 1), "no artifact gone"),
    ],
)
def test_what_has_no_form_is_refused_by_its_path(value: object, message: str) -> None:
    with pytest.raises(CallError, match=message) as caught:
        sent(value)
    assert caught.value.kind == "invalid_arguments"


def test_nesting_without_end_ends() -> None:
    value: object = 1
    for _ in range(MAX_DEPTH + 10):
        value = [value]
    with pytest.raises(CallError, match=f"nested more than {MAX_DEPTH} deep"):
        sent(value)


@pytest.mark.parametrize(
    ("content", "mime", "expected"),
    [
        (b"hello", "text/plain; charset=utf-8", "hello"),
        (b"{}", "application/json", "{}"),
        (b"\x00\xff", "image/png", "AP8="),
        (b"\xff", "text/plain", "/w=="),
    ],
)
def test_an_artifact_is_sent_as_text_or_base64(content: bytes, mime: str, expected: str) -> None:
    artifacts = Artifacts()
    keep: Callable[..., ArtifactRef] = artifacts.keep
    assert sent([keep(content, mime=mime)], artifacts) == [expected]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("value", "apart"),
    [
        ([1] * 4_000, False),
        ([1] * 300_000, True),
        ([[n] for n in range(4_000)], True),
        ({"a": {"b": {1} | {2}}}, False),
    ],
    ids=["few", "many", "many small ones", "nested"],
)
async def test_much_is_checked_beside_the_loop(value: object, apart: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte of numbers held up the loop for a second, and a script sends two hundred of them."""
    threads: list[int] = []

    def noted(*_: object) -> dict[str, object]:
        threads.append(threading.get_ident())
        return {"a": 1}

    monkeypatch.setattr(arguments, "checked", noted)
    bound = cast("Bound", None)
    assert await arguments.checked_aside("box.tool", bound, {"a": value}, Artifacts()) == {"a": 1}
    assert [thread != threading.get_ident() for thread in threads] == [apart]
