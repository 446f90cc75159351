"""One operation of the API as data: its routes, its checks and its OpenAPI description are made of the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from isolith.http.models import NoQuery

if TYPE_CHECKING:
    from pydantic import BaseModel
    from starlette.requests import Request
    from starlette.responses import Response

    from isolith.http.house import House
    from isolith.tokens import Access, Scope


@dataclass(frozen=True)
class Asked:
    """One request, checked: who asks, for what, with what. `query` and `body` are of the operation's models."""

    house: House
    access: Access
    path: Mapping[str, str]
    query: Any
    body: Any
    request: Request


Handler = Callable[[Asked], Awaitable["Response"]]


@dataclass(frozen=True)
class Operation:
    """What may be asked of the API. `answers`: by status, the model of the body, or a media type and what it is."""

    method: Literal["GET", "POST"]
    path: str
    name: str
    scope: Scope | None
    """None: any token will do."""
    summary: str
    handler: Handler
    answers: Mapping[int, type[BaseModel] | tuple[str, ...]]
    body: type[BaseModel] | None = None
    query: type[BaseModel] = NoQuery
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers that it reads, and what for."""
    problems: tuple[int, ...] = ()
    """Statuses of problems beyond those that every operation may answer with."""

    decides: bool = False
    """Whether it shows what those decide about who have the scope `approve`: then that opens it as well."""
    public: bool = False
    """Whether what its path says lets whoever has it in, without a token."""
    streams: bool = False
    """Whether its answer goes on for as long as there is something to tell."""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Those that open it, each by itself; none where any token will do."""
        own: tuple[Scope, ...] = () if self.scope is None else (self.scope,)
        return (*own, "approve") if self.decides else own
