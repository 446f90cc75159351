"""Whose words a connector's are: the host's own, or a stranger's, which every view of them marks as such."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith_bindings.function_connector import FunctionConnector
from isolith_bindings.policy import ungoverned

if TYPE_CHECKING:
    from isolith_bindings.connector import Connector


def is_native(connector: Connector) -> bool:
    """Whether it is made of Python functions of the host. Of all others a server or a document says what they are."""
    return isinstance(ungoverned(connector), FunctionConnector)
