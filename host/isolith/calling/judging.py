"""Before a call is made: whether it may be, whether a person has to be asked, and whether an answer still holds. Pure.

A person's answer is for what asked: where the policy decides on the call by something else by the time it is made, the
person is asked again; where it denies the call by then, it is refused.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from isolith.calling.call_variants import of_page, resolve_call
from isolith.calling.use import HOST, HOST_SHOWN
from isolith.run.given import MOST_GIVEN, encoded_size
from isolith_bindings.errors import CallError
from isolith_bindings.policy import denied

if TYPE_CHECKING:
    from isolith.budgets import Budgets
    from isolith.calling.use import Use
    from isolith.journal.model import Call
    from isolith.run.allowance import Allowance
    from isolith_bindings.catalog import Catalog
    from isolith_bindings.policy import Decision, Policy
    from isolith_runtime import protocol


@dataclass(frozen=True)
class Judge:
    """For the calls of one execution. `asks`: whether a run that waits for a person can be kept."""

    catalog: Catalog
    budgets: Budgets
    policy: Policy
    allowance: Allowance
    asks: bool

    def admit(self, use: Use, *, hinted: bool = True) -> None:
        """Find its method, and count it. Raises CallError for what no run may call, or not so often, or so large.

        `hinted`: whether it is said what a name may have meant, which is looked for among all names.
        """
        frame, budgets = use.frame, self.budgets
        self.allowance.admit(frame.connector)
        if frame.connector != HOST:
            use.connector, use.method, use.variant = resolve_call(self.catalog, frame, hinted=hinted)
            if use.method.policy == "deny":
                raise denied(".".join(use.names), self.policy.decide(use.connector, use.method))
            if use.connector.name != frame.connector:  # no guest of ours spells it so: it counts all the same
                use.frame = frame = replace(frame, connector=use.connector.name)
                self.allowance.admit(frame.connector)
        # What the host itself is given, an artifact, may be as large as a value.
        limit = budgets.value_bytes if frame.connector == HOST else min(budgets.argument_bytes, MOST_GIVEN)
        # That of a small batch, which is quick to know, is the most that its arguments can have.
        size = _size(frame) if frame.size > min(limit, self.allowance.argument_bytes) else 0
        if size > limit:
            message = f"the arguments of {frame.connector or HOST_SHOWN}.{frame.method} are larger than {limit:,} bytes"
            raise CallError("invalid_arguments", message, hint="send less at a time, or an artifact's handle")
        if frame.connector != HOST:
            self.allowance.argument_bytes = max(self.allowance.argument_bytes, size)
        self.allowance.hold(frame)
        self.allowance.count(frame.connector)

    def judge(self, use: Use) -> Decision | None:
        """What asks a person; None where nobody has to be asked. Raises CallError `denied`."""
        if use.connector is None or use.method is None:
            return None
        if use.method.policy == "allow" and not self.policy.rules:
            return None  # so it was decided for whatever arguments
        decision = self._decide(use, use.arguments)
        if decision is None or decision.action == "allow":
            return None
        if decision.action == "deny":
            raise denied(".".join(use.names), decision)
        if not self.asks:
            message = f"{'.'.join(use.names)} needs a person's approval, and nothing here keeps a run that waits"
            raise CallError("denied", message, hint="leave this call to a person, or have the host allow it")
        return decision

    def asks_anew(self, use: Use, call: Call) -> Decision | None:
        """What asks a person now who said yes to something else that asked; None where that answer holds."""
        if call.policy is None or call.question is not None:
            return None  # no policy asked
        decision = self._decide(use, use.frame.arguments)
        if decision is None or decision.action != "ask" or decision.version == call.policy:
            return None
        return decision

    def refuse_denied(self, use: Use) -> None:
        """Of a call that a person allowed, with what is sent. Raises CallError `denied`: a yes lifts no prohibition."""
        decision = self._decide(use, use.arguments)
        if decision is not None and decision.action == "deny":
            raise denied(".".join(use.names), decision)

    def _decide(self, use: Use, arguments: dict[str, object]) -> Decision | None:
        if use.connector is None or use.method is None:
            return None
        given, _ = of_page(arguments) if use.variant == "pages" else (arguments, None)
        return self.policy.decide(use.connector, use.method, given)


def _size(frame: protocol.Call) -> int:
    """Bytes of its arguments: measured already, where that takes time."""
    return frame.size if frame.text or frame.size == sys.maxsize else encoded_size(frame.arguments)
