"""Security schemes of a document: what each asks for, in our own words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast

Kind = Literal["apiKey", "basic", "bearer", "oauth2", "openIdConnect", "mutualTLS", "unknown"]
Location = Literal["header", "query", "cookie"]

_LOCATIONS: dict[str, Location] = {"header": "header", "query": "query", "cookie": "cookie"}
_HTTP: dict[str, Kind] = {"basic": "basic", "bearer": "bearer"}
# Flows whose token a program gets without a person, best first; the token URL of any other renews a token.
_FLOWS = ("clientCredentials", "authorizationCode", "password", "deviceAuthorization")


@dataclass(frozen=True)
class Scheme:
    """One scheme. `location` and `parameter` belong to apiKey, the URLs to oauth2; `detail` says what is unknown.

    `deprecated`: another one is taken where it can be.
    """

    name: str
    kind: Kind
    location: Location = "header"
    parameter: str = ""
    token_url: str | None = None
    refresh_url: str | None = None
    detail: str = ""
    deprecated: bool = False


def read_schemes(told: Mapping[str, object]) -> dict[str, Scheme]:
    """From `components.securitySchemes`, in the form of OpenAPI 3. What is malformed is of the kind `unknown`."""
    return {
        name: replace(_read(name, scheme), deprecated=_mapping(scheme).get("deprecated") is True)
        for name, scheme in told.items()
    }


def _read(name: str, told: object) -> Scheme:
    scheme = _mapping(told)
    kind = scheme.get("type")
    if kind == "apiKey":
        return _api_key(name, scheme)
    if kind == "http":
        word = str(scheme.get("scheme", "")).lower()
        return Scheme(name, _HTTP.get(word, "unknown"), detail=f"HTTP authentication by {word[:40] or 'nothing'}")
    if kind == "oauth2":
        return _oauth2(name, _mapping(scheme.get("flows")))
    if kind == "openIdConnect":
        return Scheme(name, "openIdConnect")
    if kind == "mutualTLS":
        return Scheme(name, "mutualTLS")
    return Scheme(name, "unknown", detail=f"the type {str(kind)[:40]!r}")


def _api_key(name: str, scheme: Mapping[str, object]) -> Scheme:
    location, parameter = _LOCATIONS.get(str(scheme.get("in"))), scheme.get("name")
    if location is None or not isinstance(parameter, str) or not parameter:
        return Scheme(name, "unknown", detail="an API key without a place and a name")
    return Scheme(name, "apiKey", location, parameter)


def _oauth2(name: str, flows: Mapping[str, object]) -> Scheme:
    for flow in _FLOWS:
        told = _mapping(flows.get(flow))
        token, refresh = told.get("tokenUrl"), told.get("refreshUrl")
        if isinstance(token, str):
            return Scheme(name, "oauth2", token_url=token, refresh_url=refresh if isinstance(refresh, str) else None)
    return Scheme(name, "oauth2")


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}
