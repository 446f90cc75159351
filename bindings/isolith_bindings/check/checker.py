"""The check of one script against the tools bound to its run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isolith_bindings.check.finding import Draft, Finding, Places
from isolith_bindings.check.scopes import Misplaced, scopes_of
from isolith_bindings.check.source import NotParsed, parse
from isolith_bindings.check.state import State
from isolith_bindings.check.statements import Statements
from isolith_bindings.check.style import runs_a_call
from isolith_bindings.check.tools import Toolbox

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping

    from isolith_bindings.connector import Connector

_MAX_TEXT = 4_000


@dataclass(frozen=True)
class Report:
    """What was found, by line. `fatal` is the first certain finding in the order of execution: what ends the run.

    `looked`: whether the script was looked at; one that is too large or too deep is left to the run.
    """

    findings: tuple[Finding, ...] = ()
    fatal: Finding | None = None
    looked: bool = True
    synchronous: bool = False
    """Whether a call gives its value: the script never awaits."""


def check(text: str, connectors: Mapping[str, Connector], *, settled: bool = False) -> Report:
    """Everything that is wrong with a script, as far as its text tells. Total: any text has a report.

    `settled`: what the connectors say now is held to be what they will say when the script runs, even of a server that
    may change its tools. Costs about a millisecond for ten lines. Wants a stack of 1 MiB: see `source`. Runs and calls
    nothing.
    """
    tree = parse(text)
    if tree is None:
        return Report(looked=False)
    if isinstance(tree, NotParsed):
        found = Finding("syntax", tree.message, tree.line, tree.column, certain=tree.certain)
        return Report((found,), found if tree.certain else None)
    try:
        return _look(tree, text, Toolbox(connectors, settled=settled))
    except RecursionError:  # a chain of hundreds of operators or branches
        return Report(looked=False)


def _look(tree: ast.Module, text: str, toolbox: Toolbox) -> Report:
    scopes = scopes_of(tree)
    if scopes.misplaced is not None:
        return _never_run(scopes.misplaced, text)
    synchronous = not scopes.waits and not runs_a_call(tree, text)
    state = State(toolbox, scopes, Places(text), synchronous)
    Statements(state).script(tree)
    drafts = [draft for draft in state.drafts if not (state.dynamic and draft.message.startswith("NameError"))]
    findings = {id(draft): _finding(draft, state) for draft in drafts}
    certain = sorted((draft for draft in drafts if findings[id(draft)].certain), key=lambda draft: draft.order or 0)
    ordered = sorted(findings.values(), key=lambda finding: (finding.line, finding.column))
    fatal = findings[id(certain[0])] if certain else None
    return Report(tuple(dict.fromkeys(ordered)), fatal, synchronous=synchronous)


def _never_run(found: Misplaced, text: str) -> Report:
    line, column = Places(text).of(found.node)
    finding = Finding("syntax", found.message, line, column, found.hint, certain=True)
    return Report((finding,), finding)


def _finding(draft: Draft, state: State) -> Finding:
    line, column = state.places.of(draft.node)
    certain = draft.order is not None and not state.dynamic
    hint, tool = draft.hint and _shown(draft.hint), draft.tool and _shown(draft.tool)
    return Finding(draft.kind, _shown(draft.message), line, column, hint, tool, certain)


def _shown(text: str) -> str:
    """Text that can be written anywhere: a script may hold half of a character in an escape."""
    return text[:_MAX_TEXT].encode("utf-8", "backslashreplace").decode()
