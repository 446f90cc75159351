"""The connectors of the end-to-end tests, and a code mode that has them. Everything is real: guest, image, connectors."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from isolith import CallContext, CallError, CodeMode, connector, method
from isolith.run.supply import get_supply
from isolith_bindings.policy import Policy
from isolith_bindings.rules import Rule

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


ROOT = Path(__file__).parents[2]


@connector("crm")
class Crm:
    """Contacts of a company."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.under_way = 0
        self.most_under_way = 0
        self.cancelled = 0
        self.hanging = asyncio.Event()

    async def list_contacts(self, limit: int = 3) -> list[dict[str, object]]:
        """The newest contacts first."""
        self.reached.append("list_contacts")
        return [{"id": number, "name": f"name {number}"} for number in range(limit)]

    async def get(self, id: int) -> dict[str, int]:  # noqa: A002 - what an API would call it
        """One contact."""
        self.reached.append(f"get {id}")
        return {"id": id}

    @method(name="import-file")
    async def import_file(self, name: str = "a") -> str:
        """A method whose own name is no Python name."""
        return f"imported {name}"

    async def meet(self, others: int) -> int:
        """Wait until as many calls as `others` are under way together."""
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            while self.most_under_way < others:
                await asyncio.sleep(0)
        finally:
            self.under_way -= 1
        return others

    async def count(self, number: int = 0) -> int:
        """Be under way for some turns of the loop."""
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await asyncio.sleep(0.002)
        self.under_way -= 1
        return number

    async def hang(self) -> None:
        """Never answer; say when asked, and when cancelled."""
        self.hanging.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

    async def fail(self, message: str = "no such contact") -> None:
        """Fail with a built-in exception."""
        raise ValueError(message)

    async def fail_with_key(self) -> None:
        """Fail with another built-in exception."""
        raise KeyError("k")

    async def unavailable(self) -> None:
        """Fail in the connector's own words."""
        raise CallError("tool_unavailable", "closed today", data={"code": 503}, retriable=True, hint="try tomorrow")

    async def lie(self) -> int:
        """Answer with what was not promised."""
        return "not a number"  # type: ignore[return-value] # pyright: ignore[reportReturnType]

    async def delete(self, id: int) -> None:  # noqa: A002
        """Is not allowed for the contact 1."""
        self.reached.append(f"delete {id}")

    @method(policy="deny")
    async def purge(self) -> None:
        """Is for nobody."""
        self.reached.append("purge")

    async def slow(self, ctx: CallContext, steps: int, pause_s: float) -> int:
        """Report progress at each step."""
        for step in range(steps):
            ctx.progress(step, steps, f"step {step}")
            await asyncio.sleep(pause_s)
        return steps

    def block(self, seconds: float) -> str:
        """Block a thread."""
        time.sleep(seconds)
        return "unblocked"

    async def who(self, ctx: CallContext) -> dict[str, str | None]:
        """For whom this call is made."""
        return {"principal": ctx.principal, "session": ctx.session}


SPARING = Policy(preset="trusted", rules=(Rule(action="deny", match=("crm.delete",), where={"id": 1}),))


@connector("echo")
class Echo:
    """Gives back what it gets, and remembers it."""

    def __init__(self) -> None:
        self.got: list[object] = []

    async def give(self, value: object) -> object:
        """What was given."""
        self.got.append(value)
        return value

    async def text(self, size: int) -> str:
        """That many characters."""
        return "x" * size


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The product lives in asyncio's loop."""
    return "asyncio"


@pytest.fixture(autouse=True, scope="session")
def image() -> None:
    """Build the image where there is none, outside of any test's time."""
    get_supply()


@pytest.fixture
async def crm() -> Crm:
    return Crm()


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture
async def code_mode(crm: Crm, echo: Echo) -> AsyncGenerator[CodeMode]:
    async with CodeMode([crm, echo], policy=SPARING) as made:
        yield made


class Isolith(Protocol):
    """Runs the installed command line as a process of its own."""

    def __call__(self, *arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[str]: ...


def isolith_command() -> str:
    """Where the console script of this Python is."""
    return str(Path(sys.executable).with_name("isolith"))


@pytest.fixture
def isolith(tmp_path: Path) -> Isolith:
    def run(*arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [isolith_command(), *arguments],
            input=b"" if stdin is None else stdin,
            capture_output=True,
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "120"},
            timeout=240,
            check=False,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run
