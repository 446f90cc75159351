"""OpenAPI documents from what was written of them. What reads them is loaded by the first that is connected."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from isolith.errors import ConnectError, UsageError
from isolith_bindings.errors import BindError

if TYPE_CHECKING:
    from isolith.connector_entries import ConnectorEntry
    from isolith.variables import Variables
    from isolith_bindings.connector import Connector

_ELSEWHERE = re.compile(r"https?://|package:")


def from_source(source: str, name: str | None = None) -> Connector:
    """A document by its path, its address or `package:NAME/PATH`; called like it, unless named. Raises ConnectError."""
    try:
        from isolith_bindings.openapi import OpenApi  # noqa: PLC0415 - slow to load

        return OpenApi(source, name=name)
    except ImportError as error:
        if (error.name or "").startswith("isolith"):
            raise
        raise ConnectError(f"`{source}`: OpenAPI documents need the package `{error.name}`") from error
    except (BindError, UsageError) as error:
        raise ConnectError(f"`{source}`: {error}") from error


def from_entry(name: str, entry: ConnectorEntry, variables: Variables) -> Connector:
    """The one of a configuration file. Raises ConnectError."""
    source = variables.text(entry.openapi or "")
    return from_source(source if _ELSEWHERE.match(source) else str(variables.workspace / Path(source)), name)
