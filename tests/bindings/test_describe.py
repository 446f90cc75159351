"""Descriptions in their three lengths, as text and as data."""

import pytest

from isolith_bindings.describe import Detail, describe_all, describe_connector, describe_method
from isolith_bindings.functions import as_connector, method


@method(policy="ask", name="save-contact")
def save(name: str) -> bool:
    """Keep a contact.

    Args:
        name: the full name
    """
    raise NotImplementedError


def bare() -> None:
    raise NotImplementedError


bare.__annotations__ = {}


class Crm:
    """Customers
    of ours.

    More.
    """

    save_contact = staticmethod(save)

    def ping(self) -> None:
        raise NotImplementedError


CRM = as_connector(Crm, "crm")
SAVE = CRM.methods["save_contact"]


@pytest.mark.parametrize(
    ("detail", "text", "description", "signature"),
    [
        ("summary", "crm.save_contact: Keep a contact.  # needs approval", "Keep a contact.", None),
        (
            "signature",
            (
                "# crm.save_contact\n"
                "async def save_contact(*, name: str) -> bool:\n"
                '    """Keep a contact.\n\n'
                '    Needs approval: a person is asked before each call.\n    """'
            ),
            "Keep a contact.",
            "async def save_contact(*, name: str) -> bool",
        ),
        (
            "full",
            (
                "# crm.save_contact\n"
                "async def save_contact(*, name: str) -> bool:\n"
                '    """Keep a contact.\n\n'
                "    Args:\n        name: the full name\n\n"
                '    Needs approval: a person is asked before each call.\n    """'
            ),
            "Keep a contact.\n\nArgs:\n    name: the full name",
            "async def save_contact(*, name: str) -> bool",
        ),
    ],
)
def test_a_method(detail: Detail, text: str, description: str, signature: str | None) -> None:
    found = describe_method(CRM, SAVE, detail)
    assert (found.path, found.kind, found.requires_approval) == ("crm.save_contact", "method", True)
    assert (found.text, found.description, found.signature) == (text, description, signature)
    full = detail == "full"
    assert found.parameters == (SAVE.parameters if full else None)
    assert found.returns == ({"type": "boolean"} if full else None)


def test_a_method_without_words() -> None:
    connector = as_connector([bare], "t")
    assert describe_method(connector, connector.methods["bare"], "summary").text == "t.bare"
    assert describe_method(connector, connector.methods["bare"], "signature").text == "# t.bare\nasync def bare(): ..."


def test_a_connector() -> None:
    found = describe_connector(CRM, "summary")
    assert found.text == (
        "crm: Customers of ours.\n    crm.save_contact: Keep a contact.  # needs approval\n    crm.ping"
    )
    assert [member.path for member in found.members] == ["crm.save_contact", "crm.ping"]
    assert describe_connector(CRM, "full").description == "Customers\nof ours.\n\nMore."


def test_what_collides_is_shown_with_its_reason() -> None:
    connector = as_connector({"a-b": bare, "a_b": bare}, "t")
    reason = "`a-b` and `a_b` would both be called `a_b`: rename one"
    assert describe_connector(connector, "summary").text == (
        f"t\n    'a-b' is not available: {reason}\n    'a_b' is not available: {reason}"
    )


def test_the_catalogue() -> None:
    found = describe_all([CRM, as_connector([bare], "t")], "signature")
    assert found.text.split("\n\n") == [describe_connector(CRM, "signature").text, "t\n    async def bare()"]
    assert describe_all([], "summary").text == "there are no connectors"
