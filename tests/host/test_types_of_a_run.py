"""What a type checker says of a script beside its run: a warning of the outcome, and nothing waits for it in vain."""

from __future__ import annotations

import pytest
from tests.bindings.check.corpus import shop

from isolith import CodeMode
from isolith.errors import UsageError
from isolith.run import checking
from isolith.run.type_checker import TypeChecker, Types, type_checker

pytestmark = pytest.mark.anyio

TEXT = "rows = await crm.list_contacts()\nnone = None if rows else rows\nnone = await crm.find_contact(name='Ada')\n1"
WRONG = "found = await crm.find_contact(name='Ada')\nfound['name'] if found else 1\nfound['name']\n1"


async def warned(text: str, types: Types) -> list[tuple[int | None, str]]:
    async with CodeMode(shop().values(), types=types) as code_mode:
        outcome = await code_mode.execute(text)
        return [(warning.line, warning.message) for warning in outcome.warnings if "(ty: " in warning.message]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is."""
    monkeypatch.setattr(checking, "RUN_TIMEOUT_S", 100.0)


@pytest.mark.usefixtures("patient")
async def test_what_may_be_wrong_is_a_warning_and_the_run_goes_on() -> None:
    [(line, message)] = await warned(WRONG, "auto")
    assert line == 3
    assert "Cannot subscript" in message
    assert await warned(TEXT, "auto") == []


async def test_it_is_not_asked_where_nobody_wants_it() -> None:
    assert await warned(WRONG, "off") == []


async def test_one_that_takes_too_long_is_ended_and_the_run_has_its_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "RUN_TIMEOUT_S", 0.0)
    assert await warned(WRONG, "auto") == []


def test_beside_a_run_only_a_fast_one_is_asked_unbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = TypeChecker("mypy", "/bin/mypy")
    monkeypatch.setattr(checking, "type_checker", lambda _: slow)
    assert checking.of_a_run("auto") is None
    assert checking.of_a_run("mypy") == slow


def test_the_first_that_is_installed_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    there: set[str] = {"mypy"}

    def which(name: str, path: str | None = None) -> str | None:
        return f"{path or '/bin'}/{name}" if name in there and path is None else None

    monkeypatch.setattr("shutil.which", which)
    assert type_checker() == TypeChecker("mypy", "/bin/mypy")
    there |= {"pyright"}
    assert type_checker() == TypeChecker("pyright", "/bin/pyright")
    there |= {"ty"}
    assert type_checker() == TypeChecker("ty", "/bin/ty")
    assert type_checker("mypy") == TypeChecker("mypy", "/bin/mypy")
    assert type_checker("off") is None
    there.clear()
    assert type_checker() is None
    with pytest.raises(UsageError, match="pip install pyright"):
        CodeMode(types="pyright")
