"""Times as the journal keeps them, microseconds since the epoch, and as its callers see them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(at: datetime) -> int:
    """Exactly; `at` is aware."""
    return (at - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Aware, UTC."""
    return _EPOCH + timedelta(microseconds=micros)
