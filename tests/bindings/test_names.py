"""From any text to a Python name, and back from every spelling of it."""

from __future__ import annotations

import difflib
import keyword
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from isolith_bindings import names
from isolith_bindings.errors import InvalidName
from isolith_bindings.names import (
    GUEST_GLOBALS,
    MAX_LENGTH,
    bind,
    connector_name,
    did_you_mean,
    fold,
    from_class_name,
    nearest,
    resolve,
    sanitise,
)

ANY_TEXT = st.text() | st.text("_-. aB2é\u0301ﬁ²") | st.text(st.characters()) | st.sampled_from(keyword.kwlist)


@given(ANY_TEXT)
@example("\ud800")
@example("_")
@example("__class__")
@example("\u0301e")
@example("ﬁ" * 64)
def test_any_text_becomes_an_identifier_that_stays_what_it_is(text: str) -> None:
    name = sanitise(text)
    assert name.isidentifier()
    assert not keyword.iskeyword(name)
    assert not name.startswith("__")
    assert len(name) <= MAX_LENGTH
    assert unicodedata.normalize("NFKC", name) == name
    assert sanitise(text) == name
    assert sanitise(name) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("list_contacts", "list_contacts"),
        ("listContacts", "listContacts"),
        ("list-contacts", "list_contacts"),
        ("files.read", "files_read"),
        ("GET /users/{id}", "GET_users_id"),
        ("a -- b", "a_b"),
        ("a__b", "a__b"),
        ("2fa", "_2fa"),
        ("from", "from_"),
        ("None", "None_"),
        ("match", "match_"),
        ("type", "type_"),
        ("from_", "from_"),
        ("print", "print"),
        ("__init__", "_init__"),
        ("", "unnamed"),
        ("_", "unnamed"),
        ("!?", "unnamed"),
        ("über", "über"),
        ("搜索", "搜索"),
        ("ﬁle", "file"),
        ("x²", "x2"),
        ("\u0301e", "_\u0301e"),
    ],
)
def test_names(text: str, name: str) -> None:
    assert sanitise(text) == name


def test_a_name_is_cut_past_the_limit_and_not_at_it() -> None:
    assert sanitise("a" * MAX_LENGTH) == "a" * MAX_LENGTH
    cut = sanitise("a" * (MAX_LENGTH + 1))
    assert len(cut) == MAX_LENGTH
    assert cut.startswith("a" * 55 + "_")
    assert cut != sanitise("a" * (MAX_LENGTH + 2))


@pytest.mark.parametrize(
    ("text", "name"), [("crm", "crm"), ("my-crm", "my_crm"), ("class", "class_"), ("日本", "日本")]
)
def test_connector_names(text: str, name: str) -> None:
    assert connector_name(text) == name


@pytest.mark.parametrize("name", [*sorted(GUEST_GLOBALS), "len", "Exception", "list"])
def test_a_connector_cannot_hide_what_every_script_has(name: str) -> None:
    with pytest.raises(InvalidName) as caught:
        connector_name(name)
    assert str(caught.value) == (
        f"`{name}` cannot name a connector: every script has a `{name}` already. "
        f'Choose another, such as @connector("{name}_tools")'
    )


def test_the_globals_of_the_guest_are_those_of_the_contract() -> None:
    assert {
        "input print tools search describe emit log progress artifact budget snippets asyncio Rejected ToolError".count(
            name
        )
        for name in GUEST_GLOBALS
    } == {1}
    assert len(GUEST_GLOBALS) == 14


@pytest.mark.parametrize("text", ["", "_", " ", "--"])
def test_a_connector_needs_a_name(text: str) -> None:
    with pytest.raises(InvalidName, match="give it a name of letters and digits"):
        connector_name(text)


@pytest.mark.parametrize(
    ("text", "name"), [("Crm", "crm"), ("BillingApi", "billing_api"), ("HTTPServer", "http_server"), ("S3", "s3")]
)
def test_the_name_of_a_class(text: str, name: str) -> None:
    assert from_class_name(text) == name


def test_a_collision_costs_only_those_that_collide() -> None:
    bound, excluded = bind(["list-contacts", "list_contacts", "get"])
    assert bound == {"get": "get"}
    reason = "`list-contacts` and `list_contacts` would both be called `list_contacts`: rename one"
    assert excluded == {"list-contacts": reason, "list_contacts": reason}


