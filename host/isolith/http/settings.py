"""`/v1/settings`: what counts at this host, told by the very objects that decide: it can say nothing else."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from isolith.http.house import json_response

if TYPE_CHECKING:
    from starlette.responses import Response

    from isolith.http.operations import Asked


async def settings(asked: Asked) -> Response:
    """Every limit, every ceiling, and the policy."""
    code_mode = asked.house.code_mode
    return json_response(
        {
            "limits": asdict(asked.house.rates.limits),
            "ceilings": code_mode.ceilings.ceilings.model_dump(mode="json"),
            "policy": code_mode.policy.model_dump(mode="json", exclude_defaults=False),
        }
    )
