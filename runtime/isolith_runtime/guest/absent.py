"""What an isolate does not have, said in a Python error that names what to use instead.

This is a kindness, not the wall: the wall is the list of imports in `syscalls.py`, which answers an errno to whoever
reaches below these functions.
"""

from __future__ import annotations

import asyncio
import builtins
import errno
import io
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, MutableMapping
from typing import NoReturn

from isolith_runtime.guest.capabilities import SCRIPT
from isolith_runtime.guest.loop import GuestLoop

FILES = "there is no file system here: take data from `input`, keep bytes with artifact(...), or call a connector"
ENVIRONMENT = "there is no environment here: take settings from `input` or a connector"
NETWORK = "there is no network here: call a connector"
PROCESSES = "there are no processes here: call a connector"
THREADS = "there are no threads here: use asyncio.gather(...) or a TaskGroup"

REFUSED_MODULES = {
    "ctypes": "there is no foreign function interface here",
    "_ctypes": "there is no foreign function interface here",
    "js": "there is no JavaScript here: this is CPython without a browser",
    "pyodide": "there is no JavaScript here: this is CPython without a browser",
    "pyodide_js": "there is no JavaScript here: this is CPython without a browser",
    "_pyodide": "there is no JavaScript here: this is CPython without a browser",
    "_pyodide_core": "there is no JavaScript here: this is CPython without a browser",
    "micropip": "nothing can be installed here: the standard library and the connectors are what there is",
    "pip": "nothing can be installed here: the standard library and the connectors are what there is",
    "requests": NETWORK,
    "httpx": NETWORK,
    "aiohttp": NETWORK,
    "urllib3": NETWORK,
    "numpy": "numpy is not here: use the statistics and math modules, or a connector",
    "pandas": "pandas is not here: use csv, json, collections and statistics, or a connector",
    "ensurepip": "nothing can be installed here",
    "venv": "nothing can be installed here",
    "multiprocessing": PROCESSES,
    "_multiprocessing": PROCESSES,
    "fcntl": FILES,
    "termios": "there is no terminal here",
    "tty": "there is no terminal here",
    "pty": "there is no terminal here",
    "curses": "there is no terminal here",
    "readline": "there is no terminal here",
    "tkinter": "there is no screen here",
    "turtle": "there is no screen here",
    "webbrowser": "there is no browser here",
    "dbm": FILES,
    "_dbm": FILES,
    "_gdbm": FILES,
    "grp": "there are no users here",
    "pwd": "there are no users here",
    "resource": "limits are set outside; see budget.remaining",
    "syslog": "use print(...) or log.info(...)",
    "idlelib": "there is no screen here",
    "lib2to3": "it is not part of Python any more",
    "site": "there are no site packages here",
}

_FILE_CALLS = (
    "listdir scandir stat lstat mkdir rmdir remove unlink rename replace link symlink readlink chmod chown truncate open "
    "access chdir statvfs utime mkfifo mknod"
).split()
_PROCESS_CALLS = "fork forkpty execv execve posix_spawn posix_spawnp system popen kill killpg wait waitpid".split()


def _refusal(message: str) -> Callable[..., NoReturn]:
    def refused(*arguments: object, **_named: object) -> NoReturn:
        path = arguments[0] if arguments and isinstance(arguments[0], (str, bytes)) else None
        raise PermissionError(errno.EACCES, message, *([] if path is None else [path]))

    return refused


def _open(file: object = None, *_arguments: object, **_named: object) -> NoReturn:
    raise PermissionError(errno.EACCES, FILES, *([file] if isinstance(file, (str, bytes)) else []))


class _NoEnvironment(MutableMapping[str, str]):
    """`os.environ`: the standard library finds it empty, a script is told so."""

    def __getitem__(self, name: str) -> str:
        raise KeyError(f"{name}: {ENVIRONMENT}") if _asked_by_script() else KeyError(name)

    def __setitem__(self, name: str, value: str) -> None:
        raise PermissionError(errno.EACCES, ENVIRONMENT)

    def __delitem__(self, name: str) -> None:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        if _asked_by_script():
            raise PermissionError(errno.EACCES, ENVIRONMENT)
        return iter(())

    def __len__(self) -> int:
        return 0

    def get(self, name: str, default: object = None) -> object:  # type: ignore[override]
        if default is None and _asked_by_script():
            raise PermissionError(errno.EACCES, ENVIRONMENT, name)
        return default

    def __contains__(self, name: object) -> bool:
        return False

    def __repr__(self) -> str:
        return "environ({})"

    @property
    def __no_data_form__(self) -> str:
        raise PermissionError(errno.EACCES, ENVIRONMENT)

    def keys(self) -> NoReturn:
        raise PermissionError(errno.EACCES, ENVIRONMENT)

    copy = items = values = keys  # type: ignore[assignment]


def _asked_by_script() -> bool:
    return sys._getframe(2).f_code.co_filename == SCRIPT


class _Exit:
    """`exit()`, `quit()`, `os._exit()`, `os.abort()`: the script ends there, as by `sys.exit`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, code: object = None) -> NoReturn:
        raise SystemExit(code)

    def __repr__(self) -> str:
        return f"<function {self._name}>"


def install() -> None:
    """Put the refusals in place; once, before the snapshot."""
    import posix  # noqa: PLC0415 - exists in the guest only

    builtins.open = io.open = _open  # type: ignore[assignment]
    environment = _NoEnvironment()
    os.environ = environment  # type: ignore[assignment]
    os.getenv = environment.get  # type: ignore[assignment]
    for module in (os, posix):
        for name in _FILE_CALLS:
            if hasattr(module, name):
                setattr(module, name, _refusal(FILES))
        for name in _PROCESS_CALLS:
            if hasattr(module, name):
                setattr(module, name, _refusal(PROCESSES))
        module._exit = _Exit("_exit")
        module.abort = _Exit("abort")
    os.walk = os.fwalk = _refusal(FILES)  # type: ignore[assignment]
    os.popen = os.system = _refusal(PROCESSES)  # type: ignore[assignment]
    builtins.exit = builtins.quit = _Exit("exit")  # type: ignore[assignment]
    signal.raise_signal = _refusal("there are no signals here")


def install_network_and_threads() -> None:
    """The refusals inside modules that import only now."""
    import socket  # noqa: PLC0415
    import subprocess  # noqa: PLC0415
    import threading  # noqa: PLC0415

    class NoSocket(socket.socket):
        def __init__(self, *_arguments: object, **_named: object) -> None:
            raise PermissionError(errno.EACCES, NETWORK)

    socket.socket = NoSocket  # type: ignore[misc]
    socket.create_connection = socket.getaddrinfo = socket.gethostbyname = _refusal(NETWORK)  # type: ignore[assignment]
    subprocess.Popen.__init__ = _refusal(PROCESSES)  # type: ignore[method-assign]
    threading.Thread.start = _refusal(THREADS)  # type: ignore[method-assign]


def install_waiting(loop: GuestLoop) -> None:
    """`time.sleep` and `asyncio.run` of one run."""
    time.sleep = loop.sleep_blocking
    asyncio.run = lambda main, **_options: loop.run_until_complete(main)  # type: ignore[assignment]
    asyncio.new_event_loop = lambda: loop  # a script that makes a loop to run something on gets its own
