"""A document that was read: its operations as methods, and what their calls are made with."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from isolith_bindings.errors import CallError
from isolith_bindings.openapi.auth import Auth
from isolith_bindings.openapi.checking import Checker
from isolith_bindings.openapi.credentials import not_set
from isolith_bindings.openapi.exchange import send, shown
from isolith_bindings.openapi.methods import OperationMethod
from isolith_bindings.openapi.request import Making, make
from isolith_bindings.openapi.requirements import shared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.connector import Method, Progress
    from isolith_bindings.egress import Response
    from isolith_bindings.openapi.connector import OpenApi
    from isolith_bindings.openapi.model import Api, Operation
    from isolith_bindings.openapi.plan import RequestPlan
    from isolith_bindings.openapi.signatures import Signatures
    from isolith_bindings.openapi.wire import ReadArtifact


class Loaded:
    """A document that was read, and what its calls are made with. Raises BindError for an `auth` that fits nothing."""

    def __init__(self, connector: OpenApi, api: Api, signatures: Signatures) -> None:
        self.api, self.signatures = api, signatures
        self.checker = Checker(api, strict=connector.strict)
        self._server = connector.server
        self._ask_for_server = connector.ask_for_server()
        reach = connector.reach(api)
        wallet = connector.wallet(api)
        self.shared = shared([operation.security for operation in api.operations], wallet)
        """That one credential is sent in several places, where it is."""
        self.egress = connector.egress(reach)
        self._auth = Auth.over(self.egress, wallet, reach.destinations())
        self._operations = {operation.name: operation for operation in api.operations}
        self.methods: Mapping[str, Method] = {
            name: OperationMethod.of(operation, api, signatures, partial(self._preview, operation))
            for name, operation in self._operations.items()
        }

    def operation(self, method: Method) -> Operation:
        """The operation behind a method. Raises CallError where the document has none any more."""
        found = self._operations.get(method.name)
        if found is None:
            raise CallError("unknown_tool", f"there is no operation `{method.name}`")
        return found

    def plan(self, operation: Operation, given: Mapping[str, object], read: ReadArtifact) -> RequestPlan:
        """The request of a call. Raises CallError."""
        server = self._address(operation)
        if not server:
            what = f"the document does not say on which host {operation.key} is"
            raise CallError("tool_unavailable", what, hint=self._ask_for_server)
        arguments = self.checker.check(operation, given)
        return make(operation, arguments, Making(server, self.api.definitions, read))

    def _address(self, operation: Operation) -> str:
        """Where an operation is; empty where nobody says that."""
        server = self._server or next(iter(operation.servers), "")
        return server if server.startswith(("http://", "https://")) else ""

    @property
    def nowhere(self) -> bool:
        """Whether nobody says of any operation where it is."""
        return bool(self._operations) and not any(map(self._address, self._operations.values()))

    @property
    def not_set(self) -> tuple[str, ...]:
        """Which variables of its credentials are not set now: the calls that need them are refused."""
        return not_set(self._auth.wallet.all)

    def require(self, plan: RequestPlan) -> None:
        """Raises CallError where it is known that no credential can go with it: see `Auth.require`."""
        self._auth.require(plan)

    async def send(self, plan: RequestPlan, deadline_s: float, progress: Progress) -> Response:
        """The answer of a success. Raises CallError. What it waits for is progress, in words."""
        return await send(plan, self.egress, self._auth, deadline_s, lambda line: progress(0, None, line))

    def shown(self, operation: Operation, arguments: Mapping[str, object]) -> str:
        """What would be sent, each secret masked. Raises CallError where nothing would be."""
        return shown(self.plan(operation, arguments, no_bytes), self._auth)

    async def aclose(self) -> None:
        """Close the connections, and keep the signatures that were written."""
        await self.egress.aclose()
        self.signatures.close()

    def _preview(self, operation: Operation, /, **arguments: object) -> str:
        return self.shown(operation, arguments)


def no_bytes(_ref: object) -> bytes:
    """For requests that are shown and not sent."""
    return b""
