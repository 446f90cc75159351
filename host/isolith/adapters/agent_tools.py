"""The two tools that any agent is given, `execute` and `resume`, and what answers them. Knows no framework.

tools = agent_tools(code_mode)
told = [tool.to_json() for tool in tools.definitions]
answer = await tools.call("execute", {"code": "6 * 7"})

`told` is for the model, and what a model calls is for `call`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import anyio.to_thread

from isolith.budgets import CEILINGS, Budgets
from isolith.calling.resuming import stand
from isolith.errors import UsageError
from isolith.instructions import INSTRUCTIONS, PARAMETERS, execute_description
from isolith.internal import internal_error
from isolith.journal.errors import JournalError, UnknownEntry
from isolith.mcp.view import model_view, said_of
from isolith.outcome import Diagnostic
from isolith.run.misdirected import misdirected
from isolith.visible import visible
from isolith_bindings import json_text
from isolith_bindings.errors import CallError
from isolith_bindings.listing import DEFAULT_BUDGET
from isolith_bindings.schema.validate import Validator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith.code_mode import CodeMode
    from isolith.outcome import Outcome

JsonSchema = dict[str, object]

_FINE = frozenset({"completed", "paused", "running"})
_EXECUTE: JsonSchema = {
    "type": "object",
    "properties": PARAMETERS,
    "required": ["code"],
    "additionalProperties": False,
}
_RESUME: JsonSchema = {
    "type": "object",
    "properties": {"execution_id": {"type": "string", "description": "Of an answer that said `paused`."}},
    "required": ["execution_id"],
    "additionalProperties": False,
}
_RESUMES = (
    "How a script that had to wait for a person stands: it goes on where they have decided, and its answer is that of "
    "`execute`."
)


@dataclass(frozen=True)
class Definition:
    """A tool, as a model is told of it. `parameters`: JSON Schema."""

    name: str
    description: str
    parameters: JsonSchema

    def to_json(self) -> JsonSchema:
        """Plain data of the caller's own: name, description, parameters."""
        own = cast("JsonSchema", json.loads(json.dumps(self.parameters)))
        return {"name": self.name, "description": self.description, "parameters": own}


@dataclass(frozen=True)
class Answer:
    """What a model is told. `outcome`: all there is to know, for the program; None where nothing was run."""

    text: str
    is_error: bool
    outcome: Outcome | None = None


class AgentTools:
    """The tools over an open `CodeMode`, for one principal and session: neither is the model's to name."""

    def __init__(self, code_mode: CodeMode, principal: str | None, session: str | None, listing_tokens: int) -> None:
        self._code_mode = code_mode
        self._principal = principal
        self._session = session
        self._listing_tokens = listing_tokens
        self._validators = {"execute": Validator(_EXECUTE), "resume": Validator(_RESUME)}

    @property
    def definitions(self) -> list[Definition]:
        """`execute`, with what can be called now as far as it fits, and `resume`."""
        listing = self._code_mode.catalog.listing(self._listing_tokens)
        execute = Definition("execute", execute_description(listing), _EXECUTE)
        return [execute, Definition("resume", _RESUMES, _RESUME)]

    async def call(self, name: str, arguments: Mapping[str, object] | str | None) -> Answer:
        """Answer a call of a model; JSON text will do for arguments. Raises nothing: what is wrong is an answer.

        Cancelling this cancels the run.
        """
        try:
            return await self._called(name, _read(arguments))
        except (UsageError, CallError, JournalError) as error:
            return _refused(str(error), error.hint if isinstance(error, CallError) else None)
        except Exception as error:  # noqa: BLE001 - a border: a bug of ours is told by its id
            return _failed(internal_error(error))

    async def _called(self, name: str, arguments: Mapping[str, object]) -> Answer:
        validator = self._validators.get(name)
        if validator is None:
            return _failed(misdirected(self._code_mode.catalog, name, arguments))
        problems = validator.problems(dict(arguments))
        if problems:
            return _refused("; ".join(str(problem) for problem in problems[:5]))
        if name == "resume":
            return await self._resumed(cast("str", arguments["execution_id"]))
        budgets = Budgets.model_validate(arguments.get("budgets") or {})
        outcome = await self._code_mode.execute(
            cast("str", arguments["code"]),
            input=arguments.get("input"),
            budgets=budgets,
            principal=self._principal,
            session=self._session,
        )
        return await self.told(outcome, budgets)

    async def _resumed(self, execution_id: str) -> Answer:
        """How a run of this principal stands. Raises UnknownEntry: that of another looks as if it were not there."""
        order = await (await self._code_mode.runs()).journal.executions.order(execution_id)
        if order.principal != self._principal:
            raise UnknownEntry(f"there is no execution {execution_id}, or no longer")
        return await self.told(await stand(self._code_mode, execution_id), Budgets())

    async def told(self, outcome: Outcome, budgets: Budgets) -> Answer:
        """An outcome, as a model reads it."""
        most = min(budgets.value_tokens, CEILINGS.value_tokens)
        text = await anyio.to_thread.run_sync(model_view, outcome, most)
        return Answer(text, outcome.status not in _FINE, outcome)


def agent_tools(
    code_mode: CodeMode,
    *,
    principal: str | None = None,
    session: str | None = None,
    listing_tokens: int = DEFAULT_BUDGET,
) -> AgentTools:
    """The tools and their handler, for any framework. `listing_tokens`: what the list of tools may cost a model."""
    return AgentTools(code_mode, principal, session, listing_tokens)


def execute_tool_schema(code_mode: CodeMode | None = None) -> JsonSchema:
    """`execute` as plain data, `{name, description, parameters}`; with a `CodeMode`, also what can be called there."""
    if code_mode is None:
        return Definition("execute", INSTRUCTIONS, _EXECUTE).to_json()
    return agent_tools(code_mode).definitions[0].to_json()


def _read(arguments: Mapping[str, object] | str | None) -> Mapping[str, object]:
    """Arguments as a model writes them. Raises UsageError."""
    if not isinstance(arguments, str):
        return arguments or {}
    try:
        read: object = json_text.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the arguments are not JSON: {error}; send one object with `code`") from error
    if not isinstance(read, dict):
        raise UsageError("the arguments are no JSON object: send one with `code`")
    return cast("dict[str, object]", read)


def _refused(message: str, hint: str | None = None) -> Answer:
    return _failed(Diagnostic(kind="invalid_arguments", message=message, hint=hint))


def _failed(diagnostic: Diagnostic) -> Answer:
    return Answer(visible(said_of(diagnostic)), is_error=True)
