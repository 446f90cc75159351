"""One catalogue: every spelling resolves, and what is found, described and granted is the same."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith_bindings.catalog import MAX_LIMIT, MAX_QUERY, Catalog
from isolith_bindings.errors import CallError, NameCollision
from isolith_bindings.functions import as_connector, method
from isolith_bindings.testing import RecordingConnector


@method(policy="deny")
def drop_all() -> None:
    raise NotImplementedError


@method(policy="ask")
def merge(ids: list[int]) -> None:
    """Join several contacts into one."""
    raise NotImplementedError


def list_contacts(limit: int = 10) -> list[str]:
    """All of them."""
    raise NotImplementedError


def get_invoice(number: int) -> str:
    raise NotImplementedError


CRM = as_connector([list_contacts, merge, drop_all], "crm")
BILLING = as_connector({"get-invoice": get_invoice, "a-b": get_invoice, "a_b": get_invoice}, "billing")
CATALOG = Catalog([CRM, BILLING])


def failure(connector: str, name: str) -> CallError:
    with pytest.raises(CallError) as caught:
        CATALOG.resolve(connector, name)
    assert caught.value.kind == "unknown_tool"
    return caught.value


@pytest.mark.parametrize("connector", ["crm", "CRM", "Crm"])
@pytest.mark.parametrize("name", ["list_contacts", "list-contacts", "listContacts", "LIST_CONTACTS"])
def test_every_spelling_resolves(connector: str, name: str) -> None:
    assert CATALOG.resolve(connector, name) == (CRM, CRM.methods["list_contacts"])


def test_the_original_name_resolves() -> None:
    assert CATALOG.resolve("billing", "get-invoice")[1].name == "get_invoice"


def test_what_is_denied_is_resolved_for_the_host_to_refuse() -> None:
    assert CATALOG.resolve("crm", "drop_all")[1].policy == "deny"


@pytest.mark.parametrize(
    ("connector", "name", "message", "hint"),
    [
        ("crmm", "x", "there is no connector `crmm`", "did you mean `crm`?"),
        ("zzz", "x", "there is no connector `zzz`", "there are: billing, crm"),
        ("crm", "list_contact", "crm has no method `list_contact`", "did you mean `crm.list_contacts`?"),
        ("crm", "zzz", "crm has no method `zzz`", "there are: list_contacts, merge"),
        ("crm", "drop_al", "crm has no method `drop_al`", "there are: list_contacts, merge"),
    ],
)
def test_what_is_unknown_is_answered_with_what_there_is(connector: str, name: str, message: str, hint: str) -> None:
    error = failure(connector, name)
    assert (str(error), error.hint) == (message, hint)


def test_what_collides_is_told_so() -> None:
    reason = "`a-b` and `a_b` would both be called `a_b`: rename one"
    for name in ("a-b", "a_b"):
        assert str(failure("billing", name)) == f"billing has no method `{name}`: {reason}"


def test_without_connectors() -> None:
    with pytest.raises(CallError) as caught:
        Catalog([]).resolve("a", "b")
    assert caught.value.hint == "there are none"


def test_two_connectors_of_one_name() -> None:
    other = RecordingConnector("crm", {})
    with pytest.raises(NameCollision) as caught:
        Catalog([CRM, other])
    assert str(caught.value) == (
        f"two connectors are called `crm`: {CRM!r} and {other!r}. Give one of them another name: "
        'of functions, as_connector(FUNCTIONS, "NAME")'
    )
    assert repr(CRM) == "<connector crm from a list of functions>"


def test_what_scripts_are_given() -> None:
    assert CATALOG.capabilities() == {"crm": ["list_contacts", "merge"], "billing": ["get_invoice"]}
    assert CATALOG.granted() == {
        "crm": {"methods": "list_contacts merge"},
        "billing": {"methods": "get_invoice", "aliases": '{"get-invoice": "get_invoice"}'},
    }


def test_methods_that_come_later_are_there() -> None:
    connector = RecordingConnector("r", {"a": 1})
    catalog = Catalog([connector])
    connector.methods["b"] = connector.methods.pop("a")
    assert catalog.capabilities() == {"r": ["b"]}
    assert catalog.resolve("r", "b")[0] is connector


# ---------------------------------------------------------------------------------------------- search


def paths(query: str = "", connector: str | None = None, limit: int = 10, offset: int = 0) -> list[str]:
    return [result.path for result in CATALOG.search(query, connector, None, limit, offset).results]


EVERYTHING = [
    "billing",
    "billing.get_invoice",
    "billing['a-b']",
    "billing['a_b']",
    "crm",
    "crm.list_contacts",
    "crm.merge",
]


def test_an_empty_query_browses() -> None:
    page = CATALOG.search()
    assert [result.path for result in page.results] == EVERYTHING
    assert (page.remaining, page.next) == (0, None)
    assert {result.score for result in page.results} == {0.0}


def test_pages() -> None:
    page = CATALOG.search(limit=3, offset=3)
    assert ([result.path for result in page.results], page.remaining, page.next) == (EVERYTHING[3:6], 1, 6)
    page = CATALOG.search(limit=3, offset=6)
    assert ([result.path for result in page.results], page.remaining, page.next) == (EVERYTHING[6:], 0, None)
    page = CATALOG.search(offset=100)
    assert (page.results, page.remaining, page.next) == ([], 0, None)


@pytest.mark.parametrize(
    "path", ["crm.list_contacts", "crm.listContacts", "tools.crm.list_contacts", 'tools["crm"].list_contacts']
)
def test_an_exact_path_is_found_alone(path: str) -> None:
    assert paths(path) == ["crm.list_contacts"]


def test_the_denied_is_found_by_nothing() -> None:
    assert "crm.drop_all" not in paths("drop all")
    assert "crm.drop_all" not in paths("crm.drop_all")
    for target in ("crm.drop_all", "crm"):
        assert "drop" not in str(CATALOG.search(target).results)
    with pytest.raises(CallError):
        CATALOG.describe("crm.drop_all")
    assert "drop" not in CATALOG.describe("crm", "full").text


def test_within_one_connector_and_of_one_kind() -> None:
    assert paths("", "CRM") == ["crm", "crm.list_contacts", "crm.merge"]
    assert [result.path for result in CATALOG.search(kind="connector").results] == ["billing", "crm"]
    assert [result.kind for result in CATALOG.search(kind="excluded").results] == ["excluded", "excluded"]


def test_a_result_says_how_it_is_called() -> None:
    [result] = CATALOG.search("join").results
    assert result.path == "crm.merge"
    assert result.signature == "async def merge(*, ids: list[int]) -> None"
    assert (result.kind, result.requires_approval, result.description) == (
        "method",
        True,
        "Join several contacts into one.",
    )
    assert 0 < result.score <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"limit": 0}, "search: `limit`: expected a whole number from 1 to 50, was given 0"),
        ({"limit": MAX_LIMIT + 1}, "search: `limit`: expected a whole number from 1 to 50, was given 51"),
        ({"limit": True}, "search: `limit`: expected a whole number from 1 to 50, was given True"),
        ({"limit": "x"}, "search: `limit`: expected a whole number from 1 to 50, was given 'x'"),
        ({"offset": -1}, "search: `offset`: expected a whole number, 0 or more, was given -1"),
        ({"kind": "x"}, "search: `kind`: expected one of connector, method, snippet, excluded, was given 'x'"),
        ({"query": 3}, "search: `query`: expected text of at most 1,000 characters, was given 3"),
    ],
)
def test_a_search_that_makes_no_sense(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(CallError) as caught:
        CATALOG.search(**arguments)  # type: ignore[arg-type]
    assert (caught.value.kind, str(caught.value)) == ("invalid_arguments", message)


def test_the_limits_themselves_are_allowed() -> None:
    CATALOG.search("x" * MAX_QUERY, limit=1)
    CATALOG.search("x" * MAX_QUERY, limit=MAX_LIMIT)
    with pytest.raises(CallError):
        CATALOG.search("x" * (MAX_QUERY + 1))


@pytest.mark.parametrize("connector", ["zzz", 3])
def test_a_search_in_an_unknown_connector(connector: object) -> None:
    with pytest.raises(CallError, match="there is no connector") as caught:
        CATALOG.search("x", connector)  # type: ignore[arg-type]
    assert caught.value.kind == "unknown_tool"


@given(st.text(max_size=MAX_QUERY))
def test_any_text_may_be_searched_and_described(text: str) -> None:
    assert all(0 <= result.score <= 1 for result in CATALOG.search(text).results)
    with contextlib.suppress(CallError):
        assert CATALOG.describe(text).text


# ---------------------------------------------------------------------------------------------- describe


@pytest.mark.parametrize(
    "target",
    [
        "crm.merge",
        "tools.crm.merge",
        'tools["crm"]["merge"]',
        "tools['crm'].merge",
        "CRM.Merge",
        " crm.merge ",
        "crm[ 'merge' ]",
    ],
)
def test_a_method_by_any_path(target: str) -> None:
    assert CATALOG.describe(target).path == "crm.merge"


def test_an_original_name_in_brackets() -> None:
    assert CATALOG.describe('billing["get-invoice"]').path == "billing.get_invoice"


def test_the_whole_catalogue() -> None:
    found = CATALOG.describe()
    assert (found.kind, [member.path for member in found.members]) == ("catalog", ["crm", "billing"])


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("crmm", "did you mean `crm`?"),
        ("", "there are: billing, crm"),
        ("crm.list_contact", "did you mean `crm.list_contacts`?"),
        ("listContacts", "did you mean `crm.list_contacts`?"),
        ("get-invoice", "did you mean `billing.get_invoice`?"),
    ],
)
def test_an_unknown_target(target: str, hint: str) -> None:
    with pytest.raises(CallError) as caught:
        CATALOG.describe(target)
    assert (caught.value.kind, caught.value.hint) == ("unknown_tool", hint)


@pytest.mark.parametrize(
    ("target", "detail", "message"),
    [
        ("crm", "more", "describe: `detail`: expected one of summary, signature, full, was given 'more'"),
        (3, "full", "describe: `target`: expected text of at most 1,000 characters, was given 3"),
    ],
)
def test_a_description_that_makes_no_sense(target: object, detail: object, message: str) -> None:
    with pytest.raises(CallError) as caught:
        CATALOG.describe(target, detail)  # type: ignore[arg-type]
    assert (caught.value.kind, str(caught.value)) == ("invalid_arguments", message)


def test_every_path_that_search_shows_can_be_described_and_resolved() -> None:
    for result in CATALOG.search(kind="method").results:
        assert CATALOG.describe(result.path).path == result.path
        connector, name = result.path.split(".")
        assert CATALOG.resolve(connector, name)[0] in {CRM, BILLING}
