"""What a run was begun with, as its journal has it: what a command wrote there, or whatever a host did."""

from __future__ import annotations

import json
from typing import Any, cast


def read_origin(text: str) -> dict[str, Any] | None:
    """What it names; None where that is nothing. What has another form than a command's is a host's own affair."""
    found = cast("object", json.loads(text))
    if not isinstance(found, dict):
        return None
    named = cast("dict[str, object]", found)
    return {name: value for name, value in named.items() if _is_ours(name, value)}


def _is_ours(name: str, value: object) -> bool:
    if value is None:
        return True
    if name == "connect":
        return isinstance(value, list) and all(isinstance(spec, str) for spec in cast("list[object]", value))
    return isinstance(value, str) if name in {"config", "policy"} else True
