"""What an isolate does not have, said in a Python error that names what to use instead.

This is a kindness, not the wall: the wall is the list of imports in `syscalls.py`, which answers an errno to whoever
reaches below these functions.
"""

from __future__ import annotations

import asyncio
import builtins
import contextvars
import errno
import io
import os
import posix
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, MutableMapping
from typing import Any, NoReturn, Self

from isolith_runtime.guest.loop import GuestLoop
from isolith_runtime.guest.where import SCRIPT

FILES = "there is no file system here: take data from `input`, keep bytes with artifact(...), or call a connector"
ENVIRONMENT = "there is no environment here: take settings from `input` or a connector"
NETWORK = "there is no network here: call a connector"
PROCESSES = "there are no processes here: call a connector"
THREADS = "there are no threads here: use asyncio.gather(...) or a TaskGroup"
_FOREIGN = "there is no foreign function interface here"
_JAVASCRIPT = "there is no JavaScript here: this is CPython without a browser"
_INSTALLING = "nothing can be installed here: the standard library and the connectors are what there is"
_TERMINAL = "there is no terminal here: use print(...), and take data from `input`"
_SCREEN = "there is no screen here: answer with data, or keep a picture with artifact(...)"
_USERS = "there are no users here"
_WINDOWS = "this is not Windows"
_INPUT = "nobody is there to ask: take data from `input`, the caller's data"
_DEBUGGER = "there is no debugger here: use print(...)"

_REASONS = {
    _FOREIGN: "ctypes _ctypes",
    _JAVASCRIPT: "js pyodide pyodide_js _pyodide _pyodide_core",
    _INSTALLING: "micropip pip ensurepip venv site",
    NETWORK: "requests httpx aiohttp urllib3",
    PROCESSES: "multiprocessing _multiprocessing",
    FILES: "dbm _dbm _gdbm",
    _TERMINAL: "curses readline termios tty pty",
    _SCREEN: "tkinter turtle turtledemo idlelib webbrowser antigravity",
    _USERS: "grp pwd",
    _WINDOWS: "msvcrt nt winreg winsound",
    "use the statistics and math modules, or a connector": "numpy",
    "use csv, json, collections and statistics, or a connector": "pandas",
    "limits are set outside: see budget.remaining": "resource",
    "there is no system log here: use print(...) or log.info(...)": "syslog",
    "it is not part of Python any more": "lib2to3",
    "its texts are not carried here": "pydoc_data this",
}

REFUSED_MODULES = {name: reason for reason, names in _REASONS.items() for name in names.split()}
"""Modules that are not here, and why; some of them are in the binary and mean nothing here."""

_FILE_CALLS = (
    "listdir scandir stat lstat mkdir rmdir remove unlink rename replace link symlink readlink chmod chown truncate "
    "open access chdir statvfs utime mkfifo mknod"
).split()
_NAME_CALLS = (
    "create_connection create_server getaddrinfo getnameinfo gethostbyname gethostbyname_ex gethostbyaddr getfqdn "
    "getprotobyname getservbyname getservbyport"
).split()
_LOOP_NETWORK = "getaddrinfo getnameinfo create_connection create_server create_datagram_endpoint".split()
_LOOP_PROCESSES = "subprocess_exec subprocess_shell".split()
_PROCESS_CALLS = "fork forkpty execv execve posix_spawn posix_spawnp system popen kill killpg wait waitpid".split()


class _Refused(PermissionError):
    """One as everywhere, whose text is without its number: that of this system is another error's elsewhere."""

    def __str__(self) -> str:
        return str(self.strerror) if self.filename is None else f"{self.strerror}: {self.filename!r}"


_Refused.__name__ = _Refused.__qualname__ = PermissionError.__name__


def _refusal(message: str) -> Callable[..., NoReturn]:
    def refused(*arguments: object, **_named: object) -> NoReturn:
        path = arguments[0] if arguments and isinstance(arguments[0], (str, bytes)) else None
        raise _Refused(errno.EACCES, message, *([] if path is None else [path]))

    return refused


def _open(file: object = None, *_arguments: object, **_named: object) -> NoReturn:
    raise _Refused(errno.EACCES, FILES, *([file] if isinstance(file, (str, bytes)) else []))


class _NoVariable(KeyError):
    """One key, as everywhere; its text is a sentence, which `KeyError` itself would put in quotes."""

    def __str__(self) -> str:
        return f"{self.args[0]!r}: {ENVIRONMENT}"


_NoVariable.__name__ = _NoVariable.__qualname__ = KeyError.__name__


