"""Search and catalogue on the command line."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from isolith import CodeMode
from isolith.command_line.cli import app
from isolith.configuration.connect import connect_all
from isolith_bindings.tokens import count

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

CRM = '''
"""People we know."""
from isolith import connector, method

@connector("crm")
class Crm:
    """People we know."""

    async def list_contacts(self, limit: int = 10) -> list[str]:
        """Contacts, newest first."""
        return []

    @method(policy="ask")
    async def drop(self, name: str) -> None:
        """Forget a \\x1b[31mcontact."""
'''


@pytest.fixture
def crm(tmp_path: Path) -> str:
    file = tmp_path / "crm.py"
    file.write_text(CRM)
    return str(file)


def isolith(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_what_is_found_says_how_it_is_called_and_whether_a_person_is_asked(crm: str) -> None:
    result = isolith("search", "forget", "--connect", crm, "--policy", "careful")
    assert (
        result.stdout == "crm.drop [asks a person]: Forget a [31mcontact.\n    async def drop(*, name: str) -> None\n"
    )


def test_pages_of_one_connector_and_kind(crm: str) -> None:
    options = ("--connect", crm, "--connector", "crm", "--kind", "method", "--limit", "1")
    assert isolith("search", "", *options).stdout.endswith("and 1 more: --offset 1\n")
    assert isolith("search", "", *options, "--offset", "1").stdout.startswith("crm.list_contacts: Contacts")
    assert isolith("search", "", "--connect", crm, "--kind", "x").exit_code == 2


def test_a_page_as_json(crm: str) -> None:
    document = json.loads(isolith("search", "", "--connect", crm, "--limit", "2", "--json").stdout)
    assert (document["remaining"], document["next"]) == (1, 2)
    assert [found["path"] for found in document["results"]] == ["crm", "crm.drop"]
    [found] = json.loads(isolith("search", "contacts", "--connect", crm, "--limit", "1", "--json").stdout)["results"]
    assert (found["path"], found["kind"], found["policy"]) == ("crm.list_contacts", "method", "allow")
    assert 0 < found["score"] <= 1


def test_a_catalogue_within_its_budget(crm: str) -> None:
    text = isolith("catalog", "--connect", crm).stdout
    assert text == (
        "All 2 tools:\n"
        "crm (2 tools, ready): People we know.\n"
        "  crm.drop(name: str) -> None [asks a person]  # Forget a [31mcontact.\n"
        "  crm.list_contacts(limit: int = 10) -> list[str]  # Contacts, newest first.\n"
    )
    less = isolith("catalog", "--connect", crm, "--budget-tokens", "55", "--pin", "crm.list_contacts").stdout
    assert less.startswith("1 of 2 tools; search(")
    assert "crm.list_contacts(" in less
    assert count(less) <= 55


def test_a_catalogue_as_json(crm: str) -> None:
    document = json.loads(isolith("catalog", "--connect", crm, "--budget-tokens", "55", "--json").stdout)
    assert document["tokens"] == count(document["text"]) <= 55
    assert (document["complete"], document["tools"], document["unnamed"]) == (False, 2, 0)
    [found] = document["connectors"]
    assert (found["name"], found["state"], found["tools"], found["shown"]) == ("crm", "ready", 2, ["crm.drop"])
    assert isolith("catalog", "--connect", crm, "--budget-tokens", "-1").exit_code == 2


def test_too_few_tokens_for_a_single_word_are_refused_with_the_least(crm: str) -> None:
    result = isolith("catalog", "--connect", crm, "--budget-tokens", "0")
    assert (result.exit_code, result.stdout) == (2, "")
    least = result.stderr.rstrip("\n").rpartition(" ")[2]
    assert result.stderr == f"isolith: 0 tokens are too few to say anything: the least here are {least}\n"
    assert isolith("catalog", "--connect", crm, "--budget-tokens", least).stdout == "1 connector\n"
    assert isolith("catalog", "--connect", crm, "--budget-tokens", str(int(least) - 1)).exit_code == 2


def test_what_was_used_wrongly_is_json_for_who_reads_json(crm: str) -> None:
    for command in (("catalog", "--budget-tokens", "0"), ("describe", "crm.none"), ("search", "x", "--kind", "y")):
        result = isolith(*command, "--connect", crm, "--json")
        assert result.exit_code == 2
        told = json.loads(result.stdout)["error"]
        assert told["message"] in result.stderr
    told = json.loads(isolith("describe", "crm.dropp", "--connect", crm, "--json").stdout)["error"]
    assert told == {"message": "crm has no method `dropp`", "hint": "did you mean `crm.drop`?"}


def test_what_has_changed_since_a_listing_was_written(crm: str, tmp_path: Path) -> None:
    before = tmp_path / "before.json"
    before.write_text(isolith("catalog", "--connect", crm, "--json").stdout)
    since = ("catalog", "--connect", crm, "--since", str(before))
    assert isolith(*since).stdout == "nothing has changed\n"
    file = tmp_path / "crm.py"
    file.write_text(CRM.replace("def drop", "def forget"))
    expected = "The tools have changed:\n  crm.drop is gone\n  new: crm.forget(name: str) -> None [asks a person]"
    assert isolith(*since).stdout.startswith(expected)
    document = json.loads(isolith(*since, "--json").stdout)
    assert document["changes"]["text"].startswith(expected)
    assert document["changes"]["tokens"] == count(document["changes"]["text"]) < document["tokens"]


@pytest.mark.parametrize("kept", [None, "", "{}", '{"text": 3}', "[]"])
def test_what_no_listing_is_told_apart(crm: str, tmp_path: Path, kept: str | None) -> None:
    file = tmp_path / "before.json"
    if kept is not None:
        file.write_text(kept)
    result = isolith("catalog", "--connect", crm, "--since", str(file))
    assert result.exit_code == 2
    assert ("No such file" if kept is None else "was not written by") in result.stderr


def test_what_is_described_reads_as_python(crm: str) -> None:
    result = isolith("describe", "crm.list_contacts", "--connect", crm)
    assert result.stdout == (
        "# crm.list_contacts\n"
        "async def list_contacts(*, limit: int = 10) -> list[str]:\n"
        '    """Contacts, newest first."""\n'
    )


def test_several_are_described_at_once_in_the_detail_that_is_asked_for(crm: str) -> None:
    result = isolith(
        "describe", "crm.drop", "crm.dropp", "--connect", crm, "--detail", "summary", "--policy", "careful"
    )
    assert result.stdout == (
        "crm.drop: Forget a [31mcontact.  # needs approval\n\n"
        "crm.dropp: crm has no method `dropp`; did you mean `crm.drop`?\n"
    )
    assert isolith("describe", "crm", "--connect", crm, "--detail", "all").exit_code == 2


def test_a_description_as_data_and_within_a_budget(crm: str) -> None:
    document = json.loads(isolith("describe", "crm.drop", "--connect", crm, "--json").stdout)
    assert document["parameters"]["required"] == ["name"]
    text = isolith("describe", "crm", "--connect", crm, "--budget-tokens", "20").stdout
    assert 0 < count(text) <= 21


def keep(crm: str, journal: Path) -> None:
    """Propose and approve a snippet in a journal."""

    async def main() -> None:
        async with CodeMode(connect_all([crm]), journal=journal, tend=False) as code_mode:
            outcome = await code_mode.execute("await crm.list_contacts(limit=input['limit'])", input={"limit": 1})
            made = await code_mode.snippets.propose(
                outcome.execution_id, "count_people", "Count the people.", who="ada"
            )
            await code_mode.snippets.approve(made.name, made.version, who="bob")

    asyncio.run(main())


def test_snippets_of_the_journal_are_found_and_described(crm: str, tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    options = ("--connect", crm, "--journal", str(journal))
    assert "snippets." not in isolith("search", "count people", *options).stdout
    assert not journal.exists()
    keep(crm, journal)
    assert isolith("search", "count people", *options).stdout.startswith("snippets.count_people")
    assert isolith("search", "", *options, "--kind", "snippet").stdout.startswith("snippets.count_people")
    assert "Count the people." in isolith("describe", "snippets.count_people", *options).stdout
    # One whose methods are not connected could not be called.
    assert "snippets." not in isolith("search", "count people", "--journal", str(journal)).stdout


def test_a_journal_that_cannot_be_opened_costs_only_the_snippets(crm: str, tmp_path: Path) -> None:
    (tmp_path / "journal.db").write_text("no database")
    found = isolith("search", "contacts", "--connect", crm, "--journal", str(tmp_path / "journal.db"))
    assert found.exit_code == 0
    assert "crm.list_contacts" in found.stdout
    assert "snippets are left out: " in found.stderr
