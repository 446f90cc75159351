"""Which alternative of an operation's security requirements the given credentials satisfy. Pure; fails closed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isolith_bindings.errors import CallError
from isolith_bindings.openapi.credentials import Basic, ClientCertificate, Credential, fits, token_variable, wanted
from isolith_bindings.openapi.schemes import Scheme
from isolith_bindings.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isolith_bindings.openapi.plan import RequestPlan, Requirement


@dataclass(frozen=True)
class Use:
    """A credential for one scheme of one call, with the scopes that the operation names."""

    scheme: Scheme
    credential: Credential
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wallet:
    """All credentials of a connector: by scheme, and one for every other scheme that it fits."""

    schemes: Mapping[str, Scheme] = field(default_factory=dict[str, Scheme])
    by_scheme: Mapping[str, Credential] = field(default_factory=dict[str, Credential])
    default: Credential | None = None
    owner: str = ""
    """The name of the connector, for messages."""

    @property
    def all(self) -> tuple[Credential, ...]:
        """Every credential once."""
        return (*self.by_scheme.values(), *(() if self.default is None else (self.default,)))


def alternatives(plan: RequestPlan, wallet: Wallet) -> list[tuple[Use, ...]]:
    """What would satisfy the operation, best first; the empty one is an anonymous call. Raises CallError if none does.

    A document that asks for no credential at all says nothing about them: the default is sent then, as what it is.
    """
    if plan.security is None:
        return [() if wallet.default is None else (Use(_own_scheme(wallet.default), wallet.default),)]
    if not plan.security:
        return [()]
    resolved = [_resolve(requirement, wallet) for requirement in plan.security]
    usable = [uses for uses in resolved if isinstance(uses, tuple)]
    if not usable:
        lacking = " or ".join(f"({uses})" for uses in resolved)
        raise CallError(
            "tool_unavailable",
            f"{plan.told} was not sent, it needs a credential that this connector does not have: {lacking}",
            hint=_hint(plan.security, wallet),
        )
    return _best_first(usable)


def shared(securities: Iterable[tuple[Requirement, ...] | None], wallet: Wallet) -> str | None:
    """That one secret is sent in several places, which is seldom meant; None where it is not.

    Of each operation the alternative counts that is tried first. Schemes that all want a token are one place.
    """
    if not isinstance(wallet.default, Secret):
        return None
    places: dict[str, str] = {}
    for security in dict.fromkeys(each for each in securities if each):
        resolved = [uses for uses in (_resolve(each, wallet) for each in security) if isinstance(uses, tuple)]
        for use in _best_first(resolved)[0] if resolved else ():
            keyed = use.scheme.kind == "apiKey"
            where = f"the {use.scheme.location} {use.scheme.parameter}" if keyed else "the bearer token"
            places.setdefault(where, f"{where} (scheme `{use.scheme.name}`)")
    if len(places) < 2:
        return None
    sent = " and as ".join(places.values())
    return f"`auth` is one secret, and is sent as {sent}: `auth_by_scheme` gives each its own"


def _best_first(usable: list[tuple[Use, ...]]) -> list[tuple[Use, ...]]:
    return sorted(usable, key=lambda uses: (not uses, any(use.scheme.deprecated for use in uses)))


def _hint(security: tuple[Requirement, ...], wallet: Wallet) -> str:
    """Who can do something about it, and what: a variable is enough only where one secret is."""
    told = "whoever configured the connector has to give it one, as `auth`; no argument can"
    given = Wallet(wallet.schemes, default=Secret.env("a"))
    if not wallet.owner or not any(isinstance(_resolve(requirement, given), tuple) for requirement in security):
        return told
    variable = token_variable(wallet.owner)
    return f"{told}. A document that is connected by its path takes a secret from the environment: {variable}"


def _resolve(requirement: Requirement, wallet: Wallet) -> tuple[Use, ...] | str:
    """The uses that satisfy every scheme of one alternative, or what is missing."""
    uses: list[Use] = []
    missing: list[str] = []
    for name, scopes in requirement:
        scheme = wallet.schemes.get(name) or Scheme(
            name, "unknown", detail="a scheme that the document does not define"
        )
        credential = wallet.by_scheme.get(name, wallet.default)
        if credential is not None and fits(scheme, credential):
            uses.append(Use(scheme, credential, scopes))
        else:
            missing.append(f"{name}: {wanted(scheme)}")
    return " and ".join(missing) if missing else tuple(uses)


def _own_scheme(credential: Credential) -> Scheme:
    """How a credential goes where the document does not say."""
    if isinstance(credential, Basic):
        return Scheme("basic", "basic")
    return Scheme("mutualTLS", "mutualTLS") if isinstance(credential, ClientCertificate) else Scheme("bearer", "bearer")
