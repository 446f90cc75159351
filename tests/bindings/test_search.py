"""Words, and the order of what they find."""

import pytest

from isolith_bindings.functions import as_connector
from isolith_bindings.search import entries, rank, words


def list_contacts(limit: int = 10, company: str = "") -> list[str]:
    """People we know."""
    raise NotImplementedError


def list_invoices(customer: str) -> list[str]:
    """Open invoices, by company.

    Paid ones are archived.
    """
    raise NotImplementedError


CRM = as_connector([list_contacts, list_invoices], "crm")


def found(query: str) -> list[tuple[str, float]]:
    return [(entry.result.path, score) for score, entry in rank(entries([CRM]), query)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("listContacts", ["list", "contacts"]),
        ("list_contacts-by.URL", ["list", "contacts", "by", "url"]),
        ("HTTPServer2", ["http", "server2"]),
        ("Über Straße", ["über", "strasse"]),
        ("搜索", ["搜索"]),
        ("a a", ["a"]),
        ("", []),
        ("?!", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_name_counts_more_than_a_parameter_and_that_more_than_a_description() -> None:
    assert found("company") == [("crm.list_contacts", 0.667), ("crm.list_invoices", 0.333)]
    assert found("list invoices")[0] == ("crm.list_invoices", 1.0)


def test_the_whole_description_is_searched_and_its_beginning_shown() -> None:
    [(_, entry)] = rank(entries([CRM]), "archived")
    assert entry.result.description == "Open invoices, by company."


def test_a_word_of_which_one_is_the_beginning_counts_half() -> None:
    assert found("contact") == [("crm.list_contacts", 0.5)]
    assert found("contactsbook") == [("crm.list_contacts", 0.5)]
    assert found("co") == []


def test_nothing_is_found_for_words_that_are_nowhere() -> None:
    assert found("zebra") == []


def test_equal_scores_are_sorted_by_path() -> None:
    assert [path for path, _ in found("crm")] == ["crm", "crm.list_contacts", "crm.list_invoices"]
