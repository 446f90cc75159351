"""What a call names: a method, or another way to use one. Decided from the catalogue alone."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, cast

from isolith_bindings.errors import CallError

if TYPE_CHECKING:
    from isolith_bindings.catalog import Catalog
    from isolith_bindings.connector import Connector, Method, Variant
    from isolith_runtime import protocol


def resolve_call(catalog: Catalog, frame: protocol.Call, *, hinted: bool = True) -> tuple[Connector, Method, Variant]:
    """The method and its variant. Raises CallError `unknown_tool`; `hinted`: with the nearest names."""
    name, _, last = frame.method.rpartition(".")
    variant: Variant = "raw" if last == "raw" else "pages" if last == "pages" else ""
    if name and variant:
        with contextlib.suppress(CallError):
            connector, method = catalog.resolve(frame.connector, name, hinted=False)
            if variant in method.variants:
                return connector, method, variant
    return (*catalog.resolve(frame.connector, frame.method, hinted=hinted), "")


def of_page(arguments: dict[str, object]) -> tuple[dict[str, object], object]:
    """The method's own arguments and the cursor, from a call for one page. Raises CallError."""
    given = arguments.get("arguments")
    if not isinstance(given, dict):
        raise CallError("invalid_arguments", "pages(...) takes the method's arguments")
    return cast("dict[str, object]", given), arguments.get("cursor")
