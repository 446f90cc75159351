"""A connector whose effects are seen, and snippets of scripts over it: proposed, and approved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith import connector, method

if TYPE_CHECKING:
    from isolith import CodeMode, Outcome
    from isolith.journal.snippet_model import Snippet

REPORT = """
rows = await crm.rows(team=input["team"])
total = sum(row["amount"] for row in rows)
await crm.note(text=f"{input['team']}: {total}")
{"team": input["team"], "total": total}
"""


class Done:
    """What really happened."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.principals: list[object] = []
        self.fail = False


def crm_of(done: Done) -> object:
    def unsay(*, arguments: dict[str, str], result: None) -> None:
        done.notes.remove(arguments["text"])

    @connector("crm")
    class Crm:
        """Contacts."""

        async def rows(self, team: str) -> list[dict[str, int]]:
            """The rows of a team."""
            if done.fail:
                raise ValueError("closed today")
            return [{"amount": len(team)}, {"amount": 10}]

        @method(revert=unsay)
        async def note(self, text: str) -> None:
            """Keep a note."""
            done.notes.append(text)

        async def drop(self) -> None:
            """Away with everything."""
            done.notes.clear()

    return Crm


async def proposed(code_mode: CodeMode, script: str = REPORT, name: str = "weekly_report") -> Snippet:
    outcome = await code_mode.execute(script, input={"team": "xy"})
    assert outcome.error is None
    return await code_mode.snippets.propose(outcome.execution_id, name, "Sum up the week of a team.", who="ada")


async def approved(code_mode: CodeMode, script: str = REPORT, name: str = "weekly_report") -> Snippet:
    snippet = await proposed(code_mode, script, name)
    return await code_mode.snippets.approve(snippet.name, snippet.version, who="bob")


def message(outcome: Outcome) -> str:
    assert outcome.error is not None, outcome.value
    return outcome.error.message
