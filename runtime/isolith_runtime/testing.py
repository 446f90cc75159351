"""Scripts run in a real guest, for tests: calls are answered by a function, everything said is kept."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isolith_runtime import protocol
from isolith_runtime.driver import Departure, Guest, Spent, State, Supply
from isolith_runtime.inputs import Inputs
from isolith_runtime.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_PATIENCE_S = 240


@dataclass(frozen=True)
class Ran:
    """What a script said, and how its guest went."""

    frames: tuple[protocol.Frame, ...]
    departure: Departure
    spent: Spent

    @property
    def value(self) -> object:
        """Its value; an AssertionError with what happened instead where there is none."""
        assert isinstance(self.last, protocol.Result), self.last  # noqa: S101 - for tests
        return self.last.value

    @property
    def value_type(self) -> str:
        """The type of its value, as the guest names it."""
        assert isinstance(self.last, protocol.Result), self.last  # noqa: S101 - for tests
        return self.last.type

    @property
    def failure(self) -> protocol.Failure:
        """What ended it; an AssertionError where it ended well, or without a word."""
        assert isinstance(self.last, protocol.Failure), self.last  # noqa: S101 - for tests
        return self.last

    @property
    def last(self) -> protocol.Frame | Departure:
        """Its last frame, where that is an end; else how the guest went."""
        ended = bool(self.frames) and isinstance(self.frames[-1], (protocol.Result, protocol.Failure))
        return self.frames[-1] if ended else self.departure

    @property
    def warnings(self) -> list[tuple[str, str, int | None]]:
        """Kind, message and line of each warning."""
        return [(f.kind, f.message, f.line) for f in self.frames if isinstance(f, protocol.Warn)]

    @property
    def logs(self) -> list[tuple[str, str]]:
        """Level and text of each log line."""
        return [(f.level, f.message) for f in self.frames if isinstance(f, protocol.Log)]

    @property
    def calls(self) -> list[protocol.Call]:
        """The calls it asked for."""
        return [f for f in self.frames if isinstance(f, protocol.Call)]


@dataclass(frozen=True)
class Scripts:
    """Runs scripts in fresh guests of one supply."""

    supply: Supply

    def run(
        self,
        source: str,
        *,
        given: object = None,
        connectors: Mapping[str, Sequence[str]] | None = None,
        answer: Callable[[protocol.Call], object] = lambda _call: None,
        limits: Limits | None = None,
        inputs: Inputs | None = None,
        **start: object,
    ) -> Ran:
        """Run one to its end. An exception of `answer` fails the call; `start` overrides parts of the first frame."""
        first: dict[str, object] = {
            "source": source,
            "input": given,
            "connectors": {name: {"methods": " ".join(m)} for name, m in (connectors or {}).items()},
            "snippets": [],
            "limits": {"calls": 200, "wall_s": 60},
            "seed": "1",
            "log_bytes": 10_000,
            "emit_events": 100,
            "value_bytes": 1_000_000,
            **start,
        }
        return asyncio.run(self._drive(protocol.start(first), answer, limits or Limits(), inputs or Inputs()))

    async def _drive(
        self, start: str, answer: Callable[[protocol.Call], object], limits: Limits, inputs: Inputs
    ) -> Ran:
        loop, gone, said = asyncio.get_running_loop(), asyncio.Event(), list[protocol.Frame]()

        def on_batch(frames: list[protocol.Frame], state: State) -> None:
            said.extend(frames)
            replies = [_reply(frame, answer) for frame in frames if isinstance(frame, protocol.Call)]
            outbox.extend(replies)
            delays = [frame.delay for frame in frames if isinstance(frame, protocol.Parked)]
            if state is State.GONE:
                gone.set()
            elif state.ready and outbox:
                guest.deliver(outbox)
                outbox.clear()
            elif state.ready and delays and delays[-1] is not None:
                loop.call_later(delays[-1], guest.deliver, list[str]())

        outbox = list[str]()
        guest = Guest(self.supply, limits, inputs, on_batch)
        guest.deliver([start])
        async with asyncio.timeout(_PATIENCE_S):
            await gone.wait()
        assert guest.departure is not None  # noqa: S101 - GONE says so
        return Ran(tuple(said), guest.departure, guest.spent)


def _reply(call: protocol.Call, answer: Callable[[protocol.Call], object]) -> str:
    try:
        return protocol.answer(call.number, answer(call))
    except Exception as error:  # noqa: BLE001 - whatever a test's function raises fails the call
        place: dict[str, object] = {"connector": call.connector, "method": call.method}
        return protocol.failure(
            call.number,
            {**place, "kind": "tool_error", "message": str(error), "exception": type(error).__name__},
        )
