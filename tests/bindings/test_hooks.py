"""A `revert` or a `preview` that could not be called is refused when its connector is made, with the mend."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

import pytest

from isolith_bindings.errors import BindError
from isolith_bindings.functions import as_connector, connector, method

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith_bindings.connector import Hook


def bank(revert: Hook | None = None, preview: Hook | None = None) -> object:
    """A connector whose `pay` is undone, and previewed, so."""

    @connector("bank")
    class Bank:
        @method(revert=revert, preview=preview)
        async def pay(self, to: str, amount: int = 1) -> str:
            return f"{amount} to {to}"

        async def take_back(self, to: str, result: str) -> None:
            """Takes what it is given."""

        async def cancel(self, receipt: str) -> None:
            """Needs what it is not given."""

        async def show(self, to: str, amount: int = 1) -> str:
            return f"would pay {amount} to {to}"

    return Bank


def everything(**call: object) -> None: ...
def with_status(*, arguments: object, result: object, status: str) -> None: ...
def undo(arguments: object) -> None: ...
def itself(self: object, arguments: object, result: object) -> None: ...
def half(to: str) -> str:
    return to


def strict(to: str, amount: int) -> str:
    return f"{to} {amount}"


@pytest.mark.parametrize("revert", [everything, with_status, "take_back", cast("Callable[..., object]", dict)])
def test_what_can_be_called_is_taken(revert: Hook) -> None:
    assert as_connector(bank(revert)).methods["pay"].revert == revert
    for preview in (everything, "show", lambda to, amount=1: f"{to} {amount}"):
        assert as_connector(bank(preview=preview)).methods["pay"].preview == preview


@pytest.mark.parametrize(
    ("revert", "preview", "says"),
    [
        ("take_bak", None, "bank.pay says `revert='take_bak'`, and bank has no such method; did you mean `take_back`?"),
        (
            "take_bak",
            None,
            "It has: pay, take_back, cancel, show. Name one, or give a function, `def undo(*, arguments, result)`",
        ),
        (
            "cancel",
            None,
            "bank.pay says `revert='cancel'`, which needs `receipt`: it is given the arguments of the call",
        ),
        (
            undo,
            None,
            "`revert=undo`, which cannot be called with (arguments=..., result=...): got an unexpected keyword",
        ),
        (itself, None, 'a method of the connector is named instead: `revert="itself"`'),
        (3, None, "`revert=int`, which is neither a function nor the name of a method: give a function, `def undo("),
        (None, "shw", "bank.pay says `preview='shw'`, and bank has no such method"),
        (None, "take_back", "`preview='take_back'`, which needs `result`: it is given the arguments of the call. Give"),
        (None, half, "`preview=half`, which cannot be called with (to=..., amount=...): got an unexpected keyword"),
        (
            None,
            strict,
            "which cannot be called with (to=...): missing a required argument: 'amount'; give a function that",
        ),
    ],
)
def test_what_cannot_is_refused_with_the_mend(revert: object, preview: object, says: str) -> None:
    """It used to be found out when the call had been made and was to be undone, or when a person was asked."""
    with pytest.raises(BindError, match=re.escape(says)):
        as_connector(bank(cast("Hook", revert), cast("Hook", preview)))
