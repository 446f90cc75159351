"""What the check costs: a script of a hundred lines against a thousand tools. Prints numbers; asserts nothing.

CPU time of this process and of `ty`, where it is installed, so that what else the machine does is left out; beside it
the time that passes. Of our own pass the ratio to compiling the same script, of `ty` that to `ty check` by itself, a
process for each script, on the same files. Last a process that checks its one script, as `isolith check` does: from
where its script and its tools are read to what was found, with `ty` started before the imports.

python tests/benchmark/check.py
"""

from __future__ import annotations

import gc
import importlib
import json
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from isolith.run.type_checker import get_ready, type_checker, types_of
from isolith.run.type_folder import TypeFolder
from isolith.run.type_servers import servers
from isolith.run.type_stubs import SCRIPT, files
from isolith_bindings.check import check
from isolith_bindings.connector import JsonSchema, Method
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith.run.type_checker import TypeChecker

_RUNS = 30
_ONE = "--one"
_VERBS = "list get create update delete search archive assign merge export".split()  # noqa: SIM905
_NOUNS = "issue pull branch release milestone label comment review commit team".split()  # noqa: SIM905
_PLACES = "repo user org project gist team package runner cache secret".split()  # noqa: SIM905
_PARAMETERS: JsonSchema = {
    "type": "object",
    "properties": {
        "owner": {"type": "string"},
        "repo": {"type": "string", "minLength": 1},
        "state": {"enum": ["open", "closed", "all"]},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "labels": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["owner", "repo"],
    "additionalProperties": False,
}
_ISSUE: JsonSchema = {"type": "object", "properties": {"number": {"type": "integer"}, "title": {"type": "string"}}}
_RETURNS: JsonSchema = {"type": "array", "items": _ISSUE}


def thousand(connectors: int) -> dict[str, RecordingConnector]:
    """A thousand methods, spread over so many connectors."""
    names = [f"{verb}_{noun}_{place}" for verb in _VERBS for noun in _NOUNS for place in _PLACES]
    made: dict[str, RecordingConnector] = {}
    for number in range(connectors):
        connector = RecordingConnector(f"hub{number}" if number else "hub", {})
        connector.methods = {
            name: Method(name, name.replace("_", "/"), "", _PARAMETERS, _RETURNS, f"async def {name}(*, owner: str)")
            for name in names[number::connectors]
        }
        made[connector.name] = connector
    return made


def script(misspelt: int) -> str:
    """A hundred lines, of which ten call a tool, some by a name that is not there."""
    lines = ["import json", "rows = []", "async def main():"]
    for number in range(10):
        name = f"list_isue_repo{number}" if number < misspelt else f"list_{_NOUNS[number]}_repo"
        lines += [
            f"    found = await hub.{name}(",
            "        owner='isolith', repo='house', state='open', limit=50, labels=['bug'],",
            "    )",
            "    for one in found:",
            "        if one['number'] > 10 and one['title'].startswith('a'):",
            "            rows.append({'title': one['title'].upper(), 'n': one['number'] * 2})",
            f"    print(f'{{len(found)}} of {number}', json.dumps(rows[-1:]))",
            "    total = sum(row['n'] for row in rows)",
            "    assert total >= 0, 'negative'",
        ]
    return "\n".join([*lines, "    return total", "await main()"]) + "\n" * 5


@dataclass(frozen=True)
class Took:
    """Milliseconds of CPU and of the clock, a pair for each time."""

    times: tuple[tuple[float, float], ...]

    @property
    def cpu(self) -> float:
        """The median."""
        return statistics.median(cpu for cpu, _ in self.times)

    def __str__(self) -> str:
        clock = [passed for _, passed in self.times]
        worst = max(cpu for cpu, _ in self.times)
        return f"{self.cpu:.1f} ms CPU (worst {worst:.1f}), {statistics.median(clock):.1f} ms (best {min(clock):.1f})"


def took(work: Callable[[int], object], runs: int = _RUNS) -> Took:
    """What something costs, told how often it was done before; the collector's full passes are left out."""
    times: list[tuple[float, float]] = []
    gc.collect()
    gc.freeze()
    for number in range(runs):
        spent, begun = _cpu(), time.perf_counter()
        work(number)
        times.append((_cpu() - spent, (time.perf_counter() - begun) * 1e3))
    gc.unfreeze()
    return Took(tuple(times))


def _cpu() -> float:
    """Of this process, of those it has ended, and, on Linux, of `ty` that waits for its next script."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    threads = [path for server in servers.waiting for path in Path(f"/proc/{server.pid}/task").glob("*/schedstat")]
    waiting = sum(int(path.read_text().split()[0]) for path in threads) / 1e6
    return (time.process_time() + ended.ru_utime + ended.ru_stime) * 1e3 + waiting


def measure(connectors: int, misspelt: int) -> str:
    """Our own pass, in words."""
    tools, text = thousand(connectors), script(misspelt)
    found = len(check(text, tools).findings)
    compiled = f"async def main():\n{text}".replace("\n", "\n    ")
    plain = took(lambda _: compile(compiled, "script", "exec"))
    ours = took(lambda _: check(text, tools))
    lines = text.count("\n") + 1
    return (
        f"{lines} lines, 1,000 tools in {connectors} connector(s), {found} finding(s): {ours}; "
        f"{ours.cpu / plain.cpu:.1f} times compiling it"
    )


def measure_types(connectors: int, checker: TypeChecker) -> list[str]:
    """What `ty` costs beside it, in words."""
    tools, text = thousand(connectors), script(0)
    others = [{**tools, "hub": other} for other in (thousand(connectors)["hub"] for _ in range(_RUNS))]
    read = dict(files(text, tools, synchronous=False))

    def first(number: int) -> None:
        servers.close()
        types_of(f"{text}# first {number}", tools, checker, synchronous=False)

    costs = {
        "the first script of a process": took(first, 10),
        "a new script": took(lambda number: types_of(f"{text}# {number}", tools, checker, synchronous=False)),
        "a new script with other tools": took(
            lambda number: types_of(f"{text}# other {number}", _other(others[number]), checker, synchronous=False)
        ),
        "one that was checked before": took(lambda _: types_of(f"{text}# 0", tools, checker, synchronous=False)),
        "our pass and ty, a new script": took(lambda number: _both(f"{text}# both {number}", tools, checker)),
        "the same with ten misspelt": took(lambda number: _both(f"{script(10)}# both {number}", tools, checker)),
    }
    servers.close()
    alone = took(lambda _: _alone(read, checker), 10)
    lines = [f"  {what}: {cost}; {cost.cpu / alone.cpu:.2f} of `ty check`" for what, cost in costs.items()]
    return [f"ty, 1,000 tools in {connectors} connector(s); `ty check` by itself: {alone}", *lines]


def measure_cold() -> str:
    """A process that checks one script, in words: what it waits for alone, and so without the reading of its imports."""
    command = [sys.executable, __file__, _ONE]
    told = [subprocess.run(command, capture_output=True, check=True).stdout for _ in range(10)]
    return f"our pass and ty, the one script of a process: {Took(tuple(tuple(json.loads(each)) for each in told))}"


def one_script() -> None:
    """Be that process: print milliseconds of CPU and of the clock."""
    get_ready("auto")
    command = importlib.import_module("isolith.command_line.check_command")  # beside this ty reads, as it does there

    tools, text = thousand(1), script(0)

    async def checked() -> tuple[float, float]:
        await anyio.to_thread.run_sync(int)  # the command line's event loop is there already
        waiting = _cpu()
        begun = time.perf_counter()
        [found] = await command.check_all([("script", text)], tools, 1 << 20)
        if found.errors:
            raise ValueError(found.errors)
        return _cpu() - waiting, (time.perf_counter() - begun) * 1e3

    print(json.dumps(anyio.run(checked)))


def _both(text: str, tools: dict[str, RecordingConnector], checker: TypeChecker) -> None:
    report = check(text, tools)
    types_of(text, tools, checker, synchronous=report.synchronous)


def _other(tools: dict[str, RecordingConnector]) -> dict[str, RecordingConnector]:
    """The same names with other results."""
    hub = tools["hub"]
    key = f"k{id(hub)}"
    returns: JsonSchema = {**_RETURNS, "items": {"type": "object", "properties": {key: {"type": "integer"}}}}
    hub.methods = {
        name: Method(name, method.original, "", _PARAMETERS, returns, method.signature)
        for name, method in hub.methods.items()
    }
    return tools


def _alone(read: dict[str, str], checker: TypeChecker) -> None:
    folder = TypeFolder()
    folder.hold(read)
    command = [checker.command, "check", "--output-format", "concise", SCRIPT]
    subprocess.run(command, cwd=folder.path, capture_output=True, check=False)
    folder.close()


def main() -> None:
    """Print each case."""
    checker = type_checker("auto")
    for connectors in (1, 20):
        for misspelt in (0, 1, 10):
            print(measure(connectors, misspelt))
        if checker is not None and checker.fast:
            print("\n".join(measure_types(connectors, checker)))
        else:
            print("ty is not installed: isolith[check]")
    print(measure_cold())


if __name__ == "__main__":
    if sys.argv[1:] == [_ONE]:
        one_script()
    else:
        main()
