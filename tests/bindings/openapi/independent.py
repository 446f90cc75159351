"""Requests checked against a document by openapi-core, which shares nothing with what made them."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Callable
from http.cookies import SimpleCookie
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, unquote

from openapi_core import Config, OpenAPI
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict

if TYPE_CHECKING:
    from tests.bindings.openapi.loopback import Got

# Kinds of JSON that openapi-core leaves as bytes.
_JSON: dict[str, Callable[[bytes], object]] = dict.fromkeys(
    ("*/*", "application/json-patch+json", "application/merge-patch+json"), json.loads
)


class _Request:
    """What openapi-core asks of a request."""

    def __init__(self, got: Got, host: str) -> None:
        self.host_url = host
        # A slash inside of a parameter stays encoded: it must not look like one between segments.
        self.path = unquote(got.path.replace("%2F", "%252F"))
        self.method = got.method.lower()
        self.content_type = got.header("content-type") or ""
        self.body = got.body or None
        cookies = SimpleCookie(got.header("cookie") or "")
        self.parameters = RequestParameters(
            query=ImmutableMultiDict(parse_qsl(got.query, keep_blank_values=True)),
            header=Headers(got.headers),
            cookie=ImmutableMultiDict({name: unquote(morsel.value) for name, morsel in cookies.items()}),
            path={},
        )


def _mend(tree: Any) -> None:  # noqa: ANN401 - JSON
    """What openapi-core stumbles over: parameters that are read-only, mappings of discriminators that lead nowhere."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            mapping = node.get("discriminator")
            if isinstance(mapping, dict) and "propertyName" in mapping:
                del node["discriminator"]
            if isinstance(node.get("in"), str) and isinstance(node.get("schema"), dict):
                schema = node["schema"]
                name = str(schema.get("$ref", "")).rpartition("/")[2]
                tree.get("components", {}).get("schemas", {}).get(name, schema).pop("readOnly", None)
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


class Independent:
    """The document, with this server in place of its own, and no security: no credentials are sent here."""

    def __init__(self, path: Path, server: str) -> None:
        tree: Any = copy.deepcopy(json.loads(path.read_text()))
        tree["servers"] = [{"url": server}]
        tree.pop("security", None)
        for item in tree["paths"].values():
            item.pop("servers", None)
            for operation in item.values():
                if isinstance(operation, dict):
                    operation.pop("servers", None)
                    operation.pop("security", None)
        _mend(tree)
        self._server = server
        self._api = OpenAPI.from_dict(
            tree, config=Config(spec_validator_cls=cast("Any", None), extra_media_type_deserializers=_JSON)
        )

    def problem(self, got: Got) -> str | None:
        """What is wrong with a request, or None."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._api.validate_request(_Request(got, self._server))
        except Exception as error:  # noqa: BLE001 - whatever it says is the verdict
            cause = error.__cause__ or error.__context__
            details = getattr(cause, "schema_errors", None) or cause
            return f"{type(error).__name__}: {error} {str(details)[:600]}"
        return None
