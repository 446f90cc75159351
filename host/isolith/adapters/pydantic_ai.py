"""Isolith as a toolset of Pydantic AI.

agent = Agent(model, toolsets=[isolith_toolset(code_mode)])

Needs its slim package: `pip install isolith[pydantic-ai]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_ai import ApprovalRequired, FunctionToolset, RunContext, Tool, ToolReturn
from pydantic_ai.exceptions import ToolFailed

from isolith.adapters.agent_tools import AgentTools, Answer, agent_tools
from isolith.budgets import Budgets
from isolith.calling.resuming import stand
from isolith.journal.errors import AlreadyDecided
from isolith.json_form import to_json_form

if TYPE_CHECKING:
    from isolith.code_mode import CodeMode
    from isolith.outcome import Outcome


def isolith_toolset(
    code_mode: CodeMode,
    *,
    principal: str | None = None,
    session: str | None = None,
    defer_approvals: bool = False,
) -> FunctionToolset[Any]:
    """`execute` and `resume` over an open `CodeMode`, for one principal and session.

    The outcome is the `metadata` of the tool's return; a script that failed is a return whose outcome is `failed`.
    `defer_approvals`: a run that waits for a person ends the agent's run with `DeferredToolRequests`, whose metadata
    has the execution and what is pending; whoever approves the deferred call there lets all of that be called.
    """
    handlers = _Handlers(code_mode, agent_tools(code_mode, principal=principal, session=session), defer_approvals)
    execute, resume = handlers.tools.definitions
    return FunctionToolset(
        [
            Tool.from_schema(handlers.execute, execute.name, execute.description, execute.parameters, takes_ctx=True),
            Tool.from_schema(handlers.resume, resume.name, resume.description, resume.parameters),
        ]
    )


class _Handlers:
    """What answers the tools. `deferred`: the runs that wait, by the id of the call that began them."""

    def __init__(self, code_mode: CodeMode, tools: AgentTools, defer: bool) -> None:  # noqa: FBT001 - private
        self.tools = tools
        self._code_mode = code_mode
        self._defer = defer
        self._deferred: dict[str, Outcome] = {}

    async def execute(self, ctx: RunContext[Any], **arguments: object) -> ToolReturn[str]:
        waiting = self._deferred.pop(ctx.tool_call_id or "", None)
        if waiting is not None and ctx.tool_call_approved:
            answer = await self._approved(waiting)
        else:
            answer = await self.tools.call("execute", arguments)
        outcome = answer.outcome
        if self._defer and outcome is not None and outcome.pending and ctx.tool_call_id:
            self._deferred[ctx.tool_call_id] = outcome
            pending = [to_json_form(call) for call in outcome.pending]
            raise ApprovalRequired(metadata={"execution_id": outcome.execution_id, "pending": pending})
        return _returned(answer)

    async def resume(self, **arguments: object) -> ToolReturn[str]:
        return _returned(await self.tools.call("resume", arguments))

    async def _approved(self, waiting: Outcome) -> Answer:
        """What was shown is approved, each call with the digest that was shown; then on with the run."""
        runs = await self._code_mode.runs()
        for call in waiting.pending:
            try:
                await runs.decide(
                    waiting.execution_id, call.call_id, "approve", who=_WHO, digest=call.digest, go_on=False
                )
            except AlreadyDecided:
                continue  # by somebody else meanwhile: that counts
        return await self.tools.told(await stand(self._code_mode, waiting.execution_id), Budgets())


_WHO = "a person at the agent"


def _returned(answer: Answer) -> ToolReturn[str]:
    if answer.is_error:
        raise ToolFailed(answer.text)
    return ToolReturn(answer.text, metadata=answer.outcome)
