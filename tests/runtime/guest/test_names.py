"""The names of a connector as a guest is given them: in one string, of which a list is made when it is needed."""

from __future__ import annotations

import pytest

from isolith_runtime.guest.names import Names

NAMES = Names("get list_all repos.issues.list repos.get", '{"list-all": "list_all", "gét": "get"}')


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("get", "get"),
        ("repos.issues.list", "repos.issues.list"),
        ("list-all", "list_all"),
        ("listAll", "list_all"),
        ("Repos.Issues.List", "repos.issues.list"),
        ("GÉT", "get"),
        ("repos.issues", None),
        ("get list_all", None),
        ("list_all repos.issues.list", None),
        ("ge", None),
        ("et", None),
        ("", None),
        (" ", None),
        ("get ", "get"),
    ],
)
def test_what_a_spelling_means(name: str, method: str | None) -> None:
    assert NAMES.resolve(name) == method


@pytest.mark.parametrize("name", ["repos", "repos.issues", "Repos", "get", "getX", "repos.iss"])
def test_what_leads_to_a_method(name: str) -> None:
    assert NAMES.leads(name) == (name != "getX")


def test_dotted_names_go_on_only_behind_a_dot_or_in_another_spelling() -> None:
    assert NAMES.has_prefix("repos.issues")
    assert NAMES.has_prefix("REPOS")
    assert not NAMES.has_prefix("repos.issues.list")
    assert not NAMES.has_prefix("issues")


def test_two_methods_of_one_folded_spelling_are_told_apart_by_exact_ones() -> None:
    names = Names("get_it getIt")
    assert (names.resolve("get_it"), names.resolve("getIt"), names.resolve("GETIT")) == ("get_it", "getIt", None)


def test_where_others_may_come_the_host_is_asked() -> None:
    assert Names("get", open=True).asked("later") == "later"
    assert Names("get").asked("later") is None
    assert Names("").methods == []
    assert not Names("").leads("get")


def test_nothing_is_made_of_the_names_for_one_that_is_there() -> None:
    names = Names("get repos.list")
    assert names.resolve("get") == "get"
    assert names.leads("repos")
    assert vars(names).keys().isdisjoint({"methods", "exact", "folded"})
