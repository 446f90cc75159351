"""What the outcome says of calls that did not come to what their script or their approver may think. Pure."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from isolith.outcome import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isolith.calling.use import Use

_MOST = 50
"""Remarks of one run; a script may make any number of calls."""


def remarks(uses: Iterable[Use], result_bytes: int) -> list[Diagnostic]:
    """One of each line that was given something else for a large result, and of each approval that came to nothing."""
    found: list[Diagnostic] = []
    kept: collections.Counter[tuple[str, int | None]] = collections.Counter()
    for use in uses:
        if use.kept_bytes:
            kept[use.path, use.frame.line] += 1
            if kept[use.path, use.frame.line] == 1:
                found.append(_kept_elsewhere(use, result_bytes))
        elif use.status == "cancelled" and use.approver is not None and not use.made:
            found.append(not_made(use.path, use.approver, use.frame.line))
    return found[:_MOST]


def not_made(path: str, who: str, line: int | None) -> Diagnostic:
    """Of a call that a person approved, in a script that ended before it was made."""
    return Diagnostic(
        kind="cancelled",
        message=f"{path} was approved by {who}, and was not made: the script ended first",
        line=line,
        hint="where it is still wanted, a script has to ask for it again",
        tool=path,
    )


def _kept_elsewhere(use: Use, result_bytes: int) -> Diagnostic:
    return Diagnostic(
        kind="invalid_result",
        message=f"{use.path} answered {use.kept_bytes:,} bytes, more than `result_bytes` ({result_bytes:,}): the "
        "script was given {artifact, truncated, preview} in place of it",
        line=use.frame.line,
        hint='ask the tool for less, raise `result_bytes`, or read its JSON: `await RESULT["artifact"].read()`',
        tool=use.path,
    )