class _NoEnvironment(MutableMapping[str, str]):
    """`os.environ`: the standard library finds it empty, a script is told so."""

    def __getitem__(self, name: str) -> str:
        raise _NoVariable(name) if _asked_by_script() else KeyError(name)

    def __setitem__(self, name: str, value: str) -> None:
        raise _Refused(errno.EACCES, ENVIRONMENT)

    def __delitem__(self, name: str) -> None:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        if _asked_by_script():
            raise _Refused(errno.EACCES, ENVIRONMENT)
        return iter(())

    def __len__(self) -> int:
        return 0

    def get(self, name: str, default: object = None) -> object:  # type: ignore[override]
        if default is None and _asked_by_script():
            raise _Refused(errno.EACCES, ENVIRONMENT, name)
        return default

    def __contains__(self, name: object) -> bool:
        return False

    def __repr__(self) -> str:
        return "environ({})"

    def keys(self) -> NoReturn:
        raise _Refused(errno.EACCES, ENVIRONMENT)

    copy = items = values = keys


def _asked_by_script() -> bool:
    return sys._getframe(2).f_code.co_filename == SCRIPT


class _NoInput(io.TextIOBase):
    """`sys.stdin`: a script is told where its data is."""

    def readable(self) -> bool:
        return True

    def read(self, *_arguments: object) -> NoReturn:
        raise _Refused(errno.EACCES, _INPUT)

    readline = readlines = __next__ = read


class _Exit:
    """`exit()`, `quit()`, `os._exit()`, `os.abort()`: the script ends there, as by `sys.exit`."""

    def __init__(self, name: str, code: object = None) -> None:
        self._name, self._code = name, code

    def __call__(self, code: object = None) -> NoReturn:
        code = self._code if code is None else code
        raise SystemExit(*([] if code is None else [code]))

    def __repr__(self) -> str:
        return f"<function {self._name}>"


def install() -> None:
    """Put the refusals in place; once, before the snapshot."""
    builtins.open = io.open = _open
    environment = _NoEnvironment()
    os.environ = environment  # type: ignore[assignment] # noqa: B003 - there is none to clear
    os.environb = environment  # type: ignore[assignment]
    os.getenv = os.getenvb = environment.get  # type: ignore[assignment]
    posix.environ.clear()
    for module in (os, posix):
        for name in _FILE_CALLS:
            if hasattr(module, name):
                setattr(module, name, _refusal(FILES))
        for name in _PROCESS_CALLS:
            if hasattr(module, name):
                setattr(module, name, _refusal(PROCESSES))
        module._exit = _Exit("_exit")  # type: ignore[attr-defined]
        module.abort = _Exit("abort", "aborted")  # type: ignore[attr-defined]
    os.walk = os.fwalk = _refusal(FILES)
    os.popen = os.system = _refusal(PROCESSES)
    builtins.exit = builtins.quit = _Exit("exit")  # type: ignore[assignment]
    no_input = _NoInput()
    builtins.input = no_input.read
    sys.stdin = sys.__stdin__ = no_input  # type: ignore[assignment,misc]
    sys.breakpointhook = _refusal(_DEBUGGER)
    signal.raise_signal = _refusal("there are no signals here")
    tempfile.gettempdir = _refusal(FILES)


def install_network_and_threads() -> None:
    """The refusals inside modules of the standard library."""

    class NoSocket(socket.socket):
        def __init__(self, *_arguments: object, **_named: object) -> None:
            raise _Refused(errno.EACCES, NETWORK)

    socket.socket = NoSocket  # type: ignore[misc]
    for name in _NAME_CALLS:
        setattr(socket, name, _refusal(NETWORK))
    for names, message in ((_LOOP_NETWORK, NETWORK), (_LOOP_PROCESSES, PROCESSES)):
        for name in names:
            setattr(GuestLoop, name, _refusal(message))
    subprocess.Popen.__init__ = _refusal(PROCESSES)  # type: ignore[method-assign]
    threading.Thread.start = _refusal(THREADS)  # type: ignore[method-assign]


def install_waiting(loop: GuestLoop) -> None:
    """`time.sleep`, `asyncio.run` and `asyncio.Runner` of one run."""

    class Runner:
        """asyncio's own, on the loop that is there: it makes none, and closes none."""

        def __init__(self, **_options: object) -> None:
            return None

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            return None

        def close(self) -> None:
            return None

        def get_loop(self) -> GuestLoop:
            return loop

        def run(self, main: Coroutine[Any, Any, Any], *, context: contextvars.Context | None = None) -> object:
            return loop.run_until_complete(loop.create_task(main, context=context))

    time.sleep = loop.sleep_blocking  # type: ignore[assignment]
    asyncio.run = lambda main, **_options: loop.run_until_complete(main)
    asyncio.Runner = Runner  # type: ignore[assignment,misc]
    asyncio.new_event_loop = lambda: loop  # a script that makes a loop to run something on gets its own
