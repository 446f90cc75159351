"""What a connector is told with a call: for whom it is made, within what, and where its files are."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from isolith.run.artifacts import ArtifactStore, CallArtifacts
from isolith_bindings.connector import Ask, CallContext, Progress, declining, unheard

if TYPE_CHECKING:
    from isolith.calling.use import Identity, Use


@dataclass(frozen=True)
class Contexts:
    """The contexts of one execution. `call_s`: how long a call may take without a sign of life."""

    identity: Identity
    call_s: float
    artifacts: ArtifactStore
    doubted: set[str] = field(default_factory=set[str])
    """What has answered otherwise than it promised: one time is enough to know."""

    def of(self, use: Use, progress: Progress = unheard, ask: Ask = declining, *, waits: bool = False) -> CallContext:
        """That of one call. Without more it is one that nobody follows, and during which nobody is asked."""
        return CallContext(
            execution_id=self.identity.execution_id,
            call_id=use.key or use.call_id,
            principal=self.identity.principal,
            session=self.identity.session,
            deadline_s=self.call_s,
            progress=progress,
            artifacts=CallArtifacts(self.artifacts, use.number),
            ask=ask,
            variant=use.variant,
            waits=waits,
            resumed=use.resumed,
            doubt=None if use.path in self.doubted else partial(self._doubt, use),
        )

    def _doubt(self, use: Use, why: str) -> None:
        if use.path not in self.doubted:  # calls of one method may be under way together
            self.doubted.add(use.path)
            use.doubt = why
