"""What a real type checker adds to the check: types of values, and no false alarm."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel
from tests.bindings.check.corpus import Script, scripts, shop

from isolith import connector
from isolith.command_line.check_command import check_script
from isolith.run.type_checker import Name, TypeChecker, Types, type_checker, types_of
from isolith_bindings.check import check
from isolith_bindings.connector import JsonSchema, Method
from isolith_bindings.functions import as_connector
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def command() -> TypeChecker:
    found = type_checker()
    assert found is not None
    assert found.name == "ty", "`ty` is among what the tests are installed with"
    return found


def told(text: str, command: TypeChecker) -> list[tuple[int, str]]:
    synchronous = check(text, shop()).synchronous
    return [(finding.line, finding.message) for finding in types_of(text, shop(), command, synchronous=synchronous)]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("found = await crm.find_contact(name='Ada')\nfound['name']", 2, "Cannot subscript object of type `None`"),
        ("rows = crm.list_contacts()\ncrm.get_contact(id=rows)", 2, "Expected `int`, found `list[Contact]`"),
        ("cities = weather.cities()\ncities = cities or []\ncities + 1", 3, "Operator `+` is not supported"),
        ("year = await crm.revenue(year=2025)\nyear = year['THE']\nfor y in year:\n    pass", 3, "is not iterable"),
    ],
)
def test_what_the_pass_does_not_follow(command: TypeChecker, text: str, line: int, says: str) -> None:
    [(found, message)] = told(text, command)
    assert found == line
    assert says in message


@pytest.mark.parametrize("script", scripts("right"), ids=lambda script: script.name)
def test_a_right_script_raises_no_alarm(command: TypeChecker, script: Script) -> None:
    assert told(script.text, command) == []


async def test_it_speaks_only_of_lines_of_which_nothing_was_said(command: TypeChecker) -> None:
    text = "found = crm.find_contact(name='Ada')\nfound['name']\nfound['nmae']"
    found = await check_script("s.py", text, shop(), 10_000, lambda: None, command)
    assert (found.errors, [warning.line for warning in found.warnings]) == ((), [2, 3])


@pytest.mark.parametrize("text", ["from __future__ import annotations\nNone['x']", "x = = 1"])
def test_what_it_cannot_read_is_left_out(command: TypeChecker, text: str) -> None:
    assert types_of(text, shop(), command, synchronous=True) == ()


def test_connectors_that_are_called_like_other_modules(command: TypeChecker) -> None:
    for name in ("script", "typing", "json"):
        connectors = {name: shop()["crm"]}
        assert types_of(f"{name}.list_contacts()", connectors, command, synchronous=True) == ()


def test_without_one_nothing_is_said(tmp_path: Path) -> None:
    assert types_of("crm.x\nNone['x']", shop(), TypeChecker("ty", str(tmp_path / "missing")), synchronous=True) == ()


@connector("diary")
class Diary:
    """Answers with dates, and takes them."""

    async def days(self, since: date | None = None) -> list[dict[str, date]]:
        """Each with the day it was."""
        return []


@pytest.mark.parametrize(
    "text",
    [
        "from datetime import date\nrows = await diary.days()\n[r for r in rows if r['on'] < date(2022, 1, 1)]",
        "rows = await diary.days(since='2026-01-01')\n(rows[0]['on'] - rows[1]['on']).days",
        "from datetime import date\nlen(await diary.days(since=date(2026, 1, 1)))",
    ],
)
def test_a_date_of_a_python_function_is_a_date(command: TypeChecker, text: str) -> None:
    assert types_of(text, {"diary": as_connector(Diary)}, command, synchronous=False) == ()


def test_a_date_that_is_taken_for_text_is_told(command: TypeChecker) -> None:
    [finding] = types_of(
        "rows = await diary.days()\nrows[0]['on'][:4]", {"diary": as_connector(Diary)}, command, synchronous=False
    )
    assert finding.line == 2


def paging() -> RecordingConnector:
    """`hub.rows`, in pages, each row with a number."""
    row = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
    page: JsonSchema = {
        "type": "object",
        "properties": {"items": {"type": "array", "items": row}},
        "required": ["items"],
    }
    method = Method("rows", "rows", "", {"type": "object", "properties": {"page": {"type": "integer"}}}, page, "")
    hub = RecordingConnector("hub", {})
    hub.methods = {"rows": replace(method, variants=frozenset({"raw", "pages"}))}
    return hub


@pytest.mark.parametrize(
    ("text", "synchronous"),
    [
        ("(await hub.rows.raw(page=3))['body']", False),
        ("[row['number'] + 1 async for row in hub.rows.pages(page=2)]", False),
        ("sum(row['number'] for row in hub.rows.pages({'page': 2})) + len(hub.rows()['items'])", True),
        ("hub.rows.raw()['status']", True),
    ],
)
def test_other_ways_to_call_a_method_raise_no_alarm(command: TypeChecker, text: str, synchronous: bool) -> None:
    assert types_of(text, {"hub": paging()}, command, synchronous=synchronous) == ()


def test_what_is_done_with_an_item_of_a_page_is_known(command: TypeChecker) -> None:
    text = "async for row in hub.rows.pages():\n    row['number'] + 'x'\n    await hub.rows(page=[row])"
    found = types_of(text, {"hub": paging()}, command, synchronous=False)
    assert [finding.line for finding in found] == [2, 3]


def dotted() -> dict[str, RecordingConnector]:
    """Methods under dotted names, and what no module can hold: a method with others below it, a word of Python."""
    hub, rows = paging(), paging().methods["rows"]
    names = ("repos.issues.list", "repos.get", "both", "both.list", "repos.class")
    hub.methods = {name: replace(rows, name=name, original=name) for name in names}
    return {"hub": hub}


@pytest.mark.parametrize("checker", ["ty", "pyright", "mypy"])
def test_what_a_dotted_method_gives_is_known(checker: Name) -> None:
    found = type_checker(checker)
    assert found is not None
    text = (
        "async for row in hub.repos.issues.list.pages():\n"
        "    row['number'] + 'x'\n"
        "(await hub.repos.get())['items'][0]['number'] + 'x'\n"
        "space = hub.repos.issues\n"
        "(await space.list())['items'][0]['number'] + 'x'\n"
        "(await hub.repos.issues.list.raw())['body'] + 1\n"
        "(await hub.repos.nothing()) + 1\n"
        "(await hub.both()) + (await hub.both.list()) + (await hub.repos['class']()) + (await hub['both']())\n"
    )
    assert [found.line for found in types_of(text, dotted(), found, synchronous=False)] == [2, 3, 5]


def test_a_field_that_a_document_calls_nullable_is_taken_as_it_is_meant(command: TypeChecker) -> None:
    """Most of them are; what the whole answer may be, a script is told to ask."""
    user = {"type": "object", "properties": {"login": {"type": ["string", "null"]}}}
    returns: JsonSchema = {"type": "object", "properties": {"user": {"anyOf": [user, {"type": "null"}]}}}
    hub = RecordingConnector("hub", {})
    hub.methods = {
        "get": Method("get", "get", "", {"type": "object", "properties": {}}, returns, ""),
        "find": Method(
            "find", "find", "", {"type": "object", "properties": {}}, {"anyOf": [user, {"type": "null"}]}, ""
        ),
    }
    assert types_of("hub.get()['user']['login'].upper()", {"hub": hub}, command, synchronous=True) == ()
    [found] = types_of("hub.find()['login'].upper()", {"hub": hub}, command, synchronous=True)
    assert "`None`" in found.message


def test_failures_that_are_told_apart_raise_no_alarm(command: TypeChecker) -> None:
    made = "found = await asyncio.gather(crm.get_contact(id=1), crm.get_contact(id=2), return_exceptions=True)\n"
    assert told(f"{made}[one['name'] for one in found if not isinstance(one, Exception)]", command) == []
    assert [line for line, _ in told(f"{made}[one['name'] for one in found]", command)] == [2]


@connector("people")
class People:
    """Answers with what may not be there."""

    async def lookup(self, ids: list[str]) -> dict[str, dict[str, str] | None]:
        """By id."""
        return {}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("for key in found:\n    print(found[key]['name'] if found[key] else key)", []),
        ("for key in found:\n    if found[key] is not None:\n        print('\u00e4', found[key]['name'])", []),
        ("[found[key]['name'] for key in found if found[key]]", []),
        ("for key in found:\n    print(found[key] and found[key]['name'])", []),
        ("for key in found:\n    print(found[key]['name'] if found else key)", [3]),
        ("for key in found:\n    print(found[key]['name'])", [3]),
    ],
)
def test_what_is_tested_first_raises_no_alarm(command: TypeChecker, text: str, lines: list[int]) -> None:
    """No checker narrows `found[key]`, whose key is not written out."""
    whole = f"found = people.lookup(ids=['a'])\n{text}"
    found = types_of(whole, {"people": as_connector(People)}, command, synchronous=True)
    assert [finding.line for finding in found] == lines


class Priced(BaseModel):
    """What has a price."""

    price: Decimal | None = None


@connector("till")
class Till:
    """Answers with amounts."""

    async def rows(self) -> list[Priced]:
        """Each with its price."""
        return []


def test_an_amount_of_a_python_function_is_a_decimal_that_is_there(command: TypeChecker) -> None:
    adding = "from decimal import Decimal\nx = Decimal(0)\nfor row in await till.rows():\n    x += row['price'] or 0"
    till = {"till": as_connector(Till)}
    assert types_of(adding, till, command, synchronous=False) == ()
    [found] = types_of("(await till.rows())[0]['price'] + 'x'", till, command, synchronous=False)
    assert "`Decimal | None`" in found.message


OTHERS = (
    "found = crm.find_contact(name='Ada')\n"
    "found['name']\n"
    "rows = crm.list_contacts()\n"
    "crm.get_contact(id=rows)\n"
    "for row in rows:\n"
    "    row['name'] + ' and ' + row['nmae']\n"
    "len(rows) + rows\n"
    "rows.values()\n"
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pyright", "mypy"])
def test_the_others_say_the_same(name: Types) -> None:
    """Both are among what the tests are installed with, and take seconds."""
    found = type_checker(name)
    assert found is not None
    said = types_of(OTHERS, shop(), found, synchronous=True, timeout_s=200)
    assert {2, 4, 7, 8} <= {finding.line for finding in said}, said
    assert all(f"({name}: " in finding.message and finding.column >= 1 for finding in said)
    assert {finding.line for finding in said} <= {2, 4, 6, 7, 8}


def test_what_cannot_be_read_of_an_answer_is_left_out(tmp_path: Path) -> None:
    names: tuple[Name, ...] = ("pyright", "mypy", "ty")
    for name in names:
        for answer in ("[]", '{"generalDiagnostics": [{}]}', '{"generalDiagnostics": 3}', "x", ""):
            program = tmp_path / "program"
            program.write_text(f"#!/bin/sh\necho '{answer}'\n")
            program.chmod(0o755)
            assert types_of("crm.x", shop(), TypeChecker(name, str(program)), synchronous=True) == ()


def test_the_same_script_is_looked_at_once(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/asked\n')
    program.chmod(0o755)
    checker = TypeChecker("ty", str(program))
    for text in ("crm.x", "crm.x", "crm.y"):
        types_of(text, shop(), checker, synchronous=True)
    assert (tmp_path / "asked").read_text().split() == ["server", "check"] * 2
    program.write_text("#!/bin/sh\nkill -9 $$\n")
    assert types_of("crm.z", shop(), checker, synchronous=True) == ()
    program.write_text("#!/bin/sh\necho '__isolith_script.py:2:1: error[not-iterable] it is not'\n")
    [found] = types_of("crm.z", shop(), checker, synchronous=True)  # what was not said is asked again
    assert found.line == 1
