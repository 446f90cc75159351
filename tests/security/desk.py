"""The connector that the hostile scripts are given: it remembers what came through, and it has secrets to lose."""

from __future__ import annotations

import asyncio

from isolith import OpenApi, Policy, connector, method
from isolith_bindings.secrets import Secret

CANARY = "CANARY-4f1d"
"""What every planted secret begins with. No script contains it, so wherever it shows it has leaked."""

_TOKEN = f"{CANARY}-module"


@connector("desk")
class Desk:
    """What a script may use, and what it may not."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.token = f"{CANARY}-attribute"
        self._headers = {"Authorization": f"Bearer {CANARY}-header"}

    async def echo(self, value: object = None) -> object:
        """Answer with what was given."""
        self.reached.append("echo")
        return value

    async def get(self, id: int) -> dict[str, int]:  # noqa: A002 - what an API would call it
        """One record."""
        self.reached.append("get")
        return {"id": id}

    async def slow(self, seconds: float = 60) -> str:
        """Take that long."""
        self.reached.append("slow")
        await asyncio.sleep(seconds)
        return "done"

    async def fail(self, message: str = "no") -> None:
        """Fail, with secrets in everything of the exception but its text."""
        self.reached.append("fail")
        password = f"{CANARY}-local"
        try:
            raise RuntimeError(f"{CANARY}-cause {password}")
        except RuntimeError as cause:
            error = ValueError(message)
            error.add_note(f"{CANARY}-note")
            error.secret = f"{CANARY}-exception"  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
            raise error from cause

    @method(policy="deny")
    async def wipe(self) -> str:
        """Nobody may."""
        self.reached.append("wipe")
        return "wiped"

    async def pay(self, amount: int = 1) -> str:
        """Not so much as ten."""
        self.reached.append("pay")
        return f"paid {amount}"


_SERVER = "http://127.0.0.1:9"
_DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "An API that nobody answers for", "version": "1"},
    "security": [{"token": []}],
    "paths": {"/thing": {"get": {"operationId": "get_thing", "responses": {"200": {"description": "It."}}}}},
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
}


def api() -> OpenApi:
    """A connector that holds a credential and would send it as a header, if anybody listened."""
    return OpenApi(_DOCUMENT, name="api", auth=Secret.of(lambda: f"{CANARY}-credential"), server=_SERVER)


SPARING = Policy.model_validate(
    {"preset": "trusted", "rules": [{"action": "deny", "match": "desk.pay", "where": {"amount": 10}}]}
)
"""Whether a call is allowed depends on its arguments, and is decided outside."""