def test_one_name_twice_collides_with_itself() -> None:
    assert bind(["a", "a"]) == ({}, {"a": "`a` and `a` would both be called `a`: rename one"})


@given(st.lists(ANY_TEXT, unique=True))
def test_every_name_is_bound_or_excluded(originals: list[str]) -> None:
    bound, excluded = bind(originals)
    assert sorted([*bound.values(), *excluded]) == sorted(originals)
    assert all(resolve(name, bound) == name for name in bound)
    assert all(resolve(original, bound) == name for name, original in bound.items() if original not in bound)


KNOWN = {"list_contacts": "list-contacts", "from_": "from", "getURL": "getURL", "a_b": "a_b", "ab": "ab"}


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("list_contacts", "list_contacts"),
        ("list-contacts", "list_contacts"),
        ("listContacts", "list_contacts"),
        ("ListContacts", "list_contacts"),
        ("LIST CONTACTS", "list_contacts"),
        ("from", "from_"),
        ("get_url", "getURL"),
        ("a_b", "a_b"),
        ("ab", "ab"),
        ("a-b", None),
        ("list", None),
        ("", None),
        ("-", None),
    ],
)
def test_every_spelling_resolves_where_it_is_unambiguous(spelling: str, name: str | None) -> None:
    assert resolve(spelling, KNOWN) == name


def test_the_spellings_of_known_names_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand misspelt calls of a connector of thousands held up the loop of its host for minutes."""
    folded: list[str] = []

    def counted(text: str) -> str:
        folded.append(text)
        return fold(text)

    known = {f"read_once_{number}": f"read-once-{number}" for number in range(1000)}
    monkeypatch.setattr(names, "fold", counted)
    for number in range(1000):
        assert resolve(f"reads_once_{number}", known) is None
    assert nearest("red_once_5", known)
    assert len(folded) < 5_000


def test_a_python_name_wins_over_an_original() -> None:
    assert resolve("a", {"a": "b", "b": "a"}) == "a"


def test_nearest_names() -> None:
    assert nearest("list_contact", KNOWN) == ["list_contacts"]
    assert nearest("a-b", KNOWN) == ["a_b", "ab"]
    assert nearest("zzz", KNOWN) == []
    assert len(nearest("aaaa", ["aaaa1", "aaaa2", "aaaa3", "aaaa4"])) == 3
    assert did_you_mean("a-b", KNOWN) == "did you mean `a_b` or `ab`?"
    assert did_you_mean("zzz", KNOWN) == ""


def plainly_nearest(name: str, known: list[str]) -> list[str]:
    """Each name compared with each, in full."""
    wanted = words(name)
    folded: dict[str, list[str]] = {}
    for candidate in known:
        folded.setdefault(fold(candidate), []).append(candidate)
    names = [candidate for alike in folded.values() for candidate in alike] if wanted else []
    same = [candidate for candidate in names if words(candidate) == wanted]
    letters = [each for close in difflib.get_close_matches(fold(name), list(folded), 3, 0.6) for each in folded[close]]
    more = sorted((candidate for candidate in names if words(candidate) > wanted), key=lambda each: (len(each), each))
    return list(dict.fromkeys([*same, *letters, *more]))[:3]


def words(name: str) -> set[str]:
    return {word.removesuffix("s") for word in re.findall(r"[^\W_]+", from_class_name(name))}


SIMILAR = st.lists(st.sampled_from(["list", "Issues", "issue", "get", "s", "é", "ss"]), min_size=1, max_size=4).map(
    "_".join
) | st.text("aAs_é", max_size=5)


@given(SIMILAR, st.lists(SIMILAR, max_size=20))
@example("straße_list", ["list_straße", "strasselisd"])
def test_the_nearest_are_those_of_the_plain_way(name: str, known: list[str]) -> None:
    assert nearest(name, known) == plainly_nearest(name, known)


@given(ANY_TEXT)
def test_folding_letters_and_digits_alone_is_folding(text: str) -> None:
    plain = "".join(character for character in unicodedata.normalize("NFKC", text).casefold() if character.isalnum())
    assert fold(text) == plain


def test_fold() -> None:
    assert fold("List-Contacts_2") == fold("listContacts2") == "listcontacts2"
