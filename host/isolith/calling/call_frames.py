"""How a call ended, as text: what the guest is given, and the same for the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from isolith.outcome import Diagnostic
from isolith.run.artifacts import ArtifactsFull, ArtifactStore
from isolith_bindings.errors import CallError
from isolith_bindings.texts import with_texts
from isolith_runtime.guest import codec
from isolith_runtime.guest.artifact import Artifact

if TYPE_CHECKING:
    from isolith.calling.use import Use
    from isolith.outcome import Kind

MAX_MESSAGE = 20_000
_PREVIEW = 2000
_MAX_ERROR = 256 * 1024
"""Characters of a failure with its data, at most: of what a tool gives with it, a script and a journal take no more."""
_MAX_IN_PLACE = 16 * _PREVIEW
"""Characters of what crosses in place of a result, at most: each of the preview may be six."""


def outcome_text(use: Use, value: object, artifacts: ArtifactStore, limit: int | None) -> str:
    """A result as it crosses, or what crosses in its place. Raises CallError `invalid_result` as its two halves do."""
    return kept_within(use, written(use, value), artifacts, limit)


def written(use: Use, value: object) -> str:
    """A result as text. Raises CallError `invalid_result` for what is no data. On any thread."""
    try:
        return _data_or_texts(value)
    except (codec.NoDataForm, codec.TooLarge, RecursionError) as error:
        what = str(error) or "it is too large"
        raise CallError("invalid_result", f"{use.path} answered what is no data: {what}") from error


def _data_or_texts(value: object) -> str:
    """The text of data; where there is what has no data form, as it is with the texts of what has one in JSON."""
    try:
        return codec.dumps(value)
    except codec.NoDataForm:
        return codec.dumps(with_texts(value))


def kept_within(use: Use, text: str, artifacts: ArtifactStore, limit: int | None) -> str:
    """A result as it crosses. Past `limit` bytes it is kept as an artifact, which crosses in its place.

    Raises CallError `invalid_result` for what is too much to keep.
    """
    use.result_bytes = len(text)
    use.kept_bytes = 0
    if limit is None or len(text) <= limit:
        return text
    content = text.encode()
    try:
        record = artifacts.keep(content, mime="application/json", name=use.path)
    except ArtifactsFull as error:
        raise CallError("invalid_result", f"{use.path} answered too much: {error}") from error
    preview = content[:_PREVIEW].decode(errors="ignore")
    use.kept_bytes = record.bytes
    return codec.dumps({"artifact": artifacts.known(record.handle), "truncated": True, "preview": preview})


def kept_in_place(use: Use, text: str, artifacts: ArtifactStore) -> int:
    """Bytes of the result that an outcome of the journal is in place of; 0 where it is the result itself."""
    if len(text) > _MAX_IN_PLACE or not text.startswith('{"artifact":'):
        return 0
    value = cast("dict[str, object]", codec.loads(text))
    artifact = value["artifact"]
    if value.keys() != {"artifact", "truncated", "preview"} or not isinstance(artifact, Artifact):
        return 0
    kept = {record.handle: record for record in artifacts.records()}.get(artifact.handle)
    return kept.bytes if kept is not None and kept.name == use.path[:200] else 0


def error_text(use: Use, error: CallError, *, refused: bool = False) -> str:
    """A failure as it crosses; without its data, where that has no form that can. `refused`: it was never made."""
    connector, method = use.names
    parts: dict[str, object] = {
        "kind": error.kind,
        "message": plain(str(error)),
        "connector": connector,
        "method": method,
        "hint": error.hint and plain(error.hint),
        "retriable": error.retriable,
        "exception": error.exception,
    }
    parts |= {"refused": True} if refused else {}
    try:
        text = codec.dumps({**parts, "data": error.data})
    except (codec.NoDataForm, codec.TooLarge, RecursionError):
        return codec.dumps({**parts, "data": None})
    if len(text) <= _MAX_ERROR:
        return text
    preview = codec.dumps(error.data)[:_PREVIEW]
    return codec.dumps({**parts, "data": {"truncated": True, "preview": preview}})


def plain(message: str) -> str:
    """A message that can be written anywhere."""
    return message[:MAX_MESSAGE].encode("utf-8", "backslashreplace").decode()


def diagnostic_of(use: Use, error: CallError, error_id: str | None = None) -> Diagnostic:
    """A failure as the outcome tells it."""
    connector, method = use.names
    return Diagnostic(
        kind=cast("Kind", error.kind),
        message=plain(str(error)),
        line=use.frame.line,
        hint=error.hint and plain(error.hint),
        tool=f"{connector}.{method}",
        retriable=error.retriable,
        error_id=error_id,
    )


def error_of(text: str) -> CallError:
    """A failure from the journal."""
    parts = cast("dict[str, object]", codec.loads(text))
    exception, hint = parts.get("exception"), parts.get("hint")
    return CallError(
        str(parts.get("kind")),
        str(parts.get("message")),
        data=parts.get("data"),
        exception=exception if isinstance(exception, str) else None,
        retriable=parts.get("retriable") is True,
        hint=hint if isinstance(hint, str) else None,
    )


def answer_frame(number: int, outcome: str) -> str:
    """The frame that delivers a result."""
    return f'["answer",{number},{outcome}]'


def error_frame(number: int, error: str) -> str:
    """The frame that delivers a failure."""
    return f'["error",{number},{error}]'
