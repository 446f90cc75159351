"""OpenAPI documents from what was written of them. What reads them is loaded by the first that is connected."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from isolith.configuration.credential_entries import as_credential
from isolith.configuration.variables import Unanswered
from isolith.errors import ConnectError, UsageError
from isolith.folders import cache_folder
from isolith.run.readiness import Absent
from isolith_bindings.errors import BindError
from isolith_bindings.names import connector_name
from isolith_bindings.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith.configuration.connector_entries import ConnectorEntry
    from isolith.configuration.variables import Variables
    from isolith_bindings.connector import Connector
    from isolith_bindings.openapi import OpenApi

_ELSEWHERE = re.compile(r"https?://|package:")


def from_source(source: str, name: str | None = None) -> Connector:
    """A document by its path, its address or `package:NAME/PATH`; called like it, or by `name`. Raises ConnectError.

    What its API asks for is taken from the variable that `token_variable` names, if that is set.
    """
    return _made(source, lambda api: _with_token(api(source, name=name), api, source))


def from_entry(name: str, entry: ConnectorEntry, variables: Variables) -> Connector:
    """The one of a configuration file. Raises ConnectError.

    One that wants a variable which is not set is not there, and the others of the file are.
    """
    try:
        return _from_entry(name, entry, variables)
    except Unanswered as error:
        return Absent(connector_name(name), str(error))


def _from_entry(name: str, entry: ConnectorEntry, variables: Variables) -> Connector:
    source = variables.text(entry.openapi or "")
    source = source if _ELSEWHERE.match(source) else str(variables.workspace / source)

    def make(api: type[OpenApi]) -> OpenApi:
        from isolith_bindings.egress import Limits  # noqa: PLC0415 - slow to load

        by_scheme = {scheme: as_credential(given, variables) for scheme, given in entry.auth_by_scheme.items()}
        auth = None if entry.auth is None else as_credential(entry.auth, variables)
        return api(
            source,
            name=name,
            server=None if entry.server is None else variables.text(entry.server),
            server_variables={key: variables.text(value) for key, value in entry.server_variables.items()},
            auth=by_scheme or auth,
            allow=entry.allow,
            private=entry.private,
            strict_responses=entry.strict_responses,
            limits=Limits(body_bytes=min(entry.answer_bytes, Limits.body_bytes), answer_bytes=entry.answer_bytes),
            cache=cache_folder("openapi"),
        )

    return _made(source, make)


def _with_token(found: OpenApi, api: type[OpenApi], source: str) -> OpenApi:
    from isolith_bindings.openapi.credentials import token_variable  # noqa: PLC0415 - slow to load

    variable = token_variable(found.name)
    auth = Secret.env(variable) if os.environ.get(variable) else None
    return api(source, name=found.name, auth=auth, cache=cache_folder("openapi"))


def _made(source: str, make: Callable[[type[OpenApi]], OpenApi]) -> Connector:
    from isolith_bindings.openapi import OpenApi  # noqa: PLC0415 - slow to load

    try:
        return make(OpenApi)
    except Unanswered:
        raise
    except (BindError, UsageError) as error:
        raise ConnectError(f"`{source}`: {error}") from error
