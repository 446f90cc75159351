"""ty as a process that stays: the same findings, nothing left of a script or of itself, and no way to hang on it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.bindings.check.corpus import shop

from isolith.run import type_servers
from isolith.run.type_checker import TypeChecker, get_ready, type_checker, types_of
from isolith.run.type_folder import sweep
from isolith.run.type_server import MAX_BYTES, NoAnswer, TypeServer
from isolith.run.type_servers import TypeServers, servers
from isolith.run.type_stubs import SCRIPT, files
from isolith_bindings.connector import JsonSchema, Method
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONG_S = 240.0
WRONG = "found = crm.find_contact(name='Ada')\nfound['name']\n"


@pytest.fixture(scope="module")
def ty() -> TypeChecker:
    found = type_checker()
    assert found is not None
    assert found.name == "ty", "`ty` is among what the tests are installed with"
    return found


@pytest.fixture
def made(ty: TypeChecker) -> Iterator[TypeServers]:
    servers = TypeServers()
    yield servers
    servers.close()


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], str]:
    """A program that is called as ty is, and does something else."""

    def write(text: str) -> str:
        path = tmp_path / "program"
        path.write_text(f"#!{sys.executable}\nimport os, sys, time\n{textwrap.dedent(text)}")
        path.chmod(0o755)
        return str(path)

    return write


def of(text: str, returns: JsonSchema | None = None) -> tuple[str, dict[str, str]]:
    """A script and the stubs that it needs, of one method `hub.get`."""
    hub = RecordingConnector("hub", {})
    hub.methods = {"get": Method("get", "get", "", {"type": "object", "properties": {}}, returns, "async def get()")}
    read = dict(files(text, {"hub": hub}, synchronous=True))
    return read.pop(SCRIPT), read


def rules(servers: TypeServers, command: str, text: str, returns: JsonSchema | None = None) -> list[str]:
    return [found.rule for found in servers.ask(command, *of(text, returns), LONG_S)]


def gone(pid: int) -> bool:
    """Whether a process has ended; whoever is above it may not have asked for that yet, or does so just now."""
    try:
        os.kill(pid, 0)
        told = Path(f"/proc/{pid}/stat").read_text() if Path("/proc/self/stat").exists() else ") S"
    except (ProcessLookupError, FileNotFoundError):
        return True
    return told.rpartition(")")[2].split()[0] == "Z"


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONG_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# one script after the other


def test_each_script_is_read_with_its_own_stubs(made: TypeServers, ty: TypeChecker) -> None:
    """At once after one another, under the same names."""
    text = "hub.get() + 1\n"
    for _ in range(5):
        assert rules(made, ty.command, text, {"type": "integer"}) == []
        assert rules(made, ty.command, text, {"type": "string"}) == ["unsupported-operator"]
    [server] = made.waiting
    assert server.asked == 10


def test_scripts_at_once_are_read_by_as_many_processes(made: TypeServers, ty: TypeChecker) -> None:
    def ask(number: int) -> list[str]:
        kind = "string" if number % 2 else "integer"
        return rules(made, ty.command, f"hub.get() + 1\n# {number}", {"type": kind})

    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(ask, range(24)))
    assert found == [[], ["unsupported-operator"]] * 12
    assert 1 <= len(made.waiting) <= 3
    assert sum(server.asked for server in made.waiting) == 24


def test_what_one_script_was_given_the_next_does_not_find(made: TypeServers, ty: TypeChecker) -> None:
    assert rules(made, ty.command, "import hub\nhub.get() + 1\n", {"type": "string"}) == ["unsupported-operator"]
    found = made.ask(ty.command, "import hub\n1 + hub.get()\n", {}, LONG_S)
    assert [remark.rule for remark in found] == ["import-not-found"]


def test_the_script_is_no_file_and_its_stubs_are_this_users_alone(made: TypeServers, ty: TypeChecker) -> None:
    rules(made, ty.command, "hub.get()")
    [server] = made.waiting
    assert {path.name for path in server.folder.iterdir()} == (
        {"ty.toml", "pyrightconfig.json", "without-packages", "__isolith.pyi", "hub.pyi", "__hub_get.pyi"}
    )
    assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700
    made.close()
    assert not server.folder.exists()


def test_columns_are_characters(made: TypeServers, ty: TypeChecker) -> None:
    [remark] = made.ask(ty.command, *of("('\U0001f600', 1 + hub.get())\n", {"type": "string"}), LONG_S)
    assert (remark.line, remark.column) == (2, 7)


def test_packages_of_this_machine_are_none_of_a_scripts(ty: TypeChecker) -> None:
    assert types_of("import pytest\ncrm\npytest.param(1) / 2\n", shop(), ty, synchronous=True) == ()


def test_no_configuration_but_its_own_counts(ty: TypeChecker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ty.toml", ".config/ty/ty.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('[rules]\nall = "ignore"\n')
    monkeypatch.chdir(tmp_path)
    for name, value in (("HOME", tmp_path), ("XDG_CONFIG_HOME", tmp_path / ".config"), ("TY_CONFIG_FILE", "ty.toml")):
        monkeypatch.setenv(name, str(value))
    servers.close()
    [found] = types_of(f"{WRONG}# as configured", shop(), ty, synchronous=True)
    assert found.line == 2


def test_the_time_before_the_first_script_can_be_spent_meanwhile(ty: TypeChecker) -> None:
    servers.close()
    get_ready("ty")
    [server] = servers.waiting
    types_of(f"{WRONG}# got ready", shop(), ty, synchronous=True)
    assert servers.waiting == [server]
    get_ready("ty")  # there is one
    get_ready("off")
    get_ready("mypy")  # has nothing to get ready
    assert servers.waiting == [server]


# its end


def test_one_that_has_ended_is_replaced(made: TypeServers, ty: TypeChecker) -> None:
    rules(made, ty.command, "hub.get()")
    [server] = made.waiting
    os.kill(server.pid, 9)
    until(lambda: not server.lives)
    assert rules(made, ty.command, "hub.get() + 1\n", {"type": "string"}) == ["unsupported-operator"]
    assert server not in made.waiting
    assert not server.folder.exists()


def test_it_ends_after_so_many_scripts_and_when_nobody_asks(
    made: TypeServers, ty: TypeChecker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type_servers, "MAX_SCRIPTS", 2)
    rules(made, ty.command, "hub.get()")
    [server] = made.waiting
    rules(made, ty.command, "hub.get()")
    assert (made.waiting, gone(server.pid), server.folder.exists()) == ([], True, False)
    monkeypatch.setattr(type_servers, "IDLE_S", 0.0)
    rules(made, ty.command, "hub.get()")
    until(lambda: not made.waiting)


ONE_AND_ITS_END = """
import os, signal, sys
sys.path.insert(0, {root!r})
from tests.bindings.check.corpus import shop
from isolith.run.type_checker import type_checker, types_of
from isolith.run.type_servers import servers
types_of("crm", shop(), type_checker("ty"), synchronous=True, timeout_s=100.0)
if {forks}:
    child = os.fork()
    if not child:
        print(len(servers.waiting), flush=True)
        sys.exit(0)
    os.waitpid(child, 0)
    types_of("crm.x", shop(), type_checker("ty"), synchronous=True, timeout_s=100.0)
