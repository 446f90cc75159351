"""Objects that pydantic writes as text, among data that stays as it is."""

from __future__ import annotations

import datetime as dt
import ipaddress
import itertools
import re
import uuid
from collections import UserDict
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath

import pytest
from pydantic import AnyUrl, HttpUrl, SecretStr

from isolith_bindings.texts import with_texts


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (PurePosixPath("/a/b"), "/a/b"),
        (HttpUrl("http://a.b/c"), "http://a.b/c"),
        (AnyUrl("x://a"), "x://a"),
        (ipaddress.ip_address("::1"), "::1"),
        (ipaddress.ip_network("10.0.0.0/8"), "10.0.0.0/8"),
        (re.compile("a+"), "a+"),
        (Fraction(1, 3), "1/3"),
        (SecretStr("hush"), "**********"),
    ],
)
def test_what_has_a_text_becomes_it(value: object, text: str) -> None:
    assert with_texts({"in": [(value, 1)], value: {2}}) == {"in": [(text, 1)], text: {2}}


def test_data_keeps_its_types() -> None:
    data = {
        "day": dt.datetime(2026, 1, 2, tzinfo=dt.UTC),
        "span": dt.timedelta(1),
        "price": Decimal("1.10"),
        "id": uuid.UUID(int=1),
        "raw": b"\0",
        "set": {1, frozenset({2})},
        "pair": (1j, None, True),
    }
    assert repr(with_texts(data)) == repr(data)


def test_what_has_no_text_stays_as_it_is() -> None:
    thing = object()
    assert with_texts([thing, {"a": print}]) == [thing, {"a": print}]


def test_a_list_that_contains_itself_comes_to_an_end() -> None:
    endless: list[object] = []
    endless.append(endless)
    assert isinstance(with_texts(endless), list)


def test_a_tree_whose_nodes_know_their_parent_is_gone_through_once() -> None:
    """It used to be gone through once for each way to a node: without an end."""
    root: dict[str, object] = {"at": PurePosixPath("/")}
    root["children"] = [{"parent": root} for _ in range(20)]
    found = with_texts(root)
    assert isinstance(found, dict)
    assert found["at"] == "/"


def test_what_is_there_twice_is_replaced_in_both_places() -> None:
    part = [PurePosixPath("/a")]
    assert with_texts({"one": part, "other": [part]}) == {"one": ["/a"], "other": [["/a"]]}


def test_what_gives_one_thing_after_another_is_left_alone() -> None:
    endless = itertools.count()
    counted = (number for number in endless)
    assert with_texts([counted]) == [counted]
    assert next(endless) == 0


class Frozen(UserDict[str, object]):
    """A mapping that can be a key, as those of libraries that have one that is frozen."""

    def __hash__(self) -> int:
        return 1


def test_what_can_be_a_key_no_more_stays_as_it_is() -> None:
    """It was an error of ours in place of data that has no form."""
    key = Frozen(at=PurePosixPath("/a"))
    assert with_texts({key: PurePosixPath("/b"), (key,): 1}) == {key: "/b", (key,): 1}
    assert with_texts([{key, PurePosixPath("/b")}]) == [{key, "/b"}]
