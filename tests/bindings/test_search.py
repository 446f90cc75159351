"""The index: what it finds, in which order, and that it follows its connectors."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith_bindings.catalog import Catalog
from isolith_bindings.connector import JsonSchema, Method, Policy
from isolith_bindings.functions import as_connector
from isolith_bindings.policy import Policy as Rules
from isolith_bindings.policy import govern
from isolith_bindings.rendering import first_paragraph
from isolith_bindings.rules import Rule
from isolith_bindings.search import Scope, SearchIndex, SearchResult
from isolith_bindings.testing import RecordingConnector


def list_contacts(limit: int = 10, company: str = "") -> list[str]:
    """People we know."""
    raise NotImplementedError


def list_invoices(customer: str) -> list[str]:
    """Open invoices, by company.

    Paid ones are archived.
    """
    raise NotImplementedError


def delete_invoice(number: int) -> None:
    """Delete an invoice for good."""
    raise NotImplementedError


def create_invoice(customer: str) -> None:
    """Create an invoice."""
    raise NotImplementedError


CRM = as_connector([list_contacts, list_invoices, delete_invoice, create_invoice], "crm")


@dataclass(frozen=True)
class Script:
    name: str
    description: str
    signature: str = "snippets.it()"
    input_schema: JsonSchema | None = None


class Changing(RecordingConnector):
    """A connector whose methods are what was last set."""

    def __init__(self, name: str, methods: Sequence[Method]) -> None:
        super().__init__(name, {})
        self.methods = {method.name: method for method in methods}


def made(name: str, description: str = "", policy: Policy = "allow", **options: object) -> Method:
    parameters = cast("JsonSchema", options.pop("parameters", {}))
    return Method(
        name, str(options.get("original", name)), description, parameters, None, f"{name}()", policy,
        tags=cast("tuple[str, ...]", options.get("tags", ())), deprecated=bool(options.get("deprecated")),
    )  # fmt: skip


def paths(query: str, *connectors: object, snippets: Sequence[Script] = (), scope: Scope | None = None) -> list[str]:
    found = SearchIndex().find(query, cast("list[Changing]", list(connectors)), snippets, scope or Scope())
    return [hit.result.path for hit in found]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("contacts", "crm.list_contacts"),
        ("contact", "crm.list_contacts"),
        ("contcats", "crm.list_contacts"),
        ("conta", "crm.list_contacts"),
        ("show me the invoices", "crm.list_invoices"),
        ("remove invoice", "crm.delete_invoice"),
        ("add a new invoice", "crm.create_invoice"),
        ("archived", "crm.list_invoices"),
        ("company", "crm.list_invoices"),
        ("limit", "crm.list_contacts"),
        ("crm", "crm"),
    ],
)
def test_the_first_result(query: str, first: str) -> None:
    assert paths(query, CRM)[0] == first


def test_nothing_is_found_for_words_that_are_nowhere() -> None:
    assert paths("zebra", CRM) == []


def test_a_result_says_how_it_is_called_and_whether_a_person_is_asked() -> None:
    connector = Changing("shop", [made("sell", "Sell it.\n\nAt once.", "ask")])
    [hit] = SearchIndex().find("sell", [connector])
    assert hit.shown() == SearchResult(
        "shop.sell",
        "Sell it.",
        "sell()",
        "method",
        requires_approval=True,
        score=round(hit.score, 3),
        policy="ask",
        outside=True,
    )
    assert 0 < hit.score <= 1


def test_places_count_by_what_they_say() -> None:
    connector = Changing(
        "shop",
        [
            made("gamma", "Something", parameters={"properties": {"p": {"description": "a walrus"}}}),
            made("walrus", "Something"),
            made("beta", "Something", parameters={"properties": {"walrus": {}}}),
            made("alpha", "A walrus"),
            made("delta", "Something", tags=("walrus",)),
        ],
    )
    assert paths("walrus", connector) == ["shop.walrus", "shop.alpha", "shop.delta", "shop.beta", "shop.gamma"]


def test_what_is_deprecated_comes_last() -> None:
    old, new = made("a_sale", "A sale", deprecated=True), made("b_sale", "A sale")
    assert paths("sale", Changing("shop", [old, new])) == ["shop.b_sale", "shop.a_sale"]


def test_what_is_said_of_another_connector_comes_behind_the_one_that_is_named() -> None:
    one, other = Changing("mail", [made("send", "Send it")]), Changing("pigeon", [made("send", "Send it")])
    assert [path for path in paths("send with pigeon", one, other) if "." in path] == ["pigeon.send", "mail.send"]


def test_words_of_the_original_name_are_found_where_the_python_name_has_lost_them() -> None:
    assert paths("pod", Changing("kube", [made("x_1a2b", original="readNamespacedPod")])) == ["kube.x_1a2b"]


def test_what_a_method_does_is_what_is_said_of_it_before_the_verb_of_http_in_its_name() -> None:
    said = "Search by title. Gives pages and databases of the workspace"
    post = made("API_post_pages", f"Wiki | {said}")
    get = made("API_get_page", "Wiki | Delete a page, gives databases of the workspace")
    assert paths("search for pages", Changing("wiki", [get, post])) == ["wiki.API_post_pages", "wiki.API_get_page"]


def test_markup_around_what_is_said_is_no_word_of_it() -> None:
    html = "<p>Cancels an <a href='https://pay.test/api'>order</a>.</p>\n<p>It stays &amp; is kept.</p>"
    pay = Changing("pay", [made("post_orders_order", html), made("post_p", "Something")])
    [found, *_] = Catalog([pay]).search("cancel order").results
    assert (found.path, found.description) == ("pay.post_orders_order", "Cancels an order.")
    assert paths("p", pay)[0] == "pay.post_p"
    assert paths("href", pay) == paths("amp", pay) == []


def test_any_script_of_the_world() -> None:
    connector = Changing("shop", [made("a", "搜索客户订单"), made("b", "Über die Straße"), made("c", "заказы клиента")])
    assert paths("订单", connector) == ["shop.a"]
    assert paths("strasse", connector) == ["shop.b"]
    assert paths("ЗАКАЗЫ", connector) == ["shop.c"]


def test_snippets_are_found_beside_methods() -> None:
    script = Script("monthly_report", "Invoices of a month", input_schema={"properties": {"month": {}}})
    assert paths("monthly report", CRM, snippets=[script])[0] == "snippets.monthly_report"
    assert paths("", CRM, snippets=[script], scope=Scope(kind="snippet")) == ["snippets.monthly_report"]
    assert paths("report", CRM, snippets=[script], scope=Scope(connector="snippets")) == ["snippets.monthly_report"]
    assert Catalog([CRM], lambda: [script]).search("report", "snippets").results[0].kind == "snippet"


def test_a_scope_holds_one_connector_or_one_kind() -> None:
    other = Changing("crm2", [made("list_contacts", "People")])
    assert paths("contacts", CRM, other, scope=Scope(connector="crm2")) == ["crm2.list_contacts"]
    assert paths("crm", CRM, other, scope=Scope(kind="connector")) == ["crm"]


def test_equal_scores_are_in_the_order_of_their_paths() -> None:
    connector = Changing("shop", [made(f"sale_{letter}", "A sale") for letter in "cab"])
    assert paths("sale", connector) == ["shop.sale_a", "shop.sale_b", "shop.sale_c"]


def test_the_index_follows_its_connectors() -> None:
    index, connector = SearchIndex(), Changing("shop", [made("sell", "Sell"), made("buy", "Buy")])

    def found(query: str = "") -> list[str]:
        return [hit.result.path for hit in index.find(query, [connector])]

    assert found() == ["shop", "shop.buy", "shop.sell"]
    connector.methods = {"sell": made("sell", "Sell"), "rent": made("rent", "Rent")}
    assert found() == ["shop", "shop.rent", "shop.sell"]
    assert (found("buy"), found("rent")) == ([], ["shop.rent"])
    connector.methods["rent"] = replace(connector.methods["rent"], description="Lend")
    assert found("lend") == ["shop.rent"]
    connector.methods["sell"] = replace(connector.methods["sell"], policy="deny")
    assert (found(), found("sell")) == (["shop", "shop.rent"], [])
    assert index.find("", []) == []
    assert index.find("rnet", []) == []


def test_what_has_not_changed_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    index, connector = SearchIndex(), Changing("shop", [made("sell"), made("buy")])
    index.find("sell", [connector])
    read: list[str] = []

    def remember(text: str) -> str:
        read.append(text)
        return first_paragraph(text)

    monkeypatch.setattr("isolith_bindings.entries.first_paragraph", remember)
    connector.methods = {**connector.methods, "rent": made("rent", "Rent")}
    index.find("sell", [connector])
    index.find("sell", [connector])
    assert set(read) == {"Rent"}


def test_a_search_that_comes_while_the_index_is_read_waits_for_it() -> None:
    catalog = Catalog([Changing("shop", [made(f"sell_{number}", "Sell it") for number in range(500)])])
    catalog.refresh_soon()
    catalog.refresh_soon()
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(len(catalog.search("sell", limit=50).results))) for _ in "abc"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [50, 50, 50]


def test_what_a_policy_denies_is_not_found_and_what_it_asks_about_says_so() -> None:
    shop = Changing("shop", [made("sell", "Sell it"), made("buy", "Buy it")])
    rules = (Rule(action="deny", match=("shop.sell",)), Rule(action="ask", match=("shop.buy",)))
    governed = govern(shop, Rules(preset="trusted", rules=rules))
    index = SearchIndex()
    found = [(hit.result.path, hit.result.policy) for hit in index.find("", [governed], scope=Scope(kind="method"))]
    assert found == [("shop.buy", "ask")]
    assert index.find("sell", [governed]) == []
    shop.methods["rent"] = made("rent", "Rent it")
    assert {hit.result.path for hit in index.find("", [governed])} == {"shop", "shop.buy", "shop.rent"}
    assert "shop.sell" in paths("sell", shop)


class Telling(Changing):
    """One that says when its methods change."""

    def __init__(self, name: str, methods: Sequence[Method]) -> None:
        super().__init__(name, methods)
        self.listeners: list[Callable[[object], None]] = []

    def on_change(self, listener: Callable[[object], None]) -> None:
        self.listeners.append(listener)


def test_a_catalogue_reads_a_change_as_soon_as_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Telling("shop", [made("sell")])
    catalog = Catalog([govern(shop, Rules())])
    read = threading.Semaphore(0)
    refresh = SearchIndex.refresh

    def remember(index: SearchIndex, connectors: list[Changing], snippets: tuple[Script, ...]) -> None:
        refresh(index, connectors, snippets)
        read.release()

    monkeypatch.setattr(SearchIndex, "refresh", remember)
    catalog.follow()
    assert read.acquire(timeout=120)
    for thread in threading.enumerate():
        if thread.name == "isolith-search":
            thread.join(240)
    shop.listeners[0]("changed")
    assert read.acquire(timeout=120)


def test_pages_say_what_remains() -> None:
    catalog = Catalog([Changing("shop", [made(f"sell_{number}", "Sell it") for number in range(25)])])
    pages = [catalog.search("sell", limit=10, offset=offset) for offset in (0, 10, 20, 30)]
    assert [(len(page.results), page.remaining, page.next) for page in pages] == [
        (10, 15, 10),
        (10, 5, 20),
        (5, 0, None),
        (0, 0, None),
    ]
    assert len({result.path for page in pages for result in page.results}) == 25


def test_a_path_gives_that_alone() -> None:
    for query in ("crm.list_contacts", "tools.crm.list_contacts", 'tools["crm"]["list_contacts"]'):
        [result] = Catalog([CRM]).search(query).results
        assert (result.path, result.score, result.signature is None) == ("crm.list_contacts", 1.0, False)
    elsewhere = Catalog([CRM]).search("crm.list_contacts", kind="connector").results
    assert [result.path for result in elsewhere] == ["crm"]


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_described_and_searched(description: str, query: str) -> None:
    assert isinstance(paths(query, Changing("shop", [made("sell", description)])), list)


@pytest.mark.parametrize(
    "schema", [{"properties": []}, {"properties": {"a": True, "b": None, "c": {"description": 3}}}, {}]
)
def test_a_schema_that_nobody_checked_costs_nothing(schema: JsonSchema) -> None:
    assert paths("sell", Changing("shop", [made("sell", parameters=schema)])) == ["shop.sell"]
