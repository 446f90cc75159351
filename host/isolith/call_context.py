"""What a connector is told with a call: for whom it is made, within what, and where its files are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isolith.artifacts import ArtifactStore, CallArtifacts
from isolith_bindings.connector import CallContext, unheard

if TYPE_CHECKING:
    from isolith.use import Identity, Use


@dataclass(frozen=True)
class Contexts:
    """The contexts of one execution. `call_s`: how long a call may take without a sign of life."""

    identity: Identity
    call_s: float
    artifacts: ArtifactStore

    def of(self, use: Use) -> CallContext:
        """That of one call, which nobody follows."""
        return CallContext(
            execution_id=self.identity.execution_id,
            call_id=use.call_id,
            principal=self.identity.principal,
            session=self.identity.session,
            deadline_s=self.call_s,
            progress=unheard,
            artifacts=CallArtifacts(self.artifacts, use.number),
        )
