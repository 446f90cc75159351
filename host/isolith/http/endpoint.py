"""From a request to an operation and back: who asks, whether they may, what they sent, and what went wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

from starlette.requests import Request

from isolith.http.bodies import read_body, read_query
from isolith.http.guard import REFUSED
from isolith.http.operations import Asked, Operation
from isolith.http.problems import Problem, not_found, problem_of
from isolith.http.spans import span
from isolith.tokens import Access

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

    from isolith.http.house import House

CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="isolith"'}
REFUSED_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="isolith", error="invalid_token"'}
_STRANGER: Final = Access("whoever has a link", frozenset())
_ID: Final = re.compile(r"[0-9A-Za-z_.-]{1,200}")
_LINK: Final = re.compile(r"[0-9A-Za-z_.-]{1,4096}")


class Endpoint:
    """The operations of one path, as an ASGI app."""

    def __init__(self, house: House, operations: Sequence[Operation]) -> None:
        self._house = house
        self._operations: dict[str, Operation] = {operation.method: operation for operation in operations}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        request = Request(scope, receive)
        method = "GET" if request.method == "HEAD" else request.method
        response = await self._answered(request, self._operations.get(method))
        await response(scope, receive, send)

    async def _answered(self, request: Request, operation: Operation | None) -> Response:
        try:
            if operation is None or (operation.streams and request.method == "HEAD"):
                return self._wrong_method().response()
            access = _STRANGER if operation.public else access_of_request(request)
            name = f"{operation.method} {operation.path}"
            with self._house.rates.request(access.principal), span(name, operation) as ended:
                response = await self._performed(request, operation, access)
                ended(response.status_code)
                return response
        except Problem as problem:
            return problem.response()

    async def _performed(self, request: Request, operation: Operation, access: Access) -> Response:
        try:
            return await self._perform(request, operation, access)
        except Exception as error:  # noqa: BLE001 - the border of the API: what nobody foresaw is told by its id
            return problem_of(error).response()

    def _wrong_method(self) -> Problem:
        allowed = ", ".join(sorted(self._operations))
        return Problem(405, "wrong-method", f"this takes {allowed}", headers={"Allow": allowed})

    async def _perform(self, request: Request, operation: Operation, access: Access) -> Response:
        if operation.scopes and not any(map(access.may, operation.scopes)):
            detail = f"this needs a token with the scope {' or '.join(f'`{scope}`' for scope in operation.scopes)}"
            bearer = f'Bearer error="insufficient_scope", scope="{operation.scope}"'
            raise Problem(403, "forbidden", detail, "denied", {"WWW-Authenticate": bearer})
        path = {name: str(value) for name, value in request.path_params.items()}
        form = _LINK if operation.public else _ID
        if not all(form.fullmatch(value) for value in path.values()):
            raise not_found()
        query = read_query(request, operation.query)
        body = None if operation.body is None else await read_body(request, operation.body)
        return await operation.handler(Asked(self._house, access, path, query, body, request))


def access_of_request(request: Request) -> Access:
    """Who asks, as the guard in front has found out. Raises Problem where it has not."""
    access = request.scope.get("isolith.access")
    if not isinstance(access, Access):
        refused = cast("str | None", request.scope.get(REFUSED))
        if refused is not None:
            raise Problem(401, "unauthenticated", refused, "denied", REFUSED_CHALLENGE)
        raise Problem(401, "unauthenticated", "send a token: `Authorization: Bearer ...`", "denied", CHALLENGE)
    return access
