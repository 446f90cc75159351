"""Servers that are starting while somebody lists what there is: waited for, a little.

A client that lists once, at its own start, would else show its model a server without tools.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from isolith.run.gradual import Gradual
from isolith_bindings.health import health
from isolith_bindings.policy import ungoverned

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isolith_bindings.connector import Connector

STARTING_S: Final = 2.5
"""Seconds that a listing waits: less than the patience of any client for its first request."""


async def still_starting(connectors: Iterable[Connector]) -> bool:
    """Wait, at most `STARTING_S`, for what is starting now. Whether some of it still is. Starts nothing itself."""
    behind = [ungoverned(connector) for connector in connectors]
    waited = [each.ready(STARTING_S) for each in behind if isinstance(each, Gradual) and _starting(each)]
    await asyncio.gather(*waited)
    return any(map(_starting, behind))


def _starting(connector: Connector) -> bool:
    return health(connector).state == "starting"
