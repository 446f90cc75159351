"""What a snippet is made of, when it may not be run, and how it looks as a file. No script runs here."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.host.journal.support import created

from isolith import CodeMode, Policy, Rule, UsageError, connector, method
from isolith.journal.errors import UnknownEntry, WrongStatus
from isolith.journal.model import NewCall
from isolith.mcp.tools import tools
from isolith.snippets.content import methods_of, schema_of
from isolith.snippets.files import from_file, to_file
from isolith.snippets.library import TAKEN, changes
from isolith_runtime.guest import codec

if TYPE_CHECKING:
    from isolith.journal import Journal
    from isolith.journal.snippet_model import Snippet

pytestmark = pytest.mark.anyio

CODE = 'rows = await crm.rows(team=input["team"])\nlen(rows)'


@connector("crm")
class Crm:
    async def rows(self, team: str) -> list[str]:
        """The rows of a team."""
        return [team]

    @method(policy="ask")
    async def drop(self) -> None:
        """Away with it."""


async def completed(journal: Journal, *methods: str, script: str = CODE, given: object = None) -> str:
    """An execution that completed with these calls."""
    lease = await created(journal, script=script, input=codec.dumps({"team": "a"} if given is None else given))
    for number, path in enumerate(methods, 1):
        name, _, called = path.partition(".")
        await journal.calls.start(lease, [NewCall(number, name, called, codec.dumps({"team": "a"}), number)])
        await journal.calls.end(lease, number, "completed", outcome=codec.dumps(["r"]))
    outcome = json.dumps({"execution_id": lease.execution_id, "status": "completed", "value": 1})
    await journal.executions.move(lease, "completed", outcome=outcome)
    return lease.execution_id


async def proposed(journal: Journal, *methods: str) -> tuple[CodeMode, Snippet]:
    code_mode = CodeMode([Crm], journal=journal)
    execution_id = await completed(journal, *(methods or ("crm.rows",)))
    return code_mode, await code_mode.snippets.propose(execution_id, "week", "The week.", who="ada")


async def test_what_is_proposed(journal: Journal) -> None:
    code_mode, snippet = await proposed(journal, "crm.rows", "isolith.search", "crm.rows")
    assert (snippet.name, snippet.version, snippet.state, snippet.proposed_by) == ("week", 1, "proposed", "ada")
    assert snippet.code == CODE
    assert list(methods_of(snippet)) == ["crm.rows"]
    assert schema_of(snippet) == {
        "type": "object",
        "properties": {"team": {"type": "string"}},
        "required": ["team"],
        "additionalProperties": False,
    }
    [test] = json.loads(snippet.tests)
    assert (len(test["calls"]), test["value"]) == (2, 1)
    assert changes(snippet, code_mode.catalog) == []


async def test_fences_are_not_kept(journal: Journal) -> None:
    code_mode = CodeMode([Crm], journal=journal)
    execution_id = await completed(journal, "crm.rows", script=f"```python\n{CODE}\n```")
    snippet = await code_mode.snippets.propose(execution_id, "week", "The week.")
    assert "```" not in snippet.code


@pytest.mark.parametrize("name", ["a b", "class", "_x", "", "é", "a" * 61, "a.b"])
async def test_names_that_are_none(journal: Journal, name: str) -> None:
    code_mode = CodeMode([Crm], journal=journal)
    with pytest.raises(UsageError, match="name"):
        await code_mode.snippets.propose(await completed(journal, "crm.rows"), name, "The week.")


async def test_what_cannot_be_proposed(journal: Journal) -> None:
    code_mode = CodeMode([Crm], journal=journal)
    fine = await completed(journal, "crm.rows")
    running = await created(journal)
    with pytest.raises(WrongStatus, match="running"):
        await code_mode.snippets.propose(running.execution_id, "week", "The week.")
    with pytest.raises(UnknownEntry):
        await code_mode.snippets.propose("nothing", "week", "The week.")
    with pytest.raises(UsageError, match="description"):
        await code_mode.snippets.propose(fine, "week", " ")
    with pytest.raises(UsageError, match="schema"):
        await code_mode.snippets.propose(fine, "week", "The week.", input_schema={"type": "nothing"})
    with pytest.raises(UsageError, match="connect what"):
        await code_mode.snippets.propose(await completed(journal, "crm.gone"), "week", "The week.")
    with pytest.raises(UsageError, match="another snippet"):
        await code_mode.snippets.propose(await completed(journal, "snippets.other"), "week", "The week.")
    with pytest.raises(UsageError, match="names"):
        await code_mode.snippets.propose(await completed(journal, given=[1]), "week", "The week.")
    assert await code_mode.snippets.find() == []


async def test_what_has_changed(journal: Journal) -> None:
    code_mode, snippet = await proposed(journal)
    assert changes(replace(snippet, code="1"), code_mode.catalog) == ["its content is not what was read"]
    [other] = changes(replace(snippet, image="python-3.13"), code_mode.catalog)
    assert "python-3.13" in other
    assert changes(snippet, CodeMode().catalog) == ["crm.rows is not there"]


async def test_as_strict_as_what_it_calls(journal: Journal) -> None:
    _, snippet = await proposed(journal, "crm.rows", "crm.drop")
    await journal.snippets.review("week", 1, "approved", who="bob", content_hash=snippet.content_hash)
    approved = await journal.snippets.find({"approved"})
    rule = Rule(action="deny", match=("crm.rows",))
    for policy, decided in ((Policy(), "ask"), (Policy(rules=(rule,)), "deny")):
        code_mode = CodeMode([Crm], policy=policy)
        code_mode.catalog.put(approved)
        _, found = code_mode.catalog.resolve("snippets", "week")
        assert found.policy == decided
        shown = [result.path for result in code_mode.catalog.search(kind="snippet").results]
        assert shown == (["snippets.week"] if decided == "ask" else [])


async def test_refused_and_revoked_once(journal: Journal) -> None:
    code_mode, snippet = await proposed(journal)
    refused = await code_mode.snippets.refuse("week", 1, who="bob", reason="no")
    assert (refused.state, refused.reviewed_by, refused.reason) == ("refused", "bob", "no")
    with pytest.raises(WrongStatus):
        await code_mode.snippets.revoke("week", 1, who="bob")
    assert (await code_mode.snippets.get("week")).version == snippet.version


async def test_a_file_and_back(journal: Journal) -> None:
    _, snippet = await proposed(journal)
    text = to_file(replace(snippet, description="Two\nlines\u2028 and an end\n# ///"))
    new, changed = from_file(text, "carl")
    assert (new.code, new.methods, new.input_schema) == (snippet.code, snippet.methods, snippet.input_schema)
    assert (new.description, new.who, new.tests) == ("Two\nlines\u2028 and an end\n# ///", "carl", snippet.tests)
    assert not changed
    compile(text, "week.py", "exec", flags=0x2000)  # top-level await: an editor reads it as Python
    assert from_file(text.replace("len(rows)", "rows"), "carl")[1]
    assert not from_file(text.replace("\n", "\r\n"), "carl")[1]
    for end in (text, text.rstrip("\n"), f"{text}\n"):
        assert (from_file(end, "carl")[0].code, from_file(end, "carl")[1]) == (snippet.code, False)
    assert text.endswith(f"{snippet.code}\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 + 1", "first line"),
        ("# /// isolith-snippet\n# {}\n1", "no end"),
        ("# /// isolith-snippet\n# {\n# ///\n1", "not JSON"),
        ("# /// isolith-snippet\n# {}\n# ///\n1", "name"),
        ("# /// isolith-snippet\n# " + "[" * 100_000 + "\n# ///\n1", "not JSON"),
        ("# /// isolith-snippet\n# " + "[" * 1500 + "]" * 1500 + "\n# ///\n1", "not JSON"),
    ],
)
def test_files_that_are_none(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        from_file(text, "carl")


async def test_the_mark_of_a_tool_goes_with_its_file_and_is_shown_to_who_reviews_it(journal: Journal) -> None:
    code_mode, plain = await proposed(journal)
    marked = await code_mode.snippets.propose(
        await completed(journal, "crm.rows"), "week", "The week.", who="ada", tool=True
    )
    assert [from_file(to_file(one), "eve")[0].tool for one in (plain, marked)] == [False, True]
    older = to_file(plain).replace('#   "tool": false,\n', "")
    assert older != to_file(plain)
    assert from_file(older, "eve")[0].tool is False
    read = await journal.snippets.review("week", 1, "approved", who="bob", content_hash=plain.content_hash)
    assert read.state == "approved"
    assert (await code_mode.snippets.diff("week", 2)).split("\n") == ["a tool of its own for MCP clients"]


async def test_a_tool_has_no_name_of_another_tool(journal: Journal) -> None:
    code_mode, _ = await proposed(journal)
    assert {tool.name for tool in tools()} == TAKEN
    for name in TAKEN:
        new = replace(from_file(to_file((await code_mode.snippets.find())[0]), "ada")[0], name=name)
        assert (await code_mode.snippets.add(new)).name == name
        with pytest.raises(UsageError, match="is a tool of the MCP server already"):
            await code_mode.snippets.add(replace(new, tool=True))
