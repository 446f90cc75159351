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
_OTHERWISE = "answered otherwise than it promises"
_LONGEST = 1_000
"""Characters of a remark; a server has a part in what is said of its answer."""


def remarks(uses: Iterable[Use], result_bytes: int) -> list[Diagnostic]:
    """What is worth a warning, in the order of the calls.

    One of each line that was given something else for a large result, of each approval that came to nothing, and of
    each method that answered otherwise than it promises.
    """
    found: list[Diagnostic] = []
    kept: collections.Counter[tuple[str, int | None]] = collections.Counter()
    for use in uses:
        if use.doubt:
            found.append(_doubted(use))
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


def doubted(warnings: Iterable[Diagnostic]) -> set[str]:
    """The methods of which these say that they answered otherwise than they promise."""
    return {said.tool for said in warnings if said.tool and said.message.startswith(f"{said.tool} {_OTHERWISE}")}


def _doubted(use: Use) -> Diagnostic:
    return Diagnostic(
        kind="invalid_result",
        message=f"{use.path} {_OTHERWISE}: {use.doubt}"[:_LONGEST],
        line=use.frame.line,
        hint="the script was given the answer as it came: it may have another type than `describe` says",
        tool=use.path,
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
