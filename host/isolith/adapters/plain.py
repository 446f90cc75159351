"""What an SDK hands over, as plain data: SDKs answer with pydantic models, programs without one with mappings. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from isolith.errors import UsageError


def as_plain(call: object) -> dict[str, object]:
    """A model of pydantic, or a mapping. Raises UsageError for anything else."""
    dump = getattr(call, "model_dump", None)
    data: object = dump() if callable(dump) else call
    if not isinstance(data, Mapping):
        raise UsageError(f"a call is an object of the SDK or a mapping, not {type(call).__name__}")
    return dict(cast("Mapping[str, object]", data))


def text_at(data: Mapping[str, object], key: str) -> str:
    """The text under a key. Raises UsageError where there is none."""
    found = data.get(key)
    if not isinstance(found, str):
        raise UsageError(f"the call has no text under `{key}`")
    return found
