"""Modules carried inside the guest: there is no file system to import from.

What was not imported before the snapshot is here as compressed code; `zoneinfo`'s data is here as the package `tzdata`.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import io
import marshal
import sys
import zlib
import zoneinfo
from collections.abc import Sequence
from types import CodeType, ModuleType
from zoneinfo import _common

from isolith_runtime.guest.absent import REFUSED_MODULES

carried: dict[str, tuple[bool, bytes]] = {}
"""Module name to (is a package, compressed code)."""

zones: dict[str, bytes] = {}
"""Time zone name to its compressed TZif data."""


class CarriedImporter(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds and loads what is carried."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        found = carried.get(fullname)
        if found is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin="carried", is_package=found[0])

    def get_code(self, fullname: str) -> CodeType:
        """The code of a carried module."""
        return marshal.loads(zlib.decompress(carried[fullname][1]))  # type: ignore[no-any-return] # noqa: S302 - ours

    def get_source(self, fullname: str) -> None:
        """No source is carried."""

    def is_package(self, fullname: str) -> bool:
        """Whether a carried module is a package."""
        return carried[fullname][0]


class Refusals(importlib.abc.MetaPathFinder):
    """First of all: what is absent on purpose is refused with the reason."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname in REFUSED_MODULES:
            raise ModuleNotFoundError(f"{fullname} is not available: {REFUSED_MODULES[fullname]}", name=fullname)
        return None


def install() -> None:
    """Leave the importers of an isolate: refusals, built-in and frozen modules, what is carried."""
    sys.meta_path[:] = [
        Refusals(),
        importlib.machinery.BuiltinImporter,
        importlib.machinery.FrozenImporter,
        CarriedImporter(),
    ]
    sys.path[:] = []
    sys.path_hooks[:] = []
    sys.path_importer_cache.clear()


def install_zones() -> None:
    """Let `zoneinfo` read its data from here."""

    def load(key: str) -> io.BytesIO:
        data = zones.get(key)
        if data is None:
            raise zoneinfo.ZoneInfoNotFoundError(f"No time zone found with key {key}")
        return io.BytesIO(zlib.decompress(data))

    _common.load_tzdata = load  # type: ignore[assignment]
    zoneinfo.available_timezones = lambda: set(zones)
    zoneinfo.reset_tzpath([])
