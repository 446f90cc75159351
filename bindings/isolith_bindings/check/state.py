"""What the pass keeps while it walks: what it found, and whether what it looks at certainly happens."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isolith_bindings.check.finding import Draft, FindingKind, Places

if TYPE_CHECKING:
    import ast
    from collections.abc import Generator

    from isolith_bindings.check.scopes import Scopes
    from isolith_bindings.check.tools import Missing, Toolbox
    from isolith_bindings.check.values import Called

MAX_FINDINGS = 50
"""More are not looked for."""


@dataclass
class State:
    """One pass. `certain`: a run that gets to its end gets here, and nothing there catches what is raised."""

    toolbox: Toolbox
    scopes: Scopes
    places: Places
    synchronous: bool
    certain: bool = True
    dynamic: bool = False
    """The script makes or looks up names as it runs, so that none is certain."""
    guarded: bool = False
    """Something here catches what is raised."""
    drafts: list[Draft] = field(default_factory=list[Draft])
    _order: int = 0

    @property
    def full(self) -> bool:
        """Whether enough was found."""
        return len(self.drafts) >= MAX_FINDINGS

    @contextmanager
    def unsure(self) -> Generator[None]:
        """What is looked at within may not happen."""
        before, self.certain = self.certain, False
        try:
            yield
        finally:
            self.certain = before

    def say(
        self,
        kind: FindingKind,
        node: ast.expr | ast.stmt,
        message: str,
        hint: str | None = None,
        *,
        tool: str | None = None,
        certain: bool = True,
    ) -> Draft:
        """Note a finding: certain where the place is and it is itself."""
        draft = Draft(kind, message, node, hint, tool)
        if certain:
            self.confirm(draft)
        if not self.full:
            self.drafts.append(draft)
        return draft

    def confirm(self, draft: Draft) -> None:
        """What was found becomes certain, where the place that is looked at is."""
        if self.certain and draft.order is None:
            self._order += 1
            draft.order = self._order

    def missing(self, node: ast.expr | ast.stmt, missing: Missing) -> None:
        """There is no such connector or method."""
        certain = missing.certain
        self.say("unknown_tool", node, missing.message, missing.hint, tool=missing.tool, certain=certain)

    def misused(
        self, called: Called, node: ast.expr | ast.stmt, *, certain: bool = True, hint: str | None = None
    ) -> None:
        """A call is used in place of its result."""
        line, _ = self.places.of(called.node)
        message = f"{called.tool}(...) was called on line {line} but not awaited: write `await {called.tool}(...)`"
        self.say("exception", node, f"TypeError: {message}", hint, certain=certain)
