"""Scripts that the guest runs before the snapshot, as the host will run others, so that it need not warm up again.

CPython counts in the code itself how often it ran, and replaces an instruction by one for the types it has seen. What
has run often is faster, and stays as it is: a page of code that counts no more is not dirtied by every script.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from isolith_runtime.errors import ImageBuildError

if TYPE_CHECKING:
    from isolith_runtime.image.boot import BootedGuest

NOTHING = "1 + 1"
"""The script that uses the least of the guest: what it dirties, every script does."""

ENTRY = "PyObject_CallNoArgs"

_SCRIPTS = (
    NOTHING,
    "import asyncio\nasync def f():\n  await asyncio.sleep(0)\n  return 1\nprint('x')\nawait asyncio.gather(f(), f())",
    "def f(n):\n    return {'a': n, 'b': [str(n)]}\nx = [f(n) for n in range(20)]\nlog.info('a', b=1)\nx",
    "1/0",
    "import json, re, datetime\njson.loads(json.dumps({'a': [1, 2.5, None]}))\nreturn re.sub('a', 'b', 'aaa')",
    "t = 0\nfor i in range(500):\n    t += i\nt",
    "for i in range(3):\n    x = await demo.method(i=i)\nx",
    "await asyncio.gather(*[demo.method(i=i, name=str(i)) for i in range(3)])",
)
_ROUNDS = 100
"""Enough for code that runs once in a script: CPython tries again after 64 times what it could not replace."""
_COLLECTED = 10
"""Rounds after which their garbage is collected, so that the image is not larger for it."""
_MOST_STEPS = 10


def rehearse_all(guest: BootedGuest, step: int) -> None:
    """Run all of them, again and again; takes a second or two. Raises ImageBuildError."""
    for number in range(_ROUNDS):
        for script in _SCRIPTS:
            rehearse(guest, step, script)
        if number % _COLLECTED == 0:
            guest.run("import gc\ngc.collect()")


def rehearse(guest: BootedGuest, step: int, script: str) -> None:
    """Run one script to its end; its calls are answered. Raises ImageBuildError."""
    batch: list[list[object]] = [["start", _start(script)]]
    for _ in range(_MOST_STEPS):
        guest.kernel.sent.clear()
        guest.kernel.receive(json.dumps(batch).encode())
        if not guest.call(ENTRY, step):
            guest.call("PyErr_Print")
            raise ImageBuildError(f"a rehearsal failed:\n{guest.output.getvalue()}")
        frames = [frame for sent in guest.kernel.sent for frame in json.loads(sent)]
        if any(frame[0] in {"result", "failure"} for frame in frames):
            return
        batch = [["answer", frame[1], {"a": 1}] for frame in frames if frame[0] == "call"]
    raise ImageBuildError(f"a rehearsal did not end: {script!r}: {guest.kernel.sent!r}")


def _start(script: str) -> dict[str, object]:
    return {
        "source": script,
        "input": None,
        "connectors": {"demo": {"methods": "method"}},
        "snippets": [],
        "limits": {"calls": 10, "wall_s": 1},
        "seed": "0",
        "log_bytes": 1000,
        "emit_events": 10,
        "value_bytes": 10_000,
    }
