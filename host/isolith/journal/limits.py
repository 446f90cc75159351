"""What a journal keeps of what has ended, and how large one field may be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Retention:
    """What is kept of executions that ended; the oldest go first. None is no limit. Others are never deleted."""

    count: int | None = 10_000
    age: timedelta | None = timedelta(days=90)
    bytes: int | None = 4 * 1024**3


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a retention run deleted."""

    executions: tuple[str, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class Caps:
    """Bytes of UTF-8 or content that one field may hold. What is larger is refused, never cut."""

    text: int = 2 * 1024 * 1024
    """Script, error, log line, reason."""
    given: int = 24 * 1024 * 1024
    """Arguments, input: more than a run may be given, or give in one call (`isolith.run.given.MOST_GIVEN`)."""
    outcome: int = 192 * 1024 * 1024
    """Of a call, or of an execution with the arguments of all its calls that wait for people."""
    inline: int = 64 * 1024
    """Outcomes past it are kept beside the calls, so that a list of calls stays small."""
    artifact: int = 256 * 1024 * 1024
    artifacts: int = 320 * 1024 * 1024
    """Of one execution in all."""
    hibernation: int = 128 * 1024 * 1024
