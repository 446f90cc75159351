"""Connectors from Python: a file, or `module:object`. Loading runs the code that was named, in this process.

A file is loaded from its path under a name of its own, so that it never hides a module of that name; its folder is on
`sys.path` while it loads. `module:object` also finds modules in the working directory.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn, cast

from isolith.errors import ConnectError
from isolith.visible import visible
from isolith_bindings.connector import Connector
from isolith_bindings.errors import BindingError
from isolith_bindings.functions import as_connector, connectors_in
from isolith_bindings.names import did_you_mean, sanitise

if TYPE_CHECKING:
    from collections.abc import Generator

_MAX_LINE = 100
_OBJECT = re.compile(r"(?P<place>.+\.py|\w+(?:\.\w+)*):(?P<path>\w+(?:\.\w+)*)")
_WHAT_COUNTS = (
    "what counts: classes marked with `@connector`, a list named `connectors`, "
    "or else public functions that the file itself defines"
)


def from_file(spec: str, path: Path) -> list[Connector]:
    """The connectors of a Python file, at least one. Raises ConnectError."""
    return _found(spec, _load(path), path.stem)


def from_object(spec: str, folder: Path) -> list[Connector] | None:
    """The connectors of `FILE.py:object` or `module:object`; None for what is neither. Raises ConnectError."""
    match = _OBJECT.fullmatch(spec)
    return None if match is None else _from_object(spec, match["place"], match["path"], folder)


def _found(spec: str, module: ModuleType, name: str) -> list[Connector]:
    with _told(spec):
        found = connectors_in(module, name)
    if not found:
        raise ConnectError(f"`{spec}`: there is nothing in it to connect; {_WHAT_COUNTS}")
    return found


def _from_object(spec: str, place: str, path: str, folder: Path) -> list[Connector]:
    module = _load(folder / place) if place.endswith(".py") else _import(spec, place)
    obj: object = module
    for name in path.split("."):
        if not hasattr(obj, name):
            known = [known for known in dir(obj) if not known.startswith("_")]
            close = did_you_mean(name, known)
            raise ConnectError(f"`{spec}`: there is no `{name}` in `{place}`{'; ' + close if close else ''}")
        obj = getattr(obj, name)
    if isinstance(obj, ModuleType):
        return _found(spec, obj, obj.__name__.rpartition(".")[2])
    with _told(spec):
        return _from_value(obj, path.rpartition(".")[2])


def _from_value(obj: object, name: str) -> list[Connector]:
    """A list may hold functions, which are one connector under its name, or things that are a connector each."""
    if isinstance(obj, list | tuple):
        items = cast("list[object]", obj)
        functions = all(map(_is_function, items))
        return [as_connector(items, name)] if functions else [as_connector(item) for item in items]
    return [as_connector(obj, name if isinstance(obj, dict) else None)]


def _is_function(obj: object) -> bool:
    return callable(obj) and not isinstance(obj, type) and not isinstance(obj, Connector)


@contextlib.contextmanager
def _told(spec: str) -> Generator[None]:
    try:
        yield
    except BindingError as error:
        raise ConnectError(f"`{spec}`: {error}") from error


# ---------------------------------------------------------------------------------------------- loading


def exists(path: Path) -> bool:
    """Whether there is such a file or folder; False as well for what can name none."""
    try:
        return path.exists()
    except (OSError, ValueError):  # no name that a file could have
        return False


def _load(path: Path) -> ModuleType:
    """The module in a file. Raises ConnectError for what is no Python file and for what it raises."""
    if not exists(path):
        raise ConnectError(f"`{path}`: there is no such file")
    if path.suffix != ".py" or not path.is_file():
        raise ConnectError(f"`{path}` is not a Python file; connect FILE.py, or module:object")
    resolved = path.resolve()
    name = f"isolith_connected_{hashlib.sha256(str(resolved).encode()).hexdigest()[:12]}_{sanitise(path.stem)}"
    spec = importlib.util.spec_from_file_location(name, resolved)
    if spec is None or spec.loader is None:
        raise ConnectError(f"`{path}` is not a Python file that can be loaded")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        with _on_path(resolved.parent):
            spec.loader.exec_module(module)
    except KeyboardInterrupt:  # the person's, not the file's
        raise
    except BaseException as error:  # noqa: BLE001 - the border to code of the user's
        sys.modules.pop(name, None)
        _tell(str(path), resolved, error)
    return module


def _import(spec: str, name: str) -> ModuleType:
    try:
        with _on_path(Path.cwd()):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise ConnectError(f"`{spec}`: there is no module `{error.name}`; is it installed, or here?") from error
        _tell(spec, None, error)
    except KeyboardInterrupt:  # the person's, not the file's
        raise
    except BaseException as error:  # noqa: BLE001 - the border to code of the user's
        _tell(spec, None, error)


def _tell(place: str, file: Path | None, error: BaseException) -> NoReturn:
    """Say what was raised and at which line of the file, or, without a file, of the last one that was running."""
    if isinstance(error, SyntaxError):
        where = f", line {error.lineno}" if error.lineno else ""
        other = f" (in {error.filename})" if error.filename and error.filename != str(file) else ""
        text = f": `{visible(error.text.strip()[:_MAX_LINE])}`" if error.text and error.text.strip() else ""
        raise ConnectError(f"`{place}` is not Python{where}{other}: {error.msg}{text}") from error
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(file)
        or (file is None and frame.filename != __file__ and "importlib" not in frame.filename)
    ]
    where = f", line {frames[-1].lineno}" if frames else ""
    other = f" of {frames[-1].filename}" if frames and file is None else ""
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    raise ConnectError(f"`{place}`{where}{other}: raised {what}") from error


@contextlib.contextmanager
def _on_path(folder: Path) -> Generator[None]:
    entry = str(folder)
    # What was written within one tick of the file system's clock after Python last looked there would not be found.
    importlib.invalidate_caches()
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(entry)
