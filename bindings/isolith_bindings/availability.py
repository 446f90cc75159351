"""Connectors that come and go: a server that has not said yet what it offers, or that changes it under way.

Such a connector has `changing`, whether methods may come and go while a script runs, and `unavailable`, why nothing is
known of what it offers, or None. What has neither is always there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith_bindings.policy import ungoverned

if TYPE_CHECKING:
    from isolith_bindings.connector import Connector


def why_absent(connector: Connector) -> str | None:
    """Why nothing is known of what a connector offers, in a line for people; None where something is."""
    reason: object = getattr(ungoverned(connector), "unavailable", None)
    return reason if isinstance(reason, str) else None


def may_change(connector: Connector) -> bool:
    """Whether it may offer what is not among its methods now by the time that it is called."""
    return why_absent(connector) is not None or getattr(ungoverned(connector), "changing", False) is True
