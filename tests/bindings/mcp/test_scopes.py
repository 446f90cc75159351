"""Keys come from what a request says: two that differ in it never share, and what is not said shares with nobody."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from isolith_bindings.mcp.scopes import SHARED, Identity, Scope, Sharing, key_of
from isolith_bindings.testing import a_context

if TYPE_CHECKING:
    from isolith_bindings.connector import CallContext


def context(
    principal: str | None = "p", session: str | None = "s", execution: str = "e", call: str = "e.1"
) -> CallContext:
    return replace(a_context(), principal=principal, session=session, execution_id=execution, call_id=call)


SAME_OR_NOT: list[tuple[Scope, CallContext, CallContext, bool]] = [
    ("shared", context(), context("q", "t", "f"), True),
    ("principal", context(), context("p", "t", "f"), True),
    ("principal", context(), context("q"), False),
    ("session", context(), context(execution="f"), True),
    ("session", context(), context(session="t"), False),
    ("session", context(), context(principal="q"), False),
    ("session", context("a", "b"), context("a\0b", None), False),
    ("execution", context(), context(call="e.2"), True),
    ("execution", context(), context(execution="f"), False),
    ("call", context(), context(call="e.2"), False),
    ("call", context(), context(execution="f"), False),
    ("session", context(session=None), context(session=None, call="e.2"), True),
    ("session", context(session=None), context(session=None, execution="f"), False),
    ("principal", context(None), context(None, execution="f"), False),
]


@pytest.mark.parametrize(("scope", "one", "other", "same"), SAME_OR_NOT)
def test_who_shares_a_server(scope: Scope, one: CallContext, other: CallContext, same: bool) -> None:
    assert (key_of(scope, one) == key_of(scope, other)) is same


def test_a_shared_server_is_everybody_s() -> None:
    assert key_of("shared", context()) == SHARED


def test_only_workers_for_everybody_are_several() -> None:
    assert Sharing(exclusive=True, most=5).most_of_a_key == 5
    assert Sharing(most=5).most_of_a_key == 1
    assert Sharing("session", exclusive=True, most=5).most_of_a_key == 1


def test_names_told_to_a_server_mean_nothing_elsewhere() -> None:
    identity, other = Identity(), Identity()
    told = identity.meta(context("grace@example.com", "s"))
    assert told == identity.meta(context("grace@example.com", "s"))
    assert told["io.isolith/principal"] != other.meta(context("grace@example.com", "s"))["io.isolith/principal"]
    assert told["io.isolith/session"] != identity.meta(context("bob@example.com", "s"))["io.isolith/session"]
    assert "grace" not in str(told)
    assert "io.isolith/principal" not in identity.meta(context(None, None))
    assert identity.secret.hex() not in repr(identity)