[server] = servers.waiting
print(server.pid, server.folder, server.asked, server.folder.exists(), flush=True)
if {killed}:
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("killed", [False, True])
def test_it_ends_with_this_process_however_that_ends(pytestconfig: pytest.Config, *, killed: bool) -> None:
    text = ONE_AND_ITS_END.format(root=str(pytestconfig.rootpath), forks=False, killed=killed)
    done = subprocess.run([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, timeout=LONG_S, check=False)
    assert done.returncode == (-9 if killed else 0)
    pid, folder, _, _ = done.stdout.split()
    until(lambda: gone(int(pid)))
    assert Path(folder).exists() == killed  # nobody is left who could remove it but the next of this user
    if killed:
        os.utime(folder, (1, 1))
        sweep()
        assert not Path(folder).exists()


def test_a_fork_of_this_process_leaves_it_alone(pytestconfig: pytest.Config) -> None:
    text = ONE_AND_ITS_END.format(root=str(pytestconfig.rootpath), forks=True, killed=False)
    done = subprocess.run([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, timeout=LONG_S, check=True)
    in_the_fork, here = done.stdout.splitlines()
    assert in_the_fork == "0"
    assert here.split()[2:] == ["2", "True"]


# what is no ty, or one that does not answer


def test_what_takes_too_long_is_killed(program: Callable[[str], str]) -> None:
    for text in ("time.sleep(1000)", "sys.stdin.read()", "while True: os.write(1, b'Content-Length: 2\\r\\n\\r\\n{}')"):
        server = TypeServer(program(text))
        with pytest.raises(NoAnswer) as caught:
            server.ask("x" * 1_000_000, {"a.pyi": ""}, 0.2)
        assert (caught.value.final, gone(server.pid), server.folder.exists()) == (True, True, False)


SLOW = "crm\nimport random\nx = 0\n" + "".join(f"x = x if random.random() else ({each}, x)\n" for each in range(200))


if sys.platform == "linux":
    import resource

    BOUNDED = """
    import resource
    while resource.getrlimit(resource.RLIMIT_DATA)[0] == resource.RLIM_INFINITY and sys.argv[1] == "check":
        time.sleep(0.01)
    print(f"__isolith_script.py:2:1: error[not-iterable] {resource.getrlimit(resource.RLIMIT_DATA)[0]}")
    """

    def test_a_script_that_makes_it_take_all_memory_ends_it(made: TypeServers, ty: TypeChecker) -> None:
        rules(made, ty.command, "hub.get()")
        [server] = made.waiting
        assert resource.prlimit(server.pid, resource.RLIMIT_DATA) == (MAX_BYTES, MAX_BYTES)
        with pytest.raises(NoAnswer) as caught:
            made.ask(ty.command, *of("hub\nx = (1, 2, 3, 4)\n" + "x = (*x, *x)\n" * 26), 10 * LONG_S)
        assert (caught.value.final, made.waiting) == (True, [])
        assert rules(made, ty.command, "hub.get() + 1\n", {"type": "string"}) == ["unsupported-operator"]

    def test_one_that_is_asked_once_is_bounded_as_well(program: Callable[[str], str]) -> None:
        [found] = types_of(WRONG, shop(), TypeChecker("ty", program(BOUNDED)), synchronous=True)
        assert found.message == f"{MAX_BYTES} (ty: not-iterable)"


def test_a_script_that_it_never_ends_with_costs_only_its_time(ty: TypeChecker) -> None:
    assert types_of(SLOW, shop(), ty, synchronous=True, timeout_s=0.5) == ()
    [found] = types_of(f"{WRONG}# after the slow one", shop(), ty, synchronous=True)
    assert found.line == 2


@pytest.mark.parametrize(
    "text",
    [
        "sys.exit(2)",
        "os.write(1, b'usage: ty\\n')",
        "os.write(1, b'Content-Length: x\\r\\n\\r\\n{}')",
        "os.write(1, b'Content-Length: -3\\r\\n\\r\\n{}')",
        "os.write(1, b'Content-Length: 99999999999\\r\\n\\r\\n{}')",
        "os.write(1, b'Content-Length: 2\\r\\n\\r\\n[]')",
        "os.write(1, b'Content-Length: 3\\r\\n\\r\\n\\xff\\xff\\xff')",
        "m = b'{\"id\": 1, \"result\": null}'; os.write(1, b'Content-Length: %d\\r\\n\\r\\n%b' % (len(m), m))",
        "m = b'{\"id\": 1, \"error\": {}}'; os.write(1, b'Content-Length: %d\\r\\n\\r\\n%b' % (len(m), m))",
        'm = b\'{"id": 1, "result": {"capabilities": {}}}\'; os.write(1, b\'Content-Length: %d\\r\\n\\r\\n%b\' % (len(m), m))',
    ],
)
def test_what_speaks_otherwise_is_ended(program: Callable[[str], str], text: str) -> None:
    server = TypeServer(program(text))
    with pytest.raises(NoAnswer) as caught:
        server.ask("x", {}, LONG_S)
    assert (caught.value.final, gone(server.pid), server.folder.exists()) == (False, True, False)


def test_a_ty_that_does_not_stay_is_asked_once_for_each_script(program: Callable[[str], str], ty: TypeChecker) -> None:
    checker = TypeChecker(
        "ty", program(f"os.execv({ty.command!r}, ['ty', *sys.argv[1:]]) if sys.argv[1] == 'check' else 0")
    )
    [once] = types_of(WRONG, shop(), checker, synchronous=True)
    [stays] = types_of(WRONG, shop(), ty, synchronous=True)
    assert once == stays


def test_one_that_is_late_is_not_asked_again(program: Callable[[str], str], tmp_path: Path) -> None:
    checker = TypeChecker("ty", program(f"open({str(tmp_path / 'asked')!r}, 'a').write('x'); time.sleep(1000)"))
    begun = time.monotonic()
    assert types_of(WRONG, shop(), checker, synchronous=True, timeout_s=1.0) == ()
    assert time.monotonic() - begun < LONG_S
    assert (tmp_path / "asked").read_text() in {"", "x"}
