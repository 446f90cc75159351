"""What the calls of one run came to, for its usage; pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isolith.calling.use import HOST

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isolith.calling.turns import Turns
    from isolith.calling.use import Use
    from isolith.run.allowance import Allowance


@dataclass(frozen=True, slots=True)
class Tally:
    """Each budget of calls, as it was used: the largest of one call, the most at one time, all of them."""

    calls: int
    calls_per_connector: int
    concurrent_calls: int
    concurrent_calls_per_connector: int
    call_ms: float
    argument_bytes: int
    result_bytes: int


def tally_of(uses: Iterable[Use], turns: Turns, allowance: Allowance) -> Tally:
    """The tally. What scripts ask of the host itself is no call of a connector, and has other limits."""
    made = [use for use in uses if use.frame.connector != HOST]
    return Tally(
        allowance.total,
        allowance.most_of_one,
        turns.most,
        turns.most_of_one,
        max((use.duration_ms or 0.0 for use in made), default=0.0),
        allowance.argument_bytes,
        max((use.result_bytes for use in made), default=0),
    )
