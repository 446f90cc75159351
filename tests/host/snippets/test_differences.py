"""What one version of a snippet changes against another: the script, and all else that a review is of."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner, Result

from isolith import UsageError
from isolith.command_line import cli
from isolith.journal import Journal, NewSnippet, UnknownEntry
from isolith.journal.snippet_model import Snippet
from isolith.snippets.differences import chosen_pair, compared

if TYPE_CHECKING:
    from pathlib import Path

    from isolith.journal.statuses import SnippetState

AT = datetime(2026, 1, 1, tzinfo=UTC)
FIRST = Snippet(
    name="week",
    version=1,
    state="approved",
    description="The week.",
    code="rows = await crm.rows()\nlen(rows)",
    content_hash="a" * 64,
    input_schema='{"type": "object"}',
    methods='{"crm.rows": "d1", "crm.note": "d1"}',
    image="python-3.14",
    execution_id="e1",
    tests="[]",
    proposed_by="ada",
    proposed_at=AT,
    reviewed_by="bob",
    reviewed_at=AT,
    reason=None,
)


def test_each_part_is_told_by_itself() -> None:
    assert not compared(FIRST, replace(FIRST, version=2, state="proposed"))
    new = replace(
        FIRST,
        version=2,
        code=FIRST.code.replace("len(rows)", "sum(rows)"),
        description="The week, summed.",
        input_schema='{"type": "object", "required": ["team"]}',
        methods='{"crm.rows": "d2", "crm.drop": "d1"}',
        tool=True,
        tests="[1]",
    )
    found = compared(FIRST, new)
    assert found.script.splitlines() == [
        "--- week 1",
        "+++ week 2",
        "@@ -1,2 +1,2 @@",
        " rows = await crm.rows()",
        "-len(rows)",
        "+sum(rows)",
    ]
    assert found.description.splitlines()[:2] == ["--- week 1 (description)", "+++ week 2 (description)"]
    assert '+    "team"' in found.input_schema.splitlines()
    assert found.methods == ("+ crm.drop", "- crm.note", "~ crm.rows")
    assert found.marks == ("a tool of its own for MCP clients", "its tests are others")


@pytest.mark.parametrize("hidden", ["\u2028", "\x0c", "\x85"])
def test_what_only_looks_like_the_end_of_a_line_is_none(hidden: str) -> None:
    """Python reads on: what was a comment in the version that was approved is code in the next."""
    old = replace(FIRST, code=f"1  # a note{hidden}crm.drop()")
    found = compared(old, replace(old, version=2, code="1  # a note\ncrm.drop()"))
    assert found.script.split("\n")[3:] == [f"-1  # a note{hidden}crm.drop()", "+1  # a note", "+crm.drop()"]


def versions(*states: SnippetState) -> list[Snippet]:
    return [replace(FIRST, version=number, state=state) for number, state in enumerate(states, 1)]


@pytest.mark.parametrize(
    ("states", "old", "new", "pair"),
    [
        (("approved", "proposed", "proposed"), None, None, (1, 3)),
        (("approved", "approved", "refused", "proposed", "refused"), None, None, (2, 4)),
        (("proposed", "approved"), None, None, (1, 2)),
        (("refused", "proposed"), None, None, (1, 2)),
        (("revoked", "refused", "proposed"), None, None, (1, 3)),
        (("approved", "revoked", "proposed"), None, None, (1, 3)),
        (("approved", "revoked"), None, None, None),
        (("approved", "revoked"), 1, 2, (1, 2)),
        (("approved", "proposed", "proposed"), 2, None, (2, 3)),
        (("approved", "proposed", "proposed"), 3, 1, (3, 1)),
        (("proposed",), None, None, None),
    ],
)
def test_which_two(
    states: tuple[SnippetState, ...], old: int | None, new: int | None, pair: tuple[int, int] | None
) -> None:
    if pair is None:
        with pytest.raises(UsageError, match="version 1 of snippet week is the first"):
            chosen_pair(versions(*states), old, new)
        return
    first, second = chosen_pair(versions(*states), old, new)
    assert (first.version, second.version) == pair


@pytest.mark.parametrize(("old", "new"), [(9, None), (1, 9)])
def test_a_version_that_is_not_there(old: int, new: int | None) -> None:
    with pytest.raises(UnknownEntry, match="no version 9 of snippet week: there are 1, 2"):
        chosen_pair(versions("approved", "proposed"), old, new)


@pytest.fixture
def kept(tmp_path: Path) -> str:
    """A journal with a version that is approved and one that is proposed."""
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    new = NewSnippet("week", "The week.", "1", "{}", "{}", "python-3.14", who="ada")

    async def put() -> None:
        async with await Journal.open(url) as journal:
            first = await journal.snippets.propose(new)
            await journal.snippets.review("week", 1, "approved", who="bob", content_hash=first.content_hash)
            await journal.snippets.propose(replace(new, code="1\n'\x1b[2J'", methods='{"crm.rows": "d"}'))

    asyncio.run(put())
    return url


def isolith(url: str, *arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["snippets", "diff", *arguments, "--journal", url])


def test_the_command_shows_it_plain_where_nobody_looks(kept: str) -> None:
    shown = isolith(kept, "week")
    assert (shown.exit_code, shown.stderr) == (0, "week: version 2 (proposed) against 1 (approved by bob)\n")
    assert shown.stdout.splitlines() == [
        "--- week 1",
        "+++ week 2",
        "@@ -1 +1,2 @@",
        " 1",
        "+'\x1b[2J'",
        "methods that it may call (~ is another by its schemas):",
        "+ crm.rows",
    ]
    same = isolith(kept, "week", "2", "2")
    assert (same.stdout, same.stderr.splitlines()[-1]) == ("", "nothing has changed")


def test_the_command_as_data_and_what_it_does_not_find(kept: str) -> None:
    found: dict[str, Any] = json.loads(isolith(kept, "week", "--json").stdout)
    assert (found["old"]["version"], found["new"]["state"], found["methods"]) == (1, "proposed", ["+ crm.rows"])
    assert found["script"].startswith("--- week 1\n+++ week 2\n")
    for arguments, says in ((("month",), "there is no snippet month"), (("week", "7"), "there is no version 7")):
        refused = isolith(kept, *arguments)
        assert (refused.exit_code, refused.stdout, says in refused.stderr) == (2, "", True)


@pytest.mark.parametrize("hidden", ["\u2028", "\x0c", "\x85"])
def test_who_reviews_a_version_sees_code_that_comes_out_of_a_comment(tmp_path: Path, hidden: str) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    new = NewSnippet("week", "The week.", f"1  # a note{hidden}2", "{}", "{}", "python-3.14", who="ada")

    async def put() -> None:
        async with await Journal.open(url) as journal:
            first = await journal.snippets.propose(new)
            await journal.snippets.review("week", 1, "approved", who="bob", content_hash=first.content_hash)
            await journal.snippets.propose(replace(new, code="1  # a note\n2"))

    asyncio.run(put())
    shown = CliRunner().invoke(cli.app, ["snippets", "show", "week", "--version", "2", "--journal", url]).stdout
    assert shown.split("\n")[-4:] == [f"-1  # a note{hidden}2", "+1  # a note", "+2", ""]
