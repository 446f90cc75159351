"""What a real type checker adds to the check: types of values, and no false alarm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.bindings.check.corpus import Script, scripts, shop

from isolith.check_command import check_script
from isolith.type_checker import type_checker, types_of
from isolith_bindings.check import check

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def command() -> str:
    found = type_checker()
    assert found is not None, "`ty` is among what the tests are installed with"
    return found


def told(text: str, command: str) -> list[tuple[int, str]]:
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
def test_what_the_pass_does_not_follow(command: str, text: str, line: int, says: str) -> None:
    [(found, message)] = told(text, command)
    assert found == line
    assert says in message


@pytest.mark.parametrize("script", scripts("right"), ids=lambda script: script.name)
def test_a_right_script_raises_no_alarm(command: str, script: Script) -> None:
    assert told(script.text, command) == []


async def test_it_speaks_only_of_lines_of_which_nothing_was_said(command: str) -> None:
    text = "found = crm.find_contact(name='Ada')\nfound['name']\nfound['nmae']"
    found = await check_script("s.py", text, shop(), 10_000, None, command)
    assert (found.errors, [warning.line for warning in found.warnings]) == ((), [2, 3])


@pytest.mark.parametrize("text", ["from __future__ import annotations\nNone['x']", "x = = 1"])
def test_what_it_cannot_read_is_left_out(command: str, text: str) -> None:
    assert types_of(text, shop(), command, synchronous=True) == ()


def test_connectors_that_are_called_like_other_modules(command: str) -> None:
    for name in ("script", "typing", "json"):
        connectors = {name: shop()["crm"]}
        assert types_of(f"{name}.list_contacts()", connectors, command, synchronous=True) == ()


def test_without_one_nothing_is_said(tmp_path: Path) -> None:
    assert types_of("None['x']", shop(), str(tmp_path / "missing"), synchronous=True) == ()
