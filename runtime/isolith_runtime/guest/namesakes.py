"""A connector that is called like a module of Python's own: a script that imports the module has both under the name.

What the connector writes in exactly that way is the connector's, all else the module's. `tools.NAME` is the connector.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

from isolith_runtime.guest.capabilities import Connector, unknown

ALL = "*"
_ABSENT = object()


class Namesake(Connector):
    """A connector and, behind it, the module of its name."""

    def __init__(self, connector: Connector, module: ModuleType) -> None:
        super().__init__(connector._caller, connector._name, connector._names)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if self._names.spells(name):
            return super().__getattr__(name)
        found = getattr(self._module, name, _ABSENT)
        if found is not _ABSENT:
            return found
        if name.startswith("__") or not self._names.leads(name):
            raise unknown(self._name, name, self._names, imported=True)
        return super().__getattr__(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._module)})


def importer(connectors: Mapping[str, Connector]) -> Callable[..., object]:
    """What `unwrap.IMPORT` stands for, with the connectors of a run."""

    def bind(path: str, name: str | None = None) -> object:
        """What `import PATH` binds, or `from PATH import NAME`; for `*` all names with what they bind."""
        top, _, rest = path.partition(".")
        connector, module = connectors[top], _load(path)
        if name is None:
            above = _load(top)
            return connector if above is None else Namesake(connector, above)
        if name == ALL:
            return {**_public(module), **{method: connector[method] for method in connector}}
        return _part(connector, f"{rest}.{name}" if rest else name, module, name)

    return bind


def _part(connector: Connector, path: str, module: ModuleType | None, name: str) -> object:
    if module is None or connector._names.spells(path):
        return connector[path]
    found = getattr(module, name, _ABSENT)
    if found is _ABSENT:
        found = _load(f"{module.__name__}.{name}") or _ABSENT  # a module of the package
    if found is _ABSENT and not connector._names.leads(path):
        raise unknown(connector._name, path, connector._names, imported=True)
    return connector[path] if found is _ABSENT else found


def _load(path: str) -> ModuleType | None:
    """The module, or None where only the connector has that path."""
    with suppress(ImportError):
        return importlib.import_module(path)
    return None


def _public(module: ModuleType | None) -> dict[str, object]:
    if module is None:
        return {}
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return {name: getattr(module, name) for name in names}
