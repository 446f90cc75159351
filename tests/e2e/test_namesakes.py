"""A connector that is called like a module of Python's own, as `time` of mcp-server-time: a script that imports the
module has both under the name. It used to have the connector alone, and no `time.sleep` at all."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from isolith import CodeMode, connector
from isolith.run.type_checker import type_checker, types_of
from isolith_bindings.check import check, surroundings
from isolith_bindings.functions import as_connector
from isolith_runtime.guest import names

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.anyio


@connector("time")
class Clock:
    """Time in the cities of the world."""

    async def get_current_time(self, city: str = "Oslo") -> str:
        """The time there."""
        return f"noon in {city}"

    async def monotonic(self) -> str:
        """What the module has, too."""
        return "the connector's"


@connector("xml")
class Markup:
    """Documents."""

    async def fetch(self, name: str) -> str:
        """One document."""
        return f"<{name}/>"


@connector("resource")
class Rooms:
    """A module of this name is in no script."""

    async def book(self) -> str:
        """Book a room."""
        return "booked"


@connector("desk")
class Desk:
    """A desk."""

    async def count(self) -> int:
        """What lies on it."""
        return 3


@pytest.fixture
async def code_mode() -> AsyncGenerator[CodeMode]:
    async with CodeMode([Clock, Markup, Rooms]) as made:
        yield made


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("import time as t\nt.time() > 0", True),
        ("import time\ntime.sleep(0)\ntime.get_current_time()", "noon in Oslo"),
        ("import datetime, time\n[time.perf_counter() >= 0, datetime.date(2026, 1, 2).year]", [True, 2026]),
        ("from time import sleep\nsleep(0)\ntime.get_current_time()", "noon in Oslo"),
        ("from time import time as now, get_current_time\n[now() > 0, get_current_time(city='Rome')]", [True, "noon in Rome"]),
        ("from time import *\n[get_current_time(), perf_counter() >= 0, monotonic()]", ["noon in Oslo", True, "the connector's"]),
        ("import time\n[time.monotonic(), time.getCurrentTime(), time['get_current_time']()]",
         ["the connector's", "noon in Oslo", "noon in Oslo"]),
        ("import time\n[await time.get_current_time(), time.time() > 0]", ["noon in Oslo", True]),
        ("import time\nreturn [time.get_current_time(), time.time() > 0]", ["noon in Oslo", True]),
        ("def wait():\n    import time\n    time.sleep(0)\n    return time.get_current_time()\nwait()", "noon in Oslo"),
        ("import time\n\ndef main():\n    return time.time() > 0", True),
        ("import xml.etree.ElementTree as ET\nET.fromstring(xml.fetch(name='a')).tag", "a"),
        ("import xml.etree.ElementTree\n[xml.etree.ElementTree.fromstring('<b/>').tag, xml.fetch(name='a')]", ["b", "<a/>"]),
        ("from xml.etree import ElementTree\nElementTree.fromstring('<b/>').tag", "b"),
        ("from xml import etree, fetch\n[etree.__name__, fetch(name='a')]", ["xml.etree", "<a/>"]),
        ("import tools.time as t\nt.get_current_time()", "noon in Oslo"),
        ("import time\ntools.time.monotonic()", "the connector's"),
        ("import resource\nresource.book()", "booked"),
        ("import time", None),
    ],
)  # fmt: skip
async def test_an_import_has_both(code_mode: CodeMode, script: str, value: object) -> None:
    outcome = await code_mode.execute(script)
    assert (outcome.error, outcome.value) == (None, value)


async def test_such_an_import_takes_nothing_off_and_is_no_warning(code_mode: CodeMode) -> None:
    assert (await code_mode.execute("import time\ntime.time() > 0")).warnings == ()


METHODS = "its methods: get_current_time, monotonic"


@pytest.mark.parametrize(
    ("script", "message", "hint"),
    [
        ("time.sleep(1)", "time has no method 'sleep'",
         f"here `time` is a connector; write `import time` for the module; {METHODS}"),
        ("time.get_curent_time()", "time has no method 'get_curent_time'", "did you mean time.get_current_time?"),
        ("import time\ntime.nope()", "time has no method 'nope'", METHODS),
        ("from time import nope", "time has no method 'nope'", METHODS),
        ("import tools.time as t\nt.sleep(1)", "time has no method 'sleep'",
         f"here `time` is a connector; write `import time` for the module; {METHODS}"),
        ("resource.getrusage(0)", "resource has no method 'getrusage'", "its methods: book"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["off", "strict"])
async def test_what_neither_has_is_told(mode: str, script: str, message: str, hint: str) -> None:
    async with CodeMode([Clock, Markup, Rooms], check="off" if mode == "off" else "strict") as code_mode:
        error = (await code_mode.execute(script)).error
    assert error is not None
    assert (error.kind, error.message, error.hint) == ("unknown_tool", message, hint)


def test_the_check_looks_at_the_calls_of_both() -> None:
    tools = {"time": as_connector(Clock)}
    [found] = check("import time\ntime.sleep(1)\ntime.get_current_time(town='Oslo')", tools).findings
    assert (found.line, found.kind, found.certain) == (3, "invalid_arguments", True)
    [found] = check("from time import sleep, get_current_time as g\nsleep(1)\ng(town='Oslo')", tools).findings
    assert (found.line, found.kind) == (3, "invalid_arguments")


@pytest.mark.parametrize(
    ("script", "alarm"),
    [
        ("desk.count().split()", True),
        ("import json\ndesk.count().split()\ntime.get_current_time()", True),
        ("import time\n[time.get_current_time(), time.time(), desk.count().split()]", False),
        ("from time import get_current_time, sleep\ndesk.count().split()", False),
        ("def f():\n    import xml\n    return xml.fetch(name='a')\ndesk.count().split()", False),
    ],
)
def test_a_type_checker_is_not_asked_of_what_no_stub_can_say(script: str, alarm: bool) -> None:
    tools = {"time": as_connector(Clock), "xml": as_connector(Markup), "desk": as_connector(Desk)}
    checker = type_checker("ty")
    assert checker is not None
    assert bool(types_of(script, tools, checker, synchronous=True)) == alarm


@pytest.mark.parametrize("name", sorted(name for name in sys.stdlib_module_names if not name.startswith("_")))
def test_the_check_and_the_guest_know_the_same_modules(name: str) -> None:
    assert surroundings.is_namesake(name) == names.is_namesake(name)
