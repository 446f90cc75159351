"""JSON that stands as text in a value, against the `contentSchema` of that text (JSON Schema 2020-12, validation, 8).

Keywords of contents are annotations, which a script's own values are not held to: an `Evaluation` asks only if it was
told to.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, cast

from isolith_bindings import json_text
from isolith_bindings.schema.quoting import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isolith_bindings.schema.evaluation import At, Evaluation, Found

_STEP = 100
"""Characters of a text whose reading costs as much as a keyword."""
_URL_SAFE = str.maketrans("-_", "+/")
_DECODERS: dict[str, Callable[[str], bytes]] = {
    "base64": lambda text: base64.b64decode(text, validate=True),
    "base64url": lambda text: base64.b64decode(text.translate(_URL_SAFE) + "=" * (-len(text) % 4), validate=True),
    "base32": base64.b32decode,
    "base16": lambda text: base64.b16decode(text, casefold=True),
}


def content(run: Evaluation, media: object, value: object, schema: Mapping[str, object], at: At, found: Found) -> None:
    """What is wrong with the JSON in a text: nothing for other media types, and for an encoding that is not known."""
    encoding = schema.get("contentEncoding")
    if not isinstance(value, str) or not _is_json(media) or not run.spend(len(value) // _STEP):
        return
    if encoding is not None and str(encoding).lower() not in _DECODERS:
        run.unknown += 1
        return
    try:
        text = value if encoding is None else _DECODERS[str(encoding).lower()](value).decode()
        inner = cast("object", json_text.loads(text))
    except RecursionError:
        run.unknown += 1
        return
    except ValueError as error:
        told = one_line(str(media), 60) + ("" if encoding is None else f" in {one_line(str(encoding), 20)}")
        found.problems.append((at.path, f"expected text that is {told}, and it is not: {one_line(str(error), 100)}"))
        return
    # What it looked at are keys of another value than those around it.
    found.problems.extend(run.same(inner, schema.get("contentSchema", True), at).problems)


def _is_json(media: object) -> bool:
    plain = media.partition(";")[0].strip().lower() if isinstance(media, str) else ""
    return plain in {"application/json", "text/json"} or plain.endswith("+json")
